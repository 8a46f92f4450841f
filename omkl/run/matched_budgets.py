"""The size of one learner as the budget of another: ``algo.budget={match:bomkc_spa}`` becomes a number.

The budget B of each kernel makes m B as near as possible to the other learner's #SV, the mean over the same
data set, pool, order, seed and repetitions. It becomes a number before a cell's key is formed, so the cells
are those of ``algo.budget=443``.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from omkl.errors import OmklError, UserError
from omkl.run.cells import Sizes, expand, matched, matched_name
from omkl.store.store import Store

if TYPE_CHECKING:
    from omkl.config import Plan


def sizes(plan: "Plan", run: "Callable[[Plan], Any] | None" = None) -> Sizes:
    """Return the numbers that a plan's budgets stand for; empty where all are numbers.

    run: runs the missing cells of the learners to be matched (``run_plan``). Raises OmklError when one of
    these fails, UserError without ``run`` when one is missing, KeyboardInterrupt on Ctrl-C.
    """
    others = {matched_name(other): other for setting in plan.settings if (other := matched(setting)[1])}
    budgets: Sizes = {}
    if not others:
        return budgets
    matching = replace(plan, settings=tuple(others.values()), yardsticks=(), swept=())
    if run is not None:
        outcome = run(matching)
        if outcome.interrupted:
            raise KeyboardInterrupt
        if outcome.failed:
            line = outcome.failed[0]
            where = f"{line['algo']} on {line['data']}, whose size a budget is to match"
            raise OmklError(f"{where}: {line['error']}")
    for data in plan.data:
        for name, other in others.items():
            keys = {cell.key for cell in expand(replace(matching, settings=(other,), data=(data,)))}
            cells = Store(plan.store).cells(keys)
            if len(cells) < len(keys):
                have = f"{len(cells)} of {len(keys)} cells of {other.learner} on {data}"
                raise UserError(
                    f"the store {plan.store} holds {have}, whose size a budget is to match; "
                    "`omkl run` computes them"
                )
            budgets[data, name] = max(1, round(cells["n_sv_sum"].mean() / len(other.pool["kernels"])))
    return budgets
