"""Saved models on the command line: train one, ask it about new rows, let it learn more, show it."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import omkl.data
from omkl import seeds
from omkl.config import Plan, learner_spec
from omkl.config.domains import rounds_of
from omkl.config.learners import check_classes
from omkl.data import table_files
from omkl.data.data_files import size_limit
from omkl.data.dataset import MANY, Dataset
from omkl.data.delimited import delimiter
from omkl.data.labels import MOST_LISTED, targets
from omkl.data.offsets import warn_of_offsets
from omkl.data.parse import Examples, dense, read_libsvm
from omkl.data.prepare import is_table, read_table_file
from omkl.data.recipe import Recipe
from omkl.engine.stream import make_stream
from omkl.errors import UserError, show, suggest
from omkl.learner import model_file
from omkl.learner.job import warm_up
from omkl.learner.learner import Learner
from omkl.learner.model import Progress, classify, score
from omkl.learner.one_pass import choose_kernels
from omkl.learner.ranges import check_rows
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
    """Rows for a model: CSR arrays, and their labels or targets as numbers where they are there.

    notes: for the user, on categories that the model does not know
    """

    indptr: np.ndarray
    indices: np.ndarray
    values: np.ndarray
    y: np.ndarray | None
    numbers: np.ndarray  # of the rows in their file, from 1: some may have been dropped
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
    setting, name = plan.settings[0], plan.data[0]
    dataset, recipe = _data(name, plan)
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
        "features": recipe.features if recipe else None,
    }
    return Model(learner, progress, about)


def _check(learner: Learner, indptr: np.ndarray, values: np.ndarray, rounds: int, where: str) -> None:
    try:
        check_rows(learner.growth, indptr, values, rounds)
    except ValueError as error:
        raise UserError(f"{where}: {error}; scale the features") from None


def _data(name: str, plan: Plan) -> tuple[Dataset, Recipe | None]:
    if omkl.data.registry.is_name(name) or not is_table(Path(name)):
        return plan.load(name), None
    return read_table_file(Path(name).expanduser(), plan.task, plan.preparation)


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
        if about.get("recipe") is not None:
            Recipe.from_json(about["recipe"])
        classes = about.get("classes")
        if about.get("task") not in learner.spec.tasks:
            raise ValueError(f"{learner.spec.name} is not for {about.get('task')!r}")
        if classes is not None and not (isinstance(classes, list) and len(classes) == learner.classes):
            raise ValueError(f"its classes are not {learner.classes}")
    except (ValueError, AttributeError) as error:
        raise UserError(f"{path} is not a valid model: {error}") from None
    return Model(learner, progress, {"data": "", **about})


def rows_of(model: Model, path: Path, labelled: bool) -> Rows:
    """Return the rows of a file as the model's data were prepared.

    labelled: whether they must have labels. Raises UserError for a file that does not fit the model.
    """
    learner, about = model.learner, model.about
    if not path.is_file():
        known = omkl.data.registry.is_name(str(path))
        hint = "; name a file, not a data set" if known else ""
        raise UserError(f"{path}: {'this is a folder' if path.is_dir() else 'no such file'}{hint}")
    recipe = Recipe.from_json(about["recipe"]) if about.get("recipe") else None
    notes: tuple[str, ...] = ()
    if recipe is not None:
        table = table_files.read(path, delimiter(path), size_limit())
        X, labels, kept = recipe.apply(table, new=True, labelled=labelled)
        notes = tuple(recipe.unseen(table, kept))
        examples = dense(X, np.empty(len(X)) if labels is None else labels.astype(str))
        there = labels is not None
    elif is_table(path):
        raise UserError(
            f"{path} is a table; the model was trained on {about.get('data') or 'other data'}, not on one"
        )
    else:
        examples, there = read_libsvm([path], size_limit()), True
        kept = np.arange(len(examples.labels))
    largest = int(examples.indices.max(initial=-1)) + 1
    if largest > learner.d:
        raise UserError(f"{path}: column {largest}; the model has {learner.d} features")
    rounds = model.progress.rounds + len(kept) if labelled else 1
    _check(learner, examples.indptr, examples.values, rounds, str(path))
    y = _labels(examples, model, path, labelled) if there else None
    if labelled and y is None:
        raise UserError(f"{path}: no column '{recipe.label if recipe else ''}' with the labels to learn from")
    return Rows(examples.indptr, examples.indices, examples.values, y, kept + 1, notes)


def _labels(examples: Examples, model: Model, path: Path, strict: bool) -> np.ndarray | None:
    """Return the labels as the learner takes them; None where they are not the model's and need not be."""
    if model.about["task"] != "classification":
        return targets(examples.labels, str(path))
    known = model.about["classes"]
    texts = [_text(label) for label in examples.labels]
    if (model.about.get("recipe") or {}).get("preparation", {}).get("positive") is not None:
        return np.where(examples.labels.astype(str) == known[1], 1.0, -1.0)
    numbers = (-1.0, 1.0) if len(known) == 2 else map(float, range(len(known)))
    of = dict(zip(map(_text, known), numbers, strict=True))
    unknown = next((text for text in texts if text not in of), None)
    if unknown is None:
        return np.array([of[text] for text in texts])
    if strict:
        *first, last = map(str, known)
        listed = f"{', '.join(first[:MOST_LISTED])}{', ...' if len(first) > MOST_LISTED else ''} and {last}"
        near = suggest(unknown, [*first, last])
        raise UserError(f"{path}: label {show(unknown)}{near}; the model knows {listed}")
    return None


def _text(label: Any) -> str:
    """Return a label so that '+1', '1' and '1.0' are one."""
    try:
        number = float(label)
    except ValueError:
        return str(label)
    return str(int(number)) if number.is_integer() else str(number)


class Prediction(NamedTuple):
    """The scores of rows, their labels as the source writes them, and how many of them are wrong.

    With more than two classes a score is that of the class predicted less that of the next one.
    """

    scores: np.ndarray
    labels: list[Any]
    errors: str


def predict(model: Model, rows: Rows) -> Prediction:
    """Return the predictions for rows; nothing is learnt."""
    own = rows.indptr, rows.indices, rows.values
    task, classes = model.about["task"], model.about.get("classes") or ["-1", "1"]
    if len(classes) > 2:
        place, scores = classify(model.learner, *own)
    else:
        scores = score(model.learner, *own)
        place = (scores > 0).astype(int)
    if task == "classification":
        labels: list[Any] = [classes[number] for number in place]
        wrong = None
        if rows.y is not None:
            right = (place == rows.y) & (scores > 0) if len(classes) > 2 else rows.y * scores > 0
            wrong = np.count_nonzero(~right)
        errors = (
            ""
            if wrong is None
            else f"{wrong} mistakes on {len(scores)} rows ({100 * wrong / len(scores):.2f} %)"
        )
    elif task == "novelty":
        labels, errors = ["novel" if value < 0 else "usual" for value in scores], ""
        errors = f"{labels.count('novel')} of {len(labels)} rows are novel"
    else:
        labels = scores.tolist()
        errors = "" if rows.y is None else f"mean squared error {np.mean(np.square(scores - rows.y)):.6g}"
    return Prediction(scores, labels, errors)


def update(model: Model, rows: Rows) -> Model:
    """Let a model learn these rows in their order, after those that it has learnt."""
    y = np.ones(len(rows.indptr) - 1) if rows.y is None else rows.y
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
