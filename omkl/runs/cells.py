"""The cells of a plan.

A budget may be the size of another learner: ``algo.budget={match:bomkc_spa}``. The budget B of each kernel
then makes m B as near as possible to the other learner's #SV, the mean over the same data set, pool, order,
seed and repetitions. It becomes a number before a cell's key is formed, so the cells are those of
``algo.budget=443``. In the same way ``algo.beta={budget:100}`` of SPA becomes alpha T / 100, with which a
kernel stores at most 100 vectors in expectation.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import omkl.data
from omkl.config import LearnerSpec, Plan, Setting, learner_specs, members_of
from omkl.config.kernel_kinds import PRECOMPUTED
from omkl.config.learners import check_classes, given, matched_params, of_budget, to_match
from omkl.config.planned import Group, PlannedRow, rounds_text
from omkl.data import DataRef
from omkl.errors import OmklError, UserError
from omkl.others.objects import ObjectSpec
from omkl.passes.cell import Cell
from omkl.passes.source import source
from omkl.rounds.overflow import check_rows, growth
from omkl.state.cost import pass_seconds
from omkl.state.resource import Setup
from omkl.store.store import Store

ROUND = 5e-4  # seconds of a round of scikit-learn's estimators


def data_names(cells: Iterable[Cell]) -> dict[str, str]:
    """Return what the cells' data sets are called, by content hash: with its start where two share a name."""
    names = {cell.data.content_hash: cell.data.name for cell in cells}
    count = Counter(names.values())
    return {digest: f"{name} ({digest[:6]})" if count[name] > 1 else name for digest, name in names.items()}


class SizeUnknown(UserError):
    """A budget is to match the size of a learner that the store lacks; plan: the one that computes it."""

    def __init__(self, text: str, plan: Plan) -> None:
        super().__init__(text)
        self.plan = plan


def cost_of(spec: LearnerSpec, setup: Setup, T: int, nnz: int) -> float:
    """Estimate the seconds of a pass from the learner and the size of the data alone."""
    cost = pass_seconds(spec.state, setup, T, nnz) + (ROUND * T if spec.estimator else 0.0)
    for member in members_of(spec, setup.params):
        cost += cost_of(member.spec, Setup(member.params, member.kernel_pool, classes=setup.classes), T, nnz)
    return cost * (2 if spec.setup else 1)  # a learner that chooses its kernels reads the stream twice


class Expanded(NamedTuple):
    """A row of a plan, and its cells."""

    row: PlannedRow
    cells: list[Cell]


def expand(plan: Plan) -> list[Cell]:
    """Return the cells of a plan, see `expanded`."""
    return [cell for _, cells in expanded(plan) for cell in cells]


def expanded(
    plan: Plan, run: Callable[[Plan], Any] | None = None, budgets: Mapping[tuple[str, str], int] | None = None
) -> list[Expanded]:
    """Return the rows of a plan with their cells: data sets × (settings, then yardsticks) × repetitions.

    A cell that several rows have is that of the first.
    Where the repetitions of a learner would be equal, it has one (`Plan.reps_of`).
    A yardstick that does not fit the task or classes of a data set is left out. Where a budget is to match a
    learner's size, ``run`` (``run_plan``) runs the missing cells of that learner; without it they must be in
    the store. budgets: those sizes; a row whose size is not among them has no keys and no cells. Raises
    UserError for data that do not fit a learner, for files of the user's that cannot be read, and as
    `matched_sizes` does; registered sets are not read (that does `check_data`).
    """
    budgets = matched_sizes(plan, run) if budgets is None else budgets
    rows: list[Expanded] = []
    specs = learner_specs(dict.fromkeys(setting.learner for setting in (*plan.settings, *plan.yardsticks)))
    sources = {name: source(spec) for name, spec in specs.items() if not spec.is_stack}
    for data in plan.data:
        rounds, T, test = plan.stream_of(data)
        seeds = [omkl.data.order_seed(data, plan.order, plan.seed, rep) for rep in range(plan.reps)]
        held_out = test.identity if test and isinstance(test.identity, str) else ""
        text = rounds_text(rounds, test and test.name)
        group = Group(data.name, data.content_hash, plan.order, text, held_out)
        yardsticks = [(setting, True) for setting in plan.yardsticks if _suits(specs[setting.learner], data)]
        seen: set[tuple] = set()
        for setting, is_yardstick in [*((setting, False) for setting in plan.settings), *yardsticks]:
            if not setting.fits(data.task, data.name):
                continue
            spec = specs[setting.learner]
            asked = plan.reps_of(spec, data)
            if any(which not in budgets for which in _sizes_of(setting, data)):
                rows.append(Expanded(PlannedRow(group, data, setting, is_yardstick, (), asked), []))
                continue
            learner = _learner_on(data, plan, setting, T, budgets)
            code = source(spec, learner.params) if spec.is_stack else sources[spec.name]
            cells = [
                Cell(
                    spec=spec,
                    params=learner.params,
                    pool=setting.pool,
                    data=data,
                    order=plan.order,
                    seed=plan.seed,
                    rep=rep,
                    permutation_seed=seed,
                    block=plan.block,
                    source=code,
                    rounds=rounds,
                    scaling=setting.scaling,
                    planned=setting,
                    cost=learner.cost,
                    test=test,
                    own=data.task == "regression" and not data.is_registered,
                    objects=learner.objects,
                    told=learner.told,
                )
                for rep, seed in enumerate(seeds[:asked])
            ]
            keys, pool = tuple(cell.key for cell in cells), setting.pool and setting.pool["name"]
            row = PlannedRow(group, data, setting, is_yardstick, keys, asked)
            rows.append(Expanded(row, [cell for cell in cells if (cell.key, pool) not in seen]))
            seen |= {(key, pool) for key in keys}
    return rows


