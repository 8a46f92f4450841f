"""A paper's claims, each checked: holds on k of n data sets, with the numbers."""

import textwrap
from dataclasses import dataclass
from typing import Any

from omkl.errors import UserError
from omkl.papers.checks import KINDS, Finding, on_each
from omkl.papers.compare import compare
from omkl.papers.make import Made, about_of, command_of, kind_of, run
from omkl.papers.paper import Item, Paper
from omkl.papers.schema import QUANTIFIERS
from omkl.papers.selection import Selection, work_of
from omkl.reports.notes import failed, incomplete


@dataclass(frozen=True)
class Checked:
    """A claim and its findings: data sets it could be checked on, and on how many it holds.

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
            return "undecided"
        share, said = self.count / len(self.known), str(self.item.options.get("sets", "all"))
        least = QUANTIFIERS[said]
        return "holds" if (share > least if least < 0.8 else share >= least) else "does not hold"


def claims(
    paper: Paper,
    selection: Selection,
    **how: Any,
) -> Made:
    """Run what a paper's claims need and check each; how: as in make.run, raises as make.table does."""
    import pandas as pd

    items = list(paper.claims.values())
    for item in items:
        kind_of(KINDS, item, "claims")
    work = work_of(paper, items, selection)
    outcome = run(work, **how)
    checked = []
    for item in items:
        own = work_of(paper, [item], selection)
        expected = about_of(own, outcome, "")
        compared = compare(paper, item, own, outcome.cells, expected)
        try:
            each = on_each(compared, item.options.get("pool"))
            findings = tuple(KINDS[item.kind](rows, item.options) for rows in each)
        except UserError as error:
            raise UserError(f"conf/paper/{paper.name}.yaml: claims.{item.number}: {error}") from error
        there = compared.summary[compared.summary["missing"] == ""]
        checked.append(Checked(item, findings, (*incomplete(there), *failed(expected))))
    rows = pd.DataFrame([_record(one) for one in checked])
    command = command_of("claims", items[0], selection)
    return Made(lambda fmt: _text(paper, checked, fmt, command), rows, outcome)


def _record(one: Checked) -> dict[str, Any]:
    marks = {True: "", False: " (no)", None: " (?)"}
    return {
        "claim": one.item.number,
        "text": one.item.title,
        "said of": str(one.item.options.get("sets", "all")),
        "holds on": one.count,
        "of": len(one.known),
        "verdict": one.verdict,
        "numbers": "; ".join(f"{each.data} {each.numbers}{marks[each.holds]}" for each in one.findings),
        "incomplete": "; ".join(one.warnings),
    }


def _text(paper: Paper, checked: list[Checked], fmt: str, command: str) -> str:
    from omkl.reports import plain_table

    rows = [_record(one) for one in checked]
    if fmt in ("json", "csv"):
        return plain_table.render(rows, fmt)
    short = [
        {
            "#": str(place),
            "claim": _wrapped(row["text"], 70) if fmt == "table" else row["text"],
            "said of": row["said of"],
            "holds on": f"{row['holds on']} of {row['of']}",
            "verdict": row["verdict"],
        }
        for place, row in enumerate(rows, 1)
    ]
    table = plain_table.render(short, fmt)
    warnings = list(dict.fromkeys(warning for one in checked for warning in one.warnings))
    if fmt == "latex":
        return "".join(f"% {line}\n" for line in (command, *warnings)) + table
    lines = [f"{place}. {row['numbers']}" for place, row in enumerate(rows, 1)]
    lines += [f"! {warning}" for warning in warnings]
    if fmt == "markdown":
        about = "Numbers, data set by data set (no: it does not hold there):"
        return f"`{command}`\n\n{table}\n{about}\n\n" + "\n".join(lines) + "\n"
    text = "\n".join(_wrapped(line, 118, "   ") for line in lines)
    return f"{paper.title}: its claims\n\n{table}\n{text}\n"


def _wrapped(text: str, width: int, indent: str = "") -> str:
    return textwrap.fill(text, width, subsequent_indent=indent, break_long_words=False)
