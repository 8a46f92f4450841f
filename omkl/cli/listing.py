"""The commands that show what there is: learners, data, pools, papers, a configuration, stored results."""

import json
import os
from argparse import Namespace
from typing import TYPE_CHECKING

from omkl import experiments as front
from omkl.cli.messages import OK, complain, emit, say
from omkl.errors import OmklError, UserError, counted
from omkl.experiments.lists import rows_of
from omkl.paths import given, store_folder
from omkl.reports.table import Table

if TYPE_CHECKING:
    from omkl.data.ref import Registered

DATA_ACTIONS: tuple[str, ...] = ("list", "look", "get", "verify", "path")
RESULTS_ACTIONS: tuple[str, ...] = ("list", "export", "merge", "prune")
FILTERS = ("store", "algo", "data")
LEAST = ("source", "yardstick", "label", "title")  # columns that a narrow terminal leaves out first
LEAST_OF_RESULTS = ("machines", "dates", "order", "revision", "failed")


def list_(args: Namespace, words: list[str]) -> int:
    """List learners, their groups, data sets, kernel pools, measures, or papers with what they show."""
    emit(Table.of(rows_of(args.kind), least=LEAST).render(args.format))
    return OK


def show(args: Namespace, words: list[str]) -> int:
    """Print the resolved configuration with help and domains, or what a saved model holds."""
    from omkl.config import resolved

    word = words[0] if len(words) == 1 and "=" not in words[0] else ""
    if os.path.isfile(word) or word.endswith(".omkl"):
        configuration = front.load_model(word).described()
    else:
        configuration = resolved(words)
        if not words:
            say("these are the defaults; words such as algo=arow show what a run with them uses")
    if args.format == "json":
        emit(json.dumps(configuration, indent=1, ensure_ascii=False) + "\n")
    else:
        import yaml

        emit(
            yaml.safe_dump(
                configuration, sort_keys=False, default_flow_style=None, width=110, allow_unicode=True
            )
        )
    return OK


def data(args: Namespace, words: list[str]) -> int:
    """List, download, verify or locate data sets; or look at a file before a run."""
    from omkl.data import registry

    if args.action == "look":
        return _look(args, words)
    names = dict.fromkeys(words or (registry.names() if args.action in ("list", "verify") else ()))
    sets = list({ref.name: ref for ref in map(_registered, names)}.values())
    if args.action == "list":
        emit(Table.of(front.data_rows(sets)).render(args.format))
        return OK
    if not words:
        sets = [ref for ref in sets if ref.state != "missing"]
    if not sets:
        raise UserError(f"omkl data {args.action} NAME ...: name the data sets; `omkl data list` shows them")
    code = OK
    for ref in sets:  # one that fails does not stop the others
        try:
            emit(_data_line(args, ref))
        except OmklError as error:
            if args.debug:
                raise
            code = max(code, complain(error))
    return code


def _registered(name: str) -> "Registered":
    """Return a registered set. Raises UserError, for a set of a paper that is not public with the reason."""
    from omkl.data import registered, registry
    from omkl.publications.paper import paper_names, read_paper

    if not registry.is_name(name):
        for paper in map(read_paper, paper_names()):
            if name in paper.unavailable:
                raise UserError(f"{name}: no download: {paper.unavailable[name]['how']}")
    return registered(name)


def _look(args: Namespace, words: list[str]) -> int:
    from omkl.reports.look import look

    names = [word for word in words if "=" not in word or os.path.isfile(word)]
    if len(names) != 1:
        raise UserError("omkl data look FILE [KEY=VALUE ...]: name one file, or - for standard input")
    table = look(names[0], [word for word in words if word not in names])
    emit(table.render(args.format))
    return OK


def _data_line(args: Namespace, ref: "Registered") -> str:
    from omkl.data.registry import UNVERIFIED

    if args.action == "verify":
        found = ref.verify()
        return f"{ref.name}: {'ok' if ref.entry.content_hash else UNVERIFIED}, sha256 {found}\n"
    if args.action == "path":
        return "".join(f"{path}\n" for path in ref.paths())
    files = ref.get(force=args.force)
    without_files = "is generated" if ref.state == "generated" else "comes with scikit-learn"
    note = "" if ref.entry.content_hash else f" ({UNVERIFIED})"
    return f"{ref.name}: {' '.join(map(str, files)) or without_files}{note}\n"


# -------------------------------------------------------------------- stored results


def results(args: Namespace, words: list[str]) -> int:
    """List, export, merge or prune stored results."""
    from omkl.reports import store_contents
    from omkl.store import upkeep
    from omkl.store.store import Store

    folders = [word for word in words if "=" not in word] if args.action == "merge" else []
    known = FILTERS if args.action in ("list", "export") else ("store",)
    own = [word for word in words if word not in folders]
    chosen = front.chosen_words(own, f"omkl results {args.action}", known)
    store = Store(store_folder(next(iter(chosen["store"]), None)))
    if args.action == "merge":
        if not folders:
            raise UserError("omkl results merge FOLDER ...: name the stores to copy from")
        copied = upkeep.merge(store, [given(folder, "") for folder in folders])
        emit(
            f"{store.path}: {counted(copied['cells'], 'line')} of cells and "
            f"{counted(copied['curves'], 'curve')} copied\n"
        )
        return OK
    if not (store.path / "cells").is_dir():
        raise UserError(
            f"{store.path} is not a results store (it has no cells/ folder); name one with store=PATH"
        )
    if args.action == "list":
        rows = store_contents.contents(store, chosen["algo"], chosen["data"])
        emit(Table.of(rows, least=LEAST_OF_RESULTS).render(args.format))
    elif args.action == "export":
        table = store_contents.flat_table(store, chosen["algo"], chosen["data"])
        if args.out is None:
            emit(store_contents.as_csv(table))
        else:
            path = store_contents.export(table, args.out)
            say(f"wrote {path}: {counted(len(table), 'cell')}, {counted(len(table.columns), 'column')}")
    else:
        from omkl.learning.third_party import sources_of_others

        sources = sources_of_others() if args.old else {}
        rows, busy = upkeep.prune(store, old=args.old, torn=args.torn, really=args.yes, sources=sources)
        if rows or args.format == "json":
            emit(Table.of(rows).render(args.format))
        for path in busy:
            say(f"{path}: left unchanged, because a run is writing to it")
        undone = "nothing was removed; add --yes to remove these lines"
        if rows:
            say("these lines were removed" if args.yes else undone)
        elif not busy:
            say(f"{store.path} holds no such lines; there is nothing to remove")
    return OK
