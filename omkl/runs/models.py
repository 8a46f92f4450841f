"""Saved models on the command line: train one, ask it about new rows, let it learn more, show it."""

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import omkl.data
from omkl import seeds
from omkl.config import Plan, learner_spec
from omkl.config.learners import check_classes, learner_specs
from omkl.data.data_files import size_limit, standard_input
from omkl.data.dataset import MANY, Dataset, from_arrays, in_rows_of, warn_of_offsets
from omkl.data.formats import LIBSVM, format_of, parts_of
from omkl.data.labels import MOST_LISTED, distinct, finder, label_text, shortlist, targets
from omkl.data.orders import rounds_of
from omkl.data.parse import Examples, dense
from omkl.data.preparation import Preparation
from omkl.data.recipe import Recipe, left_out_rows, note_on_filled
from omkl.data.tables import Table, of_frame
from omkl.engine.stream import make_stream
from omkl.errors import UserError, counted, quoted, show, suggest
from omkl.estimators.make import calibrate, class_probabilities
from omkl.estimators.platt import Platt
from omkl.learning import model_file
from omkl.learning.cell import warm_up_once
from omkl.learning.learner import Learner
from omkl.learning.model import Progress, class_scores, classify, half_width, has_std, score, score_and_std
from omkl.learning.one_pass import choose_kernels
from omkl.learning.overflow import check_rows
from omkl.learning.scaling import Scaling
from omkl.tasks import for_task

PART = 20_000  # rows of a file that are in memory at once


class Model(NamedTuple):
    """A learner that was trained, its record, and what is known of its data.

    about: task, data (their name), classes (as text, in the order of their numbers) and recipe (of a table)
    or None
    """

    learner: Learner
    progress: Progress
    about: dict[str, Any]


class Rows(NamedTuple):
    """A part of the rows of a file for a model: CSR arrays, and labels or targets, nan where not known.

    y: None where the file has none    numbers: of the rows in their file, from 1; some may have been left out
    start, stop: the first row of the part and the one after its last    ids (stop - start,): texts by column
    """

    indptr: np.ndarray
    indices: np.ndarray
    values: np.ndarray
    y: np.ndarray | None
    numbers: np.ndarray
    start: int
    stop: int
    ids: dict[str, np.ndarray]


@dataclass
class Doubts:
    """What is to be said of the rows of a file, counted over its parts: what the model does not know or take.

    kept: rows that were not left out    unseen: words by column    unknown: labels
    new_columns: numbered columns that training never saw, with their counts of values
    gaps: by column
    """

    path: Path
    recipe: Recipe | None = None
    rows: int = 0
    kept: int = 0
    labels: int = 0
    unlabelled: int = 0
    said: dict[str, None] = field(default_factory=dict)
    unseen: dict[str, Counter[str]] = field(default_factory=dict)
    unknown: Counter[str] = field(default_factory=Counter)
    new_columns: Counter[int] = field(default_factory=Counter)
    gaps: Counter[str] = field(default_factory=Counter)

    @property
    def notes(self) -> list[str]:
        """The notes for the user."""
        notes = list(self.said)
        if self.recipe is not None and (filled := note_on_filled(self.recipe, self.gaps, new=True)):
            notes.append(f"{self.path}: {filled}")
        for name, words in self.unseen.items():
            if words:
                texts = [f"{quoted([text])[0]} ({count})" for text, count in words.most_common()]
                notes.append(
                    f"{self.path}: column '{name}' holds values that were not in the training data: "
                    f"{shortlist(texts)}; in {words.total()} of {self.kept} rows all of its features are 0"
                )
        if new := self.new_columns:
            columns = ("column ", " is") if len(new) == 1 else (f"{len(new)} columns (", ") are")
            notes.append(
                f"{self.path}: {shortlist(list(map(str, sorted(new)))).join(columns)} beyond those of the "
                f"training data and left out: {counted(new.total(), 'value')} in {counted(self.kept, 'row')}"
            )
        doubts = []
        if self.kept < self.rows:
            doubts.append(left_out_rows(self.recipe, self.rows - self.kept, self.rows))
        if self.unknown:
            texts = [f"{label_text(text)} ({count})" for text, count in self.unknown.most_common()]
            total = self.unknown.total()
            are = "is" if total == 1 else "are"
            doubts.append(f"{total} of {self.labels} labels {are} unknown to the model: {shortlist(texts)}")
        if 0 < self.unlabelled < self.labels:
            have = "has" if self.unlabelled == 1 else "have"
            doubts.append(f"{self.unlabelled} of {self.labels} rows {have} no label")
        return [*notes, f"{self.path}: {'; '.join(doubts)}"] if doubts else notes


