"""The table of ``omkl bounds``: for every learner and data set its theorems next to what was observed."""

import importlib
import inspect
import pkgutil
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from omkl.errors import UserError
from omkl.reports.table import Table
from omkl.theorems.batch import MEAN, ROWS, Batch
from omkl.theorems.case import MISTAKES, SHARE, VECTORS, Bound, Case
from omkl.theorems.rerun import Repetition

if TYPE_CHECKING:
    import pandas as pd

    from omkl.config import LearnerSpec, Plan, Setting

_COUNTS = {"mistakes": "mistakes", VECTORS: "n_sv_sum", SHARE: "averaged_rate"}  # columns of the store


def with_theorems(plan: "Plan") -> "Plan":
    """Return the plan without yardsticks. Raises UserError for a learner or data without a theorem."""
    from omkl.config import learner_spec, learner_specs
    from omkl.config.kernel_kinds import in_medians
    from omkl.rounds.scaling import any_gaps

    if plan.rounds:
        raise UserError(f"rounds={plan.rounds}: the theorems are about the whole data set; leave it out")
    if isinstance(plan.test, float):
        raise UserError(f"test={plan.test}: the theorems are about the whole data set; leave it out")
    for setting in plan.settings:
        if delay := setting.scaling.get("delay"):
            raise UserError(f"delay={delay}: the theorems assume labels without delay; leave out delay=")
        if bound_function(learner_spec(setting.learner)) is None:
            having = [name for name, spec in learner_specs().items() if bound_function(spec)]
            raise UserError(f"algo={setting.learner} has no bound; these have: {', '.join(having)}")
        if in_medians(setting.kernels):
            raise UserError(
                f"algo={setting.learner}: the theorems need fixed kernels; give each width as a number"
            )
    for ref in plan.data:
        if ref.n_classes > 2:
            raise UserError(f"data={ref.name} has {ref.n_classes} classes; the theorems are for two")
        if not ref.is_registered and any_gaps(ref.load()):
            raise UserError(
                f"data={ref.name} has missing values, which are filled during the pass; the theorems need "
                "complete rows: set missing=drop"
            )
    return replace(plan, yardsticks=())


def bound_function(spec: "LearnerSpec") -> Callable[..., list[Bound]] | None:
    """Return the bound of a learner's function, None where there is none.

    None as well for a learner whose kernel is chosen while it runs: which kernel is not known here.
    """
    if spec.estimator or spec.setup:
        return None
    folder = importlib.import_module("omkl.theorems")
    for found in pkgutil.iter_modules(folder.__path__):
        module = importlib.import_module(f"omkl.theorems.{found.name}")
        bound = getattr(module, spec.function, None)
        if inspect.isfunction(bound) and "case" in inspect.signature(bound).parameters:
            return bound
    return None


def evaluate(plan: "Plan", cells: "pd.DataFrame", rows: int = ROWS) -> list[dict[str, Any]]:
    """Return one row per data set, learner and theorem; None stands for an unknown value.

    plan: as `with_theorems` returns it    cells: finished ones, as of `run_plan`    rows: see `Batch`
    Keys: data, learner, settings, pool, theorem, counts, bound, printed, objective (of the batch problem in
    the bound), mean, max, std, ratio (bound / mean; where repetitions have bounds of their own, the least of
    theirs), kernel, reps, asked (repetitions), gap (largest relative duality gap of the learner's batch
    solutions), notes.
    """
    from omkl.runs.cells import expanded

    evaluated = []
    batches: dict[str, Batch] = {}
    for planned, row_cells in expanded(plan):
        setting, spec, dataset = planned.setting, planned.setting.spec, planned.ref.load()
        pool, bound_of = setting.kernel_pool, bound_function(spec)
        if pool is None or bound_of is None or not row_cells:
            continue  # `omkl bounds` has reported the learners without bounds
        same = repr((planned.ref.content_hash, pool["normalise"], pool["kernels"]))
        if same not in batches:
            batches[same] = Batch(dataset, pool, rows)
        cell_of = {cell.key: cell for cell in row_cells}
        finished = cells[cells["key"].isin(cell_of)].drop_duplicates("key")
        runs = tuple(Repetition(cell_of[key]) for key in finished["key"])
        case = Case(batches[same], n_sv=tuple(finished["n_sv_per_kernel"]), runs=runs)
        names = [key for key in inspect.signature(bound_of).parameters if key != "case"]
        params = row_cells[0].params  # with numbers for what a data set decides
        for bound in bound_of(case, **{key: params[key] for key in names}):
            row = _row(spec, setting, planned.ref.task, bound, _observed(bound, finished), case)
            evaluated.append({"data": dataset.name} | row | {"asked": planned.asked})
    return evaluated


