"""The content of conf/paper: each paper's runs, and the tables, figures and claims made from them."""

import re
import shlex
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields
from itertools import starmap
from typing import Annotated, Any, Literal

from omkl import conf
from omkl.config.parameters import word_text
from omkl.errors import UserError, show, shown, suggest
from omkl.figures.style import KINDS as FIGURE_KINDS
from omkl.schema import Check, Text, as_dataclass, checked, such, wrong
from omkl.tasks import judging, measure_column

NOTES = {"Answer": "answer", "Deviations": "deviations"}  # headings of a paper's notes
FEW = 3  # a title names up to this many data sets


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _is_mapping(value: Any) -> bool:
    return isinstance(value, dict)


def _all(kind: type, test: Callable[[Any], bool]) -> Callable[[Any], bool]:
    """Return a test of lists or dicts (``kind``) whose items or values all pass the given test."""

    def fits(value: Any) -> bool:
        items = value.values() if isinstance(value, dict) else value
        return isinstance(value, kind) and all(map(test, items))

    return fits


_names = such(
    "a name or a list of names", lambda value: _is_text(value) or (value and _all(list, _is_text)(value))
)
Names = Annotated[str | list[str], _names]
Number = Annotated[float, such("a number", lambda value: type(value) in (int, float))]
Mapped = Annotated[Mapping[str, Any], such("keys and values", _is_mapping)]
_named_mappings = such("names, each with keys and values", _all(dict, _is_mapping))
NamedMappings = Annotated[Mapping[str, Mapping[str, Any]], _named_mappings]
Count = Annotated[int, "[1, inf)"]


def as_list(value: str | Iterable[str]) -> list[str]:
    """Return one name, or several, as a list."""
    return [value] if isinstance(value, str) else list(value)


def enumerated(names: list[str]) -> str:
    """Return names as a text: ``a, b and c``."""
    return " and ".join(part for part in (", ".join(names[:-1]), *names[-1:]) if part)


@dataclass(frozen=True)
class Run:
    """Cells that tables and figures share: the words of an ``omkl run``.

    words: KEY to value    per_data: words that hold for one data set only, by its name
    published: name in the published table of a learner's row, by learner    labels: the row's name here, by
    learner    extra: added to the paper's rows, so not counted among the cells that should agree
    tune: the rule by which its learners are tuned (tuned.py), None where the words say all
    folder: that has its learners, or data; without it (``--with``) the run is left out
    """

    name: str
    words: Mapped
    paper: str = ""
    per_data: NamedMappings = field(default_factory=dict)
    published: dict[str, str] = field(default_factory=dict)
    labels: dict[str, str] = field(default_factory=dict)
    extra: bool = False
    tune: Mapped | None = None
    folder: Text = ""

    @property
    def data(self) -> list[str]:
        """The data sets that it names."""
        return as_list(self.words.get("data", []))

    @property
    def per_data_params(self) -> tuple[str, ...]:
        """The hyperparameters that it sets for some of its data sets."""
        keys = dict.fromkeys(key for words in self.per_data.values() for key in words)
        return tuple(key.removeprefix("algo.") for key in keys if key.startswith("algo."))

    @property
    def commands(self) -> list[str]:
        """Each `omkl run` or sweep that makes its cells, one for the data sets whose words are the same.

        Of learners that are tuned first, their page's.
        """
        if self.tune is not None:
            return [shlex.join(["omkl", "tune", self.paper, *with_folders([self])])]
        swept = any(isinstance(value, list) for key, value in self.words.items() if "." in key)
        alike: dict[str, dict[str, Any]] = {}
        for name in self.data:
            words = {**self.words, **self.per_data.get(name, {})}
            alike.setdefault(repr(words), {**words, "data": []})["data"].append(name)
        return [
            shlex.join(
                ["omkl", "sweep" if swept else "run", *starmap(word_text, own.items()), *with_folders([self])]
            )
            for own in alike.values()
        ]


def with_folders(runs: Iterable[Run]) -> list[str]:
    """Return the options of a command that these runs need: ``--with FOLDER`` of their learners and data."""
    return [
        word
        for folder in dict.fromkeys(run.folder for run in runs if run.folder)
        for word in ("--with", folder)
    ]


