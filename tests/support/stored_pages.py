"""Stores with made-up cells under the keys of real plans, and what a page carries: nothing is compiled."""

import base64
import re
from pathlib import Path
from typing import Any

from omkl.config import Plan, plan
from omkl.runs.cells import expand
from omkl.store.store import Store
from support.runner_plans import write_data

HOSTILE = """<img src=x onerror=alert(1)> "q" & 'x' <script>alert(2)"""
PROVENANCE = {"versions": {"omkl": "0.1", "python": "3.12"}, "commit": "abc", "dirty": False, "host": "node"}
PROVENANCE |= {"cpu": "A & B <i>", "cores": 2, "backend": "loky", "jobs": 2, "load": 1.0}


def hostile_file(folder: Path) -> str:
    """A data set of the user's whose name is markup."""
    return write_data(folder / f"{HOSTILE}.libsvm")


def fill(words: list[str], data: list[str] | None = None, reps: int | None = None) -> Plan:
    """Store cells with curves of a plan, of its first ``reps`` repetitions, and return the plan."""
    return fill_plan(plan(words, sweep=True, values={"data": data} if data else None), reps)


def fill_plan(made: Plan, reps: int | None = None) -> Plan:
    """As ``fill``, of a plan that is there already."""
    with Store(made.store) as store:
        for number, cell in enumerate(expand(made)):
            if reps is None or cell.rep < reps:
                store.append(*_result(cell, number))
    return made


def _result(cell: Any, number: int) -> tuple[dict[str, Any], dict[str, Any]]:
    line, T = {"key": cell.key, **cell.setting}, 200
    m = len(cell.pool["kernels"]) if cell.pool else 0
    beta = cell.planned.stored.get("beta", 0.8)
    mistakes = 20 + 7 * (number % 5) + int(40 * abs(beta - 0.5)) + 3 * cell.rep
    t = list(range(20, T + 1, 20))
    curve: dict[str, Any] = {"t": t, "mistakes": [mistakes * at // T for at in t]}
    curve |= {
        name: [m * mistakes * at // T for at in t] for name in ("n_sv_sum", "n_sv_union", "n_sv_combined")
    }
    curve |= {"weights_t": t, "weights": [[1 / m] * m for _ in t]} if m else {"weights": None}
    figures = {"T": T, "m": m, "mistakes": mistakes, "mistake_rate": mistakes / T, "n_sv_sum": m * mistakes}
    figures |= {"n_sv_union": mistakes if m else 0, "n_sv_combined": m * mistakes, "pairs": 100 * mistakes}
    figures |= {"n_sv_per_kernel": [mistakes] * m, "weights": [1 / m] * m if m else None, "seconds": 0.25}
    origin = {**PROVENANCE, "time": f"2026-01-0{1 + cell.rep}T10:00:00+00:00"}
    return {"status": "ok", **line, **figures, "provenance": origin}, curve


def files_in(text: str) -> dict[str, str]:
    """The files that a page carries as addresses, by name."""
    links = re.findall(r'href="data:text/csv;charset=utf-8;base64,([^"]*)" download="([^"]*)"', text)
    return {name: base64.b64decode(content).decode() for content, name in links}
