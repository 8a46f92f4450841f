"""Where each item of the five papers is: made from conf/paper, the learners' `cite` and results/bounds.md."""

import re
import shlex
from collections.abc import Iterator

from hooks.tables import ROOT, markdown
from omkl.config import learner_specs
from omkl.publications.paper import Item, read_paper

PAPERS = {  # name of conf/paper: how a theorem's name begins, how a learner's `cite` does
    "norma": ("Kivinen et al. (2004)", "Kivinen, Smola, Williamson (2004)"),
    "omkl": ("Jin et al. (2010)", "Jin, Hoi, Yang (2010)"),
    "omkc": ("Hoi et al. (2013)", "Hoi et al. (2013)"),
    "bomkl": ("Lu et al.", "Lu, Hoi, Sahoo|Lu et al."),
    "adaraker": ("Shen et al. (2018)", "Shen, Chen, Giannakis (2018)|the authors' code of Shen"),
}
_KIND = r"(?:Theorem|Lemma|Corollary|Proposition) \d+"
_COMMAND = re.compile(r"^\* (.+): `(omkl bounds [^`]+)`$", re.M)  # of the part of this heading
_HEADING = re.compile(r"^## (.+)$", re.M)


def page() -> str:
    """Return the page: for each paper its algorithms, theorems, tables, figures and claims."""
    text = [
        "# Where each item of the papers is",
        "",
        "Each algorithm, theorem, table, figure and claim of [the five papers](papers.md), with the command "
        "that runs it. Every learner is checked in every round against its naive twin in `tests/reference`.",
        "",
    ]
    for name in PAPERS:
        paper = read_paper(name)
        text += [f"## {paper.cite}", "", f"Results: [{name}](papers/{name}.md).", ""]
        rows = [*algorithms(name), *theorems(name)]
        for kind, items in (("table", paper.tables), ("figure", paper.figures)):
            rows += [_shown(kind, item) for item in items.values()]
        if paper.claims:
            rows.append(["claims", f"{len(paper.claims)} statements", f"`omkl claims {name}`"])
        rows += [
            [f"data set {key}", f"{data.title}: {data.how}", "not in omkl"]
            for key, data in paper.unavailable.items()
        ]
        text += [*markdown(["item", "what it is", "command"], rows), ""]
    return "\n".join(text)


def algorithms(name: str) -> Iterator[list[str]]:
    """Yield the learners that a paper defines: place, label, command."""
    ways = tuple(PAPERS[name][1].split("|"))
    found = []
    for spec in learner_specs().values():
        for part in (part.strip() for part in spec.cite.split(";")):
            if part.startswith(ways):
                place = part.removeprefix(next(way for way in ways if part.startswith(way))).strip(" ,")
                found.append([place or "the authors' code", spec.label, f"`omkl run algo={spec.name}`"])
    yield from sorted(found)


def theorems(name: str) -> Iterator[list[str]]:
    """Yield the theorems with the first command of results/bounds.md in which they apply."""
    start = PAPERS[name][0]
    text = (ROOT / "results" / "bounds.md").read_text(encoding="utf-8")
    _, *parts = _HEADING.split(text)
    tables = dict(zip(parts[::2], parts[1::2], strict=True))
    found: dict[tuple[str, str], tuple[dict[str, str], list[str]]] = {}
    seen: dict[tuple[str, str], str] = {}  # of item and learner: the command
    for heading, command in _COMMAND.findall(text):
        head: list[str] = []
        for line in tables[heading].splitlines():
            cells = [cell.strip() for cell in line.strip("|").split(" | ")]
            head = cells if "theorem" in cells else head
            row = dict(zip(head, cells, strict=False))
            if (
                not line.startswith("|")
                or row.get("bound", "–") in ("–", "bound")
                or row["theorem"].startswith(":")
            ):
                continue
            for theorem in row["theorem"].split("; "):
                if theorem.startswith(start):
                    item = theorem.removeprefix(start).strip(" ,")
                    if seen.setdefault((item, row["learner"]), command) == command:
                        labels = found.setdefault((item, command), (row, []))[1]
                        labels += [row["learner"]] * (row["learner"] not in labels)
    for item, command in sorted(found, key=lambda key: _in_order(key[0])):
        row, labels = found[item, command]
        yield [item, f"bound of {row['counts']}: {', '.join(labels)}", f"`{_of_row(command, row, labels)}`"]


def _of_row(command: str, row: dict[str, str], labels: list[str]) -> str:
    """The command for these learners and the row's data set alone."""
    specs = learner_specs()
    words = dict(word.split("=", 1) for word in shlex.split(command)[2:])
    learners = [name for name in words["algo"].split(",") if specs[name.split("(")[0]].label in labels]
    known = {key for name in learners for key in specs[name.split("(")[0]].hyperparameters}
    words |= {"algo": ",".join(learners), "data": row["data"]}
    kept = [
        shlex.quote(f"{key}={value}") if re.search(r"[({\[]", value) else f"{key}={value}"
        for key, value in words.items()
        if (not key.startswith("algo.") or key[5:] in known) and (key != "pool" or row["pool"])
    ]
    return " ".join(["omkl bounds", *kept])


def _in_order(item: str) -> tuple[str, int, str]:
    kind, number = re.findall(_KIND, item)[0].split()
    return kind, int(number), item


def _shown(kind: str, item: Item) -> list[str]:
    number = (
        f"{kind.capitalize()} {item.number}" if item.number.isdigit() else f"{kind} {item.number}".strip()
    )
    return [number, item.titled(), f"`omkl {kind} {item.name}`"]
