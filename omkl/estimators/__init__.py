"""What the estimators of scikit-learn and river share: names, arguments, and the learner behind."""
