"""The data sets of a paper, with their sizes beside the published ones."""

from omkl.publications.compare import published_lines
from omkl.publications.paper import Item, Paper
from omkl.publications.selection import Selection
from omkl.publications.table_result import TableResult
from omkl.reports.table import Table
from omkl.reports.table_cells import MISSING


def sizes(paper: Paper, item: Item, selection: Selection) -> TableResult:
    """The data sets, made of the registry, not of cells.

    Rows: examples, features, share of the positive class, next to the published sizes; and how to obtain the
    data that are not available.
    """
    from omkl.data import registry

    published = {
        line["data"]: line for line in published_lines("datasets") if line["paper"] == paper.published
    }
    names = selection.names or list(item.options["data"])
    records = []
    for name in names:
        T, d, positive, about = "", "", "", ""
        if name not in paper.unavailable:
            entry = registry.entry(name)
            T, d, about = str(entry.T), str(entry.d), entry.title
            positive = f"{100 * entry.positive_share:.1f}" if entry.positive_share is not None else ""
        row = {"data": name, "T": T, "d": d, "positive %": positive}
        if published:
            printed = published.get(name, {})
            row |= {"T published": printed.get("T", ""), "d published": printed.get("d", "")}
            row["verdict"] = _verdict(T, d, printed)
        lost = paper.unavailable.get(name)
        about, how = (lost.title, lost.how) if lost else (about, "")
        records.append(row | {"what it is": about, "missing": how})
    shown = [{k: text or MISSING for k, text in record.items() if k != "missing"} for record in records]
    below = [f"{record['data']}: {record['missing']}." for record in records if record["missing"]]
    title = item.titled(names)
    return TableResult(Table.of(records, shown, shared=title, below=below), title=title)


def _verdict(T: str, d: str, printed: dict[str, str]) -> str:
    if not T:
        return "no data"
    if not printed:
        return "not in the paper"
    differs = [key for key, number in (("T", T), ("d", d)) if number != printed[key]]
    return f"{', '.join(differs)} differ" if differs else "agrees"
