"""A paper's claims, each checked: holds on k of n data sets, with the numbers."""

from dataclasses import dataclass

from omkl.errors import UserError
from omkl.papers.checks import Finding, checker, on_each
from omkl.papers.compare import compare
from omkl.papers.made import Made
from omkl.papers.make import about_of, command_of, run
from omkl.papers.paper import Item, Paper
from omkl.papers.schema import QUANTIFIERS
from omkl.papers.selection import Selection, work_of
from omkl.reports.notes import failed, incomplete


@dataclass(frozen=True)
class Checked:
    """A claim and what was found: data sets it could be checked on, and on how many it holds.

    warnings: repetitions that its rows lack, cells that failed
    """

    item: Item
    findings: tuple[Finding, ...]
    warnings: tuple[str, ...] = ()

    @property
    def known(self) -> list[Finding]:
        """Return the findings that say yes or no."""
        return [finding for finding in self.findings if finding.holds is not None]

    @property
    def count(self) -> int:
        """Return on how many data sets it holds."""
        return sum(bool(finding.holds) for finding in self.known)

    @property
    def verdict(self) -> str:
        """Return "holds" or "does not hold", as often as the claim says it does."""
        if not self.known:
            return "cannot be said"
        share, said = self.count / len(self.known), str(self.item.options.get("sets", "all"))
        least = QUANTIFIERS[said]
        return "holds" if (share > least if least < 0.8 else share >= least) else "does not hold"


def claims(
    paper: Paper,
    selection: Selection,
    *,
    jobs: int | None = None,
    fresh: bool = False,
    progress: bool = True,
    fail_fast: bool = False,
) -> Made:
    """Run what a paper's claims need and check each; raises as make.table does."""
    import pandas as pd

    items = list(paper.claims.values())
    for item in items:
        checker(item.kind, f"conf/paper/{paper.name}.yaml: claims.{item.number}")
    work = work_of(paper, items, selection)
    outcome = run(work, jobs=jobs, fresh=fresh, progress=progress, fail_fast=fail_fast)
    checked = []
    for item in items:
        own = work_of(paper, [item], selection)
        cells = outcome.cells
        about = about_of(own, outcome, "")
        found = compare(paper, item, own, cells, about)
        check = checker(item.kind, f"conf/paper/{paper.name}.yaml: claims.{item.number}")
        each = on_each(found, found.cells, item.options.get("pool"))
        try:
            findings = tuple(check(rows, item.options) for rows in each)
        except UserError as error:
            raise UserError(f"conf/paper/{paper.name}.yaml: claims.{item.number}: {error}") from error
        there = found.summary[found.summary["missing"] == ""]
        checked.append(Checked(item, findings, (*incomplete(there), *failed(about))))
    rows = pd.DataFrame([_record(one) for one in checked])
    command = command_of("claims", items[0], selection)
    return Made(lambda fmt: _text(paper, checked, fmt, command), rows, outcome)


def _record(one: Checked) -> dict:
    return {
        "claim": one.item.number,
        "text": one.item.title,
        "said of": str(one.item.options.get("sets", "all")),
        "holds on": one.count,
        "of": len(one.known),
        "verdict": one.verdict,
        "numbers": "; ".join(_numbers(finding) for finding in one.findings),
        "incomplete": "; ".join(one.warnings),
    }


def _numbers(finding: Finding) -> str:
    mark = {True: "", False: " (no)", None: " (?)"}[finding.holds]
    return f"{finding.data} {finding.numbers}{mark}"


def _text(paper: Paper, checked: list[Checked], fmt: str, command: str) -> str:
    from omkl.reports import plain_table

    records = [_record(one) for one in checked]
    if fmt in ("json", "csv"):
        return plain_table.render(records, fmt)
    short = [
        {
            "#": str(place),
            "claim": record["text"],
            "said of": record["said of"],
            "holds on": f"{record['holds on']} of {record['of']}",
            "verdict": record["verdict"],
        }
        for place, record in enumerate(records, 1)
    ]
    if fmt == "table":
        for row in short:
            row["claim"] = _wrapped(row["claim"], 70)
    table = plain_table.render(short, fmt)
    warnings = list(dict.fromkeys(warning for one in checked for warning in one.warnings))
    if fmt == "latex":
        return "".join(f"% {line}\n" for line in (command, *warnings)) + table
    lines = [f"{place}. {record['numbers']}" for place, record in enumerate(records, 1)]
    lines += [f"! {warning}" for warning in warnings]
    if fmt == "markdown":
        return (
            f"`{command}`\n\n{table}\nNumbers, data set by data set (no: it does not hold there):\n\n"
            + "\n".join(lines)
            + "\n"
        )
    return (
        f"{paper.title}: its claims\n\n{table}\n"
        + "\n".join(_wrapped(line, 118, "   ") for line in lines)
        + "\n"
    )


def _wrapped(text: str, width: int, indent: str = "") -> str:
    import textwrap

    return textwrap.fill(text, width, subsequent_indent=indent, break_long_words=False)
