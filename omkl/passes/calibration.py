"""What is added to a learner's answers: probabilities of classes, intervals around numbers.

Both learn from what the learner says before each label, and have one form, `Calibration`. Another one is a
class of this form in CALIBRATIONS, and a setting in `asked_for`.
"""

from collections.abc import Mapping
from typing import Any, Protocol

import numpy as np

from omkl.config.learners import LearnerSpec
from omkl.engine.stream import Stream, Trace
from omkl.passes.conformal import Conformal
from omkl.passes.platt import Platt
from omkl.passes.said import Said, of_all_classes
from omkl.rounds.scored import variance_of


class Calibration(Protocol):
    """What learns how far a learner's answers are to be trusted.

    word: the key of its state in a saved model    task: of the data that it is for    level: the share of the
    targets that intervals are to hold, of probabilities 1
    """

    word: str
    task: str
    level: float

    def told(self, said: Said) -> np.ndarray:
        """Return what is added to answers: probabilities (n, C), or half of the widths (n,) of intervals."""

    def learn(self, said: Said) -> None:
        """Learn rounds one after another, the label of each before the next one."""

    def in_turn(self, said: Said, delay: int = 1) -> np.ndarray:
        """Return what is added to the answers of each round before it is learnt, and learn all rounds.

        delay: labels come in batches of so many rounds
        """

    def to_json(self) -> dict[str, Any]:
        """Return the state as JSON holds it, which ``from_json`` of its class takes, with the classes."""


CALIBRATIONS: tuple[type[Platt] | type[Conformal], ...] = (Platt, Conformal)


def asked_for(task: str, words: Mapping[str, Any], classes: int) -> Calibration | None:
    """Return the calibration that settings ask for, ``calibration`` or ``interval``, None without."""
    if task == "classification" and words.get("calibration"):
        return Platt(classes)
    if task == "regression" and (level := words.get("interval")):
        return Conformal(level)
    return None


def saved(about: Mapping[str, Any], classes: int) -> Calibration | None:
    """Return the calibration of a saved model, None without. Raises ValueError for a broken one."""
    for kind in CALIBRATIONS:
        if about.get("task") == kind.task and (state := about.get(kind.word)) is not None:
            return kind.from_json(state, classes)
    return None


def said_in(spec: LearnerSpec, task: str, stream: Stream, trace: Trace) -> Said:
    """Return what a learner said in the rounds of a trace, and what was true."""
    if task == "classification":
        return Said(*of_all_classes(stream, trace))
    missing = trace.mistake if spec.estimator else None
    return Said(trace.score, stream.y, variance_of(spec, trace), missing)
