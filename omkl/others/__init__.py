"""Estimators of other packages as learners: what they are, how they are asked, copied and named in keys."""
