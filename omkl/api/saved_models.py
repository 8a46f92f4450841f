"""Saved models: train one, ask it about new rows, let it learn more, describe it."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import omkl.data
from omkl import seeds
from omkl.config import Plan, learner_spec, members_of
from omkl.config.learners import check_classes, learner_specs
from omkl.data.arrays import in_rows_of, rows_of_array
from omkl.data.dataset import MANY, warn_of_offsets
from omkl.data.orders import rounds_of
from omkl.data.preparing.new_rows import (
    Rows,
    Tally,
    described_data,
    labels_of_model,
    prepared_rows,
    rows_like,
)
from omkl.data.preparing.recipe import Recipe
from omkl.data.preparing.user_table import as_frame, table_of
from omkl.data.reading.formats import ReadFrame
from omkl.data.reading.numbered import Examples
from omkl.engine.conventions import are_mistakes, are_novel, chosen_of_two
from omkl.engine.stream import Stream, Trace, make_stream
from omkl.errors import UserError, counted, show
from omkl.estimators.make import Calibration, calibrate, class_probabilities
from omkl.passes import model_file
from omkl.passes.adapters import Names
from omkl.passes.cell import warm_up_once
from omkl.passes.conformal import Conformal
from omkl.passes.learner import Learner
from omkl.passes.model import (
    Progress,
    class_scores,
    classify,
    density_interval,
    has_std,
    interval_ends,
    score,
    score_and_std,
)
from omkl.passes.one_pass import choose_kernels
from omkl.passes.overflow import check_rows
from omkl.passes.platt import Platt
from omkl.passes.scaling import Scaling
from omkl.passes.stacked import new_learner
from omkl.tasks import for_task


class SavedModel(NamedTuple):
    """A learner that was trained, its record, and what is known of its data.

    about: task, data (their name), classes (as text, in the order of their numbers) and recipe (of a table)
    or None
    """

    learner: Learner
    progress: Progress
    about: dict[str, Any]


def fit_model(plan: Plan) -> SavedModel:
    """Train the one learner of a plan on its one data set, in its order, as repetition 0 of a run does.

    Raises UserError for a plan of several learners, settings or data sets.
    """
    if len(plan.settings) != 1 or len(plan.data) != 1:
        given = f"{counted(len(plan.settings), 'learner')} on {counted(len(plan.data), 'data set')}"
        raise UserError(f"omkl fit trains one learner on one data set; these words name {given}")
    setting, data = plan.settings[0], plan.data[0]
    if plan.test is not None:
        raise UserError("test=: omkl fit learns all rows; omkl predict measures the model on others")
    dataset, name = data.load(), data.word
    spec = learner_spec(setting.learner)
    if spec.estimator:
        raise UserError(
            f"algo={spec.name}: omkl fit trains learners of omkl, and {spec.estimator} is not one"
        )
    params = for_task(setting.params, dataset.task)
    spec.check_data(params, dataset.task, name)
    check_classes(spec, name, dataset.n_classes)
    if spec.budget and not isinstance(params[spec.budget], int):
        raise UserError(f"algo.{spec.budget}: omkl fit needs a number, such as algo.{spec.budget}=100")
    if dataset.d > MANY:
        raise UserError(f"data={name}: {dataset.d} columns; a model has at most {MANY}")
    order, permutation = omkl.data.order(dataset, plan.order, plan.seed, 0)
    if part := rounds_of(plan.rounds, dataset.T, name):
        order = order[slice(*part)]
    seed = seeds.learner_seed(permutation, spec.draws_as or spec.name)
    classes = dataset.n_classes
    stream = make_stream(dataset.indptr, dataset.indices, dataset.values, dataset.y, order, classes)
    warm_up_once([(spec, params, classes)])
    pool, scaling = setting.kernel_pool, Scaling.of(setting.scaling, dataset, later=False)
    if spec.setup and pool is not None:
        apart = seeds.derive("apart", dataset.content_hash)
        rows = scaling.scaled(stream, True)[0] if scaling else stream
        pool = choose_kernels(spec, params, pool, dataset.d, rows, apart, plan.block, classes)
    how: Any = {"classes": classes, "scaling": scaling, "names": Names.of(dataset)}
    how |= {"block": plan.block, "rounds": stream.T}
    learner = new_learner(spec, params, pool, dataset.d, seed, **how)
    _check(learner, dataset.indptr, dataset.values, stream.T, f"data={name}")
    if "scale" not in setting.scaling:
        warn_of_offsets(dataset, setting.kernels)
    progress = Progress(dataset.task)
    trace, _ = learner.run(stream, progress=progress)
    about = {**described_data(data), "order": plan.order, "seed": plan.seed}
    calibration: Calibration | None = Platt(classes) if "calibration" in setting.scaling else None
    if (level := setting.scaling.get("interval")) is not None:
        calibration = Conformal(level)
    _calibrate(about, calibration, learner, stream, trace)
    return SavedModel(learner, progress, about)


def check_savable(plan: Plan) -> None:
    """Raise UserError for a plan whose model no file could hold, as a member is of another package."""
    for setting in plan.settings:
        for member in members_of(setting.spec, setting.params):
            if member.spec.estimator:
                raise model_file.not_to_be_saved(member.spec)


def _check(learner: Learner, indptr: np.ndarray, values: np.ndarray, rounds: int, where: str) -> None:
    try:
        check_rows(learner.growth, indptr, values, rounds)
    except ValueError as error:
        raise UserError(f"{where}: {error}; scale the features") from None


def save_model(model: SavedModel, path: Path) -> None:
    """Save a model; the file is replaced in one step. Raises UserError for one that no file can hold."""
    model_file.write_model(path, model.learner, {**model.about, "progress": model.progress.to_json()})


def load_saved(path: Path) -> SavedModel:
    """Return a saved model. Raises UserError for a file that is none."""
    learner, about = model_file.read_model(path)
    try:
        progress = Progress.from_json(about.pop("progress", {}))
        recipe = about.get("recipe")
        if recipe is not None and Recipe.from_json(recipe).features != about.get("features"):
            raise ValueError("its features are not those of its recipe")
        if about.get("index_base", 1) not in (0, 1):
            raise ValueError("its index_base is not 0 or 1")
        values = about.get("values_of_classes")
        if values is not None and not (
            isinstance(values, list)
            and len(values) == len(about.get("classes") or ())
            and all(isinstance(value, bool | int | float | str) for value in values)
        ):
            raise ValueError("the values of its classes are not those of its classes")
        if about.get("task") not in learner.spec.tasks or progress.task != about["task"]:
            raise ValueError(f"{learner.spec.name} is not for {show(about.get('task'))}")
        _calibration(learner, about)
    except (ValueError, AttributeError) as error:
        raise UserError(f"{path} is not a valid model: {error}") from None
    return SavedModel(learner, progress, {"data": "", **about})


def rows_of_file(model: SavedModel, path: Path, labelled: bool) -> tuple[Iterator[Rows], Tally]:
    """Return the rows of a file in parts, as the model's data were prepared, and what is to be said of them.

    What is to be said is complete when all parts have been taken. labelled: whether they must have labels
    Raises UserError, also while the parts are taken, for a file that does not fit the model.
    """
    tally = Tally(path)

    def check(examples: Examples, kept: int) -> None:
        rounds = model.progress.rounds + kept if labelled else 1
        _check(model.learner, examples.indptr, examples.values, rounds, str(tally.path))

    return rows_like(model.about, model.learner.d, path, labelled, tally, check), tally


def rows_in_memory(
    model: SavedModel, X: Any, y: Any = None, labelled: bool = False
) -> tuple[Iterator[Rows], Tally]:
    """Return rows of a frame, an array (n, d) or a sparse matrix as one part, and what is to be said of them.

    y: labels (n,), None where they are unknown or a column    labelled: whether each row must have a label.
    Raises UserError for what does not fit the model.
    """
    learner, about, where = model.learner, model.about, Path("data")
    tally = Tally(where)
    if recipe := about.get("recipe") and Recipe.from_json(about["recipe"]):
        frame = _frame_of(X, [column.name for column in recipe.columns])
        table = table_of(ReadFrame(frame), str(where), recipe.preparation)
        examples, there, kept = prepared_rows(recipe, table, labelled and y is None, tally)
        labels = in_rows_of(X, y)[kept] if y is not None else examples.labels if there else None
        count = len(table)
    else:
        if isinstance(X, Mapping):
            raise UserError("data: the model was trained on an array, whose columns have no names; give one")
        X = as_frame(X).to_numpy() if hasattr(X, "columns") else X
        X = np.reshape(X, (1, -1)) if getattr(X, "ndim", 2) == 1 else X
        examples = rows_of_array(X, "data")
        count = len(examples.labels)
        labels, kept = None if y is None else in_rows_of(X, y), np.arange(count)
    if examples.d > learner.d:
        raise UserError(f"data: column {examples.d}; the model has {counted(learner.d, 'feature')}")
    _check(learner, examples.indptr, examples.values, model.progress.rounds + count, "data")
    if labelled and labels is None:
        raise UserError("data: no labels to learn from; give them with y=..., or label=... of a frame")
    tally.rows, tally.kept, numbers = count, len(kept), None
    if labels is not None:
        labels = labels if labels.dtype.kind in "iuf" else labels.astype(str)
        numbers = labels_of_model(labels, about, where, labelled, tally)
    arrays = examples.indptr, examples.indices, examples.values
    return iter([Rows(*arrays, numbers, kept + 1, 1, count + 1, {})]), tally


def _frame_of(X: Any, columns: list[str]) -> Any:
    """Return rows as a frame: a frame, one row by name, or an array with these columns."""
    if hasattr(X, "columns"):
        return as_frame(X)
    import pandas as pd

    if hasattr(X, "items"):  # a dict, a Series
        return pd.DataFrame([dict(X.items())])
    values = X.toarray() if hasattr(X, "toarray") else np.atleast_2d(np.asarray(X))
    if values.ndim != 2 or values.shape[1] != len(columns):
        raise UserError(
            f"data: the model has the columns {', '.join(columns)}; an array needs these {len(columns)} in "
            f"this order, and has {counted(values.shape[-1], 'column')}; a frame may have others too"
        )
    return pd.DataFrame(values, columns=columns)


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
    calibration = _calibration(learner, about)
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
    calibration = _calibration(model.learner, model.about)
    if isinstance(calibration, Conformal):
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
    level, calibration = interval_level(model, share), _calibration(model.learner, model.about)
    if isinstance(calibration, Conformal):
        low, high = interval_ends(model.learner, calibration, rows.indptr, rows.indices, rows.values)
    else:
        low, high = density_interval(model.learner, level, rows.indptr, rows.indices, rows.values)
    return {"low": low, "high": high}


def _calibration(learner: Learner, about: Mapping[str, Any]) -> Calibration | None:
    """Return what makes probabilities or intervals of a model's scores. Raises ValueError for no such."""
    if (state := about.get("interval")) is not None and about.get("task") == "regression":
        return Conformal.from_json(state)
    return None if (state := about.get("platt")) is None else Platt.from_json(state, learner.classes)


