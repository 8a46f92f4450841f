"""The commands that show what there is: learners, data, pools, papers, a configuration, stored results."""

import json
import os
from argparse import Namespace
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from omkl.cli.messages import OK, complain, emit, say
from omkl.errors import OmklError, UserError, path_error, suggest
from omkl.files import replacing
from omkl.paths import given, store_folder
from omkl.reports.table import Table

if TYPE_CHECKING:
    import pandas as pd

    from omkl.data.ref import Registered

DATA_ACTIONS: tuple[str, ...] = ("list", "look", "get", "verify", "path")
RESULTS_ACTIONS: tuple[str, ...] = ("list", "export", "merge", "prune")
LEAST = ("source", "yardstick", "label", "title")  # columns that a narrow terminal leaves out first
LEAST_OF_RESULTS = ("machines", "dates", "order", "revision", "failed")
FILTERS = ("store", "algo", "data")
Rows = list[dict[str, Any]]


def list_(args: Namespace, words: list[str]) -> int:
    """List learners, their groups, data sets, kernel pools, or papers with their tables and figures."""
    emit(Table.of(KINDS[args.kind](), least=LEAST).render(args.format))
    return OK


def show(args: Namespace, words: list[str]) -> int:
    """Print the resolved configuration with help and domains, or what a saved model holds."""
    from omkl.config import resolved

    word = words[0] if len(words) == 1 and "=" not in words[0] else ""
    if os.path.isfile(word) or word.endswith(".omkl"):
        from omkl.runs import models

        configuration = models.described(models.load(Path(word)))
    else:
        configuration = resolved(words)
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
    from omkl.data import registered, registry

    if args.action == "look":
        return _look(args, words)
    names = dict.fromkeys(words or (registry.names() if args.action in ("list", "verify") else ()))
    sets = list({ref.name: ref for ref in map(registered, names)}.values())
    if args.action == "list":
        emit(Table.of(_data_sets(sets)).render(args.format))
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


def _look(args: Namespace, words: list[str]) -> int:
    from omkl.reports.look import look

    names = [word for word in words if "=" not in word or Path(word).is_file()]
    if len(names) != 1:
        raise UserError("omkl data look FILE [KEY=VALUE ...]: name one file, or - for standard input")
    table = look(names[0], [word for word in words if word not in names])
    emit(table.render(args.format))
    return OK


def _data_line(args: Namespace, ref: "Registered") -> str:
    if args.action == "verify":
        return f"{ref.name}: ok, sha256 {ref.verify()}\n"
    if args.action == "path":
        return "".join(f"{path}\n" for path in ref.paths())
    files = ref.get(force=args.force)
    without_files = "is generated" if ref.state == "generated" else "comes with scikit-learn"
    return f"{ref.name}: {' '.join(map(str, files)) or without_files}\n"


def _learners() -> Rows:
    from omkl.config import learner_specs

    return [
        {
            "algo": spec.name,
            "label": spec.label,
            "task": ", ".join(spec.tasks),
            "kernels": spec.kernels,
            "hyperparameters": " ".join(_default_text(*item) for item in spec.defaults.items()),
            "yardstick": "yes" if spec.yardstick else "",
            "source": spec.cite,
        }
        for spec in learner_specs().values()
    ]


def _default_text(name: str, value: Any) -> str:
    """Return a default as ``D=50`` or ``loss=squared (regression), logistic (classification)``."""
    from omkl.config.settings_text import value_text
    from omkl.tasks import by_task

    if not by_task(value):
        return f"{name}={value_text(value)}"
    return f"{name}=" + ", ".join(f"{value_text(own)} ({task})" for task, own in value.items())


def _groups() -> Rows:
    from omkl.config.learners import ALL, groups, meanings

    about = meanings()
    return [
        {
            "group": name,
            "learners": len(own),
            "meaning": about.get(name, ""),
            "algo": "(omkl list algos)" if name == ALL else " ".join(own),
        }
        for name, own in groups().items()
    ]


def _data_sets(sets: "Iterable[Registered] | None" = None) -> Rows:
    from omkl.data import registered, registry

    rows = []
    for ref in sets or map(registered, registry.names()):
        where = {"embedded": "scikit-learn", "missing": "download" if ref.is_downloadable else "missing"}
        place = str(ref.files[0].parent) if ref.files else where.get(ref.state, ref.state)
        task = f"{ref.n_classes} classes" if ref.task == "classification" else ref.task
        rows.append({"data": ref.name, "T": ref.T, "d": ref.d, "task": task, "found": place})
        rows[-1]["title"] = ref.entry.title
    return rows


def _pools() -> Rows:
    from omkl.config import pool_names, pools
    from omkl.config.settings_text import kernels_text

    return [
        {
            "pool": pool["name"],
            "m": len(pool["kernels"]),
            "normalise": pool["normalise"],
            "kernels": kernels_text(pool["kernels"]),
            "label": pool["label"],
        }
        for pool in pools(pool_names())
    ]


def _papers() -> Rows:
    from omkl.papers import paper_names, read_paper

    rows = []
    for paper in map(read_paper, paper_names()):
        for verb, items in (("table", paper.tables), ("figure", paper.figures)):
            rows += [{"command": f"omkl {verb} {own.name}", "shows": own.titled()} for own in items.values()]
        if paper.claims:
            rows.append({"command": f"omkl claims {paper.name}", "shows": f"{len(paper.claims)} claims"})
    return rows


KINDS: dict[str, Callable[[], Rows]] = {
    "algos": _learners,
    "data": _data_sets,
    "groups": _groups,
    "pools": _pools,
    "papers": _papers,
}


# -------------------------------------------------------------------- stored results


def results(args: Namespace, words: list[str]) -> int:
    """List, export, merge or prune stored results."""
    from omkl.reports import store_contents
    from omkl.store import rewrite
    from omkl.store.store import Store

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
        emit(Table.of(rows, least=LEAST_OF_RESULTS).render(args.format))
    elif args.action == "export":
        _export(store_contents.flat_table(store, chosen["algo"], chosen["data"]), args.out)
    else:
        sources = _sources() if args.old else {}
        rows, busy = rewrite.prune(store, old=args.old, torn=args.torn, really=args.yes, sources=sources)
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


def _sources() -> dict[str, str]:
    """Return what the learners of the user's folders are made of, by learner."""
    from omkl.config import compose, learner_specs
    from omkl.learner.third_party import source

    specs = learner_specs().items()
    return {name: source(spec) for name, spec in specs if not compose.of_omkl("algo", name)}


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
