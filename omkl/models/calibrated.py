"""A calibration that learns as its model does, and what it makes of new rows."""

import numpy as np

from omkl.engine.stream import Stream, Trace
from omkl.models.asked import CsrArrays, noted_scores, probabilities, score
from omkl.passes.calibration import Calibration, said_in
from omkl.passes.said import Said
from omkl.rounds.learner import Learner


def calibrate(calibration: Calibration | None, model: Learner, stream: Stream, trace: Trace) -> None:
    """Let a calibration learn the rounds of a pass of a learner."""
    if calibration is None:
        return
    if trace.class_scores is not None and len(trace.class_scores) < stream.T:
        raise ValueError(
            f"{stream.T} rows of {trace.class_scores.shape[1]} classes are too many at once for "
            f"calibration='{calibration.word}'; learn them in parts with partial_fit"
        )
    calibration.learn(said_in(model.spec, calibration.task, stream, trace))


def class_probabilities(model: Learner, calibration: Calibration | None, rows: CsrArrays) -> np.ndarray:
    """Return the probabilities (n, C) of all classes, of the learner's own or by its calibration."""
    if calibration is None:
        return probabilities(model, *rows)
    scores = score(model, *rows)[:, None] if model.classes == 2 else noted_scores(model, *rows)[0]
    return calibration.told(Said(scores))