def _observed(bound: Bound, finished: "pd.DataFrame") -> np.ndarray:
    """Return the with_theorems count of each finished repetition, empty where it is not known."""
    if bound.observed is not None or bound.counts not in _COUNTS:
        return np.array(bound.observed or ())
    counts = finished[_COUNTS[bound.counts]].to_numpy(dtype=float)
    return counts[~np.isnan(counts)]


def _row(
    spec: "LearnerSpec",
    setting: "Setting",
    task: str,
    bound: Bound,
    observed: np.ndarray,
    case: Case,
) -> dict[str, Any]:
    from omkl.config.parameters import params_text, shown_text

    kernels = case.batch.kernels
    mean = float(observed.mean()) if len(observed) else None
    if bound.values is None:
        ratio = bound.value / mean if bound.value is not None and mean else None
    else:
        ratio = min((b / o for b, o in zip(bound.values, observed, strict=True) if o > 0.0), default=None)

    def name_of(kernel: dict[str, Any]) -> str:
        return shown_text({k: v for k, v in kernel.items() if (k, v) not in (("scale", 1.0), ("coef0", 0.0))})

    kernel = None if bound.kernel is None else "mean of all"
    if bound.kernel not in (None, MEAN):
        kernel = name_of(kernels[bound.kernel])
    if bound.mixture:
        shares = sorted(zip(bound.mixture, map(name_of, kernels), strict=True), key=lambda part: -part[0])
        kernel = " + ".join(f"{share:.2g} {name}" for share, name in shares if share >= 0.005)
    notes = list(bound.notes)
    if bound.values is None:  # of each repetition as it was
        notes += ["in expectation"] if spec.stochastic and bound.value is not None else []
        notes += case.of_part() if bound.value is not None else []
    return {
        "learner": spec.label,
        "settings": params_text(spec.unusual(setting.params, task)),
        "pool": setting.pool and setting.pool["name"],
        "theorem": bound.theorem,
        "counts": bound.counts,
        "bound": bound.value,
        "printed": bound.printed,
        "objective": bound.objective,
        "mean": mean,
        "max": float(observed.max()) if len(observed) else None,
        "std": float(observed.std(ddof=1)) if len(observed) > 1 else None,
        "ratio": ratio,
        "kernel": kernel,
        "gap": case.gap,
        "reps": len(observed),
        "notes": notes,
    }


def bounds_table(rows: list[dict[str, Any]], command: str = "") -> Table:
    """Return the rows as a table; JSON and CSV hold plain numbers."""
    notes = list(dict.fromkeys(note for row in rows for note in row["notes"]))
    shown = [_shown(row, notes) for row in rows]
    empty = [
        name for name in ("pool", "settings", "printed", "objective") if not any(row[name] for row in shown)
    ]
    shown = [{name: text for name, text in row.items() if name not in empty} for row in shown]
    lines = [f"{number}. {note}" for number, note in enumerate(notes, 1)]
    gaps = [row["gap"] for row in rows if row["gap"] is not None]
    certain = [f"Batch solutions: relative duality gap at most {max(gaps):.1g}."] if gaps else []
    return Table.of(
        rows,
        shown,
        shared="Bounds and observed values (mean ± std)",
        below=[*(["\n".join(lines)] if lines else []), *certain],
        command=command,
        least=("counts", "pool", "settings"),
        flat=lambda: [row | {"notes": "; ".join(row["notes"])} for row in rows],
    )


def _shown(row: dict[str, Any], notes: list[str]) -> dict[str, str]:
    """Return a row as text: bounds to five digits, the observed count as mean ± std."""

    def text(name: str, form: str, missing: str = "–") -> str:
        return missing if row[name] is None else format(row[name], form)

    form = ".1f" if row["counts"] in (MISTAKES, VECTORS) else ".4g"
    observed = text("mean", form) + (f" ± {row['std']:{form}}" if row["std"] is not None else "")
    if row["mean"] is not None and row["reps"] < row["asked"]:
        observed += f" ({row['reps']} of {row['asked']} repetitions)"
    return {
        **{name: row[name] or "" for name in ("data", "learner", "settings", "pool", "theorem", "counts")},
        "bound": text("bound", ".5g"),
        "printed": text("printed", ".5g", ""),
        "objective": text("objective", ".5g", ""),
        "observed": observed,
        "bound / observed": text("ratio", ".3g"),
        "kernel": row["kernel"] or "",
        "notes": ", ".join(str(notes.index(note) + 1) for note in row["notes"]),
    }