@dataclass(frozen=True)
class Item:
    """A table, a figure or a claim.

    kind: the function that makes or checks it    runs: its cells    options: further keys, for its kind
    folders: those without which some of its runs are left out
    """

    paper: str
    number: str
    title: str
    kind: str
    runs: tuple[Run, ...]
    options: Mapping[str, Any]
    folders: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """Its name in a command: ``bomkl/1``."""
        return f"{self.paper}/{self.number}" if self.number else self.paper

    @property
    def lacking(self) -> str:
        """Why it has no runs, "" where it has, or needs none."""
        if self.runs or not self.folders:
            return ""
        return f"its runs need a folder: add --with {self.folders[0]}"

    def titled(self, data: Iterable[str] | None = None) -> str:
        """Return the title with the names of the data sets, or their number, in place of ``{data}``.

        data: those that the table or figure shows; None takes all that conf/paper lists and that are there.
        """
        listed = as_list(self.options.get("data", ())) or [name for run in self.runs for name in run.data]
        data = listed if data is None else data
        names = list(dict.fromkeys(data))
        none = f"data of {self.folders[0]}" if self.lacking else "no data"
        text = f"{len(names)} data sets" if len(names) > FEW else enumerated(names) or none
        return self.title.replace("{data}", text)


@dataclass(frozen=True)
class Unavailable:
    """A data set that is not available here, and how to get it."""

    title: Text
    how: Text


@dataclass(frozen=True)
class Paper:
    """A paper as conf/paper/NAME.yaml describes it.

    unavailable: data sets that are not available here, by name    published: stem of the
    CSV with its numbers, or None    published_reps: repetitions that these are means of, None where it is
    not said    instead: of a paper that prints no numbers, what stands in for them
    answer: what a reader takes home: why values differ, or what is surprising
    deviations: differences from the paper, with reasons; both are in results/NAME/notes.md, see `notes_of`
    """

    name: str
    title: Text
    cite: Text
    tables: Mapping[str, Item]
    figures: Mapping[str, Item]
    claims: Mapping[str, Item]
    published: Text | None = None
    published_reps: Count | None = None
    unavailable: dict[str, Unavailable] = field(default_factory=dict)
    deviations: tuple[Text, ...] = ()
    answer: tuple[Text, ...] = ()
    instead: Text = ""


def paper_names() -> list[str]:
    """Return the names of all papers, sorted."""
    return conf.options("paper")


def read_paper(name: str) -> Paper:
    """Return a paper. Raises UserError for an unknown name or a faulty file."""
    conf.known_option("paper", name, "paper")
    content, where = conf.read("paper", name), str(conf.file("paper", name))
    groups = {group: content.get(group) or {} for group in ("runs", *KINDS)}
    checked(groups, dict.fromkeys(groups, _named_mappings), where)
    runs = {key: _run_of(key, entry, name, where) for key, entry in groups["runs"].items()}
    items: dict[str, Any] = {
        group: {
            str(number): _item_of(name, group, str(number), entry, runs, where)
            for number, entry in groups[group].items()
        }
        for group in KINDS
    }
    rest = {key: value for key, value in content.items() if key not in (*groups, "sets")}  # sets: of anchors
    return as_dataclass(Paper, _given(rest, Paper), where, name=name, **notes_of(name), **items)


def notes_of(name: str) -> dict[str, Any]:
    """Return the items of the lists Answer and Deviations of a paper's notes, no items where it has no file.

    The file is results/NAME/notes.md beside the conf folder that has the paper. Raises UserError for one that
    cannot be read, and for another heading.
    """
    path = conf.file("paper", name).parents[2] / "results" / name / "notes.md"
    notes: dict[str, Any] = dict.fromkeys(NOTES.values(), ())
    if not path.is_file():
        return notes
    try:
        _, *parts = re.split(r"^## (.*)\n", path.read_text(encoding="utf-8"), flags=re.M)
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"{path}: cannot be read: {error}") from error
    for heading, text in zip(parts[::2], parts[1::2], strict=True):
        if heading not in NOTES:
            raise UserError(f"{path}: unknown heading {show(heading)}{suggest(heading, NOTES)}")
        items = re.split(r"^(?:\*|\d+\.) ", text, flags=re.M)[1:]
        notes[NOTES[heading]] = tuple(" ".join(item.split()) for item in items)
    return notes


