"""Make docs/choose.md, which learner to take, of the tables of results/today: no number in it is typed.

python scripts/choose.py
"""

import re
from collections.abc import Iterable
from pathlib import Path

import pandas as pd

from omkl.config import learner_specs
from omkl.publications.paper import enumerated

ROOT = Path(__file__).resolve().parent.parent
PAGE, TABLES = ROOT / "docs" / "choose.md", ROOT / "results" / "today"
TESTED = {
    "few rows": "small",
    "thousands of rows": "classification",
    "ten classes": "many",
    "numbers": "regression",
}
IN_TIME = ["time", "streams"]  # of too few repetitions for a test
AUTO = ["auto", "auto_regression"]
LINEAR = ["arow", "ridge"]
SHOWN = 5  # data sets on which Auto is furthest behind
NEAR = 1.05  # times the best error
FAMILIES = ("om2", "omk", "bomkc_", "norma", "raker", "adaraker", "adamkl")  # of the five papers

TEXT = """\
# Which learner to take

Each learner at its best: tuned by one rule, its size and the scaling of features included, at no more than
1.5 times the cost of `auto`, and compared on the same permutations
([every learner at its best](../results/today.md)). The numbers are of version 1.0.0: `auto` and
`auto_regression` have other members since, some on [ranks](scaling.md).

{take}

*Not decided*: two learners have the same rank, or there are fewer than five data sets. *Best on* counts
the data sets where it is best, or not significantly worse. *Error* is over that of the best learner of
each data set (mean), *µs* the time for a row, *MiB* the memory of the learner (medians).

## With nothing to set

Start with `auto` for classes and `auto_regression` for numbers. No tuned learner is significantly better on
{good}.
In time order nothing is tested; there they have the lowest error on {lowest}. They are furthest
behind on:

{behind}

[Their own page](../results/auto.md) has data that had no part in their making.

## What matters more than the learner

* **A linear learner first.** The error of `arow` or `ridge` is within {percent} % of the best on {linear}.
* **Where all rows fit in memory.** The best of four batch estimators of scikit-learn, tuned or not, fitted
  again whenever the rows have grown by a quarter, makes fewer mistakes than `auto` on {batch}.
  `auto_trees` (`--with docs/examples/batch`) stacks `auto` and extra-trees: fewer on {trees}.
* **[Scaling](scaling.md).** `omkl tune` searches it. Most learners chose `scale=online` on {scaled}.
* **When labels arrive.** On elec2, repeating the last label is wrong in {last} % of the rounds, `{now}` in
  {now_pct} %. With labels in [batches of 100](data.md) (`delay=100`), repeating is wrong in {last_late} %,
  `auto` in {auto_late} %, and the best tuned learner in {late_pct} % (`{late}`).
* **Few positives.** Mistakes then say little: look at `by=auc`. By it, at any cost, the best are {few}.
* **Novelty.** `norma_novelty` is for data without labels.
* **Memory.** Budgets and random features bound it (`omkl list groups` has `bounded`).

## The papers' learners

OMKC, OMKL, BOMKC, NORMA and Raker, variants such as `omkc_ddpa` included, are best or not significantly
worse on {papers}.
"""


def read(name: str) -> pd.DataFrame:
    """Return the rows of a table of results/today that have run, with their error and whether it is good."""
    rows = pd.read_csv(TABLES / f"table-{name}.csv")
    rows = rows[rows["reps"] > 0].reset_index(drop=True).copy()  # in one piece
    error = rows["mse_e3_mean"].where(rows["task"] == "regression", rows["mistake_pct_mean"])
    good = rows["best"].astype(bool) | rows["marked"].astype(bool)
    return rows.assign(table=name, error=error, good=good)


