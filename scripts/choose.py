"""Make docs/choose.md, which learner to take, of results/today and results/auto: no number in it is typed.

python scripts/choose.py
"""

import re
from collections.abc import Iterable
from pathlib import Path

import pandas as pd

from omkl.config import learner_specs
from omkl.publications.digest import ENOUGH, NAMED, UNDECIDED
from omkl.publications.paper import enumerated

ROOT = Path(__file__).resolve().parent.parent
PAGE, TABLES = ROOT / "docs" / "choose.md", ROOT / "results" / "today"
HELD_OUT = ROOT / "results" / "auto"
TESTED = {
    "few rows": "small",
    "5,000 rows": "classification",
    "several classes": "many",
    "numbers": "numbers",
}
IN_TIME = ["time", "streams"]  # of too few repetitions for a test
AUTO = ["auto", "auto_regression"]
LINEAR = ["arow", "ridge"]
SHOWN = 5  # data sets on which Auto is furthest behind
NEAR = 1.05  # times the best error
FAMILIES = ("om2", "omk", "bomkc_", "norma", "raker", "adaraker", "adamkl")  # of the five papers
BATCH = ("extra_trees", "gradient_boosting", "rbf_sv", "logistic")  # so their names begin

TEXT = """\
# Which learner to take

{doubt}

## With nothing tuned

{default}

Each learner with its defaults, as it is and with `scale=online`. The batch estimators (`--with
docs/examples/batch`) are those of scikit-learn, [fitted again as rows come](python.md#any-estimator): in
each round below 100 rows, then whenever the rows have grown by a tenth. They keep all rows.

*Error* is that of the learner with the least, over that of the best of each data set (geometric mean), *µs*
its time for a row, *MiB* its memory (medians). *Not decided*: the second does not differ from it by a paired
t-test over the data sets (5 %), or there are fewer than three of these. *Level with it* are those that do
not differ, the first {named} of them with their errors; few data sets do not tell learners apart.

## Tuned

{take}

One learner of each family, each at its best: tuned by [one rule](../results/today.md), its size and the
scaling of features included, at no more than 1.5 times the cost of `auto`; batch estimators at any cost.
This takes labelled rows which the table does not count, as many again on short streams: without them, see
the table above.

`auto` and `auto_regression` have nothing to tune. The best other learner, batch estimators included, is not
significantly better on {good}.
In time order nothing is tested; there they have the lowest error on {lowest}. They are furthest behind on:

{behind}

[Their own page](../results/auto.md) judges them on data sets that had no part in their making:
{held_out}.

## What matters more than the learner

* **A linear learner.** The error of `arow` or `ridge`, tuned, is within {percent} % of the best on
  {linear}.
* **Where all rows fit in memory.** The best of the batch estimators, tuned or not, has less error than `auto`
  on {batch}.
  They take {batch_us} µs for a row (median), `auto` {auto_us}.
* **[Scaling](scaling.md).** `omkl tune` searches it. Of the online learners, most chose `scale=online` on
  {scaled}, and `scale=ranks` on {ranks}.
* **When labels arrive.** On elec2, repeating the last label is wrong in {last} % of the rounds, `{now}` in
  {now_pct} %. With labels in [batches of 100](data.md) (`delay=100`), repeating is wrong in {last_late} %,
  `auto` in {auto_late} %, and the best tuned learner in {late_pct} % (`{late}`).
* **Few positives.** Mistakes then say little: look at `by=auc`. By it, at any cost, the best are {few}.
* **Novelty.** `norma_novelty` is for data without labels.
* **Memory.** Budgets and random features bound it (`omkl list groups` has `bounded`).

## The papers' learners

Of the data sets that are tested, OMKC, OMKL, BOMKC, NORMA and Raker, tuned, are best or not significantly
worse on {papers}.
"""


def read(name: str) -> pd.DataFrame:
    """Return the rows of a table of results/today that have run, with their error and whether it is good."""
    rows = pd.read_csv(TABLES / f"table-{name}.csv")
    rows = rows[rows["reps"] > 0].reset_index(drop=True).copy()  # in one piece
    error = rows["mse_e3_mean"].where(rows["task"] == "regression", rows["mistake_pct_mean"])
    good = rows["best"].astype(bool) | rows["marked"].astype(bool)
    us = 1e6 * rows["seconds_mean"] / rows["T"]
    return rows.assign(table=name, error=error, good=good, us=us)