def fit(plan: Plan) -> Model:
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
        raise UserError(f"algo={spec.name}: omkl fit saves learners of omkl, and {spec.estimator} is not one")
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
    pool, scaling = setting.kernel_pool, Scaling.of(setting.scaling, dataset)
    if spec.setup and pool is not None:
        apart = seeds.derive("apart", dataset.content_hash)
        rows = scaling.scaled(stream, True)[0] if scaling else stream
        pool = choose_kernels(spec, params, pool, dataset.d, rows, apart, plan.block, classes)
    how: Any = {"classes": classes, "scaling": scaling}
    learner = Learner(spec, params, pool, dataset.d, seed, plan.block, stream.T, **how)
    _check(learner, dataset.indptr, dataset.values, stream.T, f"data={name}")
    if "scale" not in setting.scaling:
        warn_of_offsets(dataset, setting.kernels)
    progress = Progress(dataset.task)
    learner.run(stream, progress=progress)
    return Model(learner, progress, {**described_data(data), "order": plan.order, "seed": plan.seed})


def described_data(data: omkl.data.DataRef) -> dict[str, Any]:
    """Return what a model knows of its data: how other rows are to be prepared, and what their labels are."""
    dataset, recipe = data.load(), data.recipe
    return {
        "task": dataset.task,
        "data": dataset.name,
        "content_hash": dataset.content_hash,
        "classes": _classes(dataset),
        "values_of_classes": values_of_classes(dataset),
        "recipe": recipe.to_json() if recipe else None,
        "index_base": dataset.index_base,
        "features": recipe.features if recipe else None,
    }


def _check(learner: Learner, indptr: np.ndarray, values: np.ndarray, rounds: int, where: str) -> None:
    try:
        check_rows(learner.growth, indptr, values, rounds)
    except ValueError as error:
        raise UserError(f"{where}: {error}; scale the features") from None


def _classes(dataset: Dataset) -> list[str] | None:
    """Return the labels in the order of their numbers as the source writes them; None without classes."""
    if dataset.task != "classification":
        return None
    return list(dataset.classes or ("-1", "+1"))


def values_of_classes(dataset: Dataset) -> list[Any] | None:
    """Return the classes in the order of their numbers as the source holds them; None without classes."""
    if dataset.task != "classification":
        return None
    return list(dataset.values_of_classes or (-1, 1))


def save(model: Model, path: Path) -> None:
    """Save a model; the file is replaced in one step."""
    model_file.write_model(path, model.learner, {**model.about, "progress": model.progress.to_json()})


def load(path: Path) -> Model:
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
    return Model(learner, progress, {"data": "", **about})


def rows_of(model: Model, path: Path, labelled: bool) -> tuple[Iterator[Rows], Doubts]:
    """Return the rows of a file in parts, as the model's data were prepared, and what is to be said of them.

    What is to be said is complete when all parts have been taken. labelled: whether they must have labels
    Raises UserError, also while the parts are taken, for a file that does not fit the model.
    """
    doubts = Doubts(path)

    def check(examples: Examples, kept: int) -> None:
        rounds = model.progress.rounds + kept if labelled else 1
        _check(model.learner, examples.indptr, examples.values, rounds, str(doubts.path))

    return rows_like(model.about, model.learner.d, path, labelled, doubts, check), doubts


