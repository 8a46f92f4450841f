"""What ``omkl list`` and ``omkl data list`` show: learners, data sets and pools as rows of plain values."""

from collections.abc import Callable
from typing import Any

from omkl.config.settings_text import kernels_text
from omkl.tasks import by_task


def learners() -> list[dict[str, Any]]:
    """Return one row per learner: name, label, tasks, kernels, hyperparameters with defaults, citation."""
    from omkl.config import learner_specs

    return [
        {
            "algo": spec.name,
            "label": spec.label,
            "task": ", ".join(spec.tasks),
            "kernels": spec.kernels,
            "hyperparameters": _defaults_text(spec.defaults),
            "yardstick": "yes" if spec.yardstick else "",
            "source": spec.cite,
        }
        for spec in learner_specs().values()
    ]


def data() -> list[dict[str, Any]]:
    """Return one row per registered data set: name, T, d, where it is, title."""
    import omkl.data

    rows = []
    for name in omkl.data.registry.names():
        status = omkl.data.status(name)
        where = {"embedded": "scikit-learn", "missing": "download" if status.downloadable else "missing"}
        rows.append(
            {
                "data": name,
                "T": status.T,
                "d": status.d,
                "found": where.get(status.state) or str(status.paths[0].parent),
                "title": status.title,
            }
        )
    return rows


def pools() -> list[dict[str, Any]]:
    """Return one row per kernel pool: name, number of kernels, normalisation, its kernels in short, label."""
    from omkl.config import pool_names
    from omkl.config import pools as read

    return [
        {
            "pool": pool["name"],
            "m": len(pool["kernels"]),
            "normalise": pool["normalise"],
            "kernels": kernels_text(pool["kernels"]),
            "label": pool["label"],
        }
        for pool in read(pool_names())
    ]


def papers() -> list[dict[str, Any]]:
    """Return one row per table, figure or set of claims: the command that makes it, and what it shows."""
    from omkl.papers import names, read

    rows = []
    for paper in map(read, names()):
        for verb, items in (("table", paper.tables), ("figure", paper.figures)):
            rows += [
                {"command": f"omkl {verb} {item.name}", "shows": item.titled()} for item in items.values()
            ]
        if paper.claims:
            rows.append({"command": f"omkl claims {paper.name}", "shows": f"{len(paper.claims)} claims"})
    return rows


def _defaults_text(defaults: dict[str, Any]) -> str:
    """Return defaults as ``D=50 loss=squared (regression), logistic (classification)``."""
    from omkl.config.settings_text import params_text, value_text

    parts = []
    for name, value in defaults.items():
        if by_task(value):
            each = ", ".join(f"{value_text(one)} ({task})" for task, one in value.items())
            parts.append(f"{name}={each}")
        else:
            parts.append(params_text({name: value}))
    return " ".join(parts)


KINDS: dict[str, Callable[[], list[dict[str, Any]]]] = {
    "algos": learners,
    "data": data,
    "pools": pools,
    "papers": papers,
}