def markdown(rows: list[dict[str, str]]) -> str:
    """Return a table in Markdown."""
    lines = [list(rows[0]), ["---"] * len(rows[0]), *(list(row.values()) for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def page() -> str:
    """Return the text of docs/choose.md."""
    every = pd.concat(map(read, [*TESTED.values(), *IN_TIME]), ignore_index=True)
    sets = list(dict.fromkeys(every["data"]))
    best = every.loc[every.groupby("data", sort=False)["error"].idxmin()].set_index("data")
    auto = every[every["algo"].isin(AUTO)].set_index("data")
    of_data = auto["table"]
    ratio = auto["error"] / best["error"]
    in_time = auto[of_data.isin(IN_TIME)]
    linear = every[every["algo"].isin(LINEAR)].groupby("data")["error"].min() / best["error"]
    of_batch = every[every["algo"].str.startswith(BATCH)]
    batch = of_batch.groupby("data", sort=False)["error"].min() / auto["error"]
    online = every[~every["algo"].str.startswith((*BATCH, "auto"))]
    tested = every[every["table"].isin(TESTED.values())]
    of_papers = tested[tested["algo"].str.startswith(FAMILIES) & tested["good"] & ~tested["is_yardstick"]]
    few = read("few").sort_values("auc_mean", ascending=False)
    now, late = _least("time", "elec2"), _least("delay_100", "elec2", without=AUTO)
    return TEXT.format(
        doubt=_doubt(),
        named=NAMED,
        default=_answers("default"),
        take=_answers("take"),
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
        held_out=_held_out(),
        percent=round(100 * (NEAR - 1)),
        linear=_counted([name for name in sets if linear[name] <= NEAR], len(sets)),
        batch=_counted([name for name in batch.index if batch[name] < 1.0], len(batch.dropna())),
        batch_us=f"{of_batch['us'].median():,.0f}",
        auto_us=f"{auto['us'].median():,.0f}",
        scaled=_most_chose(online, "online"),
        ranks=_most_chose(online, "ranks"),
        last=_of("time", "last_label"),
        last_late=_of("delay_100", "last_label"),
        auto_late=_of("delay_100", "auto"),
        now=now[0],
        now_pct=f"{now[1]:.1f}",
        late=late[0],
        late_pct=f"{late[1]:.1f}",
        few=enumerated(
            [
                f"{enumerated([f'`{row.algo}` ({row.auc_mean:.3f})' for row in rows.itertuples()])} on {data}"
                for data, rows in few[few["good"]].groupby("data", sort=False)
            ]
        ),
        papers=_counted(list(dict.fromkeys(of_papers["data"])), tested["data"].nunique()),
    )


def _doubt() -> str:
    """Return on how many kinds of problems, of those with a test, `auto`, untuned, is the first or level."""
    every, good = _first_or_level(TABLES / "table-default.csv")
    unseen, held = _first_or_level(HELD_OUT / "table-held_out_take_default.csv")
    start = "**In doubt, take `auto`, for numbers `auto_regression`.** " if 2 * len(good) > every else ""
    return (
        f"{start}With nothing tuned, they have the least error, or do not differ from what has, on "
        f"{len(good)} of {every} kinds of problems with {ENOUGH} data sets or more: {enumerated(good)}; and "
        f"on data sets that had no part in their making on {len(held)} of {unseen}."
    )


def _first_or_level(path: Path) -> tuple[int, list[str]]:
    """Return the number of problems of a digest with a test, and those where `auto` is first, or level."""
    rows = [row for row in pd.read_csv(path).fillna("").to_dict("records") if _sets(row["data"]) >= ENOUGH]
    mine = {"Auto", "Auto (regression)"}
    return len(rows), [
        row["problem"] for row in rows if {_label(own) for own in (row["take"], *_level(row))} & mine
    ]


def _sets(data: str) -> int:
    """Return how many data sets a digest's cell names or counts."""
    count, _, rest = data.partition(" ")
    return int(count) if rest == "data sets" else len(re.split(", | and ", data))


def _held_out() -> str:
    """Return on how many sets of the page of `auto` it is not worse than the best rival, by its claims."""
    claims = pd.read_csv(HELD_OUT / "claims.csv", index_col="claim").astype(str)

    def holds(name: str) -> str:
        return f"{claims['holds on'][name]} of {claims['of'][name]}"

    return (
        f"the best rival, tuned or not, is not significantly better on {holds('best_all')} of classes and "
        f"{holds('best_numbers')} of numbers;\ntheir error is shown to be at most 5 % above the least on "
        f"{holds('near_all')} and {holds('near_numbers')}.\nWith nothing tuned, these are "
        f"{holds('best_default_all')} and {holds('near_default_all')} of classes, beside online learners "
        f"alone\n{holds('best_default')} and {holds('near_default')}"
    )


def _answers(name: str) -> str:
    """Return a digest in Markdown, learners as one types them."""

    def typed(text: str, names: dict[str, str]) -> str:
        learner, _, words = _label(text).partition(", scale=")
        command = names.get(learner, learner) + (f" `scale={words}`" if words else "")
        return command.replace("` `", " ") + text.removeprefix(_label(text))

    rows = []
    for row in pd.read_csv(TABLES / f"table-{name}.csv", dtype=str).fillna("").to_dict("records"):
        level = _level(row)
        names = _names("regression" if row["problem"].startswith("numbers") else "classification")
        more = f" and {len(level) - NAMED} more" if len(level) > NAMED else ""
        rows.append(
            {key: str(row[key]) for key in ("problem", "data")}
            | {"take": f"*{UNDECIDED}*" if row["take"] == UNDECIDED else typed(row["take"], names)}
            | {key: str(row[key]) for key in ("error", "µs", "MiB")}
            | {"level with it": ", ".join(typed(own, names) for own in level[:NAMED]) + more}
        )
    return markdown(rows)


def _level(row: dict[str, str]) -> list[str]:
    return [own for own in row["level with it"].split("; ") if own]


def _label(text: str) -> str:
    """Return the label of a learner with its error, or without."""
    return text.rpartition(" ")[0] if text[-1:].isdigit() else text


def _names(task: str) -> dict[str, str]:
    """Return what one types for each label in the tables, learners of the examples' folders included.

    task: of which a learner of omkl must be, as one label may stand for learners of two
    """
    own = {spec.label: f"`{spec.name}`" for spec in learner_specs().values() if task in spec.tasks}
    names: dict[str, str] = {}
    for path in sorted(TABLES.glob("table-*.csv")):
        table = pd.read_csv(path)
        for label, algo in zip(
            table.get("label", table.get("learner", ())), table.get("algo", ()), strict=True
        ):
            names[label] = f"`{algo}`, tuned" if label.endswith(", tuned") else f"`{algo}`"
    return names | own


def _most_chose(rows: pd.DataFrame, word: str) -> str:
    """Return on how many data sets more than half of the learners chose a scaling."""
    chose = rows["params"].str.contains(f"'scale': '{word}'").groupby(rows["data"]).mean()
    return f"{int((chose > 0.5).sum())} of {len(chose)} data sets"


def _share(of: pd.Series, what: str) -> str:
    return (
        f"{int(of.sum())} of {len(of)} {what}"
        if len(of) > 1
        else f"{int(of.sum())} of 1 {what.replace('sets', 'set')}"
    )


def _counted(found: list[str], among: int) -> str:
    return f"{len(found)} of {among} data sets" + (f" ({enumerated(found)})" if found else "")


def _least(name: str, data: str, without: Iterable[str] = ()) -> tuple[str, float]:
    """Return the learner with the fewest mistakes in a table on a data set, and these (%)."""
    rows = read(name)
    rows = rows[(rows["data"] == data) & ~rows["algo"].isin(list(without))]
    first = rows.loc[rows["mistake_pct_mean"].idxmin()]
    return str(first["algo"]), float(first["mistake_pct_mean"])


def _of(name: str, algo: str, data: str = "elec2") -> str:
    """Return the mistakes (%) of a learner in a table on a data set."""
    rows = read(name)
    [value] = rows.loc[(rows["data"] == data) & (rows["algo"] == algo), "mistake_pct_mean"]
    return f"{value:.1f}"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