def rows_like(
    about: dict[str, Any],
    d: int,
    path: Path,
    labelled: bool,
    doubts: Doubts,
    check: Callable[[Examples, int], None] = lambda examples, kept: None,
) -> Iterator[Rows]:
    """Return the rows of a file in parts, as the data were prepared that `described_data` describes.

    d: the number of features    labelled, doubts: as of `rows_of`    check: is called with each part and
    the number of rows up to its end
    """
    path = standard_input() if str(path) == "-" else path
    if not path.is_file():
        hint = "; name a file, not a data set" if str(path) in omkl.data.registry.names() else ""
        raise UserError(f"{path}: {'this is a folder' if path.is_dir() else 'no such file'}{hint}")
    recipe = Recipe.from_json(about["recipe"]) if about.get("recipe") else None
    if not recipe and format_of(path).is_table:
        known = about.get("data") or "other data"
        raise UserError(f"{path} is a table; the model was trained on {known}, not on one")
    doubts.path = path
    preparation = Preparation(index_base=about.get("index_base", 1), qid="drop")
    texts = None
    if recipe:
        preparation, texts = recipe.preparation, recipe.texts

    def parts() -> Iterator[Rows]:
        for part in parts_of(path, preparation, size_limit(), PART, texts):
            start, ids, there = doubts.rows, {}, True
            if isinstance(part, Examples):
                examples, kept, rows = part, np.arange(len(part.labels)), len(part.labels)
            else:
                assert recipe is not None
                examples, there, kept = _prepared(recipe, part, labelled, doubts)
                ids, rows = recipe.ids(part), len(part)
            doubts.rows, doubts.kept = start + rows, doubts.kept + len(kept)
            largest = int(examples.indices.max(initial=-1)) + 1
            if largest > d and format_of(path) is not LIBSVM:
                raise UserError(f"{path}: column {largest}; the model has {counted(d, 'feature')}")
            if largest > d:
                examples = _known_columns(examples, d, preparation, doubts)
            check(examples, doubts.kept)
            if labelled and not there:
                name = recipe.label if recipe else ""
                raise UserError(f"{path}: no column '{name}' with the labels to learn from")
            y = _labels(examples.labels, about, path, labelled, doubts) if there else None
            own = examples.indptr, examples.indices, examples.values
            yield Rows(*own, y, start + kept + 1, start + 1, start + rows + 1, ids)

    return parts()


def _known_columns(examples: Examples, d: int, preparation: Preparation, doubts: Doubts) -> Examples:
    """Return LIBSVM rows without the columns beyond the first d, which were 0 in all rows of training."""
    known = examples.indices < d
    new = examples.indices[~known] + int(preparation.index_base)
    doubts.new_columns.update(new.tolist())
    indptr = np.append(0, np.cumsum(known))[examples.indptr]
    return examples._replace(indptr=indptr, indices=examples.indices[known], values=examples.values[known])


def _prepared(
    recipe: Recipe, table: Table, labelled: bool, doubts: Doubts
) -> tuple[Examples, bool, np.ndarray]:
    """Return the rows of a table that are kept, whether they have labels, and which they are.

    What is to be said of the table's words is added to ``doubts``.
    """
    X, labels, kept = recipe.apply(table, new=True, labelled=labelled)
    doubts.said |= dict.fromkeys(table.notes)
    doubts.recipe = recipe
    for column in recipe.columns:
        doubts.gaps[column.name] += int(table.missing(column.name)[kept].sum())
    for name, words in recipe.unseen(table, kept).items():
        doubts.unseen.setdefault(name, Counter()).update(words)
    return dense(X, np.empty(len(kept)) if labels is None else labels), labels is not None, kept


def rows_in_memory(
    model: Model, X: Any, y: Any = None, labelled: bool = False
) -> tuple[Iterator[Rows], Doubts]:
    """Return rows of a frame, an array (n, d) or a sparse matrix as one part, and what is to be said of them.

    y: labels (n,), None where they are unknown or a column    labelled: whether each row must have a label.
    Raises UserError for what does not fit the model.
    """
    learner, about, where = model.learner, model.about, Path("data")
    doubts = Doubts(where)
    if recipe := about.get("recipe") and Recipe.from_json(about["recipe"]):
        table = of_frame(
            _frame_of(X, [column.name for column in recipe.columns]), where, recipe.preparation, recipe.texts
        )
        examples, there, kept = _prepared(recipe, table, labelled and y is None, doubts)
        labels = in_rows_of(X, y)[kept] if y is not None else examples.labels if there else None
        count = len(table)
    else:
        if isinstance(X, Mapping):
            raise UserError("data: the model was trained on an array, whose columns have no names; give one")
        X = np.reshape(X, (1, -1)) if getattr(X, "ndim", 2) == 1 else X
        count = X.shape[0] if hasattr(X, "shape") else len(X)
        rows = from_arrays(X, np.zeros(count), name="data", task="regression")
        examples = Examples(rows.indptr, rows.indices, rows.values, rows.y, rows.d)
        labels, kept = None if y is None else in_rows_of(X, y), np.arange(count)
    if examples.d > learner.d:
        raise UserError(f"data: column {examples.d}; the model has {counted(learner.d, 'feature')}")
    _check(learner, examples.indptr, examples.values, model.progress.rounds + count, "data")
    if labelled and labels is None:
        raise UserError("data: no labels to learn from; give them with y=..., or label=... of a frame")
    doubts.rows, doubts.kept, numbers = count, len(kept), None
    if labels is not None:
        labels = labels if labels.dtype.kind in "iuf" else labels.astype(str)
        numbers = _labels(labels, about, where, labelled, doubts)
    own = examples.indptr, examples.indices, examples.values
    return iter([Rows(*own, numbers, kept + 1, 1, count + 1, {})]), doubts


