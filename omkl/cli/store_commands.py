"""The command for stores of results: list, export, compact, merge, prune and reseal them."""

from argparse import Namespace
from pathlib import Path
from typing import TYPE_CHECKING

from omkl.cli.messages import OK, emit, say
from omkl.errors import UserError, path_error, suggest
from omkl.files import replacing
from omkl.paths import given, store_folder
from omkl.reports.table import Table

if TYPE_CHECKING:
    import pandas as pd

    from omkl.store.store import Store

ACTIONS: tuple[str, ...] = ("list", "export", "compact", "merge", "prune", "reseal")
LEAST = ("machines", "dates", "order", "revision", "failed")  # columns that a narrow terminal leaves out
FILTERS = ("store", "algo", "data")


def results(args: Namespace, words: list[str]) -> int:
    """List, export, compact, merge, prune or reseal stored results."""
    from omkl.reports import store_contents
    from omkl.store import resealing, rewrite
    from omkl.store.store import Store, listed

    folders = [word for word in words if "=" not in word] if args.action == "merge" else []
    known = FILTERS if args.action in ("list", "export") else ("store",)
    own = [word for word in words if word not in folders]
    chosen = chosen_words(own, f"omkl results {args.action}", known)
    store = Store(store_folder(next(iter(chosen["store"]), None)))
    if args.action == "merge":
        if not folders:
            raise UserError("omkl results merge FOLDER ...: name the stores to copy from")
        copied = rewrite.merge(store, [given(folder, "") for folder in folders])
        emit(f"{store.path}: {copied['cells']} lines of cells and {copied['curves']} curves copied\n")
        return OK
    if not (store.path / "cells").is_dir():
        raise UserError(
            f"{store.path} is not a results store (it has no cells/ folder); name one with store=PATH"
        )
    if args.action == "list":
        rows = store_contents.contents(store, chosen["algo"], chosen["data"])
        emit(Table.of(rows, least=LEAST).render(args.format))
    elif args.action == "export":
        _export(store_contents.flat_table(store, chosen["algo"], chosen["data"]), args.out)
    elif args.action == "compact":
        _compact(store)
    elif args.action == "reseal":
        sealed, left, busy = resealing.reseal(store)
        emit(f"{store.path}: {sealed['cells']} lines of cells and {sealed['curves']} curves sealed\n")
        if left:
            say(f"key or figures do not agree in {listed(left)}; prune --torn --yes removes them")
        _say_busy(busy)
    else:
        sources = _sources() if args.old else {}
        rows, busy = rewrite.prune(store, old=args.old, torn=args.torn, really=args.yes, sources=sources)
        if rows or args.format == "json":
            emit(Table.of(rows).render(args.format))
        _say_busy(busy)
        undone = "nothing was removed; add --yes to remove these lines"
        if rows:
            say("these lines were removed" if args.yes else undone)
        elif not busy:
            say(f"{store.path} holds no such lines; there is nothing to remove")
    return OK


def _compact(store: "Store") -> None:
    from omkl.store.compact import compact

    made = compact(store)
    lines = f"{made.lines['cells']} lines of cells and {made.lines['curves']} curves sealed"
    sizes = f"{made.before / 2**20:.1f} MiB became {made.after / 2**20:.1f} MiB"
    emit(f"{store.path}: {lines}, {made.segments} segments written; {sizes}\n")
    _say_busy(made.busy)


def _sources() -> dict[str, str]:
    """Return what the learners of the user's folders are made of, by learner."""
    from omkl.config import compose, learner_specs
    from omkl.learner.source import source

    specs = learner_specs().items()
    return {name: source(spec) for name, spec in specs if not compose.of_omkl("algo", name)}


def _say_busy(busy: list[Path]) -> None:
    for path in busy:
        say(f"{path}: left unchanged, because a run is writing to it")


def chosen_words(words: list[str], command: str, known: tuple[str, ...] = FILTERS) -> dict[str, list[str]]:
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


def _export(table: "pd.DataFrame", out: str | None) -> None:
    """Write CSV to stdout, or CSV or Parquet to a file."""
    if out is None:
        emit(_csv(table))
        return
    path = Path(out)
    if path.suffix not in (".csv", ".parquet"):
        raise UserError(f"--out {out}: the file's name must end in .csv or .parquet")
    if not path.parent.is_dir():
        raise UserError(f"cannot write {path}: there is no folder {path.parent}")
    try:
        with replacing(path) as file:
            file.write(_csv(table).encode() if path.suffix == ".csv" else _parquet(table))
    except OSError as error:
        raise path_error(f"write {path}", error) from error
    say(f"wrote {path}: {len(table)} cells, {len(table.columns)} columns")


def _csv(table: "pd.DataFrame") -> str:
    import json

    lists = [name for name in table if any(isinstance(value, list) for value in table[name])]
    text = {name: [json.dumps(v) if isinstance(v, list) else None for v in table[name]] for name in lists}
    return table.assign(**text).to_csv(index=False, lineterminator="\n")


def _parquet(table: "pd.DataFrame") -> bytes:
    try:
        import pyarrow  # noqa: F401 (pandas would name fastparquet too, in three lines)
    except ImportError:
        raise UserError(
            "Parquet needs pyarrow: pip install pyarrow, or let the file's name end in .csv"
        ) from None
    return table.to_parquet(engine="pyarrow", index=False)
