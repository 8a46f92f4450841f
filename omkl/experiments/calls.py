"""What one can ask for from Python: runs, sweeps, models, and lists of what there is."""

import warnings
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from omkl.errors import UserError
from omkl.experiments.call import Call
from omkl.experiments.results import Results
from omkl.experiments.tune import Study, Tuning

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
    return _run(Call.of(words, data, y, label, settings), jobs, fresh, progress, is_sweep=False)


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
    return _run(Call.of(words, data, y, label, settings), jobs, fresh, progress, is_sweep=True)


def results(
    words: str = "", *, data: Any = None, y: Any = None, label: str | None = None, **settings: Any
) -> Results:
    """Return what the store holds of a run or a sweep; nothing runs. The arguments are those of `run`."""
    call = Call.of(words, data, y, label, settings)
    plan = call.plan(sweep=True)
    return Results.stored(plan, call.line("sweep" if plan.swept else "run"), bool(plan.swept))


def tune(
    words: str = "",
    *,
    data: Any = None,
    y: Any = None,
    label: str | None = None,
    jobs: int | None = None,
    fresh: bool = False,
    progress: bool = True,
    **settings: Any,
) -> Tuning:
    """Find good hyperparameters for each learner on each data set: `omkl tune`.

    The arguments are those of `run`, and the keys of the rule, such as ``trials=30``. What a key such as
    ``**{"algo.C": 1.0}`` or a learner of `learner` sets keeps its value.
    """
    study = Study.of(Call.of(words, data, y, label, settings))
    made = study.run(jobs=jobs, fresh=fresh, progress=progress)
    if made.interrupted:
        raise KeyboardInterrupt
    _warn_of(made.failed)
    return made


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


def _run(call: Call, jobs: int | None, fresh: bool, progress: bool, is_sweep: bool) -> Results:
    from omkl.runs.runner import run_plan

    plan = call.plan(is_sweep)
    if plan.exec["name"] == "slurm":
        raise UserError("exec=slurm submits cells and does not wait; use `omkl run`, and omkl.results later")
    outcome = run_plan(plan, jobs=jobs, fresh=fresh, progress=progress)
    if outcome.interrupted:
        raise KeyboardInterrupt
    made = Results.of(plan, outcome, call.line("sweep" if is_sweep else "run"), is_sweep)
    _warn_of(made.failed)
    return made


def _warn_of(failed: Iterable[Mapping[str, Any]]) -> None:
    """Give a Python warning for each cell that failed."""
    for line in failed:
        where = f"{line['algo']} on {line['data']}, repetition {line['rep']}"
        warnings.warn(f"{where}: {line['error']}", stacklevel=4)
