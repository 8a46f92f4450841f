"""A paper's table of its data sets: what is registered here beside the sizes that it prints."""

from typing import TYPE_CHECKING

from omkl.papers.paper import Item, Paper
from omkl.papers.published import sizes
from omkl.papers.selection import Selection
from omkl.papers.titles import title_of

if TYPE_CHECKING:
    from omkl.papers.made import Made


def sizes_table(paper: Paper, item: Item, selection: Selection) -> "Made":
    """Return the table of an item of kind ``sizes``: rows, features, share of the positive class, source."""
    import pandas as pd

    from omkl.papers.made import Made
    from omkl.reports import plain_table
    from omkl.reports.formats import check_format

    names = [word.partition("=")[0] for word in selection.data] or list(item.options["data"])
    printed = {line["data"]: line for line in sizes() if line["paper"] == paper.published}
    rows = [_row(paper, name, printed.get(name, {}), bool(printed)) for name in names]

    absent = [name for name in names if name in paper.unavailable]
    below = "".join(f"\n{name}: {paper.unavailable[name]['how']}.\n" for name in absent)

    title = title_of(item, names)

    def text(fmt: str) -> str:
        check_format(fmt)
        if fmt in ("json", "csv"):
            how = {name: paper.unavailable[name]["how"] for name in absent}
            return plain_table.render([row | {"missing": how.get(row["data"], "")} for row in rows], fmt)
        table = plain_table.render(rows, fmt)
        if fmt == "latex":
            return "".join(f"% {line}\n" for line in f"{title}\n{below}".split("\n") if line) + table
        return f"{title}\n\n{table}{below}"

    return Made(text, pd.DataFrame(rows), title=title)


def _row(paper: Paper, name: str, printed: dict[str, str], compared: bool) -> dict:
    from omkl.data import registry

    if name in paper.unavailable:
        entry = paper.unavailable[name]
        T, d, positive, about = "none", "none", "", entry["title"]
    else:
        known = registry.entry(name)
        T, d, about = str(known.T), str(known.d), known.title
        positive = f"{100 * known.positive_share:.1f}" if known.positive_share is not None else ""
    row = {"data": name, "T": T, "d": d, "positive %": positive}
    if compared:
        differs = [key for key, own in (("T", T), ("d", d)) if printed and own not in ("none", printed[key])]
        row |= {
            "T published": printed.get("T", ""),
            "d published": printed.get("d", ""),
            "verdict": "no data"
            if T == "none"
            else f"{', '.join(differs)} differ"
            if differs
            else "agrees"
            if printed
            else "not in the paper",
        }
    return row | {"what it is": about}
