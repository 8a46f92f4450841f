"""Probabilities of classes by what was learnt of a model's scores."""

import numpy as np

from omkl.engine.stream import Stream, Trace
from omkl.models.asked import Rows, noted_scores, probabilities, score
from omkl.passes.conformal import Conformal
from omkl.passes.platt import Platt
from omkl.rounds.learner import Learner
from omkl.rounds.scored import variance_of

Calibration = Platt | Conformal  # what makes probabilities of scores, or intervals around them


def calibrate(calibration: Calibration | None, model: Learner, stream: Stream, trace: Trace) -> None:
    """Let a calibration learn the rounds of a pass of a learner."""
    if calibration is None:
        return
    if isinstance(calibration, Conformal):
        calibration.learn(trace.score, stream.y, variance_of(model.spec, trace))
    elif stream.label is None:
        calibration.learn(trace.score[:, None], (stream.y > 0).astype(int))
    elif len(trace.class_scores) < stream.T:
        raise ValueError(
            f"{stream.T} rows of {trace.class_scores.shape[1]} classes are too many at once for "
            "calibration='platt'; learn them in parts with partial_fit"
        )
    else:
        calibration.learn(trace.class_scores, stream.label)


def class_probabilities(model: Learner, calibration: Calibration | None, rows: Rows) -> np.ndarray:
    """Return the probabilities (n, C) of all classes, of the learner's own or by its calibration."""
    if not isinstance(calibration, Platt):
        return probabilities(model, *rows)
    scores = score(model, *rows)[:, None] if model.classes == 2 else noted_scores(model, *rows)[0]
    return calibration.probabilities(scores)
