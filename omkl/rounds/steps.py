"""What stands around a learner's compiled function: a list of steps, all of one form.

A learner runs a part of its stream as

    for step in steps: rounds = step.before(learner, rounds)
    the compiled function, on these rounds
    for step in reversed(steps): step.after(learner, rounds, trace)

and so does a single row. Scaling, widths in medians and the members of a stack are steps; another one is a
subclass of `Step`, in the list that the learner is made with.
"""

import sys
from typing import Any, NamedTuple, Protocol

import numpy as np

from omkl.config.learners import LearnerSpec
from omkl.engine.stream import Stream, Trace

ALL = sys.maxsize


class Stepping(Protocol):
    """The learner whose rounds a step stands around, as the step may use it."""

    spec: LearnerSpec
    classes: int
    state: dict[str, Any]

    def begin_again(self, rows: Stream, origin: np.ndarray) -> None:
        """Forget all that was learnt, and learn rows; origin (n,): their numbers."""


class Rounds(NamedTuple):
    """Rounds that run together.

    stream: they    first: what is added to its row numbers    learn: whether they are learnt, or only scored
    done: rounds that came before, for messages    margins (T, C, k): what the members of a stack say in them
    seconds: CPU time to make them that this thread's clock does not say
    """

    stream: Stream
    first: int
    learn: bool
    done: int = 0
    margins: np.ndarray | None = None
    seconds: float = 0.0


class Step:
    """One of the steps around a learner's rounds. What is not said in a subclass changes nothing.

    Its state is that before the rounds until `after` has been called, so that a stream may be cut anywhere.
    """

    renews = False  # whether all rows are made anew, and so are numbered by their rounds

    def most(self, learn: bool) -> int:
        """Return how many of the next rounds can run together."""
        return ALL

    def before(self, learner: Stepping, rounds: Rounds) -> Rounds:
        """Return these rounds as the next step, or the learner, reads them."""
        return rounds

    def after(self, learner: Stepping, rounds: Rounds, trace: Trace) -> None:
        """Change what the learner says of rounds, the same that `before` had, and learn from them."""

    def add_features(self, d: int) -> None:
        """Go on with d features; the new ones were 0 so far."""
