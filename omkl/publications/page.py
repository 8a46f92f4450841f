"""A paper's page: results/NAME.md with its tables, figures and claims, and the commands that made them."""

import warnings
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from omkl.config.settings_text import word_text
from omkl.errors import OmklError, UserError, counted
from omkl.files import write_text
from omkl.publications.claims import check_claims
from omkl.publications.paper import FEW, Paper, Run, as_list, enumerated
from omkl.publications.paper_figures import print_item
from omkl.publications.paper_tables import TableResult, make_table
from omkl.publications.selection import Selection
from omkl.publications.tuned import older, tuned_runs, tuning_rule
from omkl.reports.comparison import comparison

if TYPE_CHECKING:
    from omkl.runs.runner import Outcome

RULE = (
    "Each learner has {trials} trials on each data set: its default, and settings from the ranges in its "
    "file in conf/algo (`search`). Widths of kernels are multiples of the median distance of the first 500 "
    "rows. A learner with a pool chooses among its usual one and {pools}. A learner with fewer possible "
    "settings has those.",
    "The trials race on {rungs} prefixes of the stream, each {eta} times as long as the one before, none "
    "shorter than {least} examples. The last is the whole stream. One trial in {eta} goes on to the next. "
    "The default runs on the last, too. Streams of at most {small} examples are not cut: all trials run on "
    "all of them.",
    "A trial is judged by its mean error over {permutations}, four on such streams. One that overflows is "
    "the worst.",
)
OTHER = "Other rules hold for {learners} on {data}: {changes}."
LONGEST = "A setting whose pass on the next prefix would take more than {longest:g} s does not go on."
APART = (
    "The tables are about permutations that no trial has seen. In time order there is one order only: there "
    "the trials see the first third of the stream, and the tables are about the rest."
)
SIZES = (
    "Budgets and numbers of random features are not searched: they are the defaults, or as said "
    "below. More of them would nearly always be better, and slower."
)
ROUNDS = "Of {data} only the first {rounds} examples of each permutation are run, where there are more."
REPS = "{reps} passes are reported on {data}"
FEWER = (
    "; fewer where together they would take a learner more than {seconds:g} s, but at least {fewest}. The "
    "column reps says how many"
)
OLDER = (
    "The ranges of these learners in conf/algo have changed since they were tuned: {learners}. "
    "`omkl tune {paper} --fresh` tunes all again."
)
SUFFIXES = {"md": "markdown", "csv": "csv", "tex": "latex"}


def write_page(
    paper: Paper,
    selection: Selection,
    folder: Path,
    *,
    report: Callable[[str], None] = print,
    **how: Any,
) -> None:
    """Make all of a paper and write folder/NAME.md and, in folder/NAME/, every table, figure and the claims.

    Tables as .md, .csv and .tex, figures as .png and .pdf. how: of ``Work.run``; fresh runs the cells of the
    tables again    report: gets each file's stem once it is written

    Raises OmklError when a cell failed: the files written before stay, and the store keeps the rest.
    """
    inner = folder / paper.name
    inner.mkdir(parents=True, exist_ok=True)
    answers: list[str] = []  # what a reader takes home comes first
    parts: list[str] = []
    outcomes: list[Outcome] = []

    def keep(outcome: "Outcome | None") -> None:
        if outcome is not None:
            _check(paper, outcome)
            outcomes.append(outcome)

    def save(stem: str, made: TableResult) -> str:
        keep(made.outcome)
        for suffix, fmt in SUFFIXES.items():
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of a CSV: the Markdown next to it has them
                write_text(inner / f"{stem}.{suffix}", made.text(fmt))
        report(str(inner / stem))
        return made.text("markdown")

    for item in paper.tables.values():
        stem = f"table-{item.number or paper.name}"
        try:
            made = make_table(paper, item, selection, **how)
        except UserError as error:
            if not tuned_runs(paper):
                raise
            parts.append(f"## {item.titled(selection.names or None)}\n\nNot made: {error}\n")
            continue
        text = save(stem, made)
        if text.count("\n|") > 60:  # a long one opens on a click
            text = f"<details><summary>the table</summary>\n\n{text}\n</details>\n"
        links = " · ".join(f"[{suffix}]({paper.name}/{stem}.{suffix})" for suffix in SUFFIXES)
        place = answers if item.kind == "digest" else parts
        place.append(f"## {made.title}\n\n{links}\n\n{text}\n{_commands(item.runs)}")
    how = {**how, "fresh": False} if "fresh" in how else how
    for item in paper.figures.values():
        target = inner / f"figure-{item.number}"
        try:
            drawn = print_item(paper, item, selection, target, **how)
        except UserError as error:  # ranks of a single data set, say
            parts.append(f"## {item.titled(selection.names or None)}\n\nNot drawn: {error}\n")
            continue
        keep(drawn.outcome)
        report(str(target))
        made_of = drawn.figure
        links = " · ".join(f"[{file.suffix[1:]}]({paper.name}/{file.name})" for file in drawn.files)
        picture = f"![{drawn.title}]({paper.name}/{target.name}.png)\n\n{_sentence(made_of.note)}"
        links = f"{links} · `{made_of.command}`\n"
        notes = "".join(f"\n* **{warning}**\n" for warning in made_of.warnings)
        shown = [_sentence(made_of.instead)] if made_of.instead else [picture, links]
        text = "\n\n".join([f"## {drawn.title}", *shown, notes + _commands(item.runs)])
        numbers = f"\n{comparison(made_of.ranks).render('markdown')}\n" if made_of.ranks else ""
        parts.append(text + numbers)
    if paper.claims:
        parts.append(f"## Claims\n\n{save('claims', check_claims(paper, selection, **how))}")
    head = [f"# {paper.title}", paper.cite, *answers, _origin(paper, outcomes)]
    if about := about_numbers(paper):
        lines = (f"{place}. {text}" for place, text in enumerate(about[1], 1))
        head += [f"## {about[0]}", "\n".join(lines)]
    page = folder / f"{paper.name}.md"
    write_text(page, "\n\n".join([*head, "\n".join(parts)]))
    report(str(page))


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}." if text and not text.endswith(".") else text


