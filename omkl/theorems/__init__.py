"""The right-hand sides of the papers' theorems, for the settings of a run.

A bound is one function with the name of the learner's function, in any module here; no list is edited. It
takes a `Case` and the hyperparameters that it names, and returns one `Bound` per theorem.
"""

from omkl.theorems.case import Bound, Case
from omkl.theorems.evaluation import bounds_table, evaluate, with_theorems

__all__ = ["Bound", "Case", "bounds_table", "evaluate", "with_theorems"]
