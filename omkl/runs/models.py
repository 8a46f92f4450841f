"""Saved models on the command line: train one, ask it about new rows, let it learn more, show it."""

import math
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import omkl.data
from omkl import seeds
from omkl.config import Plan, learner_spec
from omkl.config.domains import rounds_of
from omkl.config.learners import check_classes
from omkl.data.arrays import from_arrays
from omkl.data.data_files import size_limit
from omkl.data.dataset import MANY, Dataset, warn_of_offsets
from omkl.data.formats import Format, format_of, read_table
from omkl.data.labels import MOST_LISTED, distinct, finder, label_text, shortlist, targets
from omkl.data.parse import Examples, dense
from omkl.data.recipe import Preparation, Recipe
from omkl.data.tables import of_frame
from omkl.engine.stream import make_stream
from omkl.errors import UserError, show, suggest
from omkl.learning import model_file
from omkl.learning.cell import warm_up_once
from omkl.learning.learner import Learner
from omkl.learning.model import Progress, classify, score
from omkl.learning.one_pass import choose_kernels
from omkl.learning.overflow import check_rows
from omkl.learning.scaling import Scaling
from omkl.tasks import for_task


class Model(NamedTuple):
    """A learner that was trained, its record, and what is known of its data.

    about: task, data (their name), classes (as text, in the order of their numbers) and recipe (of a table)
    or None
    """

    learner: Learner
    progress: Progress
    about: dict[str, Any]


class Rows(NamedTuple):
    """Rows for a model: CSR arrays, and their labels or targets as numbers, nan where one is not known.

    y: None where the file has none    numbers: of the rows in their file, from 1; some may have been left out
    total: how many rows the file has    notes: for the user, on what the model does not know or take
    """

    indptr: np.ndarray
    indices: np.ndarray
    values: np.ndarray
    y: np.ndarray | None
    numbers: np.ndarray
    total: int
    notes: tuple[str, ...] = ()


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
        if about.get("task") not in learner.spec.tasks or progress.task != about["task"]:
            raise ValueError(f"{learner.spec.name} is not for {show(about.get('task'))}")
    except (ValueError, AttributeError) as error:
        raise UserError(f"{path} is not a valid model: {error}") from None
    return Model(learner, progress, {"data": "", **about})


def rows_of(model: Model, path: Path, labelled: bool) -> Rows:
    """Return the rows of a file as the model's data were prepared.

    labelled: whether they must have labels. Raises UserError for a file that does not fit the model.
    """
    learner, about = model.learner, model.about
    if not path.is_file():
        hint = "; name a file, not a data set" if str(path) in omkl.data.registry.names() else ""
        raise UserError(f"{path}: {'this is a folder' if path.is_dir() else 'no such file'}{hint}")
    recipe = Recipe.from_json(about["recipe"]) if about.get("recipe") else None
    notes: list[str] = []
    if recipe is not None:
        table = read_table(path, recipe.preparation, size_limit())
        X, labels, kept = recipe.apply(table, new=True, labelled=labelled)
        count = len(table.columns[0].text)
        notes += [*table.notes, *recipe.unseen(table, kept)]
        examples = dense(X, np.empty(len(kept)) if labels is None else labels)
        there = labels is not None
    elif (own := format_of(path)).is_table:
        raise UserError(
            f"{path} is a table; the model was trained on {about.get('data') or 'other data'}, not on one"
        )
    else:
        examples, there = _rows(own, path, "auto"), True
        if examples.base > (base := about.get("index_base", 1)):
            examples = _rows(own, path, base)
        elif examples.base < base:
            raise UserError(
                f"{path}: an index is 0, but the columns of the model's data count from 1; train it on data "
                "with an index 0, or with index_base=0"
            )
        count = len(examples.labels)
        kept = np.arange(count)
    largest = int(examples.indices.max(initial=-1)) + 1
    if largest > learner.d:
        raise UserError(f"{path}: column {largest}; the model has {learner.d} features")
    rounds = model.progress.rounds + len(kept) if labelled else 1
    _check(learner, examples.indptr, examples.values, rounds, str(path))
    if labelled and not there:
        raise UserError(f"{path}: no column '{recipe.label if recipe else ''}' with the labels to learn from")
    y, doubts = _labels(examples.labels, model, path, labelled) if there else (None, [])
    if len(kept) < count:
        doubts = [f"missing=drop leaves out {count - len(kept)} of {count} rows", *doubts]
    if doubts:
        notes.append(f"{path}: {'; '.join(doubts)}")
    return Rows(examples.indptr, examples.indices, examples.values, y, kept + 1, count, tuple(notes))


