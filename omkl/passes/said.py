"""What a learner says in rounds, as measures and calibrations read it."""

from typing import NamedTuple

import numpy as np

from omkl.engine.stream import Stream, Trace, unrecorded


class Said(NamedTuple):
    """What a learner says of rows, and what is true of them.

    scores: of the classes (n, C), of two that of the second (n, 1); of numbers the predictions (n,)
    true (n,): the classes from 0, or the targets; None where nobody knows
    variance (n,): of the targets around their predictions, None where it is not told
    missing (n,): rows without a prediction, None for none
    """

    scores: np.ndarray
    true: np.ndarray | None = None
    variance: np.ndarray | None = None
    missing: np.ndarray | None = None


def of_all_classes(stream: Stream, trace: Trace) -> tuple[np.ndarray, np.ndarray]:
    """Return the scores (T, C) of the classes, of two that of +1 (T, 1), and the true ones (T,) from 0."""
    if stream.label is None:
        return trace.score[:, None], (stream.y > 0).astype(np.int64)
    return trace.class_scores, stream.label


def are_noted(stream: Stream, trace: Trace) -> bool:
    """Whether a pass has noted the scores of all classes in each round."""
    scores, label = of_all_classes(stream, trace)
    return len(scores) == len(label) and not unrecorded(scores[:, -1]).any()


def true_and_predicted(stream: Stream, trace: Trace) -> tuple[np.ndarray, np.ndarray]:
    """Return the true and the predicted class (T,) of each round; of two classes -1 is 0 and +1 is 1."""
    if stream.label is not None:
        return stream.label, trace.predicted
    positive = stream.y > 0
    return positive, positive ^ trace.mistake  # a score of 0 is a mistake, so it speaks for the other one
