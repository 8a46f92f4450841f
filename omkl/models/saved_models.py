"""Train a model, save and load it, let it learn more, describe it."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

import omkl.data
from omkl import seeds
from omkl.config import Plan, learner_spec, members_of
from omkl.config.learners import check_classes
from omkl.data.dataset import MANY
from omkl.data.orders import rounds_of
from omkl.data.preparing.new_rows import Rows, described_data
from omkl.data.preparing.recipe import Recipe
from omkl.engine.stream import make_stream
from omkl.errors import UserError, counted, show
from omkl.models import model_file
from omkl.models.new_data import check_sizes
from omkl.models.saved_model import SavedModel, calibrate_model, calibration_of
from omkl.others.names import Names
from omkl.passes.calibration import asked_for
from omkl.passes.chosen_kernels import choose_kernels
from omkl.passes.packing import not_to_be_saved
from omkl.passes.warm import warm_up_once
from omkl.rounds.record import Progress
from omkl.rounds.scaling import Scaling
from omkl.stacks.new_learner import new_learner
from omkl.tasks import for_task


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
    learner = new_learner(
        spec,
        params,
        pool,
        dataset.d,
        seed,
        block=plan.block,
        rounds=stream.T,
        classes=classes,
        scaling=scaling,
        names=Names.of(dataset),
    )
    check_sizes(learner, dataset.indptr, dataset.values, stream.T, f"data={name}")
    progress = Progress(dataset.task)
    trace, _ = learner.run(stream, progress=progress)
    about = {**described_data(data), "order": plan.order, "seed": plan.seed}
    calibration = asked_for(dataset.task, setting.scaling, classes)
    calibrate_model(about, calibration, learner, stream, trace)
    return SavedModel(learner, progress, about)


def check_savable(plan: Plan) -> None:
    """Raise UserError for a plan whose model no file could hold, as a member is of another package."""
    for setting in plan.settings:
        for member in members_of(setting.spec, setting.params):
            if member.spec.estimator:
                raise not_to_be_saved(member.spec)


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
        calibration_of(learner, about)
    except (ValueError, AttributeError) as error:
        raise UserError(f"{path} is not a valid model: {error}") from None
    return SavedModel(learner, progress, {"data": "", **about})


def update_model(model: SavedModel, rows: Rows) -> SavedModel:
    """Let a model learn these rows in their order, after those that it has learnt."""
    y = np.ones(len(rows.indptr) - 1) if rows.y is None or model.about["task"] == "novelty" else rows.y
    classes = model.learner.classes
    stream = make_stream(rows.indptr, rows.indices, rows.values, y, np.arange(len(y)), classes)
    trace, _ = model.learner.run(stream, progress=model.progress)
    calibrate_model(model.about, calibration_of(model.learner, model.about), model.learner, stream, trace)
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
