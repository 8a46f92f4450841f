"""Lists of what there is: learners, their groups, data sets, pools, papers."""

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from omkl.errors import counted

if TYPE_CHECKING:
    import pandas as pd

    from omkl.data.registered_data import Registered


Listing = list[dict[str, Any]]


def learners() -> "pd.DataFrame":
    """Return the learners by name: what they do, memory, rank, label, tasks, hyperparameters, source."""
    return _frame(learner_rows(), "algo")


def datasets() -> "pd.DataFrame":
    """Return the registered data sets by name: examples, features, task, and where each is found."""
    return _frame(data_rows(), "data")


def pools() -> "pd.DataFrame":
    """Return the pools of kernels by name."""
    return _frame(pool_rows(), "pool")


def papers() -> "pd.DataFrame":
    """Return the papers' tables, figures and claims by name, as `table`, `figure` and `claims` take them."""
    rows = [(*row["command"].split()[1:], row["shows"]) for row in paper_rows()]
    return _frame([{"name": name, "kind": kind, "shows": shows} for kind, name, shows in rows], "name")


def _frame(rows: Listing, index: str) -> "pd.DataFrame":
    import pandas as pd

    return pd.DataFrame(rows).set_index(index)


def learner_rows() -> Listing:
    """Return what `omkl list algos` prints, and in other formats than text also label to source."""
    from omkl.api.learner_help import first_sentence, memory_of, of_tasks
    from omkl.config import learner_specs

    return [
        {
            "algo": spec.name,
            "what it does": first_sentence(spec),
            "memory": memory_of(spec),
            "label": spec.label,
            "task": ", ".join(spec.tasks),
            "kernels": spec.kernels,
            "hyperparameters": " ".join(
                f"{name}={of_tasks(default)}" for name, default in spec.defaults.items()
            ),
            "yardstick": "yes" if spec.yardstick else "",
            "source": spec.cite,
        }
        for spec in learner_specs().values()
    ]


def group_rows() -> Listing:
    """Return what `omkl list groups` prints."""
    from omkl.config.learners import ALL, groups, meanings

    about = meanings()
    return [
        {
            "group": name,
            "learners": len(members),
            "meaning": about.get(name, ""),
            "algo": "(omkl list algos)" if name == ALL else " ".join(members),
        }
        for name, members in groups().items()
    ]


def data_rows(sets: "Iterable[Registered] | None" = None) -> Listing:
    """Return what `omkl list data` prints, of these data sets or of all."""
    from omkl.data import registered, registry

    rows = []
    for ref in sets or map(registered, registry.registered_names()):
        where = {"embedded": "scikit-learn", "missing": "download" if ref.is_downloadable else "missing"}
        place = str(ref.paths()[0].parent) if ref.state == "file" else where.get(ref.state, ref.state)
        task = f"{ref.n_classes} classes" if ref.task == "classification" else ref.task
        row = {"data": ref.name, "T": ref.T, "d": ref.d, "task": task, "found": place}
        rows.append(row | {"title": ref.entry.title})
    return rows


def pool_rows() -> Listing:
    """Return what `omkl list pools` prints."""
    from omkl.config import kernel_pools, pool_names
    from omkl.config.parameters import kernels_text

    return [
        {
            "pool": pool["name"],
            "m": len(pool["kernels"]),
            "normalise": pool["normalise"],
            "kernels": kernels_text(pool["kernels"]),
            "label": pool["label"],
        }
        for pool in kernel_pools(pool_names())
    ]


def kernel_rows() -> Listing:
    """Return what `omkl list kernels` prints."""
    from omkl.api.learner_help import of_tasks
    from omkl.config.kernel_kinds import kernel_kinds

    return [
        {
            "kernel": kind.name,
            "parameters": " ".join(
                name if value is None else f"{name}={of_tasks(value)}"
                for name, (_, value) in kind.parameters.items()
            ),
            "formula": kind.formula,
            "positive semidefinite": kind.semidefinite,
            "features": "any" if kind.negative else "not negative",
            "source": kind.cite,
        }
        for kind in kernel_kinds()
    ]


def paper_rows() -> Listing:
    """Return what `omkl list papers` prints."""
    from omkl.publications import paper_names, read_paper

    rows = []
    for paper in map(read_paper, paper_names()):
        for verb, items in (("table", paper.tables), ("figure", paper.figures)):
            rows += [(verb, item.name, item.titled()) for item in items.values()]
        if paper.claims:
            rows.append(("claims", paper.name, counted(len(paper.claims), "claim")))
    return [{"command": f"omkl {verb} {name}", "shows": shows} for verb, name, shows in rows]


def measure_rows() -> Listing:
    """Return what `omkl list measures` prints."""
    from omkl.tasks import listed_measures

    return [
        {
            "measure": measure.word,
            "task": " ".join(measure.tasks),
            "better": measure.better,
            "meaning": measure.meaning,
        }
        for measure in listed_measures()
    ]


KINDS: dict[str, tuple[Callable[[], Listing], str]] = {
    "algos": (learner_rows, "learners: what they do, their memory, and their rank when tuned"),
    "data": (data_rows, "registered data sets: examples, features, task, and where each is found"),
    "groups": (group_rows, "groups of learners, for algo=budget and the like"),
    "kernels": (kernel_rows, "kinds of kernels: parameters and formulas"),
    "pools": (pool_rows, "pools of kernels"),
    "papers": (paper_rows, "the papers' tables, figures and claims"),
    "measures": (measure_rows, "measures, for by= and --columns"),
}


def list_rows(kind: str | None) -> Listing:
    """Return what `omkl list KIND` prints; without a kind, the kinds."""
    if kind is not None:
        return KINDS[kind][0]()
    return [{"command": f"omkl list {name}", "lists": text} for name, (_, text) in KINDS.items()]


def shown_of(kind: str | None, rows: Listing) -> Listing:
    """Return the columns that a text shows of these rows: of learners the first ones, else all."""
    if kind != "algos":
        return rows
    names = [name for name in ("algo", "what it does", "memory") if any(row[name] for row in rows)]
    return [{name: row[name] for name in names} for row in rows]