def rows_in_memory(model: Model, X: Any, y: Any = None, labelled: bool = False) -> Rows:
    """Return rows of a frame, an array (n, d) or a sparse matrix as the model's data were prepared.

    y: labels (n,), None where they are unknown or a column    labelled: whether each row must have a label.
    Raises UserError for what does not fit the model.
    """
    learner, about, where = model.learner, model.about, Path("data")
    if recipe := about.get("recipe") and Recipe.from_json(about["recipe"]):
        if not hasattr(X, "columns"):
            raise UserError(
                "data: the model was trained on a table; give a frame with its columns, or a file"
            )
        table = of_frame(X, where)
        features, labels, kept = recipe.apply(table, new=True, labelled=labelled and y is None)
        examples = dense(features, np.empty(len(kept)))
        labels = labels if y is None else np.asarray(y)[kept]
        count = len(table.columns[0].text)
    else:
        names = about.get("features")
        if names and hasattr(X, "columns"):
            columns = {str(column): column for column in X.columns}
            for name in names:
                if name not in columns:
                    raise UserError(f"data has no column '{name}'{suggest(name, columns)}")
            X = X[[columns[name] for name in names]]
        count = X.shape[0] if hasattr(X, "shape") else len(X)
        rows = from_arrays(X, np.zeros(count), name="data", task="regression")
        examples = Examples(rows.indptr, rows.indices, rows.values, rows.y, rows.d)
        labels, kept = None if y is None else np.asarray(y), np.arange(count)
    if examples.d > learner.d:
        raise UserError(f"data: column {examples.d}; the model has {learner.d} features")
    _check(learner, examples.indptr, examples.values, model.progress.rounds + count, "data")
    if labelled and labels is None:
        raise UserError("data: no labels to learn from; give them with y=..., or label=... of a frame")
    numbers = None
    if labels is not None:
        kind = np.float64 if labels.dtype.kind in "iuf" else str
        numbers, _ = _labels(labels.astype(kind), model, where, labelled)
    return Rows(examples.indptr, examples.indices, examples.values, numbers, kept + 1, count)


def _rows(own: Format, path: Path, base: str | int) -> Examples:
    examples = own.read(path, Preparation(index_base=base), size_limit())
    assert isinstance(examples, Examples)
    return examples


def _labels(labels: np.ndarray, model: Model, path: Path, strict: bool) -> tuple[np.ndarray, list[str]]:
    """Return the labels as the learner takes them, nan where one is not known, and what to say of these.

    labels: an empty text is a missing one    strict: whether another label than the model's is an error
    """
    task, recipe = model.about["task"], model.about.get("recipe") or {}
    there = np.ones(len(labels), bool) if labels.dtype.kind == "f" else labels != ""
    y = np.full(len(labels), np.nan)
    unknown: Counter[str] = Counter()
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
        unknown.update(names[number] for number in place[np.isnan(y[there])])
    doubts = []
    if unknown:
        texts = [f"{label_text(text)} ({count})" for text, count in unknown.most_common()]
        doubts.append(f"{unknown.total()} of {len(labels)} labels unknown to the model: {shortlist(texts)}")
    if there.any() and not there.all() and task != "novelty":
        doubts.append(f"no label in {np.count_nonzero(~there)} of {len(labels)} rows")
    return y, doubts


def _and(classes: list[Any]) -> str:
    *first, last = map(str, classes)
    return f"{', '.join(first[:MOST_LISTED])}{', ...' if len(first) > MOST_LISTED else ''} and {last}"


class Prediction(NamedTuple):
    """The scores of rows, their labels as the source writes them, and how wrong those with known labels are.

    With more than two classes a score is that of the class predicted less that of the next one.
    """

    scores: np.ndarray
    labels: list[Any]
    errors: str


def predict(model: Model, rows: Rows) -> Prediction:
    """Return the predictions for rows; nothing is learnt."""
    own = rows.indptr, rows.indices, rows.values
    task, classes = model.about["task"], model.about.get("classes") or ["-1", "1"]
    y = np.full(len(rows.numbers), np.nan) if rows.y is None else rows.y
    known = ~np.isnan(y)
    count = int(np.count_nonzero(known))
    if len(classes) > 2:
        place, scores = classify(model.learner, *own)
    else:
        scores = score(model.learner, *own)
        place = (scores > 0).astype(int)
    if task == "classification":
        labels: list[Any] = [classes[number] for number in place]
        right = (place == y) & (scores > 0) if len(classes) > 2 else y * scores > 0
        wrong = np.count_nonzero(known & ~right)
        errors = f"{wrong} mistakes on {count} rows ({100 * wrong / count:.2f} %)" if count else ""
    elif task == "novelty":
        labels = ["novel" if value < 0 else "usual" for value in scores]
        errors = f"{labels.count('novel')} of {len(labels)} rows are novel"
    else:
        labels = scores.tolist()
        errors = f"mean squared error {np.mean(np.square(scores - y)[known]):.6g}" if count else ""
    return Prediction(scores, labels, errors)


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
    if learner.scaling is not None:
        shown["scaling"] = learner.scaling.words
    recipe: Mapping[str, Any] | None = about.get("recipe")
    if recipe:
        shown["preparation"] = {**recipe["preparation"], "label": recipe["label"]}
    return {key: value for key, value in shown.items() if value is not None}
