"""The text under a table: the meaning of its columns, and warnings about its rows."""

import shlex
from typing import TYPE_CHECKING

from omkl.config import compose
from omkl.config.settings_text import params_text
from omkl.paths import store_folder
from omkl.reports.captions import n_cells, repetitions_of, some
from omkl.reports.measures import BY_TASK, least_of
from omkl.reports.origin import doubts, made_with
from omkl.reports.rows import Expected, rounds_text
from omkl.reports.summary import LEAST_COMMON, MOST_NAMED, WORST
from omkl.reports.table import Table
from omkl.reports.table_cells import Spread

if TYPE_CHECKING:
    import pandas as pd

AGAIN = "the same command"
NO_TEST = "no test"  # a term


def legend(table: Table, summary: "pd.DataFrame", cells: "pd.DataFrame") -> list[tuple[str, str]]:
    """Return (term, meaning) of the columns that the table has, and what made the cells.

    summary: of the table's rows
    """
    errors = [number for number, column in enumerate(table.columns) if column.meaning]
    spreads = [line.cells[number] for line in table.rows for number in errors]
    single = not any(isinstance(cell, Spread) and cell.varies for cell in spreads)
    each = repetitions_of(set(cells["order"]) if len(cells) else ())
    spread = "" if single else f", mean ± sample standard deviation over the {each}"
    terms = [(table.columns[n].header, f"{table.columns[n].meaning}{spread}") for n in errors]
    if summary["marked"].any() and errors:
        test = f"all rows not significantly worse (paired t-test over the same {each}, two-sided, 5 %)"
        terms.append(("*", f"{least_of(summary)} on the data set, and {test}; yardsticks compete too"))
    if _lacks_test(summary) and errors:
        few = f"rows that share fewer than {LEAST_COMMON} {each} with the best row of the data set"
        terms.append((NO_TEST, f"{few}; they have no mark"))
    won = "" if single else f"; 15/20: in 15 of 20 {each}, otherwise in all"
    few = f"; of more than {MOST_NAMED} classes the {WORST} largest"
    meanings = {
        "n_sv_sum": "support vectors, summed over the kernels (the papers' count)",
        "n_sv_union": "distinct examples stored",
        "n_sv_combined": "support vectors of the classifiers that the last prediction combined",
        "kernel": f"the kernel with the largest weight when the pass ends{won}",
        "class_errors": f"share of each class's examples taken for another class{few}",
        "seconds": f"learner time of one pass{'' if single else ', mean'}",
        "memory": "memory of one pass: the arrays of state, stream and trace, as reserved",
        "p": "of the paired t-test against the best row of the data set",
    }
    headers = {column.name: column.header for column in table.columns}
    terms += [(headers[name], meaning) for name, meaning in meanings.items() if name in headers]
    if any(line.rule == "yardsticks" for line in table.rows):
        terms.append(("yardsticks", f"are listed below the short rule, on the same {each}"))
    made = made_with(cells)
    return [*terms, ("made with", made)] if made else terms


def _lacks_test(summary: "pd.DataFrame") -> bool:
    """Return whether a row that has a rival on its data set shares too few permutations with the best."""
    done = summary[summary["reps"] > 0]
    compared = done.duplicated("data", keep=False) & (done["common"] < LEAST_COMMON)
    return any(BY_TASK[task].least for task in done.loc[compared, "task"])


def notes(
    summary: "pd.DataFrame", cells: "pd.DataFrame", expected: Expected, again: str = AGAIN
) -> list[str]:
    """Return notes on the data; warnings: repetitions missing, cells failed, older revisions, times mixed.

    again: which command runs what is missing
    """
    return [
        *expected.about_data,
        *incomplete(summary, again),
        *failed(expected),
        *_stale(expected),
        *doubts(cells),
    ]


def incomplete(summary: "pd.DataFrame", again: str = AGAIN) -> list[str]:
    """Return a warning about the rows that lack repetitions, none where all are there."""
    names = [
        f"{row.label}{f' ({row.settings})' if row.settings else ''} on {row.data} {row.reps} of {row.asked}"
        for row in summary[~summary["complete"]].itertuples()
    ]
    basis = f"Means and marks are of the finished repetitions; {again} runs the missing ones"
    return [f"INCOMPLETE: {some(names)}. {basis}"] if names else []


def failed(expected: Expected) -> list[str]:
    """Return a warning about the cells that failed, none where all went well."""
    names = []
    for cell in expected.failed:
        spec = expected.specs.get(cell["algo"])
        params = spec.unusual(cell["params"], cell.get("task", "classification")) if spec else cell["params"]
        which = f"{expected.label(cell['algo'])}{f' ({params_text(params)})' if params else ''}"
        error = str(cell.get("error") or "no reason recorded").strip().splitlines()[-1]
        names.append(f"{which} on {cell['data']}, repetition {cell['rep']}: {error}")
    return [f"FAILED: {n_cells(len(names))}, not in the means: {some(names, '; ')}"] if names else []


def _stale(expected: Expected) -> list[str]:
    usual = expected.store in (None, store_folder(None))
    where = "" if usual else f" store={shlex.quote(str(expected.store))}"
    return [
        f"{n_cells(count)} of revision {revision} of {learner} in the store {'are' if count > 1 else 'is'} "
        f"not used: its {'results have' if isinstance(revision, int) else 'source has'} changed since; "
        f"`omkl results prune --old{where}{_folder(learner)} --yes` removes such cells"
        for (learner, revision), count in sorted(expected.stale.items(), key=str)
    ]


def _folder(learner: str) -> str:
    """Return the option that names the folder of a learner of the user's, "" for one of ours."""
    if compose.of_omkl("algo", learner):
        return ""
    folder = compose.file("algo", learner).parents[2]
    return f" --with {shlex.quote(str(folder))}"


def heading(summary: "pd.DataFrame", cells: "pd.DataFrame") -> str:
    """Return one line about what all rows share: pool, order, seed; and the sizes of a few data sets."""
    pools = {f"pool {pool}" for pool in summary["pool"] if isinstance(pool, str)}
    orders = {f"order {order}" for order in summary["order"] if order}
    seeds = {f"seed {seed}" for seed in cells.get("seed", ()) if orders != {"order file"}}
    parts = {f"rounds {part}" if part else "" for part in map(rounds_text, cells["rounds"])}
    shared = [text for texts in (pools, orders, parts, seeds) if len(texts) == 1 for text in texts]
    sizes = {row.data: row.T for row in summary.itertuples() if row.T == row.T and row.T is not None}
    few = ", ".join(f"{name}: {int(T)} examples" for name, T in sizes.items()) if len(sizes) <= 4 else ""
    return " · ".join(filter(None, [*shared, few]))
