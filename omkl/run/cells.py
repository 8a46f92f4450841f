"""A cell is one learner on one data set in one order: which cells a plan has, and how one is run."""

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from omkl.errors import UserError
from omkl.learner.job import Job, keep
from omkl.store.keys import cell_key

if TYPE_CHECKING:
    from collections.abc import Iterable

    from omkl.config import LearnerSpec, Plan, Setting
    from omkl.data import Dataset

Sizes = dict[tuple[str, str], int]  # budgets by data set (as the plan names it) and `matched_name`


@dataclass(frozen=True)
class Cell:
    """One cell of a plan: its key in the store, how it is run, and an estimate of its seconds.

    params: the hyperparameters of the plan; the job has a number where a budget matches a size.
    """

    key: str
    job: Job
    cost: float
    params: dict[str, Any]

    @property
    def line(self) -> dict[str, Any]:
        """What the cell's line in the store says of it, without results and provenance."""
        job, pool = self.job, self.job.pool
        return {
            "key": self.key,
            "algo": job.spec.name,
            "params": {**job.spec.former, **job.params},
            "pool": pool and pool["name"],
            "pool_spec": pool and {"normalise": pool["normalise"], "kernels": pool["kernels"]},
            "data": job.name,
            "data_hash": job.content_hash,
            "task": job.task,
            "order": job.order,
            "rep": job.rep,
            "seed": job.seed,
            "permutation_seed": str(job.permutation_seed),
            "revision": job.spec.revision,
        }


def expand(plan: "Plan", sizes: Sizes | None = None) -> list[Cell]:
    """Return the cells of a plan: data sets × (settings, then yardsticks) × repetitions, none twice.

    sizes: what ``matched_budgets.sizes`` returned, where a budget is to match another learner's size.
    Loads each data set (a yardstick that does not fit its task is left out). Raises UserError for data
    that cannot be read or do not fit a learner.
    """
    import omkl.data
    from omkl.config import learner_specs

    cells: dict[tuple, Cell] = {}
    specs = learner_specs(dict.fromkeys(setting.learner for setting in (*plan.settings, *plan.yardsticks)))
    loaded = {name: omkl.data.load(name, task=plan.task) for name in plan.data}
    for name, dataset in loaded.items():
        keep(dataset)
        seeds = [omkl.data.order_seed(dataset, plan.order, plan.seed, rep) for rep in range(plan.reps)]
        settings = [*plan.settings, *(s for s in plan.yardsticks if dataset.task in specs[s.learner].tasks)]
        for setting in settings:
            if not setting.fits(dataset.task):
                continue
            spec = specs[setting.learner]
            spec.check_data(setting.params, dataset.task, name)
            params = with_number(setting, name, sizes or {})
            _check_range(setting, dataset)
            _check_budget(spec, params, dataset)
            for rep, seed in enumerate(seeds):
                cell = _cell(plan, setting, params, spec, dataset, rep, seed)
                cells.setdefault((name, setting.pool and setting.pool["name"], cell.key), cell)
    return list(cells.values())


def _cell(
    plan: "Plan",
    setting: "Setting",
    params: dict,
    spec: "LearnerSpec",
    dataset: "Dataset",
    rep: int,
    seed: int,
) -> Cell:
    job = Job(
        spec=spec,
        params=params,
        pool=setting.pool,
        name=dataset.name,
        content_hash=dataset.content_hash,
        task=dataset.task,
        data=dataset.path or dataset,
        order=plan.order,
        seed=plan.seed,
        rep=rep,
        permutation_seed=seed,
        block=plan.block,
    )
    return Cell(_key(job, spec.revision), job, _seconds(setting, spec, dataset), setting.params)


def _key(job: Job, revision: int) -> str:
    return cell_key(
        algo=job.spec.name,
        params={**job.spec.former, **job.params},
        pool=job.pool,
        data_hash=job.content_hash,
        order=job.order,
        permutation_seed=job.permutation_seed,
        revision=revision,
        task=job.task,
    )


def older_keys(cells: "Iterable[Cell]") -> dict[str, tuple[str, int]]:
    """Return the keys that cells had under older revisions of their learners: learner and revision by key."""
    specs = ((cell.job, cell.job.spec) for cell in cells)
    return {_key(job, old): (spec.name, old) for job, spec in specs for old in range(1, spec.revision)}


def _check_budget(spec: "LearnerSpec", params: dict[str, Any], dataset: "Dataset") -> None:
    """Raise UserError for a budget that no stream of the data set could fill."""
    if spec.budget and params[spec.budget] > dataset.T:
        raise UserError(
            f"algo.{spec.budget}={params[spec.budget]}: {spec.name} cannot store more vectors per kernel "
            f"than data={dataset.name} has examples, T = {dataset.T}; choose at most that"
        )


def _check_range(setting: "Setting", dataset: "Dataset") -> None:
    """Raise UserError where kernel values would overflow: NaN must never reach a weight."""
    import numpy as np

    if dataset.nnz == 0:
        return
    kernels = setting.kernels
    degree = max((kernel.get("degree", 1) for kernel in kernels), default=1)
    scale = max((kernel.get("scale", 1.0) for kernel in kernels), default=1.0)
    largest = float(np.abs(dataset.values).max())
    longest = int(np.diff(dataset.indptr).max())
    digits = degree * (2.0 * np.log10(largest) + np.log10(longest * max(scale, 1.0))) + np.log10(dataset.T)
    if digits > 300.0:
        kind = f"kernel values of degree {degree}" if degree > 1 else "squared distances"
        other = ", or choose a pool without polynomials" if degree > 1 else ""
        raise UserError(
            f"data={dataset.name}: a feature of size {largest:.3g} makes {kind} overflow "
            f"(algo={setting.learner}); scale the features{other}"
        )


def _seconds(setting: "Setting", spec: "LearnerSpec", dataset: "Dataset") -> float:
    """Estimate a cell's time; a learner that chooses its kernels reads the stream twice."""
    from omkl.learner.resources import Setup, pass_seconds

    setup = Setup(setting.params, setting.kernel_pool)
    return pass_seconds(spec.state, setup, dataset.T, dataset.nnz) * (2 if spec.setup else 1)


def with_number(setting: "Setting", data: str, sizes: Sizes) -> dict[str, Any]:
    """Return a setting's hyperparameters with the number in place of a budget that matches a size."""
    name, other = matched(setting)
    return {**setting.params, name: sizes[data, matched_name(other)]} if other else setting.params


def matched(setting: "Setting") -> "tuple[str, Setting | None]":
    """Return which hyperparameter is to match a size, and the learner of that size on the setting's own pool.

    ("", None) where none is.
    """
    from omkl.config import Setting
    from omkl.config.learners import matched_params, to_match

    for name, value in setting.params.items():
        if to_match(value):
            return name, Setting(value["match"], matched_params(value), setting.pool)
    return "", None


def matched_name(setting: "Setting") -> str:
    """Return what stands for the learner to be matched in `Sizes`."""
    pool = setting.pool and {key: setting.pool[key] for key in ("normalise", "kernels")}
    return json.dumps([setting.learner, setting.params, pool], sort_keys=True)
