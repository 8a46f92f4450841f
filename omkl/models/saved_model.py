"""A trained learner with what is known of its data."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from omkl.engine.stream import Stream, Trace
from omkl.models.calibrated import calibrate
from omkl.passes.calibration import Calibration, saved
from omkl.rounds.learner import Learner
from omkl.rounds.record import Progress


class SavedModel(NamedTuple):
    """A learner that was trained, its record, and what is known of its data.

    about: task, data (their name), classes (as text, in the order of their numbers) and recipe (of a table)
    or None
    """

    learner: Learner
    progress: Progress
    about: dict[str, Any]


def calibration_of(learner: Learner, about: Mapping[str, Any]) -> Calibration | None:
    """Return what makes probabilities or intervals of a model's scores. Raises ValueError for no such."""
    return saved(about, learner.classes)


def calibrate_model(
    about: dict[str, Any], calibration: Calibration | None, learner: Learner, stream: Stream, trace: Trace
) -> None:
    """Let a model's calibration learn the rounds of a pass, and keep it."""
    if calibration is not None:
        calibrate(calibration, learner, stream, trace)
        about[calibration.word] = calibration.to_json()
