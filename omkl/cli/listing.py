"""The commands that show what there is: learners, data sets, pools and papers, and a configuration."""

import json
import os
from argparse import Namespace
from collections.abc import Callable
from typing import Any

from omkl.cli.messages import OK, complain, emit
from omkl.errors import OmklError, UserError
from omkl.reports.table import Table

ACTIONS: tuple[str, ...] = ("list", "get", "verify", "path")  # of omkl data
LEAST = ("source", "yardstick", "label", "title")  # columns that a narrow terminal leaves out first
Rows = list[dict[str, Any]]


def list_(args: Namespace, words: list[str]) -> int:
    """List learners, their groups, data sets, kernel pools, or papers with their tables and figures."""
    emit(Table.of(KINDS[args.kind](), least=LEAST).render(args.format))
    return OK


def show(args: Namespace, words: list[str]) -> int:
    """Print the resolved configuration with help and domains, or what a saved model holds."""
    from pathlib import Path

    from omkl.config import resolved

    word = words[0] if len(words) == 1 and "=" not in words[0] else ""
    if os.path.isfile(word) or word.endswith(".omkl"):
        from omkl.run import models

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
    """List, download, verify or locate data sets."""
    import omkl.data

    names = [omkl.data.registry.entry(word).name for word in words]
    if args.action == "list":
        rows = [row for row in _data_sets() if not names or row["data"] in names]
        emit(Table.of(rows).render(args.format))
        return OK
    if not names and args.action == "verify":
        names = [name for name in omkl.data.registry.names() if omkl.data.status(name).state != "missing"]
    if not names:
        raise UserError(f"omkl data {args.action} NAME ...: name the data sets; `omkl data list` shows them")
    code = OK
    for name in names:  # one that fails does not stop the others
        try:
            emit(_data_line(args, name))
        except OmklError as error:
            if args.debug:
                raise
            code = max(code, complain(error))
    return code


def _data_line(args: Namespace, name: str) -> str:
    import omkl.data

    if args.action == "verify":
        return f"{name}: ok, sha256 {omkl.data.verify(name)}\n"
    if args.action == "path":
        return "".join(f"{path}\n" for path in omkl.data.path(name))
    files = omkl.data.get(name, force=args.force)
    made = omkl.data.status(name).state == "generated"
    without_files = "is generated" if made else "comes with scikit-learn"
    return f"{name}: {' '.join(map(str, files)) or without_files}\n"


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
    from omkl.config.groups import ALL, groups, meanings

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


def _data_sets() -> Rows:
    import omkl.data

    rows = []
    for name in omkl.data.registry.names():
        status = omkl.data.status(name)
        where = {"embedded": "scikit-learn", "missing": "download" if status.downloadable else "missing"}
        place = str(status.paths[0].parent) if status.paths else where.get(status.state, status.state)
        entry = omkl.data.registry.entry(name)
        task = f"{entry.n_classes} classes" if entry.task == "classification" else entry.task
        rows.append({"data": name, "T": status.T, "d": status.d, "task": task, "found": place})
        rows[-1]["title"] = status.title
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
