"""What Python can call, as the commands do: runs, sweeps, tables, figures, models, pages."""

import functools
import inspect
import shlex
import warnings
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from omkl.config import Setting
from omkl.config.settings_text import word_text
from omkl.errors import UserError
from omkl.experiments.call import Call, is_object
from omkl.experiments.paper_results import PaperResult, bounds_of, selection_of, with_claims
from omkl.experiments.report import page_of, write_page
from omkl.experiments.results import Results, check_end, run_call
from omkl.experiments.trained_model import Model, trained
from omkl.experiments.tune import Study, Tuning
from omkl.figures.style import KINDS
from omkl.publications import Selection, find_item
from omkl.reports.look import look as look

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Drawn

How = dict[str, Any]  # jobs, fresh, progress
P = ParamSpec("P")
Q = TypeVar("Q")
R = TypeVar("R")


def _with_arguments_of(
    arguments: Callable[P, tuple[Q, How]],
) -> Callable[[Callable[[Q, How], R]], Callable[P, R]]:
    """Give a function the arguments of another one, which makes of them what the function takes."""

    def given_to(does: Callable[[Q, How], R]) -> Callable[P, R]:
        @functools.wraps(does)
        def call(*args: P.args, **keywords: P.kwargs) -> R:
            return does(*arguments(*args, **keywords))

        returned = inspect.signature(does).return_annotation
        shown = inspect.signature(arguments).replace(return_annotation=returned)
        call.__signature__ = shown  # type: ignore[attr-defined]  # of help() and of editors
        return call

    return given_to


def _running(
    words: str = "",
    *,
    data: Any = None,
    y: Any = None,
    label: str | None = None,
    jobs: int | None = None,
    fresh: bool = False,
    progress: bool = True,
    **settings: Any,
) -> tuple[Call, How]:
    """Take what runs settings."""
    return Call.of(words, data, y, label, **settings), {"jobs": jobs, "fresh": fresh, "progress": progress}


def _of_a_paper(
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
) -> tuple[tuple[str, Selection], How]:
    """Take what runs a part of a paper."""
    chosen = selection_of(data=data, reps=reps, algo=algo, quick=quick, full=full, settings=settings)
    return (name, chosen), {"jobs": jobs, "fresh": fresh, "progress": progress}


@_with_arguments_of(_running)
def run(call: Call, how: How) -> Results:
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
    return run_call(call, **how)


@_with_arguments_of(_running)
def sweep(call: Call, how: How) -> Results:
    """Run a grid of settings: `omkl sweep`. The arguments are those of `run`; settings may hold lists."""
    return run_call(call, True, **how)


@_with_arguments_of(_running)
def tune(call: Call, how: How) -> Tuning:
    """Find good hyperparameters for each learner on each data set: `omkl tune`.

    The arguments are those of `run`, and the keys of the rule, such as ``trials=30``. A hyperparameter that
    a key such as ``**{"algo.C": 1.0}`` or a learner of `learner` sets keeps its value.
    """
    made = Study.of(call).run(**how)
    check_end(made)
    return made


def results(
    words: str = "", *, data: Any = None, y: Any = None, label: str | None = None, **settings: Any
) -> Results:
    """Return what the store holds of a run or a sweep; nothing runs. The arguments are those of `run`."""
    call = Call.of(words, data, y, label, **settings)
    plan = call.plan(sweep=True)
    return Results.stored(plan, call.line("sweep" if plan.swept else "run"), bool(plan.swept))


def bounds(words: str = "", *, rows: int = 2000, **settings: Any) -> PaperResult:
    """Compare the theorems' bounds with the observed mistakes, vectors or regret: `omkl bounds`.

    Parameters
    ----------
    words, settings
        The arguments of `run`.
    rows
        Largest number of examples for each batch solution; each pair of them takes 32 bytes.
    """
    call, how = _running(words, **settings)
    made, outcome = bounds_of(call.plan(), call.line("bounds"), rows, **how)
    check_end(outcome)
    return PaperResult(made, outcome)


@_with_arguments_of(_of_a_paper)
def table(chosen: tuple[str, Selection], how: How) -> PaperResult:
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
    from omkl.publications.paper_tables import make_table

    name, selection = chosen
    made = make_table(*find_item("tables", name), selection, **how)
    check_end(made.outcome)
    return PaperResult(made.table, made.outcome, made.title)


@_with_arguments_of(_of_a_paper)
def claims(chosen: tuple[str, Selection], how: How) -> PaperResult:
    """Check the claims of a paper, such as ``"omkc"``: `omkl claims`. The arguments are those of `table`."""
    from omkl.publications.claims import check_claims

    name, selection = chosen
    made = check_claims(with_claims(name), selection, **how)
    check_end(made.outcome)
    return PaperResult(made.table, made.outcome, made.title)


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
        (_, chosen), how = _of_a_paper(kind, data=data, **settings)
        chosen = replace(chosen, words=(*words.split(), *chosen.words))
        made, outcome, _ = figure_of(paper, item, chosen, **how)
        if outcome and outcome.interrupted:
            raise KeyboardInterrupt
    else:
        call = Call.of(words, data, y, label, **settings)
        line = call.line("figure")
        made = Results.to_draw(call.plan(sweep=True), kind, line, shlex.split(line)[2:]).figure(kind, measure)
    for warning in made.warnings:
        warnings.warn(warning, stacklevel=2)
    if out is not None:
        made.write(out)
    return made.draw()


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
    if is_object(words):
        name = type(words).__name__
        raise UserError(
            f"omkl.fit takes the name of a learner, or omkl.learner(...); {name} is an estimator, "
            "which learns by its own fit(X, y)"
        )
    if isinstance(words, Setting) or (isinstance(words, str) and words and "=" not in words):
        words, settings = "", {"algo": words, **settings}
    return trained(Call.of(words, data, y, label, **settings))


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
    given, chosen, line = shlex.split(words), None, ""
    if any("=" not in word for word in given):
        line = f"omkl report {words}"
        chosen = selection_of(data=data, reps=reps, algo=algo, quick=quick, full=full, settings=settings)
    else:
        values = {"data": data, "algo": algo, "reps": reps, **settings}
        given += [word_text(key, value) for key, value in values.items() if value is not None]
    page, store = page_of(given, line, everything=everything, selection=chosen)
    for warning in page.warnings:
        warnings.warn(warning, stacklevel=2)
    return write_page(page, store, None if out is None else str(out))[0]
