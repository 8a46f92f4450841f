"""Running what a table, figure or claim needs, and the tables themselves: one function per kind."""

import shlex
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from omkl.errors import UserError, suggest
from omkl.papers.paper import Item, Paper
from omkl.papers.selection import Selection, Work, work_of
from omkl.reports.expected import Expected

if TYPE_CHECKING:
    import pandas as pd

    from omkl.papers.compare import Compared
    from omkl.run.runner import Outcome


@dataclass(frozen=True)
class Made:
    """A table or the like: its text in a format, its rows, the outcome of the run (None where nothing ran).

    title: with the data that are in it
    """

    text: Callable[[str], str]
    rows: "pd.DataFrame"
    outcome: "Outcome | None" = None
    title: str = ""


def table(paper: Paper, item: Item, selection: Selection, *, command: str = "", **how: Any) -> Made:
    """Run what is missing of a table and return it, in the formats of reports.tables.render.

    how: as in ``run``. Raises UserError for a selection without data, OmklError when the store cannot be read
    or written.
    """
    make = kind_of(table_kinds(), item, "tables")
    if item.kind in STANDALONE:
        return make(paper, item, selection)
    from omkl.papers.compare import compare

    work = work_of(paper, [item], selection)
    outcome = run(work, **how)
    expected = about_of(work, outcome, command or command_of("table", item, selection))
    compared = compare(paper, item, work, outcome.cells, expected)
    title = item.titled(compared.summary["data"])
    return Made(make(item, compared, expected, title), compared.summary, outcome, title)


def _results(item: Item, compared: "Compared", expected: Expected, title: str) -> Callable[[str], str]:
    """All rows, ours next to the published."""
    from omkl.papers.render import render, standing_text

    more = standing_text(compared.summary) if item.options.get("ranks") else ""
    return lambda fmt: render(compared, expected, fmt, title, more)


def _tuning(item: Item, compared: "Compared", expected: Expected, title: str) -> Callable[[str], str]:
    """The best setting of each learner of a sweep."""
    from omkl.config.settings_text import params_text
    from omkl.papers.render import render, standing_text
    from omkl.reports.report import best_settings

    swept = [key.removeprefix("algo.") for key in expected.swept]
    texts = [
        params_text({k: params[k] for k in swept if k in params}) for params in compared.summary["params"]
    ]
    whole = compared.summary.assign(settings=texts)
    compared.summary = best_settings(whole)
    more = standing_text(compared.summary) if item.options.get("ranks") else ""
    return lambda fmt: render(compared, expected, fmt, title, more, whole)


def _times(item: Item, compared: "Compared", expected: Expected, title: str) -> Callable[[str], str]:
    """Seconds, and their share of one learner's."""
    from omkl.papers.small_tables import render_times

    return lambda fmt: render_times(compared, item, expected, fmt, title)


def _sizes(paper: Paper, item: Item, selection: Selection) -> Made:
    """The data sets: made of the registry, not of cells."""
    import pandas as pd

    from omkl.papers.small_tables import render_sizes, sizes_rows

    names = selection.names or list(item.options["data"])
    rows, title = sizes_rows(paper, names), item.titled(names)
    return Made(lambda fmt: render_sizes(paper, rows, fmt, title), pd.DataFrame(rows), title=title)


TABLES: dict[str, Callable] = {"results": _results, "tuning": _tuning, "times": _times}
STANDALONE: dict[str, Callable] = {"sizes": _sizes}


def table_kinds() -> dict[str, Callable]:
    """Return what makes a table, by its kind in conf/paper."""
    return TABLES | STANDALONE


def run(work: Work, **how: Any) -> "Outcome":
    """Run the cells of all parts through one executor; how: jobs, fresh ... of runner.run_plans."""
    from omkl.run.runner import run_plans

    if not work.plans:
        first, *others = dict.fromkeys(name for _, name in work.missing)
        names, about = ", ".join([first, *others]), f"{first}: " if others else ""
        more = "; --data NAME says the same of each other set" if others else ""
        raise UserError(f"{names}: the data are not available: {about}{work.how[first]}{more}")
    return run_plans(work.plans, **how)


def about_of(work: Work, outcome: "Outcome", command: str) -> Expected:
    """Return what reports need to know of the plans together."""
    parts = [Expected.of(plan) for plan in work.plans]
    return Expected(
        settings=tuple(setting for part in parts for setting in part.settings),
        yardsticks=tuple(setting for part in parts for setting in part.yardsticks),
        data=tuple(work.data),
        specs={name: spec for part in parts for name, spec in part.specs.items()},
        failed=tuple(outcome.failed),
        swept=tuple(dict.fromkeys(key for part in parts for key in part.swept)),
        command=command,
    )


def command_of(verb: str, item: Item, selection: Selection) -> str:
    """Return the command that makes a table, figure or claims again."""
    words = ["omkl", verb, item.name if verb != "claims" else item.paper]
    words += ["--quick"] if selection.quick else []
    words += ["--reps", str(selection.reps)] if selection.reps else []
    for option, given in (("--data", selection.data), ("--algo", selection.learners)):
        words += [option, ",".join(given)] if given else []
    words += [word for word in selection.words if word.startswith("seed=")]  # the others change no result
    return shlex.join(words)


def kind_of(kinds: dict, item: Item, group: str) -> Callable:
    """Return the function of an item's kind; group: ``tables``, ``figures`` or ``claims``.

    Raises UserError that names the conf file's mistake and the kinds there are.
    """
    if item.kind not in kinds:
        raise UserError(
            f"conf/paper/{item.paper}.yaml: {group}.{item.number or 'only'}.kind: unknown kind "
            f"'{item.kind}'{suggest(item.kind, kinds)}; there are {', '.join(kinds)}"
        )
    return kinds[item.kind]
