"""What stands under a table: what the columns mean, and what a reader must know before trusting the rows."""

from typing import TYPE_CHECKING

from omkl.config.settings_text import params_text
from omkl.reports.captions import repetitions_of, some
from omkl.reports.display import Display
from omkl.reports.expected import Expected
from omkl.reports.origin import doubts, made_with

if TYPE_CHECKING:
    import pandas as pd


def legend(table: Display, least: str, cells: "pd.DataFrame") -> list[tuple[str, str]]:
    """Return (term, meaning) of the columns that the table has; what made the cells.

    least: what the best rows have.
    """
    errors = [number for number, column in enumerate(table.columns) if column.marks]
    single = all(line.cells[number].std == "–" for line in table.lines for number in errors)
    each = repetitions_of(set(cells["order"]) if len(cells) else ())
    spread = "" if single else f", mean ± sample standard deviation over the {each}"
    terms = [(table.columns[n].header, f"{table.columns[n].meaning}{spread}") for n in errors]
    if least:
        marked = (
            f"{least} on the data set (no test: it takes two repetitions); yardsticks compete too"
            if single
            else f"{least} on the data set, and all rows not worse by a paired t-test over the same "
            f"{each} (two-sided, 5 %); yardsticks compete too"
        )
        terms.append(("*", marked))
    if table.has("n_sv_sum"):
        terms += [
            ("#SV", "support vectors, summed over the kernels (the papers' count)"),
            ("union", "distinct examples stored"),
        ]
    if table.has("n_sv_combined"):
        terms.append(("combined", "support vectors of the classifiers that the last prediction combined"))
    terms.append(("seconds", f"learner time of one pass{'' if single else ', mean'}"))
    if any(line.rule == "yardsticks" for line in table.lines):
        terms.append(("yardsticks", f"stand below the short rule, on the same {each}"))
    made = made_with(cells)
    return [*terms, ("made with", made)] if made else terms


def notes(summary: "pd.DataFrame", cells: "pd.DataFrame", expected: Expected) -> list[str]:
    """Return warnings: repetitions missing, cells failed, older revisions, times and versions mixed."""
    return [
        *incomplete(summary),
        *failed(expected),
        *_stale(expected),
        *doubts(cells),
    ]


def incomplete(summary: "pd.DataFrame") -> list[str]:
    """Return a warning of the rows that lack repetitions, none where all are there."""
    missing = summary[~summary["complete"]]
    if missing.empty:
        return []
    names = [
        f"{row.label}{f' ({row.settings})' if row.settings else ''} on {row.data} {row.reps} of {row.asked}"
        for row in missing.itertuples()
    ]
    return [
        f"INCOMPLETE: {some(names)}. Means and marks rest on the repetitions done; "
        "the same command runs the missing ones"
    ]


def failed(expected: Expected) -> list[str]:
    """Return a warning of the cells that failed, none where all went well."""
    if not expected.failed:
        return []
    names = []
    for cell in expected.failed:
        spec = expected.specs.get(cell["algo"])
        params = spec.unusual(cell["params"], cell.get("task", "classification")) if spec else cell["params"]
        which = f" ({params_text(params)})" if params else ""
        error = str(cell.get("error") or "no reason recorded").strip().splitlines()[-1]
        names.append(
            f"{expected.label(cell['algo'])}{which} on {cell['data']}, repetition {cell['rep']}: {error}"
        )
    many = len(expected.failed)
    return [f"FAILED: {many} cell{'s' if many > 1 else ''}, in no mean: {some(names, '; ')}"]


def _stale(expected: Expected) -> list[str]:
    """Say what the store holds of older revisions: it is in no mean."""
    return [
        f"{count} cell{'s' if count > 1 else ''} of revision {revision} of {algo} in the store "
        f"{'are' if count > 1 else 'is'} not used: its results have changed since; "
        "`omkl results prune --old` removes such cells"
        for (algo, revision), count in sorted(expected.stale.items())
    ]


def heading(summary: "pd.DataFrame", expected: Expected, cells: "pd.DataFrame") -> str:
    """Return one line on what all rows share: pool, order, repetitions."""
    parts = []
    pools = sorted({pool for pool in summary["pool"] if isinstance(pool, str)})
    if len(pools) == 1:
        parts.append(f"pool {pools[0]}")
    orders = sorted({order for order in summary["order"] if order})
    if len(orders) == 1:
        parts.append(f"order {orders[0]}")
    seeds = sorted(set(cells["seed"])) if "seed" in cells and len(cells) else []
    if len(seeds) == 1 and orders != ["file"]:
        parts.append(f"seed {seeds[0]}")
    sizes = {row.data: row.T for row in summary.itertuples() if row.T == row.T and row.T is not None}
    if 0 < len(sizes) <= 4:
        parts.append(", ".join(f"{name}: {int(T)} examples" for name, T in sizes.items()))
    return " · ".join(parts)