def _run_of(key: str, content: Mapping[str, Any], paper: str, where: str) -> Run:
    place = f"{where}: runs.{key}"
    run: Run = as_dataclass(Run, _given(content, Run), place, name=key, paper=paper)
    as_dataclass(RunWords, _words(run.words), f"{place}.words")
    for data, words in run.per_data.items():
        as_dataclass(RunWords, {"algo": "any"} | _words(words), f"{place}.per_data.{data}")
    return run


def _item_of(
    paper: str, group: str, number: str, content: Mapping[str, Any], runs: Mapping[str, Run], where: str
) -> Item:
    place = f"{where}: {group}.{number}"
    given = _given(content, ItemKeys)
    keys: ItemKeys = as_dataclass(ItemKeys, given, place)
    _check_kind(keys, group, given, place)
    names = keys.runs or tuple(dict.fromkeys(run for line in keys.lines for run in line.runs))
    for run in names:
        if run not in runs:
            raise UserError(f"{place}: runs: no such run '{run}'{suggest(run, runs)}")
    options = {key: getattr(keys, key) for key in given if key not in ("title", "kind", "runs")}
    there = tuple(runs[run] for run in names if not runs[run].folder or _known(runs[run]))
    folders = tuple(dict.fromkeys(runs[run].folder for run in names if runs[run] not in there))
    return Item(paper, "" if number == "only" else number, keys.title, keys.kind, there, options, folders)


def _known(run: Run) -> bool:
    return set(as_list(run.words["algo"])) <= set(conf.options("algo")) and set(run.data) <= set(
        conf.options("data")
    )


def _given(content: Mapping[str, Any], kind: Any) -> dict[str, Any]:
    """Return the keys that have a value: an empty one (``claims:``) counts as left out, if it is known."""
    names = [field.name for field in fields(kind)]
    return {key: value for key, value in content.items() if value is not None or key not in names}


def find_item(group: str, word: str) -> tuple[Paper, Item]:
    """Return the table or figure (group ``tables``, ``figures``) of this name: ``bomkl/1``, ``adaraker``.

    A paper with a single one needs no number. Raises UserError with the known names.
    """
    items_by_name: dict[str, tuple[Paper, Item]] = {}
    name = word.partition("/")[0]
    for paper in map(read_paper, [name] if name in paper_names() else paper_names()):
        items = list(getattr(paper, group).values())
        items_by_name |= {item.name: (paper, item) for item in items}
        if len(items) == 1:
            items_by_name.setdefault(paper.name, (paper, items[0]))
    if word not in items_by_name:
        names, kind = [*items_by_name, *(FIGURE_KINDS if group == "figures" else ())], group.removesuffix("s")
        near = "" if name == word in paper_names() else suggest(word, names)
        listed = "`omkl list papers` lists them"
        if name in paper_names():
            listed = f"known: {', '.join(sorted(items_by_name))}"
        elif group == "figures":
            listed = f"known: {', '.join(FIGURE_KINDS)}, and the papers', which `omkl list papers` lists"
        raise UserError(f"{shown(word)}: no such {kind}{near or f'; {listed}'}")
    return items_by_name[word]


# ----------------------------------------------------- what conf/paper may hold, checked before anything runs

# A claim says on how many data sets it holds; here the smallest share that makes it true. Or it says the
# number: "12 of 15" asks for that share or more, "at most 3 of 15" for that or less.
QUANTIFIERS = {"all": 1.0, "nearly all": 0.8, "most": 0.5, "some": 0.0}
_NUMBER_OF = re.compile(r"(at most )?(\d+) of ([1-9]\d*)")


def needed_share(sets: str) -> Callable[[float], bool]:
    """Return the test of a share of data sets that ``sets`` stands for. Raises KeyError for another text."""
    if found := _NUMBER_OF.fullmatch(sets):
        needed = int(found[2]) / int(found[3])
        return (lambda share: share <= needed) if found[1] else (lambda share: share >= needed)
    least = QUANTIFIERS[sets]
    return lambda share: share > least if least < 0.8 else share >= least


def _sets(value: Any) -> str:
    if str(value) not in QUANTIFIERS and not _NUMBER_OF.fullmatch(str(value)):
        choices = f"one of {', '.join(QUANTIFIERS)}, K of N, at most K of N"
        raise wrong(choices, value, suggest(str(value), QUANTIFIERS))
    return str(value)


