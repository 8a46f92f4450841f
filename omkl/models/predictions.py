"""What a saved model says of rows: predictions as the source writes labels, probabilities, intervals."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from omkl.config.learners import learner_specs
from omkl.data.preparing.new_rows import Rows
from omkl.engine.conventions import are_mistakes, are_novel, chosen_of_two
from omkl.errors import UserError, counted
from omkl.models.asked import class_scores, classify, density_interval, interval_ends, score, score_and_std
from omkl.models.calibrated import class_probabilities
from omkl.models.saved_model import SavedModel, calibration_of
from omkl.rounds.scored import has_std


class Prediction(NamedTuple):
    """The predictions of rows as the source writes labels, their scores, and how wrong they are.

    With more than two classes a score is that of the class predicted less that of the next one.
    known: rows with known labels    loss: mistakes on them, or their summed squared errors
    """

    labels: list[Any]
    scores: np.ndarray
    known: int
    loss: float


@dataclass
class Errors:
    """How wrong the predictions of a file are, added up over its parts."""

    task: str
    rows: int = 0
    novel: int = 0
    count: int = 0
    loss: float = 0.0

    def add(self, prediction: Prediction) -> None:
        self.rows, self.novel = (
            self.rows + len(prediction.labels),
            self.novel + prediction.labels.count("novel"),
        )
        self.count, self.loss = self.count + prediction.known, self.loss + prediction.loss

    def __str__(self) -> str:
        if self.task == "novelty":
            return f"{self.novel} of {self.rows} rows {'is' if self.novel == 1 else 'are'} novel"
        if not self.count:
            return ""
        if self.task == "regression":
            return f"RMSE {math.sqrt(self.loss / self.count):.6g} on {counted(self.count, 'row')}"
        mistakes = counted(round(self.loss), "mistake")
        return f"{mistakes} on {counted(self.count, 'row')} ({100 * self.loss / self.count:.2f} %)"


def predict_rows(model: SavedModel, rows: Rows) -> Prediction:
    """Return the predictions for rows; nothing is learnt."""
    arrays = rows.indptr, rows.indices, rows.values
    task, classes = model.about["task"], model.about.get("classes") or ["-1", "1"]
    y = np.full(len(rows.numbers), np.nan) if rows.y is None else rows.y
    labelled = ~np.isnan(y)
    count = int(np.count_nonzero(labelled))
    if len(classes) > 2:
        place, scores = classify(model.learner, *arrays)
        wrong = (place != y) | are_mistakes(1.0, scores)
    else:
        scores = score(model.learner, *arrays)
        place, wrong = chosen_of_two(scores), are_mistakes(y, scores)
    if task == "classification":
        labels: list[Any] = [classes[number] for number in place]
        return Prediction(labels, scores, count, int(np.count_nonzero(labelled & wrong)))
    if task == "novelty":
        return Prediction(
            ["novel" if is_novel else "usual" for is_novel in are_novel(scores)], scores, count, 0
        )
    return Prediction(scores.tolist(), scores, count, float(np.square(scores - y)[labelled].sum()))


def scores_of_classes(model: SavedModel, rows: Rows) -> dict[str, np.ndarray]:
    """Return the score of each class (n,) for rows, by its name."""
    arrays = rows.indptr, rows.indices, rows.values
    classes = model.about["classes"]
    if len(classes) > 2:
        scores = class_scores(model.learner, *arrays)
    else:
        scores = np.outer(score(model.learner, *arrays), [-1.0, 1.0])
    return dict(zip(map(str, classes), scores.T, strict=True))


def probabilities_of_classes(model: SavedModel, rows: Rows) -> dict[str, np.ndarray]:
    """Return the probability of each class (n,) for rows, by its name. Raises UserError without any."""
    learner, about = model.learner, model.about
    calibration = calibration_of(learner, about)
    if about["task"] == "regression":
        raise UserError(
            f"the model of {learner.spec.label} predicts numbers, which have no probabilities; train it with "
            "interval=0.9 for intervals"
        )
    if about["task"] != "classification" or not (learner.spec.probabilities or calibration):
        raise UserError(
            f"the model of {learner.spec.label} has no probabilities; train it with calibration=platt, or "
            "another learner such as auto"
        )
    P = class_probabilities(learner, calibration, (rows.indptr, rows.indices, rows.values))
    return dict(zip(map(str, about.get("classes") or ["-1", "1"]), P.T, strict=True))


def predictions_and_std(model: SavedModel, rows: Rows) -> tuple[np.ndarray, np.ndarray]:
    """Return the predictions (n,) of rows, and the standard deviations (n,) of the targets around them.

    Raises UserError for a learner that has none.
    """
    _require_std(model)
    return score_and_std(model.learner, rows.indptr, rows.indices, rows.values)


def _require_std(model: SavedModel, otherwise: str = "") -> None:
    """Raise UserError for a model that does not say how uncertain its predictions are."""
    spec, task = model.learner.spec, model.about["task"]
    if task != "regression" or not has_std(spec):
        able = ", ".join(other.name for other in learner_specs().values() if has_std(other))
        also = otherwise if task == "regression" else ""
        raise UserError(
            f"{spec.label} has no standard deviations for {task}; for regression {able} have{also}"
        )


def interval_level(model: SavedModel, share: float | None) -> float:
    """Return the share of the targets that a model's intervals are to hold: the one asked for, else its own.

    Raises UserError for a model without intervals, and for another share than its own.
    """
    calibration = calibration_of(model.learner, model.about)
    if calibration is not None:
        if share not in (None, calibration.level):
            raise UserError(
                f"this model has intervals for {calibration.level:g} of the targets, not {share:g}; "
                f"train it with interval={share:g}"
            )
        return calibration.level
    _require_std(model, f"; or train it with interval={0.9 if share is None else share:g}")
    if share is None:
        raise UserError("give the share of targets that the intervals should contain, such as 0.9")
    return share


def intervals(model: SavedModel, rows: Rows, share: float | None) -> dict[str, np.ndarray]:
    """Return the ends (n,) of the intervals that hold a target with this probability.

    They are those of a model that was trained with ``interval``, else by its learner's densities. Raises
    UserError as `interval_level` does.
    """
    level, calibration = interval_level(model, share), calibration_of(model.learner, model.about)
    if calibration is not None:
        low, high = interval_ends(model.learner, calibration, rows.indptr, rows.indices, rows.values)
    else:
        low, high = density_interval(model.learner, level, rows.indptr, rows.indices, rows.values)
    return {"low": low, "high": high}


def records(rows: Rows, prediction: Prediction, more: Mapping[str, np.ndarray]) -> list[dict[str, Any]]:
    """Return a record for each row of a part of a file; one that was left out has no label and no score.

    It holds the row's number, its ids, label and score, and ``more`` columns.
    """
    columns = {"label": prediction.labels, "score": prediction.scores.tolist()}
    for name, values in more.items():
        columns[name] = [value if math.isfinite(value) else None for value in values.tolist()]
    place = dict(zip(rows.numbers.tolist(), range(len(prediction.labels)), strict=True))
    found = []
    for number in range(rows.start, rows.stop):
        at = place.get(number)
        record: dict[str, Any] = {"row": number}
        record |= {name: str(texts[number - rows.start]) for name, texts in rows.ids.items()}
        record |= {name: None if at is None else values[at] for name, values in columns.items()}
        found.append(record)
    return found


def columns_of_model(model: SavedModel, scores: bool, shares: bool) -> list[str]:
    """Return the keys of `records`: scores, shares: whether those of each class are among them."""
    recipe, classes = model.about.get("recipe"), model.about.get("classes") or []
    names = ["row", *(recipe["preparation"]["id"] if recipe else []), "label", "score"]
    names += [f"score {name}" for name in classes if scores]
    return names + [f"P {name}" for name in classes if shares]
