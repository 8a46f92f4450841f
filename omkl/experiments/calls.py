"""What one can ask for from Python: runs, sweeps, models, and lists of what there is."""

import shlex
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from omkl.config import Plan
from omkl.config import plan as make_plan
from omkl.config.settings_text import word_text
from omkl.data import DataRef, find
from omkl.data.arrays import from_arrays
from omkl.data.dataset import Dataset
from omkl.data.ref import of_dataset
from omkl.errors import UserError
from omkl.experiments.results import Results

if TYPE_CHECKING:
    import pandas as pd


def run(
    words: str = "",
    *,
    data: Any = None,
    y: Any = None,
    label: str | None = None,
    jobs: int | None = None,
    fresh: bool = False,
    progress: bool = True,
    **settings: Any,
) -> Results:
    """Run learners on data sets, next to the yardsticks: `omkl run`.

    Parameters
    ----------
    words
        The command's words, such as ``"algo=omkc_ss,alma data=a9a reps=5"``.
    data
        In place of the word: a name, a path, a data set of omkl, a pandas or polars frame (with ``label``),
        an array (T, d) or scipy sparse matrix (with ``y``), or a list of these.
    y, label
        Labels (T,) of an array; the name of the label's column of a frame.
    jobs, fresh, progress
        Worker processes; whether stored cells run again; whether a bar shows how far it is.
    settings
        Further settings by name, as in ``reps=5, algo=["alma", "omkc_ss"], **{"algo.C": 1.0}``.

    Raises
    ------
    omkl.errors.UserError
        For whatever is not right with words, settings or data, before any work.
    omkl.errors.OmklError
        Where the store cannot be read or written.
    """
    return _run(words, data, y, label, jobs, fresh, progress, settings, is_sweep=False)


def sweep(
    words: str = "",
    *,
    data: Any = None,
    y: Any = None,
    label: str | None = None,
    jobs: int | None = None,
    fresh: bool = False,
    progress: bool = True,
    **settings: Any,
) -> Results:
    """Run a grid of settings: `omkl sweep`. The arguments are those of `run`; settings may hold lists."""
    return _run(words, data, y, label, jobs, fresh, progress, settings, is_sweep=True)


def results(
    words: str = "", *, data: Any = None, y: Any = None, label: str | None = None, **settings: Any
) -> Results:
    """Return what the store holds of a run or a sweep; nothing runs. The arguments are those of `run`."""
    plan, line = _plan(words, data, y, label, settings, is_sweep=True)
    return Results.stored(plan, line, bool(plan.swept))


def learners() -> "pd.DataFrame":
    """Return the learners: name, label, source, tasks, classes, kernels."""
    import pandas as pd

    from omkl.config import learner_specs

    rows = [
        {
            "algo": spec.name,
            "label": spec.label,
            "cite": spec.cite,
            "tasks": ", ".join(spec.tasks),
            "classes": spec.classes,
            "kernels": spec.kernels,
            "hyperparameters": ", ".join(spec.hyperparameters),
        }
        for spec in learner_specs().values()
    ]
    return pd.DataFrame(rows).set_index("algo")


def datasets() -> "pd.DataFrame":
    """Return the registered data sets: examples, features, task, and whether each is here."""
    import pandas as pd

    from omkl.data import registered, registry

    rows = []
    for name in registry.names():
        ref = registered(name)
        rows.append({"data": name, "T": ref.T, "d": ref.d, "task": ref.task, "classes": ref.n_classes})
        rows[-1] |= {"state": ref.state, "title": ref.entry.title}
    return pd.DataFrame(rows).set_index("data")


def pools() -> "pd.DataFrame":
    """Return the pools of kernels."""
    import pandas as pd

    from omkl.config import pool, pool_names
    from omkl.config.settings_text import kernels_text

    rows = [
        {
            "pool": name,
            "m": len(own["kernels"]),
            "normalise": own["normalise"],
            "kernels": kernels_text(own["kernels"]),
        }
        for name, own in ((name, pool(name)) for name in pool_names())
    ]
    return pd.DataFrame(rows).set_index("pool")


def _run(
    words: str,
    data: Any,
    y: Any,
    label: str | None,
    jobs: int | None,
    fresh: bool,
    progress: bool,
    settings: Mapping[str, Any],
    is_sweep: bool,
) -> Results:
    from omkl.runs.runner import run_plan

    plan, line = _plan(words, data, y, label, settings, is_sweep)
    if plan.exec["name"] == "slurm":
        raise UserError("exec=slurm submits cells and does not wait; use `omkl run`, and omkl.results later")
    outcome = run_plan(plan, jobs=jobs, fresh=fresh, progress=progress)
    if outcome.interrupted:
        raise KeyboardInterrupt
    made = Results.of(plan, outcome, line, is_sweep)
    for broken in made.failed:
        where = f"{broken['algo']} on {broken['data']}, repetition {broken['rep']}"
        warnings.warn(f"{where}: {broken['error']}", stacklevel=3)
    return made


def _plan(
    words: str, data: Any, y: Any, label: str | None, settings: Mapping[str, Any], is_sweep: bool
) -> tuple[Plan, str]:
    """Return the plan of a call, and the command line that says the same."""
    given, values = shlex.split(words), {key: _plain(value) for key, value in settings.items()}
    named = _listed(data) if data is not None else []
    if all(isinstance(one, str | Path) for one in named):  # words, or none
        if y is not None:
            raise UserError("y=... are the labels of an array; a file's label is a column, label=...")
        values |= {"data": list(map(str, named))} if named else {}
        values |= {"label": label} if label is not None else {}
        data = None
    elif label is not None and not any(hasattr(one, "columns") for one in named):
        raise UserError(f"label={label} is for a column of a frame or a file; labels of an array are y=...")
    task = values.get("task", "classification") if data is not None else "classification"
    refs = [] if data is None else [_ref(one, y, label, task, at) for at, one in enumerate(_listed(data))]
    if refs and "task" in values and not any(isinstance(one, str) for one in _listed(data)):
        values.pop("task")
    plan = make_plan(given, sweep=is_sweep, values=values, data=refs)
    shown = [word_text(key, value) for key, value in values.items()]
    shown += [f"data={','.join(map(str, refs))}"] if refs else []
    return plan, shlex.join(["omkl", "sweep" if is_sweep else "run", *given, *shown])


def _listed(data: Any) -> list[Any]:
    return data if isinstance(data, list) else [data]


def _ref(data: Any, y: Any, label: str | None, task: str, at: int) -> DataRef:
    """Return given data as a data set. Raises UserError for what is none."""
    if isinstance(data, DataRef):
        return data
    if isinstance(data, Dataset):
        return of_dataset(data)
    if isinstance(data, str | Path):
        return find(str(data), task=task)
    name = "data" if at == 0 else f"data{at + 1}"
    if hasattr(data, "columns"):
        columns = list(data.columns)
        if y is None and label is None:
            raise UserError(f"name the label's column with label=..., one of {', '.join(map(str, columns))}")
        if y is None:
            if label not in columns:
                raise UserError(f"label={label}: no such column; there are {', '.join(map(str, columns))}")
            y, data = data[label], data[[column for column in columns if column != label]]
    elif y is None:
        raise UserError("an array has no labels; give them with y=...")
    return of_dataset(from_arrays(data, y, name=name, task=task))


def _plain(value: Any) -> Any:
    """Return a setting as words hold it: lists for tuples and arrays, plain numbers."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    return list(value) if isinstance(value, tuple) else value
