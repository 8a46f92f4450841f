"""Labels that come late, in batches of N rounds.

Rounds kN + 1 to (k + 1)N are predicted with what was learnt before them; then all of them are learnt, in
their order. With N = 1 that is the usual protocol. `batches` says so, and all that depends on it asks there.
A learner that draws in its rounds draws when they are predicted, and again when they are learnt.
"""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import numpy as np

from omkl.engine.stream import Stream, Trace, part

if TYPE_CHECKING:
    from omkl.others.estimator import Estimator
    from omkl.rounds.learner import Learner

PREDICTED = ("score", "mistake", "further", "predicted", "class_scores")  # before the labels of a batch come
MOST_NOTES = 100


def batches(T: int, delay: int) -> Iterator[tuple[int, int]]:
    """Yield the first and the last-plus-one round of each batch whose labels come together."""
    for start in range(0, T, delay):
        yield start, min(start + delay, T)


def labels_known(T: int, delay: int) -> np.ndarray:
    """Return how many labels are known when each round (T,) is predicted."""
    known = np.zeros(T, np.int64)
    for start, stop in batches(T, delay):
        known[start:stop] = start
    return known


def run_delayed(
    learner: "Learner | Estimator", stream: Stream, delay: int, on_part: Callable[[int], None]
) -> tuple[Trace, float]:
    """Run a learner over a stream whose labels come in batches; return the trace, and CPU seconds.

    Scores and mistakes are those before a batch is learnt, sizes those of each round while it is.
    on_part: called with the number of rounds done, at most about 100 times
    """
    if delay == 1:
        return learner.run(stream, on_part=on_part)
    traces, seconds, noted = [], 0.0, 0
    for start, stop in batches(stream.T, delay):
        batch = part(stream, start, stop)
        before, scoring = learner.run(batch, learn=False)
        learnt, learning = learner.run(batch)
        traces.append(learnt._replace(**{name: getattr(before, name) for name in PREDICTED}))
        seconds += scoring + learning
        if (share := stop * MOST_NOTES // stream.T) > noted or stop == stream.T:
            noted = share
            on_part(stop)
    columns = zip(*traces, strict=True)
    return Trace(*(None if arrays[0] is None else np.concatenate(arrays) for arrays in columns)), seconds