def _sizes_of(setting: Setting, data: DataRef) -> list[tuple[str, str]]:
    """Return which sizes the budgets of a setting match: the data's content hash, and the learner."""
    matched = [_matched(value, setting) for value in setting.params.values() if to_match(value)]
    return [(data.content_hash, other.identity) for other in matched]


@dataclass(frozen=True)
class _Learner:
    """A setting on a data set: its hyperparameters as numbers, the seconds of a pass, a stack's objects.

    told: as of a Cell
    """

    params: dict[str, Any]
    cost: float
    objects: dict[str, Any]
    told: str | None


def _learner_on(
    data: DataRef, plan: Plan, setting: Setting, T: int, budgets: Mapping[tuple[str, str], int]
) -> _Learner:
    """Return a setting on T rounds of a data set. Raises UserError where they do not fit."""
    spec = setting.spec
    spec.check_data(setting.params, data.task, data.word)
    if isinstance(plan.test, str) and setting.kernel_pool:
        _check_no_gram(setting.kernel_pool["kernels"], plan.test)
    check_classes(spec, data.word, data.n_classes)
    params = _with_numbers(setting, T, data, budgets)
    members = members_of(spec, params)  # none where it is no stack
    for member in members:
        check_classes(member.spec, data.word, data.n_classes)
    objects = {member.learner: given[member.learner] for member in members if member.learner in given}
    setup = Setup(params, setting.kernel_pool, classes=data.n_classes)
    is_foreign = spec.estimator or any(member.spec.estimator for member in members)
    told = data.load().told if is_foreign and not data.is_registered else None
    return _Learner(params, cost_of(spec, setup, T, data.nnz * T // data.T), objects, told)


def _with_numbers(
    setting: Setting, T: int, data: DataRef, budgets: Mapping[tuple[str, str], int]
) -> dict[str, Any]:
    """Return hyperparameters on T rounds of a data set, with numbers where they follow from budgets."""
    spec = setting.spec
    params = {
        key: budgets[data.content_hash, _matched(value, setting).identity] if to_match(value) else value
        for key, value in setting.params.items()
    }
    params = _rates(spec, params, T, data)
    if spec.budget and params[spec.budget] > max(data.T, spec.defaults[spec.budget] or 0):
        raise UserError(
            f"algo.{spec.budget}={params[spec.budget]}: {spec.name} cannot store more vectors per "
            f"kernel than data={data.name} has examples, T = {data.T}; choose at most that"
        )
    return params


def _rates(spec: LearnerSpec, params: dict[str, Any], T: int, data: DataRef) -> dict[str, Any]:
    """Return hyperparameters with their numbers where they follow from a budget, checked together."""
    rates = {}
    for name, value in params.items():
        if not of_budget(value):
            continue
        if value["budget"] > T:
            raise UserError(
                f"algo.{name}={{budget:{value['budget']}}}: {spec.name} cannot store more vectors per kernel "
                f"than data={data.name} has rounds, T = {T}; choose at most that"
            )
        rates[name] = params[str(spec.hyperparameters[name].budget)] * T / value["budget"]
    if not rates:
        return params
    spec.check_together(params | rates)
    return params | rates


def _check_no_gram(kernels: list[dict[str, Any]], test: str) -> None:
    """Raise UserError for a Gram matrix, which has no rows for other data that are held out."""
    if file := next((kernel["file"] for kernel in kernels if kernel["kind"] == PRECOMPUTED), None):
        raise UserError(
            f"test={test}: {file} is the Gram matrix of the data alone, without rows for the examples of the "
            "test; test=0.2 holds out a share of the data"
        )


def _suits(spec: LearnerSpec, data: DataRef) -> bool:
    return data.task in spec.tasks and spec.takes(data.n_classes)


def check_data(cells: Collection[Cell]) -> None:
    """Load the data of cells that are to run, and raise UserError where they make kernel values overflow.

    And as `DataRef.load` does.
    """
    checked = set()
    for cell in {(id(cell.params), id(cell.pool), cell.data.content_hash): cell for cell in cells}.values():
        members = [(member.spec, member.params) for member in members_of(cell.spec, cell.params)]
        for spec, params in ((cell.spec, cell.params), *members):
            if isinstance(spec, ObjectSpec):
                from omkl.others.making import check_names

                check_names(spec, params, cell.data.load())
        if "scale" in cell.scaling:
            continue  # to a size that cannot overflow
        grows = growth((cell.kernel_pool or {"kernels": []})["kernels"])
        if (cell.data.content_hash, grows) in checked:
            continue
        checked.add((cell.data.content_hash, grows))
        dataset = cell.data.load()
        try:
            check_rows(grows, dataset.indptr, dataset.values, dataset.T)
        except ValueError as error:
            other = (
                ", or choose a pool without polynomials" if any(degree > 1 for degree, _, _ in grows) else ""
            )
            raise UserError(
                f"data={dataset.name}: {error} (algo={cell.spec.name}); scale the features{other}"
            ) from None


# ------------------------------------------------------------------ budgets that match a size


def matched_sizes(plan: Plan, run: Callable[[Plan], Any] | None = None) -> dict[tuple[str, str], int]:
    """Return the numbers of a plan's budgets that match sizes, by the data's content hash, and learner.

    run: as of `expand`. Raises OmklError when a learner to be matched fails, UserError without ``run`` when
    the store lacks one of its cells, KeyboardInterrupt on Ctrl-C.
    """
    values = [(value, setting) for setting in plan.settings for value in setting.params.values()]
    others = [_matched(value, setting) for value, setting in values if to_match(value)]
    if not others:
        return {}
    distinct = {other.identity: other for other in others}
    matching = replace(plan, settings=tuple(distinct.values()), yardsticks=(), swept=())
    if run is not None:
        outcome = run(matching)
        if outcome.interrupted:
            raise KeyboardInterrupt
        if outcome.failed:
            line = outcome.failed[0]
            where = f"{line['algo']} on {line['data']}, whose size a budget is to match"
            raise OmklError(f"{where}: {line['error']}")
    budgets = {}
    for data in plan.data:
        for name, other in distinct.items():
            keys = {cell.key for cell in expand(replace(matching, settings=(other,), data=(data,)))}
            cells = Store(plan.store).cells(keys)
            if len(cells) < len(keys):
                have = f"{len(cells)} of {len(keys)} cells of {other.learner} on {data}"
                raise SizeUnknown(
                    f"the store {plan.store} holds {have}, whose size a budget is to match; "
                    "they run before the cells that match them",
                    matching,
                )
            assert other.pool is not None  # only a learner of a pool can be matched
            budgets[data.content_hash, name] = max(
                1, round(cells["n_sv_sum"].mean() / len(other.pool["kernels"]))
            )
    return budgets


def _matched(budget: dict[str, Any], setting: Setting) -> Setting:
    """Return the learner that a setting's budget matches, on the setting's own pool."""
    return Setting(budget["match"], matched_params(budget), setting.pool, scaling=setting.scaling)
