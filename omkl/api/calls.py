"""What Python can call, as the commands do: runs, sweeps, tables, figures, models, pages."""

import functools
import inspect
import shlex
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, ParamSpec, Protocol, TypedDict, TypeVar, Unpack

from omkl.api.call import Call
from omkl.api.paper_results import PaperResult, bounds_of, selection_of, with_claims
from omkl.api.report import page_of, write_page
from omkl.api.results import Results, check_end, kept, run_call
from omkl.api.trained_model import Model, trained
from omkl.api.tune import Study, Tuning
from omkl.config import Setting
from omkl.config.parameters import word_text
from omkl.config.request import files
from omkl.data import DataRef
from omkl.data.dataset import Dataset
from omkl.data.look import look_at
from omkl.data.own_data import Own
from omkl.errors import UserError
from omkl.figures.style import KINDS
from omkl.others.traits import Refit, is_estimator
from omkl.publications import Selection, find_item
from omkl.reports.table import Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure as MplFigure

How = dict[str, Any]  # jobs, fresh, progress, stored
Order = Literal["permuted", "file", "halves", "authors"]
Task = Literal["classification", "regression", "novelty"]
Scale = Literal["online", "ranks", "none"]
Target = Literal["online", "none"]


class LearnsRows(Protocol):
    """An estimator of scikit-learn's kind."""

    @property
    def partial_fit(self) -> Callable[..., Any]: ...


class LearnsOne(Protocol):
    """A model of river's kind."""

    @property
    def learn_one(self) -> Callable[..., Any]: ...


class Shaped(Protocol):
    """An array, a sparse matrix, or a data frame."""

    @property
    def shape(self) -> Any: ...


Learner = str | Setting | Refit | LearnsRows | LearnsOne
Algo = Learner | Sequence[Learner]
Source = str | Path | Shaped | Dataset | DataRef
Data = Source | Sequence[Any] | Mapping[str, Any]
MOST_COLUMNS = 200  # that `look` shows; JSON has all
P = ParamSpec("P")
Q = TypeVar("Q")
R = TypeVar("R")


class Settings(TypedDict, total=False):
    """The settings of conf/config.yaml and conf/tune.yaml that are no keywords of their own.

    A type checker refuses other names. A sweep takes lists of values, too.
    """

    exec: Any
    settings: Any
    rounds: int | str
    read: Mapping[str, Any]
    id: str | Sequence[str]
    drop: str | Sequence[str]
    missing: str
    positive: Any
    index_base: int | str
    qid: Any
    block: int
    calibration: str
    interval: float
    trials: int
    eta: int
    rungs: int
    passes: int
    least: int
    longest: int
    cost: float
    small: int
    pools: Any
    by: str


class Chosen(Settings, total=False):
    """What chooses the cells of a run, beside its data."""

    algo: Algo
    reps: int
    order: Order
    scale: Scale
    target: Target
    task: Task
    pool: Any
    yardsticks: Sequence[str]
    test: Any
    delay: int
    seed: int
    store: str | Path
    params: Mapping[str, Any]


class Run(Chosen, total=False):
    """What a run takes by name."""

    data: Data
    y: Any
    label: str
    jobs: int
    stored: bool
    fresh: bool
    progress: bool


class Drawn(Chosen, total=False):
    """What a figure takes by name; of a paper's, its missing cells run."""

    quick: bool
    full: bool
    jobs: int
    fresh: bool
    progress: bool


class OfPaper(TypedDict, total=False):
    """The settings of a paper's table that are no keywords of their own."""

    store: str | Path
    seed: int
    exec: Any
    block: int


def _with_arguments_of(
    arguments: Callable[P, tuple[Q, How]], without: Sequence[str] = ()
) -> Callable[[Callable[[Q, How], R]], Callable[P, R]]:
    """Give a function the arguments of another one, which makes of them what the function takes."""

    def given_to(does: Callable[[Q, How], R]) -> Callable[P, R]:
        @functools.wraps(does)
        def call(*args: P.args, **keywords: P.kwargs) -> R:
            for name in (name for name in without if name in keywords):
                raise UserError(
                    f"{name} is not a keyword of omkl.{does.__name__}, but of omkl.run and omkl.sweep"
                )
            return does(*arguments(*args, **keywords))

        returned = inspect.signature(does).return_annotation
        shown = inspect.signature(arguments)
        parameters = [one for name, one in shown.parameters.items() if name not in without]
        shown = shown.replace(parameters=parameters, return_annotation=returned)
        call.__signature__ = shown  # type: ignore[attr-defined]  # of help() and of editors
        return call

    return given_to


