"""Tables of the generated pages, and what results/*/table-*.csv say about a learner."""

import functools
from pathlib import Path

import pandas as pd

ROOT = Path(__file__).parents[2]
_COLUMNS = ["data", "pool", "order", "params"]  # two rows that agree in these show the same cells


def markdown(head: list[str], rows: list[list[str]]) -> list[str]:
    """Return a Markdown table, one line each."""
    lines = [head, ["---"] * len(head), *rows]
    return ["| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines]


@functools.cache
def _all_rows() -> pd.DataFrame:
    """Return the rows of all papers' tables of learners, with the paper and the table that they come from."""
    tables = []
    for path in sorted((ROOT / "results").glob("*/table-*.csv")):
        table = pd.read_csv(path)
        if {"algo", "params", "reps"} <= set(table.columns):
            own = {"paper": path.parent.name, "table": path.stem.removeprefix("table-")}
            tables.append(table.copy().assign(**own))  # a copy is in one piece
    return pd.concat(tables, ignore_index=True)


def results_of(learner: str) -> list[str]:
    """Return the lines of a learner's results: a table for each page of results that shows it."""
    rows = _all_rows()
    rows = rows[(rows["algo"] == learner) & (rows["reps"] > 0)].drop_duplicates(_COLUMNS)
    if rows.empty:
        return ["The papers' tables do not show it."]
    text: list[str] = []
    for paper, part in rows.groupby("paper", sort=True):
        measures = {"mistake_pct": "mistake %", "mse_e3": "MSE × 1000"}
        shown = [name for name in measures if part[f"{name}_mean"].notna().any()]
        head = [
            "data",
            "row",
            "settings",
            *(measures[name] for name in shown),
            "published",
            "#SV",
            "seconds",
            "reps",
        ]
        lines = [_line(row, shown) for _, row in part.iterrows()]
        kept = [i for i, name in enumerate(head) if name == "data" or any(line[i] for line in lines)]
        text += [f"From [{paper}](../papers/{paper}.md):", ""]
        text += markdown([head[i] for i in kept], [[line[i] for i in kept] for line in lines])
        text.append("")
    return text


def _line(row: pd.Series, shown: list[str]) -> list[str]:
    pool = f"pool={row['pool']}" if isinstance(row["pool"], str) else ""
    settings = row["settings"] if isinstance(row["settings"], str) else ""
    words = " ".join(word for word in (pool, settings) if word)
    values = [_spread(row, name) for name in shown]
    published = _spread(row, "mistake_pct", "_published", "_published_std")
    return [
        row["data"],
        str(row["label"]),
        words,
        *values,
        published,
        _number(row["n_sv_sum_mean"], 1),
        _number(row["seconds_mean"], 3),
        str(int(row["reps"])),
    ]


def _spread(row: pd.Series, name: str, mean: str = "_mean", std: str = "_std") -> str:
    value = _number(row.get(f"{name}{mean}"), 2)
    spread = _number(row.get(f"{name}{std}"), 2)
    return f"{value}\N{NO-BREAK SPACE}±\N{NO-BREAK SPACE}{spread}" if value and spread else value


def _number(value: float | None, digits: int) -> str:
    if value is None or pd.isna(value):
        return ""
    least = 10.0**-digits
    return f"<{least:.{digits}f}" if 0 < value < least / 2 else f"{value:.{digits}f}"
