"""The content of conf/paper: each paper's runs, and the tables, figures and claims made from them."""

import shlex
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from omkl.config import compose
from omkl.config.settings_text import word_text
from omkl.errors import UserError, suggest
from omkl.papers.schema import check_paper

FEW = 3  # a title names up to this many data sets


def listed(value: str | Iterable[str]) -> list[str]:
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
    words: Mapping[str, Any]
    paper: str = ""
    per_data: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    published: Mapping[str, str] = field(default_factory=dict)
    labels: Mapping[str, str] = field(default_factory=dict)
    extra: bool = False
    tune: Mapping[str, Any] | None = None
    folder: str = ""

    @property
    def data(self) -> list[str]:
        """The data sets that it names."""
        return listed(self.words.get("data", []))

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
class Paper:
    """A paper as conf/paper/NAME.yaml describes it.

    unavailable: data sets that are not available here, by name: ``{title, how}``    published: stem of the
    CSV with its numbers, or None    deviations: differences from the paper, with reasons, for results/NAME.md
    """

    name: str
    title: str
    cite: str
    published: str | None
    unavailable: Mapping[str, Mapping[str, Any]]
    tables: Mapping[str, Item]
    figures: Mapping[str, Item]
    claims: Mapping[str, Item]
    deviations: tuple[str, ...]


def names() -> list[str]:
    """Return the names of all papers, sorted."""
    return compose.options("paper")


def read(name: str) -> Paper:
    """Return a paper. Raises UserError for an unknown name or a faulty file."""
    compose.known_option("paper", name, "paper")
    content = compose.read("paper", [name])[name]
    check_paper(content, str(compose.file("paper", name)))
    runs = {key: Run(key, paper=name, **_given(parts)) for key, parts in (content.get("runs") or {}).items()}

    left_out = {run.name for run in runs.values() if run.folder and not _known(run)}

    def items(group: str) -> dict[str, Item]:
        made = {}
        for number, parts in (content.get(group) or {}).items():
            options = _given(parts)
            title, kind, own = options.pop("title"), options.pop("kind"), options.pop("runs", ())
            short = "" if number == "only" else str(number)
            made[str(number)] = Item(
                name, short, title, kind, tuple(runs[run] for run in own if run not in left_out), options
            )
        return made

    return Paper(
        name=name,
        title=content["title"],
        cite=content["cite"],
        published=content.get("published"),
        unavailable=content.get("unavailable") or {},
        tables=items("tables"),
        figures=items("figures"),
        claims=items("claims"),
        deviations=tuple(content.get("deviations") or ()),
    )


def _known(run: Run) -> bool:
    return set(listed(run.words["algo"])) <= set(compose.options("algo"))


def _given(parts: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in parts.items() if value is not None}


def find(group: str, word: str) -> tuple[Paper, Item]:
    """Return the table or figure (group ``tables``, ``figures``) of this name: ``bomkl/1``, ``adaraker``.

    A paper with a single one needs no number. Raises UserError with the known names.
    """
    known: dict[str, tuple[Paper, Item]] = {}
    own = word.partition("/")[0]
    for paper in map(read, [own] if own in names() else names()):
        items = list(getattr(paper, group).values())
        known |= {item.name: (paper, item) for item in items}
        if len(items) == 1:
            known.setdefault(paper.name, (paper, items[0]))
    if word not in known:
        near, kind = "" if own == word in names() else suggest(word, known), group.removesuffix("s")
        raise UserError(f"{compose.shown(word)}: no such {kind}{near}; known: {', '.join(sorted(known))}")
    return known[word]
