"""Made-up cells with the store's columns for the tests of reports: every number is known."""

import json
import re
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd

from omkl.config import Setting
from omkl.config.planned import Group, PlannedRow
from omkl.data import registry
from omkl.paths import store_folder
from omkl.reports.results_table import USUAL, TableOptions, run_table
from omkl.reports.rows import ReportPlan
from omkl.reports.summary import summary_of
from omkl.reports.sweep_table import check_options, sweep_table
from omkl.store.fields import NAMES
from omkl.store.outcome import Outcome

PAPER = {
    "name": "paper16",
    "label": "paper16",
    "normalise": "none",
    "kernels": [{"kind": "gaussian", "sigma": 1.0}],
}
COSINE = {**PAPER, "name": "paper16_cosine", "normalise": "cosine"}
LINEAR = {"kind": "linear"}


class Spec(SimpleNamespace):
    """Takes the place of omkl.config.LearnerSpec."""

    draws = True

    def unusual(self, params: dict, task: str) -> dict:
        return {name: value for name, value in params.items() if value != self.defaults.get(name)}


SPECS = {
    name: Spec(label=label, defaults=defaults, tasks=["classification"], usual_pool=None)
    for name, label, defaults in [
        ("omkc_dd", "OMKC(D,D)", {"beta": 0.8}),
        ("omkc_ss", "OMKC(S,S)", {"beta": 0.8, "delta": 0.01, "sampling": "max"}),
        ("omkc_u", "OMKC(U)", {}),
        ("majority", "majority", {}),
        ("perceptron", "Perceptron", {"kernel": LINEAR}),
        ("arow", "AROW", {"r": 10.0}),
    ]
}


def setting(learner: str, pool: dict | None = PAPER, **params: Any) -> Setting:
    """A setting with the learner's defaults but for ``params``."""
    own = learner.startswith("omkc")
    return Setting(learner, {**SPECS[learner].defaults, **params}, pool if own else None)


TASKS = {"air": "regression"}
YARDSTICKS = tuple(setting(name) for name in ("majority", "perceptron", "arow"))


def key_of(which: Setting, data: str, rep: int) -> str:
    return f"{which.learner}|{which.params}|{which.pool and which.pool['name']}|{data}|{rep}"


def cell(which: Setting, rep: int, mistakes: int, data: str = "wdbc", T: int = 1000, **more: Any) -> dict:
    """One finished cell."""
    pool = which.pool
    line = {
        "key": key_of(which, data, rep),
        "status": "ok",
        "algo": which.learner,
        "params": which.params,
        "pool": pool and pool["name"],
        "pool_spec": pool and {"normalise": pool["normalise"], "kernels": pool["kernels"]},
        "data": data,
        "data_hash": f"hash of {data}",
        "order": "permuted",
        "rep": rep,
        "seed": 1,
        "permutation_seed": str(1000 + rep),
        "revision": 1,
        "T": T,
        "mistakes": mistakes,
        "mistake_rate": mistakes / T,
        "n_sv_sum": 10 * mistakes,
        "n_sv_union": 2 * mistakes,
        "n_sv_combined": 10 * mistakes,
        "n_sv_per_kernel": [10 * mistakes],
        "weights": [1.0] if pool else None,
        "pairs": 100,
        "m": 1,
        "seconds": 0.5,
        "provenance": {"cpu": "A", "versions": {"omkl": "0.1"}, "time": "2026-01-01T00:00:00Z"},
    }
    return {**line, **more}


def frame(*cells: dict) -> pd.DataFrame:
    """The cells as Store.cells returns them."""
    return pd.DataFrame(list(cells), columns=list(NAMES))


def repetitions(which: Setting, mistakes: list[int], data: str = "wdbc", **more: Any) -> list[dict]:
    """One cell per entry of ``mistakes``, in the order of the repetitions."""
    return [cell(which, rep, count, data, **more) for rep, count in enumerate(mistakes)]


class MadeUp(ReportPlan):
    """What a report is about, without plans."""

    settings, swept, doubts = (), (), ()
    specs, about_data, rare, classes, store = SPECS, (), (), {}, store_folder(None)  # type: ignore[assignment]


def about(outcome: Outcome, command: str = "", by: str = "", **known: Any) -> ReportPlan:
    """A report on an outcome; known: what plans say of it."""
    return type("Known", (MadeUp,), known)((), outcome, command, by)


def planned(which: Setting, is_yardstick: bool, data: str, reps: int, order: str, task: str) -> PlannedRow:
    """A row of a plan, with the keys that `cell` gives; more than asked, so that any repetition counts."""
    content = registry.entry("air").content_hash if data == "air" else f"hash of {data}"
    keys = tuple(key_of(which, data, rep) for rep in range(20))
    ref = SimpleNamespace(task=task, prepared="")
    return PlannedRow(Group(data, content, order, "", ""), ref, which, is_yardstick, keys, reps)


def expected(settings: tuple, data: tuple = ("wdbc",), reps: int = 3, **more: Any) -> ReportPlan:
    """What a run with the three yardsticks expects."""
    yardsticks = more.pop("yardsticks", YARDSTICKS)
    order, task = more.pop("order", "permuted"), more.pop("task", "")
    rows = [
        planned(which, which not in settings, name, reps, order, task or TASKS.get(name, "classification"))
        for name in data
        for which in [*settings, *(one for one in yardsticks if one not in settings)]
    ]
    outcome = made_up(rows, failed=more.pop("failed", ()), stale=more.pop("stale", {}))
    command = more.pop("command", "omkl run algo=x data=wdbc")
    return about(outcome, command, settings=settings, **more)


