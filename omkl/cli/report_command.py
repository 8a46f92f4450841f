"""The command that writes a page, or serves it."""

import contextlib
from argparse import Namespace
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from omkl.cli.commands import selection_of
from omkl.cli.listing import chosen_words
from omkl.cli.messages import OK, emit, say
from omkl.errors import UserError, suggest
from omkl.paths import store_folder

if TYPE_CHECKING:
    from omkl.pages.document import Page


def report(args: Namespace, words: list[str]) -> int:
    """Write a report for the browser: one file with tables and figures of stored cells, or serve it."""
    from omkl.pages.document import write_html

    make, store = _page(args, words)
    if args.serve:
        return _serve(args, make, store)
    page = make()
    path = _target(args.out, store, page.name)
    size = write_html(page, path)
    for warning in page.warnings:
        say(f"warning: {warning}")
    say(f"wrote {path}: {size / 1e6:.1f} MB")
    return OK


def _target(out: str | None, store: Path, name: str) -> Path:
    """Return the file to write: ``out``, in it where it is a folder, else in the store."""
    if out is None:
        return store / "figures" / "local" / f"{name}.html"
    if out.endswith("/") or Path(out).is_dir():
        return Path(out) / f"{name}.html"
    if Path(out).suffix not in (".html", ".htm"):
        raise UserError(f"--out {out}: the file's name must end in .html")
    return Path(out)


def _page(args: Namespace, words: list[str]) -> "tuple[Callable[[], Page], Path]":
    """Return what makes the page, and the folder of its store."""
    papers, settings = [word for word in words if "=" not in word], [word for word in words if "=" in word]
    for option in ("reps", "data", "algo", "quick", "full"):
        if getattr(args, option) and not papers:
            raise UserError(f"--{option} is for a paper's report; others take KEY=VALUE words")
    if args.all:
        if papers:
            raise UserError(f"--all reports everything that the store holds; leave out --all or {papers[0]}")
        return _store(args, settings)
    if papers:
        return _papers(args, papers, settings)
    if not settings:
        raise UserError("name what to report: algo=... data=..., a paper such as bomkl, or --all")
    from omkl.config import plan as make_plan
    from omkl.pages.runs import run_page

    plan = make_plan(settings, sweep=True)
    return lambda: run_page(plan, settings, args.line, progress=args.serve), plan.store


def _store(args: Namespace, settings: list[str]) -> "tuple[Callable[[], Page], Path]":
    from omkl.pages.runs import store_page
    from omkl.store.store import Store

    chosen = chosen_words(settings, "omkl report --all")
    store = Store(store_folder(next(iter(chosen["store"]), None)))
    return lambda: store_page(store, chosen["algo"], chosen["data"], args.line), store.path


def _papers(args: Namespace, names: list[str], settings: list[str]) -> "tuple[Callable[[], Page], Path]":
    from omkl.pages.papers import paper_page
    from omkl.publications import paper_names as known
    from omkl.publications import read_paper

    if len(names) > 1:
        raise UserError(f"{names[1]}: one paper at a time; --all is everything that the store holds")
    if names[0] not in known():
        near = suggest(names[0], known())
        raise UserError(f"{names[0]}: no such paper{near}; known: {', '.join(known())}")
    selection, paper = selection_of(args, settings), read_paper(names[0])
    given = [word.partition("=")[2] for word in settings if word.startswith("store=")]
    return lambda: paper_page(paper, selection, args.line), store_folder(next(iter(given), None))


def _serve(args: Namespace, make: "Callable[[], Page]", store: Path) -> int:
    from omkl.pages.document import document
    from omkl.pages.serve import Pages, Server, store_state

    if args.out:
        raise UserError("--serve writes no file; leave out --out")
    pages = Pages(make, lambda: store_state(store))
    document(pages.now()[1])  # so that a mistake is said here
    with Server(pages, args.port) as server:
        emit(f"{server.address}\n")
        say("open this address in a browser on this machine; Ctrl-C ends the server")
        with contextlib.suppress(KeyboardInterrupt):
            server.serve_forever()
    return OK
