"""Running what a table, figure or claim needs, and what it says."""

import shlex
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from omkl.errors import UserError, suggest
from omkl.papers.paper import Item, Paper, Run
from omkl.papers.selection import Selection, Work, command_words, work_of
from omkl.reports.asked import Asked

if TYPE_CHECKING:
    import pandas as pd

    from omkl.runner import Outcome


@dataclass(frozen=True)
class Made:
    """A table or the like: its text in a format, its rows, what the run came to (None where nothing ran)."""

    text: Callable[[str], str]
    rows: "pd.DataFrame"
    outcome: "Outcome | None" = None


def table(
    paper: Paper,
    item: Item,
    asked: Selection,
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
    if item.kind == "sizes":
        from omkl.papers.sizes import sizes_table

        return sizes_table(paper, item, asked)
    from omkl.papers.compare import compare
    from omkl.papers.render import render

    work = work_of(paper, [item], asked)
    outcome = run(work, jobs=jobs, fresh=fresh, progress=progress, fail_fast=fail_fast)
    about = about_of(work, outcome, command or command_of("table", item, asked))
    found = compare(paper, item, work, outcome.cells, about)
    if item.kind == "times":
        from omkl.papers.times import render_times

        return Made(lambda fmt: render_times(found, item, about, fmt), found.summary, outcome)
    if item.kind == "tuning":
        from omkl.reports.rows import params_text
        from omkl.reports.sweep import best_settings

        swept = [key.removeprefix("algo.") for key in about.swept]
        found.summary["settings"] = [
            params_text({name: params[name] for name in swept if name in params})
            for params in found.summary["params"]
        ]
        found.summary = best_settings(found.summary)
    more = ""
    if item.options.get("ranks"):
        from omkl.papers.standing import standing_text

        more = standing_text(found.summary)

    def text(fmt: str) -> str:
        return render(found, outcome.cells, about, fmt, item.title, more)

    return Made(text, found.summary, outcome)


def run(work: Work, **how: Any) -> "Outcome":
    """Run the cells of all parts through one executor; the options are those of runner.run_plans."""
    from omkl.runner import run_plans

    if not work.plans:
        first, *others = dict.fromkeys(name for _, name in work.missing)
        names, about = ", ".join([first, *others]), f"{first}: " if others else ""
        more = "; --data NAME tells the same of each other set" if others else ""
        raise UserError(f"{names}: the data cannot be had: {about}{work.how[first]}{more}")
    return run_plans(work.plans, **how)


def about_of(work: Work, outcome: "Outcome", command: str) -> Asked:
    """Return what reports need to know of the plans together."""
    parts = [Asked.of(plan) for plan in work.plans]
    return Asked(
        settings=tuple(setting for part in parts for setting in part.settings),
        yardsticks=tuple(setting for part in parts for setting in part.yardsticks),
        data=tuple(work.data),
        specs={name: spec for part in parts for name, spec in part.specs.items()},
        failed=tuple(outcome.failed),
        swept=tuple(dict.fromkeys(key for part in parts for key in part.swept)),
        command=command,
    )


def command_of(verb: str, item: Item, asked: Selection) -> str:
    """Return the command that makes a table, figure or claims anew."""
    words = ["omkl", verb, item.name if verb != "claims" else item.paper]
    words += ["--quick"] if asked.quick else []
    words += ["--reps", str(asked.reps)] if asked.reps else []
    for option, given in (("--data", asked.data), ("--algo", asked.algos)):
        words += [option, ",".join(given)] if given else []
    return shlex.join(words)


def run_commands(runs: tuple[Run, ...]) -> list[str]:
    """Return the `omkl run` (or sweep) commands behind a table, one per run."""
    return [f"omkl {'sweep' if _swept(run) else 'run'} {shlex.join(command_words(run))}" for run in runs]


def _swept(run: Run) -> bool:
    return any(isinstance(value, (list, tuple)) for key, value in run.words.items() if "." in key)


def kind_of(kinds: dict, item: Item, what: str):
    """Return the function of an item's kind. Raises UserError that names the conf file's mistake."""
    if item.kind not in kinds:
        near = suggest(item.kind, kinds)
        raise UserError(
            f"conf/paper/{item.paper}.yaml: {what} {item.number}: unknown kind '{item.kind}'{near}"
        )
    return kinds[item.kind]
