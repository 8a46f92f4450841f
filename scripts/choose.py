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
AUTO = ["auto", "auto_regression"]
LINEAR = ["arow", "ridge"]
SHOWN = 6  # data sets on which Auto is furthest behind
CONSTANT = ["majority", "running_mean"]  # which keep next to nothing beside the rows
OF_PROBLEM = {  # the tables of a row of table-take
    "two classes": ["classification"],
    "two classes in time order": ["time"],
    "ten classes": ["many"],
    "numbers": ["regression", "streams"],
}
NEAR = 1.05  # times the best error
FAMILIES = ("om2", "omk", "bomkc_", "norma", "raker", "adaraker", "adamkl")  # of the five papers

TEXT = """\
# Which learner to take

Each learner at its best: tuned by one rule, the scaling of features included, and compared on the same
permutations ([every learner at its best](../results/today.md)).

{take}

*Not decided*: two learners have the same rank, or the data sets are fewer than five. *Best on* counts
the data sets where it is best, or not significantly worse. *MiB* is its memory without the rows of the data
(that of a pass less that of a constant answer's pass), *seconds* its time for 1000 rows; both are medians.

## With nothing to set

Start with `auto` for classes and `auto_regression` for numbers. On {good} of {sets} data sets no tuned
learner is significantly better, those of other packages included. On {near} their error is within
{percent} % of the best. They are furthest behind on:

{behind}

These tables are of `auto` before it was a stack, and of rivals whose size was not searched.
[Its own page](../results/auto.md) has the stack of now beside tuned rivals, on data that had no part in it.

## What matters more than the learner

* **A linear learner first.** The error of `arow` or `ridge` is within {percent} % of the best on
  {linear}. There, kernels are hardly worth their cost.
* **Scaling.** `omkl tune` searches it. It chose `scale=online` for most learners on {scaled}.
* **When labels arrive.** In time order, much of what a learner seems to know is the last label. On elec2
  repeating it is wrong in {last} % of the rounds, and `{now}` in {now_pct} %. With labels in
  [batches of 100](data.md) (`delay=100`) repeating it is wrong in {last_late} %, `auto` in {auto_late} %, and
  the best tuned learner in {late_pct} % (`{late}`); on weather `auto` in {auto_weather} % and the best in
  {weather_pct} % (`{weather}`).
* **Few positives.** Mistakes then say little: look at `by=auc`. By it, the best are {few}.
* **Novelty.** `norma_novelty` is for data without labels.
* **Memory.** Budgets and random features bound it (`omkl list groups` has `bounded`);
  [the page](../results/today.md) draws error against memory.

## The papers' learners

OMKC, OMKL, BOMKC, NORMA and Raker, variants such as `omkc_ddpa` included, are best or not significantly
worse on {papers}.
"""


def read(name: str) -> pd.DataFrame:
    """Return the rows of a table of results/today that have run."""
    table = pd.read_csv(TABLES / f"table-{name}.csv")
    return table[table["reps"] > 0].reset_index(drop=True)


