"""Estimators of scikit-learn that want scaled rows, in a pipeline that scales the rows of each fit."""

from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR


def logistic(C: float) -> Pipeline:
    """Return logistic regression on scaled rows."""
    return make_pipeline(StandardScaler(), LogisticRegression(C=C, max_iter=1000))


def rbf_svc(C: float, gamma: float | str) -> Pipeline:
    """Return a support vector classifier on scaled rows."""
    return make_pipeline(StandardScaler(), SVC(C=C, gamma=gamma))


def rbf_svr(C: float, gamma: float | str, epsilon: float) -> Pipeline:
    """Return support vector regression on scaled rows."""
    return make_pipeline(StandardScaler(), SVR(C=C, gamma=gamma, epsilon=epsilon))