def made_up(rows: list[PlannedRow], failed: Any = (), stale: Any = None) -> Outcome:
    return Outcome((tuple(rows),), frame(), [*failed], len(rows), 0, 0, 0.0, False, stale or {})


def planned_in(cells: pd.DataFrame, reps: int | None = None, **more: Any) -> ReportPlan:
    """What cells are of, by their own keys: the data sets and the learners as they come."""
    keys: dict[tuple, list[str]] = {}
    found: dict[tuple, tuple] = {}
    for line in cells.to_dict("records"):
        pool = {"name": line["pool"], **line["pool_spec"]} if isinstance(line["pool_spec"], dict) else None
        which = Setting(line["algo"], line["params"], pool)
        group = Group(line["data"], line["data_hash"], line["order"], "", "")
        task = line["task"] if isinstance(line["task"], str) else "classification"
        provenance = line["provenance"] if isinstance(line["provenance"], dict) else {}
        ref = SimpleNamespace(task=task, prepared=provenance.get("prepared", ""))
        found.setdefault((group, which.identity), (which, ref))
        keys.setdefault((group, which.identity), []).append(line["key"])
    most = max(map(len, keys.values()), default=0) if reps is None else reps
    names = list(dict.fromkeys(group.data for group, _ in keys))
    rows = [
        PlannedRow(group, found[group, same][1], found[group, same][0], False, tuple(own), most)
        for (group, same), own in sorted(keys.items(), key=lambda item: names.index(item[0][0].data))
    ]
    return about(made_up(rows), **more)


def summarise(cells: pd.DataFrame, reps: int | None = None) -> pd.DataFrame:
    """The summary of cells of which nothing else was planned."""
    return summary_of(cells, planned_in(cells, reps))


# -------------------------------------------------------------------- text


def report(cells: pd.DataFrame, about: ReportPlan, fmt: str = "table", options: TableOptions = USUAL) -> str:
    """The table of a run, as `omkl run` prints it."""
    check_options(cells, about, fmt, options, sweep=False)
    return run_table(summary_of(cells, about), cells, about, options).render(fmt)


def sweep_report(
    cells: pd.DataFrame, about: ReportPlan, fmt: str = "table", options: TableOptions = USUAL
) -> str:
    """The tables of a sweep, as `omkl sweep` prints them."""
    check_options(cells, about, fmt, options, sweep=True)
    return sweep_table(summary_of(cells, about), cells, about, options).render(fmt)


def line_of(text: str, label: str) -> str:
    """Return the one line of the table that names the learner."""
    (line,) = [line for line in text.splitlines() if re.search(rf"(^|\| | ){re.escape(label)} ", line)]
    return line


def strict(text: str) -> dict:
    """Return JSON that is parsed; NaN and infinity are no JSON."""

    def refuse(name: str) -> None:
        raise AssertionError(f"{name} in JSON")

    return json.loads(text, parse_constant=refuse)


# -------------------------------------------------------------------- plausible curves, for pictures


def study(settings: tuple, data: dict[str, int], reps: int, seed: int = 0) -> tuple[pd.DataFrame, dict]:
    """Cells and curves that look like real ones: error decays to a level, support vectors grow with it."""
    rng = np.random.default_rng(seed)
    cells, curves = [], {}
    for number, (name, T) in enumerate(data.items()):
        for which in settings:
            level, speed, grows = _character(which, number)
            for rep in range(reps):
                p = level + (0.5 - level) * np.exp(-np.arange(T) / (speed * T))
                wrong = np.cumsum(rng.random(T) < p)
                stored = np.cumsum(rng.binomial(16, np.minimum(grows * p, 1.0))) if grows else 0 * wrong
                t = np.unique(np.linspace(1, T, min(T, 100)).astype(int))
                line = cell(which, rep, int(wrong[-1]), name, T)
                total = int(stored[-1])
                line |= {"n_sv_sum": total, "n_sv_union": min(total, int(0.7 * T)) if grows else 0}
                line |= {
                    "n_sv_combined": total // 3 if which.learner == "omkc_ss" else total,
                    "m": 1 if grows else 0,
                    "seconds": T * (1e-5 + grows * 1e-4),
                }
                cells.append(line)
                curve = {"t": t.tolist(), "mistakes": wrong[t - 1].tolist()}
                curve["n_sv_sum"] = stored[t - 1].tolist()
                curves[line["key"]] = curve
    return frame(*cells), curves


def _character(which: Setting, number: int) -> tuple[float, float, float]:
    beta, delta = which.params.get("beta", 0.8), which.params.get("delta", 0.01)
    base = {
        "omkc_dd": (0.08, 0.03, 1.6),
        "omkc_ss": (0.07, 0.05, 0.35),
        "omkc_u": (0.14, 0.04, 1.6),
        "majority": (0.37, 0.02, 0.0),
        "perceptron": (0.24, 0.02, 0.0),
        "arow": (0.06, 0.06, 0.0),
    }[which.learner]
    level = base[0] + 0.05 * number + 0.1 * (beta - 0.7) ** 2
    if which.learner == "omkc_ss":
        level += 0.01 * abs(np.log10(delta) + 1)
    return level, base[1], base[2]
