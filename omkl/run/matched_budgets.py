"""The size of one learner as the budget of another: ``algo.budget={match:bomkc_spa}`` becomes a number.

The budget B of each kernel is the one for which m B comes nearest to the other learner's #SV, the mean over
the same data set, pool, order, seed and repetitions. It is a number before a cell's key is formed, so that
the cells are those of ``algo.budget=443``.
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

    run: runs the cells of the learners to be matched that the store lacks (``run_plan``). Raises OmklError
    when one of these fails, UserError without ``run`` when one is missing, KeyboardInterrupt on Ctrl-C.
    """
    others = {matched_name(other): other for setting in plan.settings if (other := matched(setting)[1])}
    found: Sizes = {}
    if not others:
        return found
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
            cells = Store(plan.store).finished(keys)
            if len(cells) < len(keys):
                found_of = f"{len(cells)} of {len(keys)} cells of {other.algo} on {data}"
                raise UserError(
                    f"the store {plan.store} holds {found_of}, whose size is to be matched; "
                    "`omkl run` computes them"
                )
            found[data, name] = max(1, round(cells["n_sv_sum"].mean() / len(other.pool["kernels"])))
    return found
