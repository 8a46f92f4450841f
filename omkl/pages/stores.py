"""The page of a store: everything that it holds, without a plan."""

from collections import Counter
from collections.abc import Collection

from omkl.config import learner_names, learner_specs
from omkl.errors import UserError
from omkl.pages.content import Page
from omkl.pages.runs import cells_sections, origin_sections
from omkl.reports.rows import Expected, rows_of
from omkl.reports.store_contents import chosen, failed_lines
from omkl.store.store import Store

MOST_CURVES = 400  # rows; each adds some 3 kB to the file


def store_page(store: Store, learners: Collection[str], data: Collection[str], command: str) -> Page:
    """Return the page of a store's cells; learners, data: names to keep, all when empty.

    Cells of older revisions of a learner are left out. Raises UserError for a name that the store does not
    hold, and where it holds nothing.
    """
    cells = chosen(store, learners, data)
    if cells.empty:
        raise UserError(f"the store {store.path} holds no finished cell")
    specs = learner_specs([name for name in dict.fromkeys(cells["algo"]) if name in learner_names()])
    now = [name not in specs or specs[name].revision == of for name, of in cells[["algo", "revision"]].values]
    old = cells[[not current for current in now]]
    stale = Counter(zip(old["algo"], old["revision"], strict=True))
    cells = cells[now].reset_index(drop=True)
    failed = tuple(line for line in failed_lines(store, learners, data) if line["algo"] in specs)
    expected = Expected(specs=specs, failed=failed, stale=dict(stale), store=store.path)
    rows = rows_of(cells, expected)
    for row in rows:  # there is no plan that says how many there should be
        row.planned = len(row.cells)
    sections, warnings, about = cells_sections(cells, expected, store, {}, rows, MOST_CURVES)
    sections += origin_sections(cells, [])
    return Page("store", f"The store {store.path}", sections, [about] if about else [], command, warnings)
