"""Labels that come late, in batches of N rounds.

Rounds kN + 1 to (k + 1)N are predicted with what was learnt before them; then all of them are learnt, in
their order. With N = 1 that is the usual protocol.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from omkl.engine.stream import Stream, Trace, part

# In batches of N rounds: rounds kN + 1 to (k + 1)N are predicted with what was learnt before them; then all
# of them are learnt, in their order. With N = 1 that is the usual protocol.
PREDICTED = ("score", "mistake", "further", "predicted", "class_scores")  # before the labels of a batch come
MOST_NOTES = 100


def run_delayed(
    learner: Any, stream: Stream, delay: int, on_part: Callable[[int], None]
) -> tuple[Trace, float]:
    """Run a learner over a stream whose labels come in batches; return the trace, and CPU seconds.

    Scores and mistakes are those before a batch is learnt, sizes those of each round while it is.
    on_part: called with the number of rounds done, at most about 100 times
    """
    traces, seconds, noted = [], 0.0, 0
    for start in range(0, stream.T, delay):
        stop = min(start + delay, stream.T)
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
