"""The content of conf/paper: each paper's runs, and the tables, figures and claims made from them."""

import re
import shlex
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields
from typing import Annotated, Any

from omkl import conf
from omkl.config.settings_text import word_text
from omkl.errors import UserError, show, shown, suggest
from omkl.figures.style import KINDS as FIGURE_KINDS
from omkl.schema import Check, Text, as_dataclass, checked, such
from omkl.tasks import judging, measure_column

FEW = 3  # a title names up to this many data sets


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _is_mapping(value: Any) -> bool:
    return isinstance(value, dict)


def _all(kind: type, test: Callable[[Any], bool]) -> Callable[[Any], bool]:
    """Return a test of lists or dicts (``kind``) whose items or values all pass the given test."""

    def fits(value: Any) -> bool:
        parts = value.values() if isinstance(value, dict) else value
        return isinstance(value, kind) and all(map(test, parts))

    return fits


TEXT = such("a text", _is_text)
NAME = such("a text or a whole number", lambda value: _is_text(value) or type(value) is int)
NUMBER = such("a number", lambda value: type(value) in (int, float))
COUNT = such("a whole number from 1 up", lambda value: type(value) is int and value > 0)
FLAG = such("true or false", lambda value: isinstance(value, bool))
TEXTS = such("a list of texts", _all(list, _is_text))
NAMES = such(
    "a name or a list of names", lambda value: _is_text(value) or (value and _all(list, _is_text)(value))
)
MAPPING = such("keys and values", _is_mapping)
MAPPINGS = such("a list of keys and values", _all(list, _is_mapping))
NAMED_MAPPINGS = such("names, each with keys and values", _all(dict, _is_mapping))
NAMED_TEXTS = such("names, each with a text", _all(dict, lambda text: isinstance(text, str)))

PAPER = {"title": TEXT, "cite": TEXT, "published": TEXT, "published_reps": COUNT, "deviations": TEXTS}
UNAVAILABLE = {"title": TEXT, "how": TEXT}
RUN = {"words": MAPPING, "per_data": NAMED_MAPPINGS, "extra": FLAG, "tune": MAPPING, "folder": TEXT}


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
    folder: that has its learners; without it (``--with``) the run is left out of tables and figures
    """

    name: str
    words: Annotated[Mapping[str, Any], MAPPING]
    paper: str = ""
    per_data: Annotated[Mapping[str, Mapping[str, Any]], NAMED_MAPPINGS] = field(default_factory=dict)
    published: dict[str, str] = field(default_factory=dict)
    labels: dict[str, str] = field(default_factory=dict)
    extra: bool = False
    tune: Annotated[Mapping[str, Any] | None, MAPPING] = None
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
    def command(self) -> str:
        """The `omkl run` or sweep that makes its cells; of learners that are tuned first, their page's."""
        if self.tune is not None:
            return shlex.join(["omkl", "tune", self.paper, *(["--with", self.folder] if self.folder else [])])
        swept = any(isinstance(value, list) for key, value in self.words.items() if "." in key)
        words = [word_text(key, value) for key, value in self.words.items()]
        return f"omkl {'sweep' if swept else 'run'} {shlex.join(words)}"


