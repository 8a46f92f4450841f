"""What a page for the browser is made of: a plan's cells, a paper, or all that a store holds."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from omkl.errors import UserError, suggest
from omkl.experiments.call import Call
from omkl.paths import store_folder
from omkl.publications import Selection, paper_names, read_paper
from omkl.tasks import judging_on

if TYPE_CHECKING:
    from omkl.pages.sections import Page

FILTERS = ("store", "algo", "data")


@dataclass(frozen=True)
class PageSource:
    """What makes a page again and again (``make``), and the folder of its store."""

    make: "Callable[[], Page]"
    store: Path

    @classmethod
    def of(
        cls,
        words: Sequence[str],
        command: str = "",
        *,
        everything: bool = False,
        selection: Selection | None = None,
        by: str = "",
    ) -> "PageSource":
        """Return the source that words name: a paper, settings, or everything that the store holds.

        selection: of a paper, its words set from here
        by: the measure by which rows are compared, "" for the error
        Raises UserError for words that name nothing.
        """
        papers, settings = (
            [word for word in words if "=" not in word],
            [word for word in words if "=" in word],
        )
        if everything:
            if papers:
                raise UserError(
                    f"--all reports everything that the store holds; leave out --all or {papers[0]}"
                )
            return cls._of_store(settings, command)
        if papers:
            return cls._of_paper(papers, settings, selection or Selection(), command)
        if not settings:
            raise UserError(
                "name what to report: algo=... data=..., a paper such as bomkl, or everything (--all)"
            )
        from omkl.pages.runs import run_page

        plan = Call(list(settings)).plan(sweep=True)
        if by:
            judging_on(by, [ref.task for ref in plan.data])
        return cls(lambda: run_page(plan, settings, command, by=by), plan.store)

    @classmethod
    def _of_store(cls, settings: list[str], command: str) -> "PageSource":
        from omkl.pages.runs import store_page
        from omkl.store.store import Store

        chosen = chosen_words(settings, "omkl report --all")
        store = Store(store_folder(next(iter(chosen["store"]), None)))
        return cls(lambda: store_page(store, chosen["algo"], chosen["data"], command), store.path)

    @classmethod
    def _of_paper(
        cls, names: list[str], settings: list[str], selection: Selection, command: str
    ) -> "PageSource":
        from omkl.pages.papers import paper_page

        if len(names) > 1:
            raise UserError(f"{names[1]}: one paper at a time; --all is everything that the store holds")
        if names[0] not in paper_names():
            near = suggest(names[0], paper_names())
            raise UserError(f"{names[0]}: no such paper{near}; known: {', '.join(paper_names())}")
        paper = read_paper(names[0])
        given = [
            word.partition("=")[2] for word in (*settings, *selection.words) if word.startswith("store=")
        ]
        return cls(lambda: paper_page(paper, selection, command), store_folder(next(iter(given), None)))

    def write(self, page: "Page", out: str | None) -> tuple[Path, int]:
        """Write a page as one file; return its path and its size in bytes.

        out: the file, or a folder; else a folder of the store
        """
        from omkl.pages.html import write_html

        path = self._target(out, page.name)
        return path, write_html(page, path)

    def _target(self, out: str | None, name: str) -> Path:
        if out is None:
            return self.store / "figures" / "local" / f"{name}.html"
        if out.endswith("/") or Path(out).is_dir():
            return Path(out) / f"{name}.html"
        if Path(out).suffix not in (".html", ".htm"):
            raise UserError(f"--out {out}: the file's name must end in .html")
        return Path(out)


def chosen_words(
    words: Sequence[str], command: str, known: tuple[str, ...] = FILTERS
) -> dict[str, list[str]]:
    """Return the values of the words store=, algo= and data=. Raises UserError for any other word."""
    chosen: dict[str, list[str]] = {key: [] for key in FILTERS}
    for word in words:
        key, equals, value = word.partition("=")
        if not equals or key not in known:
            raise UserError(f"{word}: {command} takes {', '.join(known)}{suggest(key, known)}")
        if not value or chosen[key]:
            raise UserError(f"{word}: " + ("given twice" if chosen[key] else "the value is missing"))
        chosen[key] = [value] if key == "store" else [part for part in value.split(",") if part]
    return chosen
