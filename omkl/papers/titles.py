"""What a table or figure is called: the title in conf/paper, with the data that are in it."""

from collections.abc import Iterable

from omkl.papers.paper import Item
from omkl.papers.selection import listed_data

FEW = 3  # data sets up to which they are named
_PLACE = "{data}"


def title_of(item: Item, data: Iterable[str] | None = None) -> str:
    """Return the title with the names of the data sets, or their number, in place of ``{data}``.

    data: those that the table or figure shows; None takes all that conf/paper lists.
    """
    if data is None:
        data = [name for run in item.runs for name in listed_data(run)]
    names = list(dict.fromkeys(data))
    if len(names) > FEW:
        return item.title.replace(_PLACE, f"{len(names)} data sets")
    text = " and ".join(part for part in (", ".join(names[:-1]), *names[-1:]) if part)
    return item.title.replace(_PLACE, text or "no data")