@dataclass(frozen=True)
class Item:
    """A table, a figure or a claim.

    kind: the function that makes or checks it    runs: its cells    options: further keys, for its kind
    """

    paper: str
    number: str
    title: str
    kind: str
    runs: tuple[Run, ...]
    options: Mapping[str, Any]

    @property
    def name(self) -> str:
        """Its name in a command: ``bomkl/1``."""
        return f"{self.paper}/{self.number}" if self.number else self.paper

    def titled(self, data: Iterable[str] | None = None) -> str:
        """Return the title with the names of the data sets, or their number, in place of ``{data}``.

        data: those that the table or figure shows; None takes all that conf/paper lists.
        """
        data = [name for run in self.runs for name in run.data] if data is None else data
        names = list(dict.fromkeys(data))
        text = f"{len(names)} data sets" if len(names) > FEW else enumerated(names) or "no data"
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
    deviations: differences from the paper, with reasons
    """

    name: str
    title: Text
    cite: Text
    tables: Mapping[str, Item]
    figures: Mapping[str, Item]
    claims: Mapping[str, Item]
    published: Text | None = None
    published_reps: Annotated[int, "[1, inf)"] | None = None
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
    checked(groups, dict.fromkeys(groups, NAMED_MAPPINGS), where)
    runs = {}
    for key, parts in groups["runs"].items():
        runs[key] = as_dataclass(Run, _given(parts, Run), f"{where}: runs.{key}", name=key, paper=name)
        _check_words(runs[key].words, f"{where}: runs.{key}.words", ("algo",))
        for data, words in runs[key].per_data.items():
            _check_words(words, f"{where}: runs.{key}.per_data.{data}")
    left_out = {run.name for run in runs.values() if run.folder and not _known(run)}

    def items(group: str) -> dict[str, Item]:
        made = {}
        for number, parts in groups[group].items():
            _check_item(parts, group, runs, f"{where}: {group}.{number}")
            options = {key: value for key, value in parts.items() if value is not None}
            title, kind, own = options.pop("title"), options.pop("kind"), options.pop("runs", ())
            own = own or dict.fromkeys(run for line in options.get("lines", ()) for run in line["runs"])
            short = "" if number == "only" else str(number)
            made[str(number)] = Item(
                name, short, title, kind, tuple(runs[run] for run in own if run not in left_out), options
            )
        return made

    own = {key: value for key, value in content.items() if key not in (*groups, "sets")}  # sets: of anchors
    return as_dataclass(
        Paper,
        _given(own, Paper),
        where,
        name=name,
        tables=items("tables"),
        figures=items("figures"),
        claims=items("claims"),
    )


def _known(run: Run) -> bool:
    return set(as_list(run.words["algo"])) <= set(conf.options("algo"))


def _given(parts: Mapping[str, Any], kind: type[Run] | type[Paper]) -> dict[str, Any]:
    """Return the keys that have a value: an empty one (``claims:``) counts as left out, if it is known."""
    known = [own.name for own in fields(kind)]
    return {key: value for key, value in parts.items() if value is not None or key not in known}


def find_item(group: str, word: str) -> tuple[Paper, Item]:
    """Return the table or figure (group ``tables``, ``figures``) of this name: ``bomkl/1``, ``adaraker``.

    A paper with a single one needs no number. Raises UserError with the known names.
    """
    known: dict[str, tuple[Paper, Item]] = {}
    own = word.partition("/")[0]
    for paper in map(read_paper, [own] if own in paper_names() else paper_names()):
        items = list(getattr(paper, group).values())
        known |= {item.name: (paper, item) for item in items}
        if len(items) == 1:
            known.setdefault(paper.name, (paper, items[0]))
    if word not in known:
        names, kind = [*known, *(FIGURE_KINDS if group == "figures" else ())], group.removesuffix("s")
        near = "" if own == word in paper_names() else suggest(word, names)
        listed = "`omkl list papers` lists them"
        if own in paper_names():
            listed = f"known: {', '.join(sorted(known))}"
        elif group == "figures":
            listed = f"known: {', '.join(FIGURE_KINDS)}, and the papers', which `omkl list papers` lists"
        raise UserError(f"{shown(word)}: no such {kind}{near or f'; {listed}'}")
    return known[word]


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


RUN_WORDS = {"algo": NAMES, "data": NAMES, "reps": COUNT}
NOTE = {"data": NAMES, "row": NAMES, "of": NAMES, "text": TEXT, "always": FLAG}
ITEM = {"title": TEXT, "kind": TEXT, "runs": TEXTS, "published": NAME, "published_data": NAMED_TEXTS}
ITEM |= {"notes": MAPPINGS, "data": NAMES, "left": NAMES, "right": NAMES, "order": TEXTS, "columns": TEXTS}
ITEM |= dict.fromkeys(("pool", "base", "measure", "key", "sets", "label", "direction", "cost", "by"), TEXT)
ITEM |= dict.fromkeys(("ranks", "yardsticks", "log", "significant", "or_better"), FLAG)
ITEM |= dict.fromkeys(("alpha", "beta", "low", "high", "until", "start", "end", "margin"), NUMBER)
ITEM |= {"ranked": NAMES, "counts": NAMED_TEXTS, "lines": MAPPINGS, "except": NAMES}
LINE = {"problem": TEXT, "runs": TEXTS}
# The kinds of each group, and the keys that an item of the kind needs besides title and kind.
KINDS: dict[str, dict[str, tuple[str, ...]]] = {
    "tables": {"results": (), "tuning": (), "best": (), "times": ("base",), "sizes": ("data",)}
    | {"digest": ("lines",), "matrix": ("runs",)},
    "figures": dict.fromkeys(("ranks", "times", "digits"), ())
    | {"curves": ("measure",), "sensitivity": ("key",), "spa": ("alpha", "beta")}
    | {"pareto": ("cost",)},
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


def _check(
    content: Mapping[str, Any], checks: Mapping[str, Check], where: str, needed: Iterable[str] = ()
) -> None:
    given = {key: value for key, value in content.items() if value is not None or key not in checks}
    checked(given, checks, where, needed)


def _check_words(words: Mapping[str, Any], where: str, needed: Iterable[str] = ()) -> None:
    _check({key: words[key] for key in RUN_WORDS if key in words}, RUN_WORDS, where, needed)


def _check_item(item: Mapping[str, Any], group: str, runs: Iterable[str], where: str) -> None:
    kind, kinds = str(item.get("kind")), KINDS[group]
    _check(item, ITEM, where, ("title", "kind", *kinds.get(kind, ())))
    if kind not in kinds:
        raise UserError(
            f"{where}.kind: unknown kind '{kind}'{suggest(kind, kinds)}; known: {', '.join(kinds)}"
        )
    if kind == "less" and "order" not in item:
        _check(item, ITEM, where, ("left", "right"))
    for place, line in enumerate(item.get("lines") or [], 1):
        _check(line, LINE, f"{where}.lines[{place}]", ("problem", "runs"))
    named = [run for line in item.get("lines") or () for run in line["runs"]]
    for run in [*(item.get("runs") or ()), *named]:
        if run not in runs:
            raise UserError(f"{where}: runs: no such run '{run}'{suggest(run, runs)}")
    for place, note in enumerate(item.get("notes") or [], 1):
        _check(note, NOTE, f"{where}.notes[{place}]", ("text",))
    for key, check in (("by", judging), ("columns", measure_column)):
        for word in as_list(item.get(key) or ()):
            try:
                check(word)
            except UserError as error:
                raise UserError(f"{where}.{key}: {error}") from None
    for key, known, more in (
        ("sets", QUANTIFIERS, ", K of N, at most K of N"),
        ("direction", ("up", "down"), ""),
    ):
        if item.get(key, next(iter(known))) in known or (more and _NUMBER_OF.fullmatch(str(item[key]))):
            continue
        near = suggest(item[key], known)
        raise UserError(f"{where}.{key}: {show(item[key])}{near}; one of {', '.join(known)}{more}")
