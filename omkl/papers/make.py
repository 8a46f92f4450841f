"""Running what a table, figure or claim needs, and what it says."""

import shlex
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from omkl.errors import UserError, suggest
from omkl.papers.made import Made
from omkl.papers.paper import Item, Paper, Run
from omkl.papers.selection import Selection, Work, command_words, work_of
from omkl.papers.titles import title_of
from omkl.reports.expected import Expected

if TYPE_CHECKING:
    from omkl.papers.compare import Compared
    from omkl.run.runner import Outcome


def table(
    paper: Paper,
    item: Item,
    selection: Selection,
    *,
    jobs: int | None = None,
    fresh: bool = False,
    progress: bool = True,
    fail_fast: bool = False,
    command: str = "",
) -> Made:
    """Run what is missing of a table and return it, in the formats of reports.tables.render.

    Raises UserError for a selection without data, OmklError when the store cannot be read or written.
    """
    make = kind_of(table_kinds(), item, "tables")
    if item.kind in STANDALONE:
        return make(paper, item, selection)
    from omkl.papers.compare import compare

    work = work_of(paper, [item], selection)
    outcome = run(work, jobs=jobs, fresh=fresh, progress=progress, fail_fast=fail_fast)
    about = about_of(work, outcome, command or command_of("table", item, selection))
    found = compare(paper, item, work, outcome.cells, about)
    title = title_of(item, found.summary["data"])
    return Made(make(item, found, about, title), found.summary, outcome, title)


def _results(item: Item, found: "Compared", about: Expected, title: str) -> Callable[[str], str]:
    """All rows, ours beside the published."""
    from omkl.papers.render import render

    more = _standing(item, found)
    return lambda fmt: render(found, found.cells, about, fmt, title, more)


def _standing(item: Item, found: "Compared") -> str:
    if not item.options.get("ranks"):
        return ""
    from omkl.papers.standing import standing_text

    return standing_text(found.summary)


def _tuning(item: Item, found: "Compared", about: Expected, title: str) -> Callable[[str], str]:
    """The best setting of each learner of a sweep."""
    from omkl.config.settings_text import params_text
    from omkl.papers.render import render
    from omkl.reports.sweep import best_settings

    swept = [key.removeprefix("algo.") for key in about.swept]
    whole = found.summary.assign(
        settings=[
            params_text({name: params[name] for name in swept if name in params})
            for params in found.summary["params"]
        ]
    )
    found.summary = best_settings(whole)
    more = _standing(item, found)
    return lambda fmt: render(found, found.cells, about, fmt, title, more, whole)


def _times(item: Item, found: "Compared", about: Expected, title: str) -> Callable[[str], str]:
    """Seconds, and their share of one learner's."""
    from omkl.papers.time_table import render_times

    return lambda fmt: render_times(found, item, about, fmt, title)


def _sizes(paper: Paper, item: Item, selection: Selection) -> Made:
    """The data sets: made of the registry, not of cells."""
    from omkl.papers.data_table import sizes_table

    return sizes_table(paper, item, selection)


TABLES: dict[str, Callable] = {"results": _results, "tuning": _tuning, "times": _times}
STANDALONE: dict[str, Callable] = {"sizes": _sizes}


def table_kinds() -> dict[str, Callable]:
    """Return what makes a table, by its kind in conf/paper."""
    return TABLES | STANDALONE


def run(work: Work, **how: Any) -> "Outcome":
    """Run the cells of all parts through one executor; the options are those of runner.run_plans."""
    from omkl.run.runner import run_plans

    if not work.plans:
        first, *others = dict.fromkeys(name for _, name in work.missing)
        names, about = ", ".join([first, *others]), f"{first}: " if others else ""
        more = "; --data NAME tells the same of each other set" if others else ""
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
    """Return the command that makes a table, figure or claims anew."""
    words = ["omkl", verb, item.name if verb != "claims" else item.paper]
    words += ["--quick"] if selection.quick else []
    words += ["--reps", str(selection.reps)] if selection.reps else []
    for option, given in (("--data", selection.data), ("--algo", selection.algos)):
        words += [option, ",".join(given)] if given else []
    words += [word for word in selection.words if word.startswith("seed=")]  # the others change no result
    return shlex.join(words)


def run_commands(runs: tuple[Run, ...]) -> list[str]:
    """Return the `omkl run` (or sweep) commands behind a table, one per run."""
    return [f"omkl {'sweep' if _swept(run) else 'run'} {shlex.join(command_words(run))}" for run in runs]


def _swept(run: Run) -> bool:
    return any(isinstance(value, (list, tuple)) for key, value in run.words.items() if "." in key)


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
