"""What opens below a row of a table: its command, configuration and origin."""

import re
import shlex
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from omkl.config import learner_names, learner_spec, pool, pool_names
from omkl.config.plans import PREPARATION
from omkl.config.settings_text import kernels_text, params_text, word_text
from omkl.data import registry
from omkl.pages.content import COMMAND
from omkl.reports import origin
from omkl.reports.rows import Row

if TYPE_CHECKING:
    import pandas as pd


def about(row: Row, cells: "pd.DataFrame", names: Mapping[str, str], note: str = "") -> list[tuple[str, str]]:
    """Return what is to be known of a row; cells: those that it has its places in.

    names: paths of the user's own files by the names of their data sets    note: the verdict's explanation
    """
    own = cells.iloc[row.cells]
    first = own.iloc[0].to_dict() if len(own) else {}
    data = str(first.get("data", row.data))
    known = [("note", note)] if note else []
    known += [(COMMAND, command(row, first, names.get(data, data)))]
    known += [("learner", f"{row.learner}, revision {first['revision']}" if first else row.learner)]
    if row.params:
        known.append(("hyperparameters", params_text(row.params)))
    if isinstance(first.get("pool_spec"), dict):
        spec = first["pool_spec"]
        kernels = f"{kernels_text(spec['kernels'])}; normalise={spec['normalise']}"
        known.append(("kernels", f"{row.pool}: {kernels}"))
    if not first:
        return known
    known.append(("data", f"{data}, {first['T']:.0f} examples, sha256 {first['data_hash']}"))
    when = origin.span(origin.times_of(own["provenance"]))
    made = origin.columns(own["provenance"])
    load = f"load at most {made['load_max']:g}" if made["load_max"] is not None else ""
    parts = filter(None, (made["versions"], made["commit"], made["machines"], load))
    return [*known, ("made with", " · ".join(parts)), ("made at", f"{when} UTC" if when else "unknown")]


def command(row: Row, first: Mapping[str, Any], data: str) -> str:
    """Return the ``omkl run`` that makes a row's cells; first: one of them, empty where there is none."""
    words = [word_text("algo", row.learner), f"data={data}"]
    if isinstance(spec := first.get("pool_spec"), dict):
        words += _pool(str(row.pool), spec)
    elif row.pool in pool_names():
        words.append(f"pool={row.pool}")
    words += [f"order={row.order}"] if row.order else []
    words += [f"reps={row.planned}", f"seed={first['seed']}"] if first else []
    words += [word_text(f"algo.{key}", value) for key, value in _unusual(row).items()]
    words += ["yardsticks=[]", *_prepared(first)]
    return f"omkl run {shlex.join(words)}"


def _unusual(row: Row) -> dict[str, Any]:
    if row.learner not in learner_names():  # a learner of an old store may be gone
        return row.params
    return learner_spec(row.learner).unusual(row.params, row.task)


def _pool(name: str, spec: Mapping[str, Any]) -> list[str]:
    """Return the words of a pool: its name if it still holds these kernels, else the kernels."""
    if name in pool_names():
        known = pool(name)
        if all(known[key] == spec[key] for key in ("normalise", "kernels")):
            return [f"pool={name}"]
    kernels = word_text("", spec["kernels"])[1:]
    return [f"pool.kernels=[{kernels}]", f"pool.normalise={spec['normalise']}"]


def _prepared(first: Mapping[str, Any]) -> list[str]:
    """Return the words for a file of the user's: its task, and how its table was prepared."""
    if not first or registry.entry_of(str(first["data"]), str(first["data_hash"])):
        return []
    provenance = first.get("provenance")
    text = provenance.get("prepared", "") if isinstance(provenance, dict) else ""
    task = [f"task={first['task']}"] if first["task"] != "classification" else []
    # The words are written with blanks between them, and a column's name may hold blanks.
    return [*task, *filter(None, re.split(rf" (?=(?:{'|'.join(PREPARATION)})=)", text))]