def _running(
    words: Data = "",
    *,
    data: Data | None = None,
    y: Any = None,
    label: str | None = None,
    algo: Algo | None = None,
    reps: int | None = None,
    order: Order | None = None,
    scale: Scale | None = None,
    target: Target | None = None,
    task: Task | None = None,
    pool: Any = None,
    yardsticks: Sequence[str] | None = None,
    test: Any = None,
    delay: int | None = None,
    seed: int | None = None,
    store: str | Path | None = None,
    params: Mapping[str, Any] | None = None,
    jobs: int | None = None,
    stored: bool = False,
    fresh: bool = False,
    progress: bool = True,
    **settings: Unpack[Settings],
) -> tuple[Call, How]:
    """Take what runs settings."""
    named: dict[str, Any] = {
        "algo": algo,
        "reps": reps,
        "order": order,
        "scale": scale,
        "target": target,
        "task": task,
    }
    named |= {
        "pool": pool,
        "yardsticks": yardsticks,
        "test": test,
        "delay": delay,
        "seed": seed,
        "store": store,
    }
    given: dict[str, Any] = {**settings, **(params or {})}
    given |= {key: value for key, value in named.items() if value is not None}
    how = {"jobs": jobs, "fresh": fresh, "progress": progress}
    return Call.of(words, data, y, label, **given), how | ({"stored": True} if stored else {})


def _of_a_paper(
    name: str,
    *,
    data: Data | None = None,
    reps: int | None = None,
    algo: Algo | None = None,
    quick: bool = False,
    full: bool = False,
    jobs: int | None = None,
    fresh: bool = False,
    progress: bool = True,
    **settings: Unpack[OfPaper],
) -> tuple[tuple[str, Selection], How]:
    """Take what runs a part of a paper."""
    chosen = selection_of(data=data, reps=reps, algo=algo, quick=quick, full=full, settings=settings)
    return (name, chosen), {"jobs": jobs, "fresh": fresh, "progress": progress}


