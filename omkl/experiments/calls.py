"""What Python can call, as the commands do: runs, sweeps, tables, figures, models, pages."""

import shlex
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

from omkl.config import Setting
from omkl.config.settings_text import word_text
from omkl.experiments.bounds_results import Bounds
from omkl.experiments.call import Call
from omkl.experiments.page_source import PageSource
from omkl.experiments.paper_results import PaperResult, paper_claims, paper_table, selection_of
from omkl.experiments.results import Results, check_end, finished, run_call
from omkl.experiments.trained_model import Model, trained
from omkl.experiments.tune import Study, Tuning
from omkl.figures.style import KINDS
from omkl.publications import find_item
from omkl.reports.look import look as look

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Drawn


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
        an array (T, d) or scipy sparse matrix (with ``y``), a list of these, or a mapping of names to these.
    y
        Labels (T,) of an array.
    label
        The name of the label's column of a frame or a file.
    jobs
        Worker processes; if it is not given, one for each core.
    fresh
        Whether cells that the store holds run again.
    progress
        Whether to show a progress bar: one of ipywidgets in a notebook, one of text in a terminal.
    settings
        Further settings by name, as in ``reps=5, algo=["alma", "omkc_ss"], **{"algo.C": 1.0}``.

    Raises
    ------
    omkl.errors.UserError
        For a mistake in words, settings or data, before any work.
    omkl.errors.OmklError
        Where the store cannot be read or written.
    """
    return run_call(Call.of(words, data, y, label, settings), jobs=jobs, fresh=fresh, progress=progress)


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
    call = Call.of(words, data, y, label, settings)
    return run_call(call, True, jobs=jobs, fresh=fresh, progress=progress)


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

    The arguments are those of `run`, and the keys of the rule, such as ``trials=30``. A hyperparameter that
    a key such as ``**{"algo.C": 1.0}`` or a learner of `learner` sets keeps its value.
    """
    study = Study.of(Call.of(words, data, y, label, settings))
    made = study.run(jobs=jobs, fresh=fresh, progress=progress)
    check_end(made.interrupted, made.failed)
    return made


def table(
    name: str,
    *,
    data: Any = None,
    reps: int | None = None,
    algo: Any = None,
    quick: bool = False,
    full: bool = False,
    jobs: int | None = None,
    fresh: bool = False,
    progress: bool = True,
    **settings: Any,
) -> PaperResult:
    """Reproduce a table of a paper, our values next to the published ones: `omkl table`.

    Parameters
    ----------
    name
        Such as ``"bomkl/1"``; `papers` lists all.
    data
        These data sets only; a mapping also gives their files.
    reps
        Largest number of repetitions.
    algo
        Learners in addition to the table's own.
    quick
        Two repetitions of its small data sets.
    full
        All repetitions, also of what takes longest.
    jobs, fresh, progress
        As in `run`.
    settings
        ``store``, ``seed``, ``exec`` and ``block``; the paper sets the rest.

    Raises
    ------
    omkl.errors.UserError
        For an unknown name, and where none of the data are available.
    """
    own = {"data": data, "reps": reps, "algo": algo, "quick": quick, "full": full, "settings": settings}
    return finished(paper_table(name, selection_of(**own), jobs=jobs, fresh=fresh, progress=progress))


def claims(
    paper: str,
    *,
    data: Any = None,
    reps: int | None = None,
    quick: bool = False,
    full: bool = False,
    jobs: int | None = None,
    fresh: bool = False,
    progress: bool = True,
    **settings: Any,
) -> PaperResult:
    """Check the claims of a paper by numbers: `omkl claims`. The arguments are those of `table`."""
    own = {"data": data, "reps": reps, "quick": quick, "full": full, "settings": settings}
    return finished(paper_claims(paper, selection_of(**own), jobs=jobs, fresh=fresh, progress=progress))


