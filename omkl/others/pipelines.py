"""A Pipeline of scikit-learn, row by row, and which steps can learn so."""

import inspect
import warnings
from collections.abc import Iterable
from typing import Any

import numpy as np

from omkl.errors import OmklError
from omkl.others.traits import NO_STEP, SEEDS

_PROBED = (*range(1, 33), 64, 128)  # numbers of columns on which a step may be fitted
_PROBES = 200  # rows of the fit that is compared with that on one row


class Steps:
    """A Pipeline of scikit-learn, row by row: to learn, each step learns the row as the steps before made it.

    A prediction transforms with the steps as they are. A step without anything to learn only transforms; one
    that is fitted on columns alone, whatever their values, is fitted on the first row.
    """

    def __init__(self, steps: list[tuple[str, Any]], last: Any) -> None:
        self.parts, self.last = [step for _, step in steps if step not in NO_STEP], last
        self.steps = [("last", last)]  # see `last_step`
        takes = inspect.signature(self.last.partial_fit).parameters
        self.partial_fit = self._with_classes if "classes" in takes else self._learn

    def __getattr__(self, name: str) -> Any:
        if name not in ("decision_function", "predict_proba"):
            raise AttributeError(name)
        asked = getattr(self.last, name)
        return lambda X: asked(self._transformed(X))

    def __sklearn_tags__(self) -> Any:
        return self.last.__sklearn_tags__()

    def _transformed(self, X: Any) -> Any:
        for part in self.parts:
            X = part.transform(X)
        return X

    def predict(self, X: Any, **how: Any) -> Any:
        """Return the predictions of rows."""
        return self.last.predict(self._transformed(X), **how)

    def _learn(self, X: Any, y: Any, **classes: Any) -> None:
        for part in self.parts:
            X = learnt_by(part, X, y)
        self.last.partial_fit(X, y, **classes)

    def _with_classes(self, X: Any, y: Any, classes: Any = None) -> None:
        self._learn(X, y, classes=classes)


def learnt_by(part: Any, X: Any, y: Any) -> Any:
    """Let a transformer learn rows as it would alone, and return what it makes of them.

    Raises OmklError for one that can only be fitted, and looks at values then.
    """
    if hasattr(part, "partial_fit"):
        part.partial_fit(X, y)
    elif requires_fit(part) and not _is_fitted(part):
        if looks_at_values(part, [X.shape[1]]):
            raise OmklError(f"the step {type(part).__name__} {LOOKS}")
        part.fit(*_twice(X, y))
    return part.transform(X)


def _twice(X: Any, y: Any) -> tuple[Any, Any]:
    """Return a row two times, since some steps are fitted on two rows at least."""
    if hasattr(X, "toarray"):
        import scipy.sparse as sp

        return sp.vstack([X, X], format="csr"), np.concatenate([y, y])
    if hasattr(X, "columns"):
        return X.iloc[[0, 0]], np.concatenate([y, y])
    return np.concatenate([X, X]), np.concatenate([y, y])


def requires_fit(step: Any) -> bool:
    tags = getattr(step, "__sklearn_tags__", None)
    return bool(tags().requires_fit) if tags else True


def _is_fitted(model: Any) -> bool:
    from sklearn.exceptions import NotFittedError
    from sklearn.utils.validation import check_is_fitted

    try:
        check_is_fitted(model)
    except NotFittedError:
        return False
    return True


LOOKS = (
    "has no partial_fit, and fitting it on all rows would leak later rows; "
    "omkl.refit(...) fits the whole pipeline again as rows come"
)


def looks_at_values(step: Any, columns: Iterable[int] = _PROBED) -> bool:
    """Whether what a step makes of a row depends on the values that it was fitted on, not on columns alone.

    It is fitted on one row and on many, with one seed, and makes the same rows of other rows. columns: the
    numbers of columns to try; with none of these that it takes, it is the first row of a pass that tells.
    """
    from sklearn.base import clone

    rng = np.random.default_rng(0)
    seeds = {name: 0 for name, value in step.get_params().items() if is_seed(name) and value is None}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for d in columns:
            many, rows = rng.random((_PROBES, d)), rng.random((4, d))
            try:
                expected = _dense(
                    clone(step).set_params(**seeds).fit(many, np.arange(_PROBES) % 2).transform(rows)
                )
            except (ValueError, TypeError, IndexError):
                continue  # not with this number of columns
            try:
                found = _dense(
                    clone(step).set_params(**seeds).fit(*_twice(3.0 * many[:1], np.zeros(1))).transform(rows)
                )
            except (ValueError, TypeError, IndexError):
                return True
            return not np.array_equal(expected, found)
    return False


def _dense(X: Any) -> Any:
    return X.toarray() if hasattr(X, "toarray") else np.asarray(X)


def is_seed(name: str) -> bool:
    return name.rpartition("__")[2] in SEEDS
