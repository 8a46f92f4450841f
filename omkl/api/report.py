"""What a page for the browser is made of: a plan's cells, or a paper."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from omkl.api.call import Call
from omkl.errors import UserError, suggest
from omkl.paths import store_folder
from omkl.publications import Selection, paper_names, read_paper
from omkl.tasks import judging_on

if TYPE_CHECKING:
    from omkl.pages.documents import Page


def page_of(
    words: Sequence[str],
    command: str = "",
    *,
    selection: Selection | None = None,
    by: str = "",
) -> "tuple[Page, Path]":
    """Return the page that words name (a paper or settings), and its store.

    selection: of a paper, its words set from here    by: the measure by which rows are compared
    Raises UserError for words that name nothing.
    """
    papers, settings = [word for word in words if "=" not in word], [word for word in words if "=" in word]
    if papers:
        from omkl.pages.papers import paper_page

        if len(papers) > 1:
            raise UserError(f"{papers[1]}: one paper at a time")
        if papers[0] not in paper_names():
            near = suggest(papers[0], paper_names())
            raise UserError(f"{papers[0]}: no such paper{near}; known: {', '.join(paper_names())}")
        selection = selection or Selection()
        stores = [word[6:] for word in (*settings, *selection.words) if word.startswith("store=")]
        page = paper_page(read_paper(papers[0]), selection, command)
        return page, store_folder(next(iter(stores), None))
    if not settings:
        raise UserError("name what to report: algo=... data=..., or a paper such as bomkl")
    from omkl.pages.runs import run_page

    plan = Call(settings).plan(sweep=True)
    if by:
        judging_on(by, [ref.task for ref in plan.data])
    return run_page(plan, settings, command, by=by), plan.store


def write_page(page: "Page", store_path: Path, out: str | None) -> tuple[Path, int]:
    """Write a page as one file; return its path and its size in bytes.

    out: the file, or a folder; else a folder of the store
    """
    from omkl.pages.documents import write_html

    if out is None:
        path = store_path / "figures" / "local" / f"{page.name}.html"
    elif out.endswith("/") or Path(out).is_dir():
        path = Path(out) / f"{page.name}.html"
    else:
        path = page_path(out, "--out ")
    return path, write_html(page, path)


def page_path(name: str | Path, option: str = "") -> Path:
    """Return where a page goes. Raises UserError for a name that is none of a page."""
    path = Path(name)
    if path.suffix not in (".html", ".htm"):
        raise UserError(f"{option}{name}: the file's name must end in .html")
    return path
