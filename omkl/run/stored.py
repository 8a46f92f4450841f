"""The finished cells of plans, as the store holds them: nothing is run."""

import time
from collections import Counter
from dataclasses import replace

from omkl.config import Plan
from omkl.config.learners import to_match
from omkl.errors import UserError
from omkl.learner.cell import Cell
from omkl.run.cells import expand, older_keys
from omkl.run.runner import Outcome, by_key, table_of
from omkl.store.store import Store


def stored_plans(plans: list[Plan]) -> tuple[Outcome, list[str]]:
    """Return what ``run_plans`` would if it ran nothing, and warnings about settings that are unknown yet.

    Such is a budget that matches a size, until the learner that it matches has finished. Raises UserError
    for data that are not available, OmklError when the store cannot be read.
    """
    began = time.perf_counter()
    cells: list[Cell] = []
    warnings: list[str] = []
    for plan in plans:
        try:
            cells += expand(plan)
        except UserError as error:
            known = tuple(own for own in plan.settings if not any(map(to_match, own.params.values())))
            if len(known) == len(plan.settings):
                raise
            warnings.append(str(error))
            cells += expand(replace(plan, settings=known))
    distinct, store = by_key(cells), Store(plans[0].store)
    table, failed, older = table_of(store, cells), store.failed(distinct), older_keys(distinct.values())
    stale = Counter(older[key] for key in store.done(older)) if older else {}
    seconds = time.perf_counter() - began
    outcome = Outcome(table, failed, len(cells), 0, len(table), seconds, interrupted=False, stale=dict(stale))
    return outcome, list(dict.fromkeys(warnings))