def markdown(rows: list[dict[str, str]]) -> str:
    """Return a table in Markdown."""
    lines = [list(rows[0]), ["---"] * len(rows[0]), *(list(row.values()) for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def code(names: Iterable[str]) -> str:
    """Return names as one types them."""
    return enumerated([f"`{name}`" for name in names])


def page() -> str:
    """Return the text of docs/choose.md."""
    names = {spec.label: spec.name for spec in learner_specs().values()}
    tables = ("classification", "time", "many", "regression", "streams")
    both = pd.concat([read(name).assign(table=name) for name in tables], ignore_index=True)
    both["error"] = both["mse_e3_mean"].where(both["task"] == "regression", both["mistake_pct_mean"])
    both["good"] = both["best"].astype(bool) | both["marked"].astype(bool)
    sets = list(dict.fromkeys(both["data"]))
    best = both.loc[both.groupby("data", sort=False)["error"].idxmin()].set_index("data")
    auto = both[both["algo"].isin(AUTO)].set_index("data")
    ratio = (auto["error"] / best["error"]).reindex(sets)
    behind = ratio[~auto["good"].reindex(sets)].sort_values(ascending=False).index[:SHOWN]

    linear = both[both["algo"].isin(LINEAR)].groupby("data")["error"].min() / best["error"]
    online = both["params"].str.contains("'scale': 'online'").groupby(both["data"]).mean()
    scaled = [name for name in sets if online[name] > 0.5]

    def least(
        name: str, data: str, measure: str = "mistake_pct_mean", sign: int = 1, without: Iterable[str] = ()
    ) -> tuple[str, float]:
        own = read(name)
        own = own[(own["data"] == data) & ~own["algo"].isin(list(without))]
        first = own.loc[(sign * own[measure]).idxmin()]
        return str(first["algo"]), float(first[measure])

    def untuned(data: str) -> str:
        own = read("delay_100")
        [value] = own.loc[(own["data"] == data) & (own["algo"] == "auto"), "mistake_pct_mean"]
        return f"{value:.1f}"

    def last(name: str) -> str:
        own = read(name)
        [value] = own.loc[(own["data"] == "elec2") & (own["algo"] == "last_label"), "mistake_pct_mean"]
        return f"{value:.1f}"

    now, late = least("time", "elec2"), least("delay_100", "elec2", without=AUTO)
    weather = least("delay_100", "weather", without=AUTO)
    few = [(data, *least("few", data, "auc_mean", -1)) for data in dict.fromkeys(read("few")["data"])]
    of_papers = both[both["algo"].str.startswith(FAMILIES) & both["good"] & ~both["is_yardstick"]]
    won = [
        f"{data} ({code(dict.fromkeys(own['algo']))})" for data, own in of_papers.groupby("data", sort=False)
    ]
    taken = pd.read_csv(TABLES / "table-take.csv").to_dict("records")
    return TEXT.format(
        take=markdown([_taken(row, names, both) for row in taken]),
        good=int(auto["good"].sum()),
        sets=len(sets),
        near=int((ratio <= NEAR).sum()),
        percent=round(100 * (NEAR - 1)),
        behind=markdown(
            [
                {
                    "data": data,
                    "auto": f"{auto['error'][data]:.2f}",
                    "best": f"{best['error'][data]:.2f} `{best['algo'][data]}`",
                }
                for data in behind
            ]
        ),
        linear=f"{int((linear <= NEAR).sum())} of {len(sets)} data sets"
        + _named([name for name in sets if linear[name] <= NEAR]),
        scaled=enumerated(scaled),
        last=last("time"),
        last_late=last("delay_100"),
        now=now[0],
        now_pct=f"{now[1]:.1f}",
        auto_late=untuned("elec2"),
        auto_weather=untuned("weather"),
        weather=weather[0],
        weather_pct=f"{weather[1]:.1f}",
        late=late[0],
        late_pct=f"{late[1]:.1f}",
        few=enumerated([f"`{algo}` on {data} ({auc:.2f})" for data, algo, auc in few]),
        papers=f"{len(won)} of {len(sets)} data sets" + (f": {enumerated(won)}" if won else ""),
    )


def _named(found: list[str]) -> str:
    return f" ({enumerated(found)})" if found else ""


def _taken(row: dict[str, str], names: dict[str, str], rows: pd.DataFrame) -> dict[str, str]:
    """Return a row of the table's first answers, learners as one types them; rows: of all tables."""
    then = re.findall(r"(.+?) [\d.]+(?:, |$)", row["then"])
    take = f"`{names[row['take']]}`" if row["take"] in names else "*not decided*"
    return {
        "problem": row["problem"],
        "data": row["data"],
        "take": take,
        "best on": row["best on"],
        **_costs(rows[rows["table"].isin(OF_PROBLEM[row["problem"]])], names.get(row["take"], "")),
        "then": ", ".join(f"`{names[label]}`" if label in names else label for label in then),
    }


def _costs(rows: pd.DataFrame, algo: str) -> dict[str, str]:
    """Return the median memory and time of a learner over the data sets of these rows; a dash for none."""
    own = rows[rows["algo"] == algo].set_index("data")
    if own.empty:
        return {"MiB": "–", "seconds": "–"}
    constant = rows[rows["algo"].isin(CONSTANT)].set_index("data")
    memory = (own["memory_mib_mean"] - constant["memory_mib_mean"].reindex(own.index)).median()
    return {"MiB": f"{memory:.1f}", "seconds": f"{(1000 * own['seconds_mean'] / own['T']).median():.2f}"}


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
