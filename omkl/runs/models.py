"""Saved models on the command line: train one, ask it about new rows, let it learn more, show it."""

import math
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import omkl.data
from omkl import seeds
from omkl.config import Plan, learner_spec
from omkl.config.domains import rounds_of
from omkl.config.learners import check_classes
from omkl.data.data_files import size_limit, standard_input
from omkl.data.dataset import MANY, Dataset, warn_of_offsets
from omkl.data.formats import format_of, parts_of
from omkl.data.labels import MOST_LISTED, distinct, finder, printable, shortlist, targets
from omkl.data.parse import Examples, dense
from omkl.data.recipe import Preparation, Recipe
from omkl.engine.stream import make_stream
from omkl.errors import UserError, show, suggest
from omkl.learner import model_file
from omkl.learner.cell import warm_up
from omkl.learner.learner import Learner
from omkl.learner.model import Progress, class_scores, classify, score
from omkl.learner.one_pass import choose_kernels
from omkl.learner.overflow import check_rows
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
    """

    path: Path
    rows: int = 0
    kept: int = 0
    labels: int = 0
    unlabelled: int = 0
    said: dict[str, None] = field(default_factory=dict)
    unseen: dict[str, Counter[str]] = field(default_factory=dict)
    unknown: Counter[str] = field(default_factory=Counter)

    @property
    def notes(self) -> list[str]:
        """The notes for the user."""
        notes = list(self.said)
        for name, words in self.unseen.items():
            if words:
                texts = [f"{text} ({count})" for text, count in words.most_common()]
                notes.append(
                    f"{self.path}: column '{name}' holds values that were not in the training data: "
                    f"{shortlist(texts)}; in {words.total()} of {self.kept} rows all of its features are 0"
                )
        doubts = []
        if self.kept < self.rows:
            doubts.append(f"missing=drop leaves out {self.rows - self.kept} of {self.rows} rows")
        if self.unknown:
            texts = [f"{printable(text)} ({count})" for text, count in self.unknown.most_common()]
            counted = f"{self.unknown.total()} of {self.labels} labels unknown to the model"
            doubts.append(f"{counted}: {shortlist(texts)}")
        if 0 < self.unlabelled < self.labels:
            doubts.append(f"no label in {self.unlabelled} of {self.labels} rows")
        return [*notes, f"{self.path}: {'; '.join(doubts)}"] if doubts else notes


def fit(plan: Plan) -> Model:
    """Train the one learner of a plan on its one data set, in its order, as repetition 0 of a run does.

    Raises UserError for a plan of several learners, settings or data sets.
    """
    if len(plan.settings) != 1 or len(plan.data) != 1:
        raise UserError(
            "omkl fit trains one learner on one data set; learners or settings given: "
            f"{len(plan.settings)}, data sets: {len(plan.data)}"
        )
    setting, data = plan.settings[0], plan.data[0]
    dataset, recipe, name = data.load(), data.recipe, data.word
    spec = learner_spec(setting.learner)
    if spec.estimator:
        raise UserError(f"algo={spec.name}: omkl fit saves learners of omkl; {spec.estimator} is not one")
    params = for_task(setting.params, dataset.task)
    spec.check_data(params, dataset.task, name)
    check_classes(spec, name, dataset.n_classes)
    if spec.budget and not isinstance(params[spec.budget], int):
        raise UserError(f"algo.{spec.budget}: omkl fit needs a number here")
    if dataset.d > MANY:
        raise UserError(f"data={name}: {dataset.d} columns; a model has at most {MANY}")
    order, permutation = omkl.data.order(dataset, plan.order, plan.seed, 0)
    if part := rounds_of(plan.rounds, dataset.T, name):
        order = order[slice(*part)]
    seed = seeds.learner_seed(permutation, spec.draws_as or spec.name)
    classes = dataset.n_classes
    stream = make_stream(dataset.indptr, dataset.indices, dataset.values, dataset.y, order, classes)
    warm_up([(spec, params, classes)])
    pool = setting.kernel_pool
    if spec.setup and pool is not None:
        apart = seeds.derive("apart", dataset.content_hash)
        pool = choose_kernels(spec, params, pool, dataset.d, stream, apart, plan.block, classes)
    learner = Learner(spec, params, pool, dataset.d, seed, plan.block, stream.T, classes=classes)
    _check(learner, dataset.indptr, dataset.values, stream.T, f"data={name}")
    warn_of_offsets(dataset, setting.kernels)
    progress = Progress(dataset.task)
    learner.run(stream, progress=progress)
    about = {
        "task": dataset.task,
        "data": dataset.name,
        "content_hash": dataset.content_hash,
        "order": plan.order,
        "seed": plan.seed,
        "classes": _classes(dataset),
        "recipe": recipe.to_json() if recipe else None,
        "index_base": dataset.index_base,
        "features": recipe.features if recipe else None,
    }
    return Model(learner, progress, about)


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


def save(model: Model, path: Path) -> None:
    """Save a model; the file is replaced in one step."""
    model_file.write(path, model.learner, {**model.about, "progress": model.progress.to_json()})


def load(path: Path) -> Model:
    """Return a saved model. Raises UserError for a file that is none."""
    learner, about = model_file.read(path)
    try:
        progress = Progress.from_json(about.pop("progress", {}))
        recipe = about.get("recipe")
        if recipe is not None and Recipe.from_json(recipe).features != about.get("features"):
            raise ValueError("its features are not those of its recipe")
        if about.get("index_base", 1) not in (0, 1):
            raise ValueError("its index_base is not 0 or 1")
        if about.get("task") not in learner.spec.tasks or progress.task != about["task"]:
            raise ValueError(f"{learner.spec.name} is not for {show(about.get('task'))}")
    except (ValueError, AttributeError) as error:
        raise UserError(f"{path} is not a valid model: {error}") from None
    return Model(learner, progress, {"data": "", **about})


def rows_of(model: Model, path: Path, labelled: bool) -> tuple[Iterator[Rows], Doubts]:
    """Return the rows of a file in parts, as the model's data were prepared, and what is to be said of them.

    What is to be said is complete when all parts have been taken. labelled: whether they must have labels
    Raises UserError, also while the parts are taken, for a file that does not fit the model.
    """
    path = standard_input() if str(path) == "-" else path
    if not path.is_file():
        hint = "; name a file, not a data set" if str(path) in omkl.data.registry.names() else ""
        raise UserError(f"{path}: {'this is a folder' if path.is_dir() else 'no such file'}{hint}")
    if not model.about.get("recipe") and format_of(path).is_table:
        known = model.about.get("data") or "other data"
        raise UserError(f"{path} is a table; the model was trained on {known}, not on one")
    doubts = Doubts(path)
    return _parts(model, path, labelled, doubts), doubts


def _parts(model: Model, path: Path, labelled: bool, doubts: Doubts) -> Iterator[Rows]:
    recipe = Recipe.from_json(model.about["recipe"]) if model.about.get("recipe") else None
    base = model.about.get("index_base", 1)
    preparation = recipe.preparation if recipe else Preparation(index_base=base, qid="drop")
    for part in parts_of(path, preparation, size_limit(), PART, recipe is not None):
        start, ids, there = doubts.rows, {}, True
        if isinstance(part, Examples):
            examples, kept, rows = part, np.arange(len(part.labels)), len(part.labels)
        else:
            assert recipe is not None
            X, labels, kept = recipe.apply(part, new=True, labelled=labelled)
            ids, there, rows = recipe.ids(part), labels is not None, len(part.columns[0].text)
            doubts.said |= dict.fromkeys(part.notes)
            for name, words in recipe.unseen(part, kept).items():
                doubts.unseen.setdefault(name, Counter()).update(words)
            examples = dense(X, np.empty(len(kept)) if labels is None else labels)
        doubts.rows, doubts.kept = start + rows, doubts.kept + len(kept)
        largest = int(examples.indices.max(initial=-1)) + 1
        if largest > model.learner.d:
            raise UserError(f"{path}: column {largest}; the model has {model.learner.d} features")
        rounds = model.progress.rounds + len(kept) if labelled else 1
        _check(model.learner, examples.indptr, examples.values, rounds, str(path))
        if labelled and not there:
            name = recipe.label if recipe else ""
            raise UserError(f"{path}: no column '{name}' with the labels to learn from")
        y = _labels(examples.labels, model, path, labelled, doubts) if there else None
        own = examples.indptr, examples.indices, examples.values
        yield Rows(*own, y, start + kept + 1, start + 1, start + rows + 1, ids)


def _labels(labels: np.ndarray, model: Model, path: Path, strict: bool, doubts: Doubts) -> np.ndarray:
    """Return the labels as the learner takes them, nan where one is not known.

    labels: an empty text is a missing one    strict: whether another label than the model's is an error
    """
    task, recipe = model.about["task"], model.about.get("recipe") or {}
    there = np.ones(len(labels), bool) if labels.dtype.kind == "f" else labels != ""
    y = np.full(len(labels), np.nan)
    if task != "classification":
        y[there] = targets(labels[there], str(path))
    else:
        known = model.about["classes"]
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
    *first, last = map(str, classes)
    return f"{', '.join(first[:MOST_LISTED])}{', ...' if len(first) > MOST_LISTED else ''} and {last}"


@dataclass
class Errors:
    """How wrong the predictions are, counted over the parts of a file.

    count: rows with known labels    total: mistakes on them, or their summed squared errors
    """

    task: str
    rows: int = 0
    novel: int = 0
    count: int = 0
    total: float = 0.0

    def __str__(self) -> str:
        if self.task == "novelty":
            return f"{self.novel} of {self.rows} rows are novel"
        if not self.count:
            return ""
        if self.task == "regression":
            return f"mean squared error {self.total / self.count:.6g}"
        return f"{self.total:.0f} mistakes on {self.count} rows ({100 * self.total / self.count:.2f} %)"


def predict(model: Model, rows: Rows, errors: Errors, scores: bool = False) -> list[dict[str, Any]]:
    """Return a record for each row of a part, left-out rows too; nothing is learnt.

    It holds the row's number, its ids, label and score: with more than two classes that of the class
    predicted less that of the next one. scores: whether to give the score of each class
    """
    own = rows.indptr, rows.indices, rows.values
    task, classes = model.about["task"], model.about.get("classes") or ["-1", "1"]
    y = np.full(len(rows.numbers), np.nan) if rows.y is None else rows.y
    known = ~np.isnan(y)
    several = task == "classification" and len(classes) > 2
    if several:
        place, margins = classify(model.learner, *own)
        right = (place == y) & (margins > 0)
    else:
        margins = score(model.learner, *own)
        place, right = (margins > 0).astype(int), y * margins > 0
    errors.rows += len(margins)
    errors.count += int(np.count_nonzero(known))
    if task == "classification":
        labels: list[Any] = [classes[number] for number in place]
        errors.total += int(np.count_nonzero(known & ~right))
    elif task == "novelty":
        labels = ["novel" if value < 0 else "usual" for value in margins]
        errors.novel += labels.count("novel")
    else:
        labels = margins.tolist()
        errors.total += float(np.square(margins - y)[known].sum())
    columns: dict[str, list[Any]] = {"label": labels, "score": margins.tolist()}
    if scores:
        of_class = class_scores(model.learner, *own) if several else np.column_stack([-margins, margins])
        columns |= {f"score {name}": of_class[:, at].tolist() for at, name in enumerate(classes)}
    at = dict(zip(rows.numbers.tolist(), range(len(margins)), strict=True))
    records = []
    for number in range(rows.start, rows.stop):
        record: dict[str, Any] = {"row": number}
        record |= {name: str(texts[number - rows.start]) for name, texts in rows.ids.items()}
        filled = at.get(number)
        record |= {key: None if filled is None else values[filled] for key, values in columns.items()}
        records.append(record)
    return records


def update(model: Model, rows: Rows) -> Model:
    """Let a model learn these rows in their order, after those that it has learnt."""
    y = np.ones(len(rows.indptr) - 1) if rows.y is None or model.about["task"] == "novelty" else rows.y
    classes = model.learner.classes
    stream = make_stream(rows.indptr, rows.indices, rows.values, y, np.arange(len(y)), classes)
    model.learner.run(stream, progress=model.progress)
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
        weights = learner.weights
        shown["normalise"] = learner.pool["normalise"]
        shown["kernels"] = [
            dict(kernel)
            | (
                {}
                if weights is None or len(weights) != learner.m
                else {"weight": round(float(weights[i]), 6)}
            )
            for i, kernel in enumerate(learner.pool["kernels"])
        ]
    recipe: Mapping[str, Any] | None = about.get("recipe")
    if recipe:
        shown["preparation"] = {**recipe["preparation"], "label": recipe["label"]}
    return {key: value for key, value in shown.items() if value is not None}
