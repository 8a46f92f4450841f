"""A paper's page: results/NAME.md with its tables, figures and claims, and the commands that made them."""

import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from omkl.errors import OmklError, UserError
from omkl.files import replacing
from omkl.papers.claims import claims
from omkl.papers.figures import figure, figure_kinds
from omkl.papers.make import Made, command_of, kind_of, table, table_kinds
from omkl.papers.paper import Paper, Run
from omkl.papers.selection import Selection

if TYPE_CHECKING:
    from omkl.run.runner import Outcome

SUFFIXES = {"md": "markdown", "csv": "csv", "tex": "latex"}


def write_page(
    paper: Paper,
    selection: Selection,
    folder: Path,
    *,
    jobs: int | None = None,
    fresh: bool = False,
    progress: bool = True,
    report: Callable[[str], None] = print,
) -> None:
    """Make all of a paper and write folder/NAME.md and, in folder/NAME/, every table, figure and the claims.

    Tables as .md, .csv and .tex, figures as .png and .pdf. ``report`` gets each file's stem once it is
    written. Raises OmklError when a cell failed: what was written before stays, and the store keeps the rest.
    """
    for group, kinds in (("tables", table_kinds()), ("figures", figure_kinds())):
        for item in getattr(paper, group).values():
            kind_of(kinds, item, group)  # before anything is run; below, a figure's mistake is only reported
    inner = folder / paper.name
    inner.mkdir(parents=True, exist_ok=True)
    how = {"jobs": jobs, "fresh": fresh, "progress": progress}
    parts: list[str] = []
    outcomes: list[Outcome] = []

    def keep(outcome: "Outcome | None") -> None:
        if outcome is not None:
            _check(paper, outcome)
            outcomes.append(outcome)

    def save(stem: str, made: Made) -> str:
        keep(made.outcome)
        for suffix, fmt in SUFFIXES.items():
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of a CSV: the Markdown next to it has them
                _write(inner / f"{stem}.{suffix}", made.text(fmt))
        report(str(inner / stem))
        return made.text("markdown")

    for item in paper.tables.values():
        stem = f"table-{item.number or paper.name}"
        made = table(paper, item, selection, **how)
        text = save(stem, made)
        links = " · ".join(f"[{suffix}]({paper.name}/{stem}.{suffix})" for suffix in SUFFIXES)
        parts.append(f"## {made.title}\n\n{links}\n\n{_folded(text)}\n{_commands(item.runs)}")
    for item in paper.figures.values():
        target = inner / f"figure-{item.number}"
        try:
            drawn = figure(paper, item, selection, str(target), **how | {"fresh": False})
        except UserError as error:  # ranks of a single data set, say
            parts.append(f"## {item.titled(selection.names or None)}\n\nNot drawn: {error}\n")
            continue
        keep(drawn.outcome)
        report(str(target))
        links = " · ".join(f"[{file.suffix[1:]}]({paper.name}/{file.name})" for file in drawn.files)
        command = command_of("figure", item, selection)
        parts.append(
            f"## {drawn.title}\n\n![{drawn.title}]({paper.name}/{target.name}.png)\n\n{links} · `{command}`\n"
            + _commands(item.runs)
        )
    if paper.claims:
        text = save("claims", claims(paper, selection, **how | {"fresh": False}))
        parts.append(f"## Claims\n\n{text}")
    head = f"# {paper.title}\n\n{paper.cite}\n\n{_origin(outcomes)}\n\n{_deviations(paper)}"
    _write(folder / f"{paper.name}.md", head + "\n".join(parts))
    report(str(folder / f"{paper.name}.md"))


def _deviations(paper: Paper) -> str:
    if not paper.deviations:
        return ""
    lines = [f"{place}. {text}" for place, text in enumerate(paper.deviations, 1)]
    return "## Deviations from the paper\n\n" + "\n".join(lines) + "\n\n"


def _folded(text: str) -> str:
    """Return Markdown that opens on a click where it is long."""
    if text.count("\n|") <= 60:
        return text
    return f"<details><summary>the table</summary>\n\n{text}\n</details>\n"


def _commands(runs: tuple[Run, ...]) -> str:
    return "Cells: " + " · ".join(f"`{run.command}`" for run in runs) + "\n" if runs else ""


def _check(paper: Paper, outcome: "Outcome") -> None:
    if outcome.interrupted:
        raise KeyboardInterrupt
    if outcome.failed:
        first = outcome.failed[0]
        where = f"{first.get('algo')} on {first.get('data')}: {first.get('error')}"
        raise OmklError(f"{paper.name}: {len(outcome.failed)} cells failed, first {where}")


def _write(path: Path, text: str) -> None:
    try:
        with replacing(path) as file:
            file.write(text.encode())
        path.chmod(0o644)  # readable as any other file, unlike the temporary one
    except OSError as error:
        raise OmklError(f"cannot write {path}: {error.strerror}") from error


def _origin(outcomes: list["Outcome"]) -> str:
    """Return from which code, when and where the cells come, as Markdown."""
    import pandas as pd

    if not outcomes:
        return ""
    cells = pd.concat([outcome.cells for outcome in outcomes]).drop_duplicates("key")
    entries = list(cells["provenance"])

    def all_of(describe: Callable[[Mapping[str, Any]], str]) -> str:
        return " and ".join(sorted({describe(entry) for entry in entries}))

    code = all_of(lambda e: f"{e['commit'] or 'unknown'}{' with changes' if e['dirty'] else ''}")
    versions = all_of(lambda e: ", ".join(f"{name} {number}" for name, number in e["versions"].items()))
    machine = all_of(lambda e: f"{e['cores']} cores ({e['cpu']}), {e['jobs']} workers")
    times = sorted(entry["time"][:16].replace("T", " ") for entry in entries)
    ran, took = sum(outcome.ran for outcome in outcomes), sum(outcome.seconds for outcome in outcomes)
    return "\n".join(
        [
            "Made by `make tables` (`scripts/tables.py`); each table and figure names its own command.",
            "",
            f"* commit {code}; {versions}",
            f"* {len(cells)} cells of {times[0]} to {times[-1]} UTC on {machine}; {ran} of them run by this "
            f"command, in {took:.0f} s; learner time of all cells together {cells['seconds'].sum():.0f} s",
        ]
    )