def _frame_of(X: Any, columns: list[str]) -> Any:
    """Return rows as a frame: a frame, one row by name, or an array with these columns."""
    if hasattr(X, "columns"):
        return X
    import pandas as pd

    if hasattr(X, "items"):  # a dict, a Series
        return pd.DataFrame([dict(X.items())])
    made = X.toarray() if hasattr(X, "toarray") else np.atleast_2d(np.asarray(X))
    if made.ndim != 2 or made.shape[1] != len(columns):
        raise UserError(
            f"data: the model has the columns {', '.join(columns)}; an array needs these {len(columns)} in "
            f"this order, and has {counted(made.shape[-1], 'column')}; a frame may have others too"
        )
    return pd.DataFrame(made, columns=columns)


def _labels(
    labels: np.ndarray, about: dict[str, Any], path: Path, strict: bool, doubts: Doubts
) -> np.ndarray:
    """Return the labels as the learner takes them, nan where one is not known.

    labels: an empty text is a missing one    strict: whether another label than the model's is an error
    """
    task, recipe = about["task"], about.get("recipe") or {}
    there = np.ones(len(labels), bool) if labels.dtype.kind in "iuf" else labels != ""
    y = np.full(len(labels), np.nan)
    if task != "classification":
        y[there] = targets(labels[there], str(path))
    else:
        known = about["classes"]
        names, place, _ = distinct(labels[there])
        if recipe.get("preparation", {}).get("positive") is not None:
            find = finder([known[1], known[0], *recipe.get("alike", [])])
            numbers = [1.0 if find(name) == 0 else -1.0 for name in names]
        else:
            find, values = finder(known), (-1.0, 1.0) if len(known) == 2 else range(len(known))
            found = [find(name) for name in names]
            if strict and None in found:
                label, near = names[found.index(None)], suggest(names[found.index(None)], map(str, known))
                raise UserError(f"{path}: label {show(label)}{near}; the model knows {_and(known)}")
            numbers = [math.nan if number is None else values[number] for number in found]
        y[there] = np.array(numbers, float)[place]
        doubts.unknown.update(names[number] for number in place[np.isnan(y[there])])
    doubts.labels += len(labels)
    doubts.unlabelled += int(np.count_nonzero(~there)) if task != "novelty" else 0
    return y


def _and(classes: list[Any]) -> str:
    *first, last = quoted(classes)
    return f"{', '.join(first[:MOST_LISTED])}{', ...' if len(first) > MOST_LISTED else ''} and {last}"


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

    def add(self, made: Prediction) -> None:
        self.rows, self.novel = self.rows + len(made.labels), self.novel + made.labels.count("novel")
        self.count, self.loss = self.count + made.known, self.loss + made.loss

    def __str__(self) -> str:
        if self.task == "novelty":
            return f"{self.novel} of {self.rows} rows {'is' if self.novel == 1 else 'are'} novel"
        if not self.count:
            return ""
        if self.task == "regression":
            return f"RMSE {math.sqrt(self.loss / self.count):.6g} on {counted(self.count, 'row')}"
        mistakes = counted(round(self.loss), "mistake")
        return f"{mistakes} on {counted(self.count, 'row')} ({100 * self.loss / self.count:.2f} %)"


def predict(model: Model, rows: Rows) -> Prediction:
    """Return the predictions for rows; nothing is learnt."""
    own = rows.indptr, rows.indices, rows.values
    task, classes = model.about["task"], model.about.get("classes") or ["-1", "1"]
    y = np.full(len(rows.numbers), np.nan) if rows.y is None else rows.y
    known = ~np.isnan(y)
    count = int(np.count_nonzero(known))
    if len(classes) > 2:
        place, scores = classify(model.learner, *own)
        right = (place == y) & (scores > 0)
    else:
        scores = score(model.learner, *own)
        place, right = (scores > 0).astype(int), y * scores > 0
    if task == "classification":
        labels: list[Any] = [classes[number] for number in place]
        return Prediction(labels, scores, count, int(np.count_nonzero(known & ~right)))
    if task == "novelty":
        return Prediction(["novel" if value < 0 else "usual" for value in scores], scores, count, 0)
    return Prediction(scores.tolist(), scores, count, float(np.square(scores - y)[known].sum()))