@_with_arguments_of(_running)
def run(call: Call, how: How) -> Results:
    """Run learners on data sets, next to the yardsticks: `omkl run`.

    A setting that is not given has its usual value. What is given as a keyword may be a word instead.

    Parameters
    ----------
    words
        The command's words, such as ``"algo=omkc_ss,alma data=a9a reps=5"``, or the data.
    data
        A name, a path, a data set of omkl, a pandas or polars frame (with ``label``), an array (T, d) or
        scipy sparse matrix (with ``y``), a list of these, or a mapping of names to these.
    y
        Labels (T,) of an array.
    label
        The name of the label's column of a frame or a file.
    algo
        Learners, one or a list: names and groups such as ``"alma"`` (`learners`), learners with settings
        (`learner`), and estimators with ``partial_fit`` or ``learn_one``, such as ``SGDClassifier()``.
    reps
        Repetitions: 20, and 1 with ``order="file"``.
    order
        Of the rows in each repetition: ``"permuted"`` at random, as in the ``"file"``, one of two
        fixed ``"halves"`` after the other, or as the ``"authors"`` had them.
    scale
        Of the features: ``"online"`` or ``"ranks"``, by the rows seen so far, or ``"none"``.
    target
        Of a regression: ``"online"`` scales the targets with those seen so far, ``"none"`` does not.
    task
        Of your own data: ``"classification"`` (if it is not given) or ``"regression"``.
    pool
        Kernel pools of the learners that run on one, one or a list of names (`pools`).
    yardsticks
        Learners to compare with; ``[]`` for none.
    test
        What is held out and not learnt: a share such as 0.2, or a data set.
    delay
        Labels come in batches of this many rounds (1).
    seed
        Base seed of the permutations (1).
    store
        Folder of the results: ``$OMKL_STORE``, else ``./results``.
    jobs
        Worker processes; if it is not given, one for each core.
    stored
        Whether to return what the store holds; nothing runs.
    fresh
        Whether cells that the store holds run again.
    progress
        Whether to show a progress bar: one of ipywidgets in a notebook, one of text in a terminal.
    params
        Hyperparameters and other settings whose names have dots, such as ``{"algo.C": 1.0}``.
    settings
        Further settings by name: ``rounds``, ``exec``, and those of a table such as ``missing``.

    Returns
    -------
    Results

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


@_with_arguments_of(_running, without=("stored",))
def tune(call: Call, how: How) -> Tuning:
    """Find good hyperparameters for each learner on each data set: `omkl tune`.

    The arguments are those of `run`, and the keys of the rule, such as ``trials=30``. A hyperparameter that
    ``params={"algo.C": 1.0}`` or a learner of `learner` sets keeps its value.
    """
    tuning = Study.of(call).run(**how)
    check_end(tuning)
    return tuning


def bounds(words: str = "", *, rows: int = 2000, **settings: Unpack[Run]) -> PaperResult:
    """Compare the theorems' bounds with the observed mistakes, vectors or regret: `omkl bounds`.

    Parameters
    ----------
    words, settings
        The arguments of `run`.
    rows
        Largest number of examples for each batch solution; each pair of them takes 32 bytes.
    """
    call, how = _running(words, **settings)
    bounds_table, outcome = bounds_of(call.plan(), call.line("bounds"), rows, **how)
    check_end(outcome)
    return PaperResult(bounds_table, outcome)


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
    result = make_table(*find_item("tables", name), selection, **how)
    check_end(result.outcome)
    return PaperResult(result.table, result.outcome, result.title)


@_with_arguments_of(_of_a_paper)
def claims(chosen: tuple[str, Selection], how: How) -> PaperResult:
    """Check the claims of a paper, such as ``"omkc"``: `omkl claims`. The arguments are those of `table`."""
    from omkl.publications.claims import check_claims

    name, selection = chosen
    result = check_claims(with_claims(name), selection, **how)
    check_end(result.outcome)
    return PaperResult(result.table, result.outcome, result.title)


def figure(
    kind: str,
    words: str = "",
    *,
    data: Data | None = None,
    y: Any = None,
    label: str | None = None,
    out: str | Path | None = None,
    **settings: Unpack[Drawn],
) -> "MplFigure":
    """Draw what the store holds, or a figure of a paper: `omkl figure`.

    Parameters
    ----------
    kind
        ``curve``, ``confusion``, ``calibration``, ``sweep``, ``times`` or ``ranks`` of stored cells; or a
        paper's figure such as ``omkc/1``, whose missing cells run.
    words, data, y, label, settings
        As in `run`, and ``by``, the measure of a curve or a sweep, such as ``n_sv_sum``; for a paper's figure
        as in `table`.
    out
        A file (.png, .pdf, .svg) to write, too.

    Returns
    -------
    matplotlib.figure.Figure
    """
    by = settings.pop("by", None)
    given: dict[str, Any] = dict(settings)
    if kind not in KINDS:
        from omkl.publications.paper_figures import figure_of

        paper, item = find_item("figures", kind)
        (_, chosen), how = _of_a_paper(kind, data=data, **given)
        chosen = replace(chosen, words=(*words.split(), *chosen.words))
        drawn, outcome, _ = figure_of(paper, item, chosen, **how)
        if outcome and outcome.interrupted:
            raise KeyboardInterrupt(kept(outcome))
    else:
        given |= given.pop("params", None) or {}
        call = Call.of(words, data, y, label, **given)
        line = call.line("figure")
        drawn = Results.to_draw(call.plan(sweep=True), kind, line, shlex.split(line)[2:]).figure(kind, by)
    for warning in drawn.warnings:
        warnings.warn(warning, stacklevel=2)
    if out is not None:
        drawn.write(out)
    return drawn.draw()


def fit(
    words: str | Setting | Data = "",
    data: Data | None = None,
    *,
    y: Any = None,
    label: str | None = None,
    algo: Learner | None = None,
    order: Order | None = None,
    scale: Scale | None = None,
    target: Target | None = None,
    task: Task | None = None,
    pool: Any = None,
    seed: int | None = None,
    params: Mapping[str, Any] | None = None,
    **settings: Unpack[Settings],
) -> Model:
    """Train one learner on one data set, in one pass: `omkl fit`.

    The rows come in the order of the first repetition of a run, which is a permutation of them;
    ``order="file"`` learns them as they stand.

    Parameters
    ----------
    words
        A learner's name or a learner of `learner`, or words such as ``"algo=alma data=my.csv label=class"``,
        or the data.
    data, y, label
        As in `run`.
    order
        ``"permuted"`` (if it is not given), ``"file"`` or ``"authors"``, as in `run`.
    algo, scale, target, task, pool, seed, params, settings
        As in `run`.
    """
    if is_estimator(words):
        name = type(words).__name__
        raise UserError(
            f"omkl.fit takes the name of a learner, or omkl.learner(...); {name} is an estimator, "
            "which learns by its own fit(X, y)"
        )
    if isinstance(words, Setting) or (isinstance(words, str) and words and "=" not in words):
        words, algo = "", words
    given: dict[str, Any] = {**settings, **(params or {})}
    named: dict[str, Any] = {
        "algo": algo,
        "order": order,
        "scale": scale,
        "target": target,
        "task": task,
        "pool": pool,
    }
    given |= {key: value for key, value in {**named, "seed": seed}.items() if value is not None}
    return trained(Call.of(words, data, y, label, **given))


def load_model(path: str | Path) -> Model:
    """Return a model that `Model.save` or `omkl fit` wrote. Raises UserError for another file."""
    from omkl.models import saved_models

    return Model(saved_models.load_saved(Path(path)))


def report(
    words: str = "",
    *,
    out: str | Path | None = None,
    data: Data | None = None,
    quick: bool = False,
    full: bool = False,
    **settings: Unpack[Chosen],
) -> Path:
    """Write a page for the browser of what the store holds, and return its path: `omkl report`.

    Parameters
    ----------
    words
        A paper such as ``"bomkl"``, or words as in `run`.
    out
        File (.html) or folder to write to; if it is not given, a folder in the store.
    data, settings
        As in `run`; for a paper, with ``quick`` and ``full``, as in `table`.
    """
    given, chosen, line = shlex.split(words), None, ""
    values: dict[str, Any] = {"data": data, **settings}
    values |= values.pop("params", None) or {}
    if any("=" not in word for word in given):
        line = f"omkl report {words}"
        reps, algo = values.pop("reps", None), values.pop("algo", None)
        how: dict[str, Any] = {"data": values.pop("data"), "reps": reps, "algo": algo}
        chosen = selection_of(**how, quick=quick, full=full, settings=values)
    else:
        given += [word_text(key, value) for key, value in values.items() if value is not None]
    page, store_path = page_of(given, line, selection=chosen)
    for warning in page.warnings:
        warnings.warn(warning, stacklevel=2)
    return write_page(page, store_path, None if out is None else str(out))[0]


def look(data: Any, words: Sequence[str] = (), **settings: Any) -> Table:
    """Show what is understood of data before anything is run on them.

    Parameters
    ----------
    data
        A path, ``-`` for standard input, the name of a registered data set, or a frame (pandas, polars).
    words
        Settings as the command takes them, such as ``["label=repaid", "missing=drop"]``.
    **settings
        Such settings as keywords.

    Returns
    -------
    Table
        A row for each column: its kind, its range, its gaps, what will be done with it, and the words that
        change this. Below it, all that stops a run, and the command that holds all words which mend it. A
        notebook shows it as HTML; ``render("json")`` returns the rows as JSON.

    Raises
    ------
    UserError
        For a file that cannot be read at all.
    """
    given = Own("data", "auto", "data", data) if hasattr(data, "columns") else str(data)
    (ref,) = files(list(words), settings, [given])
    rows, title, findings = look_at(ref)
    below = [f"Columns {MOST_COLUMNS + 1} to {len(rows)} are not shown; --format json has them."]
    shown = rows[:MOST_COLUMNS]
    return Table.of(rows, shown, title=title, findings=findings, below=below if rows[MOST_COLUMNS:] else [])
