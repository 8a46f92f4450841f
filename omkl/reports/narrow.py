"""Which columns of a run's or a paper's table a narrow terminal shows."""

from dataclasses import replace

from omkl.reports.display import MISSING, Display, Spread
from omkl.reports.fitting import Texts, fits

WRAPPED = ("learner", "pool", "settings", "kernel", "verdict")
LEAST = (  # columns that are left out where there is no room, the first of them first
    *("n_sv_combined", "n_sv_union", "seconds_ratio", "seconds_published", "n_sv_sum_diff"),
    *("mistake_pct_diff", "mse_e3_diff", "seconds", "n_sv_sum_published", "n_sv_sum"),
)


def texts_of(table: Display) -> list[Texts]:
    """Return the columns of a table as text."""
    return [
        Texts(column.header, _aligned(table, number), column.align, column.name in WRAPPED)
        for number, column in enumerate(table.columns)
    ]


def fitting_columns(table: Display, width: int) -> Display:
    """Return a table without the columns for which there is no room; those that the reader chose stay."""
    least: tuple[str, ...] = LEAST
    at = [number for number, column in enumerate(table.columns) if column.name == "reps"]
    same = {line.cells[n] for line in table.lines for n in at}
    if len(same) == 1 and all(line.complete for line in table.lines):
        least = ("reps", *least)  # it says nothing that one number does not
    for name in [name for name in least if name not in table.chosen]:
        if fits(texts_of(table), width):
            break
        table = without(table, name)
    return table


def without(table: Display, name: str) -> Display:
    """Return a table without a column, which is in ``left_out``."""
    gone = next((number for number, column in enumerate(table.columns) if column.name == name), None)
    if gone is None or not table.lines:
        return table
    left_out = (*table.left_out, (table.columns[gone], table.lines[0].cells[gone]))
    kept = table.only([number for number in range(len(table.columns)) if number != gone])
    return replace(kept, left_out=left_out)


def explain(
    tables: list[tuple[str | None, Display]], terms: list[tuple[str, str]], shared: str
) -> tuple[list[tuple[str, str]], str]:
    """Return the terms of the columns that are shown, and the line about all rows with their repetitions."""
    shown = {column.name: column.header for _, table in tables for column in table.columns}
    left_out = {column.name: (column.header, cell) for _, table in tables for column, cell in table.left_out}
    headers = shown | {name: header for name, (header, _) in left_out.items()}
    gone = set(headers.values()) - set(shown.values())
    terms = [term for term in terms if term[0] not in gone]
    if (reps := left_out.pop("reps", None)) and "reps" not in shown:
        shared = " · ".join(filter(None, (shared, f"{str(reps[1]).partition('/')[0]} repetitions")))
    # of a paper's columns: "#SV published"
    names = [
        " ".join(filter(None, (headers.get(name.rpartition("_")[0]), header)))
        for name, (header, _) in left_out.items()
    ]
    if names:
        terms.append(("not shown", f"{', '.join(names)}: no room; --wide shows all columns"))
    return terms, shared


def _aligned(table: Display, number: int) -> list[str]:
    """Return a column's cells with the ± aligned and the mark at the left; tabulate keeps such padding."""
    cells = [line.cells[number] for line in table.lines]
    spreads = [cell for cell in cells if isinstance(cell, Spread)]
    left, right = (max((len(getattr(s, part)) for s in spreads), default=0) for part in ("mean", "std"))
    texts = []
    for cell, line in zip(cells, table.lines, strict=True):
        if isinstance(cell, Spread) and cell.mean != MISSING:
            mark = ("* " if line.marked else "  ") if table.columns[number].marks else ""
            cell = f"{mark}{cell.mean:>{left}} ± {cell.std:>{right}}" if cell.varies else f"{mark}{cell}"
        texts.append(str(cell))
    return texts