def _commands(runs: Iterable[Run]) -> str:
    commands = " · ".join(dict.fromkeys(f"`{run.command}`" for run in runs))
    return f"Cells: {commands}\n" if commands else ""


def _check(paper: Paper, outcome: "Outcome") -> None:
    if outcome.interrupted:
        raise KeyboardInterrupt
    if outcome.failed:
        first = outcome.failed[0]
        where = f"{first.get('algo')} on {first.get('data')}: {first.get('error')}"
        raise OmklError(f"{paper.name}: {counted(len(outcome.failed), 'cell')} failed, first {where}")


def _origin(paper: Paper, outcomes: list["Outcome"]) -> str:
    """Return the code, the time and the machines that the cells come from, as Markdown."""
    import pandas as pd

    if not outcomes:
        return ""
    cells = pd.concat([outcome.cells for outcome in outcomes]).drop_duplicates("key")
    entries = list(cells["provenance"])

    def all_of(texts: Iterable[str]) -> str:
        return " and ".join(sorted(set(texts)))

    code = all_of(f"{e['commit'] or 'unknown'}{' with changes' if e['dirty'] else ''}" for e in entries)
    versions = all_of(
        ", ".join(f"{name} {number}" for name, number in e["versions"].items()) for e in entries
    )
    machine = all_of(
        f"{counted(e['cores'], 'core')} ({e['cpu']}), {counted(e['jobs'], 'worker')}" for e in entries
    )
    times = sorted(entry["time"][:16].replace("T", " ") for entry in entries)
    ran, took = sum(outcome.ran for outcome in outcomes), sum(outcome.seconds for outcome in outcomes)
    made = f"make {paper.name}" if tuned_runs(paper) else "make tables"
    return (
        f"Made by `{made}` (`scripts/tables.py`); each table and figure names its own command.\n\n"
        f"* commit {code}; {versions}\n"
        f"* {len(cells)} cells of {times[0]} to {times[-1]} UTC on {machine}; {ran} of them run by this "
        f"command, in {took:.0f} s; learner time of all cells together {cells['seconds'].sum():.0f} s"
    )


# -------------------------------------------------------------------- what is said of the numbers


def about_numbers(paper: Paper) -> tuple[str, list[str]] | None:
    """Return the title and the points of what a page says of its numbers, None where there is nothing.

    These are the deviations from its paper, or the rule by which its learners are tuned.
    """
    runs, points = tuned_runs(paper), list(paper.deviations)
    if not runs:
        return ("Deviations from the paper", points) if points else None
    texts = [*_rules(runs), APART, SIZES]
    by_rounds = _alike(runs, lambda run: run.words.get("rounds"))
    texts += [ROUNDS.format(data=_sets(own), rounds=rounds) for rounds, own in by_rounds]
    for (reps, seconds, fewest), own in _alike(runs, _reps):
        fewer = FEWER.format(seconds=seconds, fewest=fewest) if seconds and reps > fewest else ""
        texts.append(f"{REPS.format(reps=reps, data=_sets(own))}{fewer}.")
    if changed := [f"{learner} on {data}" for run in runs for data, learner in older(run)]:
        texts.append(OLDER.format(learners=", ".join(changed), paper=paper.name))
    return "The rule", [*dict.fromkeys(texts), *points]


def _rules(runs: list[Run]) -> list[str]:
    """Return the rule of most runs in sentences, and where others differ from it."""
    by_rule = [(vars(rule), own) for rule, own in _alike(runs, lambda run: tuning_rule(run)[0])]
    usual = max(by_rule, key=lambda pair: len(pair[1]))[0]
    passes = usual["passes"]
    values = usual | {
        "pools": enumerated(list(usual["pools"])),
        "permutations": "one permutation" if passes == 1 else f"{passes} permutations",
    }
    texts = [text.format(**values) for text in (RULE if usual["longest"] is None else (*RULE, LONGEST))]
    for rule, own in by_rule:
        changes = [word_text(key, value) for key, value in rule.items() if value != usual[key]]
        if changes:
            names = list(dict.fromkeys(name for run in own for name in as_list(run.words["algo"])))
            learners = enumerated(names) if len(names) <= FEW else f"{len(names)} learners"
            texts.append(OTHER.format(learners=learners, data=_sets(own), changes=", ".join(changes)))
    return texts


def _reps(run: Run) -> tuple[int, float | None, int]:
    cuts = tuning_rule(run)[1]
    return int(run.words.get("reps", 1)), cuts["seconds"], cuts["fewest"]


def _alike(runs: Iterable[Run], value: Callable[[Run], Any]) -> list[tuple[Any, list[Run]]]:
    """Return the runs that share a value, those without one left out."""
    groups: dict[Any, list[Run]] = {}
    for run in runs:
        if value(run) is not None:
            groups.setdefault(value(run), []).append(run)
    return list(groups.items())


def _sets(runs: Iterable[Run]) -> str:
    return enumerated(list(dict.fromkeys(name for run in runs for name in run.data)))