def _measure(check: Callable[[str], Any]) -> Check:
    """Return the check of a measure's name that `check` of omkl.tasks makes, with a ValueError as others."""

    def named(value: Any) -> str:
        if not isinstance(value, str):
            raise wrong("text", value)
        try:
            check(value)
        except UserError as error:
            raise ValueError(str(error)) from None
        return str(value)

    return named


@dataclass(frozen=True)
class RunWords:
    """What the words of a run need to be here; the other ones are checked when they are run."""

    algo: Names
    data: Names = ""
    reps: Count | None = None


def _words(words: Mapping[str, Any]) -> dict[str, Any]:
    names = [field.name for field in fields(RunWords)]
    return _given({key: value for key, value in words.items() if key in names}, RunWords)


@dataclass(frozen=True)
class Note:
    """A remark on rows of a table, as `omkl.publications.compare` shows it.

    data, row, of: what it is about: data sets, rows, columns; all where left out
    always: also where nothing differs
    """

    text: Text
    data: Names = ""
    row: Names = ""
    of: Names = ""
    always: bool = False


@dataclass(frozen=True)
class DigestLine:
    """A row of a digest: a kind of problem, and the runs that answer it."""

    problem: Text
    runs: tuple[Text, ...]


@dataclass(frozen=True)
class ItemKeys:
    """What an item may say; its kind needs some of it, as KINDS has it."""

    title: Text
    kind: Text
    runs: tuple[Text, ...] = ()
    published: str | int = ""
    published_data: dict[str, str] = field(default_factory=dict)
    notes: tuple[Note, ...] = ()
    data: Names = ""
    left: Names = ""
    right: Names = ""
    order: tuple[Text, ...] = ()
    columns: tuple[Annotated[str, _measure(measure_column)], ...] = ()
    pool: Text = ""
    base: Text = ""
    measure: Names = ""
    key: Text = ""
    sets: Annotated[str, _sets] = "all"
    label: Text = ""
    direction: Literal["up", "down"] = "up"
    cost: Text = ""
    by: Annotated[str, _measure(judging)] = ""
    ranks: bool = False
    yardsticks: bool = True
    log: bool = False
    significant: bool = False
    or_better: bool = False
    low: Number = 0.0
    high: Number = 0.0
    until: Number = 0.0
    start: Number = 0.0
    end: Number = 0.0
    margin: Number = 0.0
    counts: dict[str, str] = field(default_factory=dict)
    lines: tuple[DigestLine, ...] = ()
    exceptions: Names = ""


# The kinds of each group, and the keys that an item of the kind needs besides title and kind.
KINDS: dict[str, dict[str, tuple[str, ...]]] = {
    "tables": {"results": (), "tuning": (), "best": (), "times": ("base",), "sizes": ("data",)}
    | {"digest": ("lines",), "matrix": ("runs",)},
    "figures": {
        "ranks": (),
        "times": (),
        "pareto": ("cost",),
        "curves": ("measure",),
        "sensitivity": ("key",),
    },
    "claims": {
        "less": ("runs", "measure"),
        "best": ("runs", "left", "right"),
        "comparable": ("runs", "left", "right"),
        "within": ("runs", "left", "measure"),
        "best_between": ("runs", "label", "key", "low", "high"),
        "trend": ("runs", "label", "key", "measure", "direction"),
        "step": ("runs", "label", "key", "measure", "start", "end"),
        "across": ("runs", "left", "right", "measure", "direction"),
    },
}


def _check_kind(keys: ItemKeys, group: str, given: Mapping[str, Any], place: str) -> None:
    """Raise UserError where a group does not have an item's kind, or the item lacks a key that it needs."""
    kinds = KINDS[group]
    if keys.kind not in kinds:
        near = suggest(keys.kind, kinds)
        raise UserError(f"{place}.kind: unknown kind '{keys.kind}'{near}; known: {', '.join(kinds)}")
    sides = ("left", "right") if keys.kind == "less" and not keys.order else ()
    for key in (*kinds[keys.kind], *sides):
        if key not in given:
            raise UserError(f"{place}: '{key}' is missing")