def figure(
    kind: str,
    words: str = "",
    *,
    data: Any = None,
    y: Any = None,
    label: str | None = None,
    measure: str | None = None,
    out: str | Path | None = None,
    **settings: Any,
) -> "Drawn":
    """Draw what the store holds, or a figure of a paper: `omkl figure`.

    Parameters
    ----------
    kind
        ``curve``, ``confusion``, ``sweep``, ``times`` or ``ranks`` of stored cells; or a paper's figure such
        as ``omkc/1``, whose missing cells run.
    words, data, y, label, settings
        As in `run`; for a paper's figure as in `table`.
    measure
        The measure of a curve, such as ``n_sv_sum``.
    out
        A file (.png, .pdf, .svg) to write, too.

    Returns
    -------
    matplotlib.figure.Figure
    """
    if kind not in KINDS:
        from omkl.publications.paper_figures import figure_of

        paper, item = find_item("figures", kind)
        how = {key: settings.pop(key) for key in ("jobs", "fresh", "progress") if key in settings}
        own = {key: settings.pop(key) for key in ("reps", "algo", "quick", "full") if key in settings}
        made, outcome, _ = figure_of(
            paper, item, selection_of(words.split(), data=data, settings=settings, **own), **how
        )
        if outcome and outcome.interrupted:
            raise KeyboardInterrupt
    else:
        call = Call.of(words, data, y, label, settings)
        line = call.line("figure")
        made = Results.to_draw(call.plan(sweep=True), kind, line, shlex.split(line)[2:]).figure(kind, measure)
    for warning in made.warnings:
        warnings.warn(warning, stacklevel=2)
    if out is not None:
        made.write(out)
    return made.draw()


def bounds(
    words: str = "",
    *,
    data: Any = None,
    y: Any = None,
    label: str | None = None,
    rows: int = 2000,
    jobs: int | None = None,
    fresh: bool = False,
    progress: bool = True,
    **settings: Any,
) -> Bounds:
    """Compare the theorems' bounds with the observed mistakes, vectors or regret: `omkl bounds`.

    Parameters
    ----------
    words, data, y, label, jobs, fresh, progress, settings
        As in `run`.
    rows
        Largest number of examples for each batch solution; each pair of them takes 32 bytes.
    """
    call = Call.of(words, data, y, label, settings)
    made = Bounds.of(call.plan(), call.line("bounds"), rows, jobs=jobs, fresh=fresh, progress=progress)
    return finished(made)


def fit(
    words: "str | Setting" = "",
    data: Any = None,
    *,
    y: Any = None,
    label: str | None = None,
    **settings: Any,
) -> Model:
    """Train one learner on one data set, in one pass: `omkl fit`.

    Parameters
    ----------
    words
        A learner's name or a learner of `learner`, or words such as ``"algo=alma data=my.csv label=class"``.
    data, y, label, settings
        As in `run`.
    """
    if isinstance(words, Setting) or (words and "=" not in words):
        words, settings = "", {"algo": words, **settings}
    return trained(Call.of(words, data, y, label, settings))


def load_model(path: str | Path) -> Model:
    """Return a model that `Model.save` or `omkl fit` wrote. Raises UserError for another file."""
    from omkl.runs import models

    return Model(models.load(Path(path)))


def report(
    words: str = "",
    *,
    out: str | Path | None = None,
    everything: bool = False,
    data: Any = None,
    reps: int | None = None,
    algo: Any = None,
    quick: bool = False,
    full: bool = False,
    **settings: Any,
) -> Path:
    """Write a page for the browser of what the store holds, and return its path: `omkl report`.

    Parameters
    ----------
    words
        A paper such as ``"bomkl"``, or words as in `run`.
    out
        File (.html) or folder to write to; if it is not given, a folder in the store.
    everything
        All that the store holds: ``omkl report --all``.
    data, algo, settings
        As in `run`; for a paper, with ``reps``, ``quick`` and ``full``, as in `table`.
    """
    given = shlex.split(words)
    if any("=" not in word for word in given):
        own = {"data": data, "reps": reps, "algo": algo, "quick": quick, "full": full}
        chosen = selection_of(settings=settings, **own)
        source = PageSource.of(given, f"omkl report {words}", selection=chosen)
    else:
        more = {"data": data, "algo": algo, "reps": reps, **settings}
        values = {key: value for key, value in more.items() if value is not None}
        source = PageSource.of(
            [*given, *(word_text(*item) for item in values.items())], everything=everything
        )
    for warning in (page := source.make()).warnings:
        warnings.warn(warning, stacklevel=2)
    return source.write(page, None if out is None else str(out))[0]