def markdown(rows: list[dict[str, str]]) -> str:
    """Return a table in Markdown."""
    lines = [list(rows[0]), ["---"] * len(rows[0]), *(list(row.values()) for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def code(names: Iterable[str]) -> str:
    """Return names as one types them."""
    return enumerated([f"`{name}`" for name in names])


def page() -> str:
    """Return the text of docs/choose.md."""
    names = _names()
    every = pd.concat(map(read, [*TESTED.values(), *IN_TIME]), ignore_index=True)
    sets = list(dict.fromkeys(every["data"]))
    best = every.loc[every.groupby("data", sort=False)["error"].idxmin()].set_index("data")
    auto = every[every["algo"].isin(AUTO)].set_index("data")
    of_data = auto["table"]
    ratio = auto["error"] / best["error"]
    in_time = auto[of_data.isin(IN_TIME)]
    linear = every[every["algo"].isin(LINEAR)].groupby("data")["error"].min() / best["error"]
    online = every["params"].str.contains("'scale': 'online'").groupby(every["data"]).mean()
    of_papers = every[every["algo"].str.startswith(FAMILIES) & every["good"] & ~every["is_yardstick"]]
    batch, trees = _batch()
    few = [(*_least("few", data, "auc_mean", -1), data) for data in dict.fromkeys(read("few")["data"])]
    now, late = _least("time", "elec2"), _least("delay_100", "elec2", without=AUTO)
    return TEXT.format(
        take=markdown(
            [_taken(row, names) for row in pd.read_csv(TABLES / "table-take.csv").to_dict("records")]
        ),
        good=enumerated(
            [
                _share(auto.loc[of_data == name, "good"], f"data sets of {kind}")
                for kind, name in TESTED.items()
            ]
        ),
        lowest=_share(in_time["error"] <= best["error"].reindex(in_time.index), "data sets"),
        behind=markdown(
            [
                {
                    "data": data,
                    "auto": f"{auto['error'][data]:.2f}",
                    "best": f"{best['error'][data]:.2f} `{best['algo'][data]}`",
                }
                for data in ratio.sort_values(ascending=False).index[:SHOWN]
            ]
        ),
        percent=round(100 * (NEAR - 1)),
        linear=_counted([name for name in sets if linear[name] <= NEAR], len(sets)),
        batch=batch,
        trees=trees,
        scaled=f"{int((online > 0.5).sum())} of {len(sets)} data sets",
        last=_of("time", "last_label"),
        last_late=_of("delay_100", "last_label"),
        auto_late=_of("delay_100", "auto"),
        now=now[0],
        now_pct=f"{now[1]:.1f}",
        late=late[0],
        late_pct=f"{late[1]:.1f}",
        few=enumerated([f"`{algo}` on {data} ({auc:.2f})" for algo, auc, data in few]),
        papers=_counted(list(dict.fromkeys(of_papers["data"])), len(sets)),
    )


def _names() -> dict[str, str]:
    """Return what one types for each label in the tables, learners of the examples' folders included.

    A label of its own stands for settings, and is kept beside the learner.
    """
    own = {spec.label: f"`{spec.name}`" for spec in learner_specs().values()}
    names: dict[str, str] = {}
    for path in sorted(TABLES.glob("table-*.csv")):
        table = pd.read_csv(path)
        for label, algo in zip(
            table.get("label", table.get("learner", ())), table.get("algo", ()), strict=True
        ):
            names[label] = f"`{algo}` ({label})" if algo in learner_specs() else f"`{algo}`"
    return names | own


def _share(of: pd.Series, what: str) -> str:
    return (
        f"{int(of.sum())} of {len(of)} {what}"
        if len(of) > 1
        else f"{int(of.sum())} of 1 {what.replace('sets', 'set')}"
    )


def _counted(found: list[str], among: int) -> str:
    return f"{len(found)} of {among} data sets" + (f" ({enumerated(found)})" if found else "")


def _batch() -> tuple[str, str]:
    """Return where batch estimators are better than `auto`, and on how many data sets `auto_trees` is."""
    tables = ("batch_few", "batch", "batch_time")
    rows = pd.concat([pd.read_csv(TABLES / f"table-{name}.csv") for name in tables])
    means = rows.set_index("algo").drop(columns=["learner", "rank", "sets"]).groupby("algo").min()
    others = means.drop(index=["auto", "auto_trees"]).min()
    better = means.columns[others < means.loc["auto"]]
    trees = _share(means.loc["auto_trees"] < means.loc["auto"], "data sets")
    return _counted(list(better), len(means.columns)), trees


def _least(
    name: str, data: str, measure: str = "mistake_pct_mean", sign: int = 1, without: Iterable[str] = ()
) -> tuple[str, float]:
    """Return the learner with the least (sign -1: the largest) measure in a table on a data set, and that."""
    rows = read(name)
    rows = rows[(rows["data"] == data) & ~rows["algo"].isin(list(without))]
    first = rows.loc[(sign * rows[measure]).idxmin()]
    return str(first["algo"]), float(first[measure])


def _of(name: str, algo: str, data: str = "elec2") -> str:
    """Return the mistakes (%) of a learner in a table on a data set."""
    rows = read(name)
    [value] = rows.loc[(rows["data"] == data) & (rows["algo"] == algo), "mistake_pct_mean"]
    return f"{value:.1f}"


def _taken(row: dict[str, str], names: dict[str, str]) -> dict[str, str]:
    """Return a row of the table's first answers, learners as one types them."""
    then = re.findall(r"(.+?) [\d.]+(?:, |$)", row["then"])
    return {
        "problem": row["problem"],
        "data": row["data"],
        "take": names.get(row["take"], "*not decided*"),
        **{name: row[name] for name in ("best on", "error", "µs", "MiB")},
        "then": ", ".join(names[label] for label in then),
    }


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
