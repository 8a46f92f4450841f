"""The size of one learner as the budget of another: ``algo.budget={match:bomkc_spa}`` becomes a number.

The budget B of each kernel is the one for which m B comes nearest to the other learner's #SV, the mean over
the same data set, pool, order, seed and repetitions. It is a number before a cell's key is formed, so that
the cells are those of ``algo.budget=443``.
"""

import json
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from omkl.errors import OmklError, UserError

if TYPE_CHECKING:
    from omkl.config import Plan, Setting

Sizes = dict[tuple[str, str], int]  # budgets by data set as asked and by what is matched on which pool


def with_number(setting: "Setting", data: str, sizes: Sizes) -> dict[str, Any]:
    """Return a setting's hyperparameters with the number in place of a budget that matches a size."""
    other = _matched(setting)
    return setting.params if other is None else {**setting.params, "budget": sizes[data, _name(other)]}


def sizes(plan: "Plan", run: "Callable[[Plan], Any] | None" = None) -> Sizes:
    """Return the numbers that a plan's budgets stand for; empty where all are numbers.

    run: runs the cells of the learners to be matched that the store lacks (``run_plan``). Raises OmklError
    when one of these fails, UserError without ``run`` when one is missing, KeyboardInterrupt on Ctrl-C.
    """
    others = {_name(other): other for setting in plan.settings if (other := _matched(setting))}
    found: Sizes = {}
    if not others:
        return found
    from omkl.cells import expand
    from omkl.results import Store

    asked = replace(plan, settings=tuple(others.values()), yardsticks=(), swept=())
    if run is not None:
        outcome = run(asked)
        if outcome.interrupted:
            raise KeyboardInterrupt
        if outcome.failed:
            line = outcome.failed[0]
            raise OmklError(
                f"{line['algo']}, whose size is to be matched, on {line['data']}: {line['error']}"
            )
    for data in plan.data:
        for name, other in others.items():
            keys = {cell.key for cell in expand(replace(asked, settings=(other,), data=(data,)))}
            cells = Store(plan.store).cells(keys)
            if len(cells) < len(keys):
                found_of = f"{len(cells)} of {len(keys)} cells of {other.algo} on {data}"
                raise UserError(
                    f"the store {plan.store} holds {found_of}, whose size is to be matched; "
                    "`omkl run` computes them"
                )
            found[data, name] = max(1, round(cells["n_sv_sum"].mean() / len(other.pool["kernels"])))
    return found


def _matched(setting: "Setting") -> "Setting | None":
    """Return the learner, on the setting's own pool, whose size a setting's budget is to match."""
    from omkl.config import Setting
    from omkl.config.budgets import matched_params

    budget = setting.params.get("budget")
    if not isinstance(budget, dict):
        return None
    return Setting(budget["match"], matched_params(budget), setting.pool)


def _name(setting: "Setting") -> str:
    pool = {"normalise": setting.pool["normalise"], "kernels": setting.pool["kernels"]}
    return json.dumps([setting.algo, setting.params, pool], sort_keys=True)