def _calibrate(
    about: dict[str, Any], calibration: Calibration | None, learner: Learner, stream: Stream, trace: Trace
) -> None:
    """Let a model's calibration learn the rounds of a pass, and keep it."""
    if calibration is not None:
        calibrate(calibration, learner, stream, trace)
        about["interval" if isinstance(calibration, Conformal) else "platt"] = calibration.to_json()


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


def update_model(model: SavedModel, rows: Rows) -> SavedModel:
    """Let a model learn these rows in their order, after those that it has learnt."""
    y = np.ones(len(rows.indptr) - 1) if rows.y is None or model.about["task"] == "novelty" else rows.y
    classes = model.learner.classes
    stream = make_stream(rows.indptr, rows.indices, rows.values, y, np.arange(len(y)), classes)
    trace, _ = model.learner.run(stream, progress=model.progress)
    _calibrate(model.about, _calibration(model.learner, model.about), model.learner, stream, trace)
    return model


def description_of(model: SavedModel) -> dict[str, Any]:
    """Return what `omkl show` prints of a model."""
    learner, progress, about = model
    E = learner.classifiers
    shown: dict[str, Any] = {
        "learner": learner.spec.name,
        "label": learner.spec.label,
        "task": about["task"],
        "data": about.get("data"),
        "rounds": progress.rounds,
        {"regression": "loss", "novelty": "flagged"}.get(progress.task, "mistakes"): progress.total,
        "features": about.get("features") or learner.d,
        "classes": about.get("classes"),
        "hyperparameters": learner.params,
    }
    if E is not None:
        shown["support_vectors"] = {"distinct": int(E.n_sv_union[0]), "per_kernel": [int(n) for n in E.n_sv]}
    if learner.pool is not None:
        shown["normalise"] = learner.pool["normalise"]
        shown["kernels"] = [dict(kernel) for kernel in learner.pool["kernels"]]
        weights = learner.weights
        if weights is not None and len(weights) == learner.m:
            for kernel, weight in zip(shown["kernels"], weights, strict=True):
                kernel["weight"] = round(float(weight), 6)
    if learner.scaling is not None:
        shown["scaling"] = learner.scaling.words
    recipe: Mapping[str, Any] | None = about.get("recipe")
    if recipe:
        shown["preparation"] = {**recipe["preparation"], "label": recipe["label"]}
    return {key: value for key, value in shown.items() if value is not None}