def scores_of_classes(model: Model, rows: Rows) -> dict[str, np.ndarray]:
    """Return the score of each class (n,) for rows, by its name."""
    own = rows.indptr, rows.indices, rows.values
    classes = model.about["classes"]
    if len(classes) > 2:
        scores = class_scores(model.learner, *own)
    else:
        scores = np.outer(score(model.learner, *own), [-1.0, 1.0])
    return dict(zip(map(str, classes), scores.T, strict=True))


def probabilities_of_classes(model: Model, rows: Rows) -> dict[str, np.ndarray]:
    """Return the probability of each class (n,) for rows, by its name. Raises UserError without any."""
    learner, about = model.learner, model.about
    calibration = _calibration(learner, about)
    if about["task"] != "classification" or not (learner.spec.probabilities or calibration):
        raise UserError(
            f"{learner.spec.label} has no probabilities; algo=auto has some, and so have models that an "
            "estimator with calibration='platt' saved"
        )
    P = class_probabilities(learner, calibration, (rows.indptr, rows.indices, rows.values))
    return dict(zip(map(str, about.get("classes") or ["-1", "1"]), P.T, strict=True))


def predictions_and_std(model: Model, rows: Rows) -> tuple[np.ndarray, np.ndarray]:
    """Return the predictions (n,) of rows, and the standard deviations (n,) of the targets around them.

    Raises UserError for a learner that has none.
    """
    check_std(model)
    return score_and_std(model.learner, rows.indptr, rows.indices, rows.values)


def check_std(model: Model) -> None:
    """Raise UserError for a model that does not say how uncertain its predictions are."""
    spec, task = model.learner.spec, model.about["task"]
    if task != "regression" or not has_std(spec):
        able = ", ".join(own.name for own in learner_specs().values() if has_std(own))
        raise UserError(f"{spec.label} has no standard deviations for {task}; for regression {able} have")


def intervals(model: Model, rows: Rows, share: float) -> dict[str, np.ndarray]:
    """Return the ends (n,) of the intervals that hold a target with this probability."""
    scores, std = predictions_and_std(model, rows)
    width = half_width(model.learner.spec, share) * std
    return {"low": scores - width, "high": scores + width}


def _calibration(learner: Learner, about: Mapping[str, Any]) -> Platt | None:
    """Return what makes probabilities of the scores of a saved estimator. Raises ValueError for no such."""
    state = about.get("platt")
    return None if state is None else Platt.from_json(state, learner.classes)


def records(rows: Rows, made: Prediction, more: Mapping[str, np.ndarray]) -> list[dict[str, Any]]:
    """Return a record for each row of a part of a file; one that was left out has no label and no score.

    It holds the row's number, its ids, label and score, and ``more`` columns.
    """
    columns = {"label": made.labels, "score": made.scores.tolist()}
    columns |= {name: values.tolist() for name, values in more.items()}
    place = dict(zip(rows.numbers.tolist(), range(len(made.labels)), strict=True))
    found = []
    for number in range(rows.start, rows.stop):
        at = place.get(number)
        record: dict[str, Any] = {"row": number}
        record |= {name: str(texts[number - rows.start]) for name, texts in rows.ids.items()}
        record |= {name: None if at is None else values[at] for name, values in columns.items()}
        found.append(record)
    return found


def columns_of(model: Model, scores: bool, shares: bool) -> list[str]:
    """Return the keys of `records`: scores, shares: whether those of each class are among them."""
    recipe, classes = model.about.get("recipe"), model.about.get("classes") or []
    names = ["row", *(recipe["preparation"]["id"] if recipe else []), "label", "score"]
    names += [f"score {name}" for name in classes if scores]
    return names + [f"P {name}" for name in classes if shares]


def update(model: Model, rows: Rows) -> Model:
    """Let a model learn these rows in their order, after those that it has learnt."""
    y = np.ones(len(rows.indptr) - 1) if rows.y is None or model.about["task"] == "novelty" else rows.y
    classes = model.learner.classes
    stream = make_stream(rows.indptr, rows.indices, rows.values, y, np.arange(len(y)), classes)
    trace, _ = model.learner.run(stream, progress=model.progress)
    if calibration := _calibration(model.learner, model.about):
        calibrate(calibration, stream, trace)
        model.about["platt"] = calibration.to_json()
    return model


def described(model: Model) -> dict[str, Any]:
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
        shown["support_vectors"] = {"distinct": int(E.size[0]), "per_kernel": [int(n) for n in E.n_sv]}
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
