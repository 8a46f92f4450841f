"""What conf/paper says of each paper: its runs, and the tables, figures and claims made from them."""

import shlex
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from omkl.config import compose, grammar
from omkl.errors import UserError, suggest
from omkl.papers.schema import check_paper


@dataclass(frozen=True)
class Run:
    """Cells that tables and figures share: the words of an ``omkl run``.

    words: KEY to value    per_data: words that hold for one data set only, by its name
    published: name in the published table of a learner's row, by learner    labels: what a row is called
    here, by learner    extra: added to the paper's rows, so not counted among the cells that should agree
    """

    name: str
    words: Mapping[str, Any]
    per_data: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    published: Mapping[str, str] = field(default_factory=dict)
    labels: Mapping[str, str] = field(default_factory=dict)
    extra: bool = False

    @property
    def learners(self) -> list[str]:
        """The learners that it names."""
        return _list(self.words["algo"])

    @property
    def data(self) -> list[str]:
        """The data sets that it names."""
        return _list(self.words.get("data", []))

    @property
    def per_data_params(self) -> tuple[str, ...]:
        """The hyperparameters that it sets for some of its data sets."""
        keys = dict.fromkeys(key for words in self.per_data.values() for key in words)
        return tuple(key.removeprefix("algo.") for key in keys if key.startswith("algo."))

    @property
    def command(self) -> str:
        """The `omkl run` or sweep that makes its cells."""
        swept = any(isinstance(value, list) for key, value in self.words.items() if "." in key)
        words = [grammar.word(key, value) for key, value in self.words.items()]
        return f"omkl {'sweep' if swept else 'run'} {shlex.join(words)}"


@dataclass(frozen=True)
class Item:
    """A table, a figure or a claim.

    kind: which function makes or checks it    runs: its cells    options: what else its kind takes
    """

    paper: str
    number: str
    title: str
    kind: str
    runs: tuple[Run, ...]
    options: Mapping[str, Any]

    @property
    def name(self) -> str:
        """How a command names it: ``bomkl/1``."""
        return f"{self.paper}/{self.number}" if self.number else self.paper

    def titled(self, data: Iterable[str] | None = None) -> str:
        """Return the title with the names of the data sets, or their number, in place of ``{data}``.

        data: those that the table or figure shows; None takes all that conf/paper lists.
        """
        listed = [name for run in self.runs for name in run.data]
        names = list(dict.fromkeys(listed if data is None else data))
        text = " and ".join(part for part in (", ".join(names[:-1]), *names[-1:]) if part)
        if len(names) > FEW:
            text = f"{len(names)} data sets"
        return self.title.replace("{data}", text or "no data")


@dataclass(frozen=True)
class Paper:
    """A paper as conf/paper/NAME.yaml describes it.

    unavailable: data sets that are not available here, by name: ``{title, how}``    published: stem of the
    CSV with its numbers, or None    deviations: what differs from the paper, and why, for results/NAME.md
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


FEW = 3  # data sets up to which a title names them


def names() -> list[str]:
    """Return the names of all papers, sorted."""
    return compose.options("paper")


def read(name: str) -> Paper:
    """Return a paper. Raises UserError for an unknown name or a faulty file."""
    compose.known_option("paper", name, "paper")
    content = compose.read("paper", [name])[name]
    where = compose.file("paper", name)
    check_paper(content, str(where))
    runs = {
        key: Run(key, **{name: part for name, part in parts.items() if part is not None})
        for key, parts in (content.get("runs") or {}).items()
    }
    groups = {
        group: {
            str(number): _item(name, str(number), parts, runs, f"{where}: {group}.{number}")
            for number, parts in (content.get(group) or {}).items()
        }
        for group in ("tables", "figures", "claims")
    }
    return Paper(
        name=name,
        title=content["title"],
        cite=content["cite"],
        published=content.get("published"),
        unavailable=content.get("unavailable") or {},
        deviations=tuple(content.get("deviations") or ()),
        **groups,
    )


def find(kind: str, word: str) -> tuple[Paper, Item]:
    """Return the table or figure (kind ``tables``, ``figures``) of this name: ``bomkl/1``, ``adaraker``.

    A paper's name alone will do where it has but one. Raises UserError with what there is.
    """
    known, own = {}, word.partition("/")[0]
    for paper in map(read, [own] if own in names() else names()):
        items = getattr(paper, kind).values()
        known |= {item.name: (paper, item) for item in items}
        if len(items) == 1:
            known.setdefault(paper.name, (paper, *items))
    if word not in known:
        what = kind.removesuffix("s")
        near = suggest(word, known)
        raise UserError(f"{compose.shown(word)}: no such {what}{near}; there is {', '.join(sorted(known))}")
    return known[word]


def _item(paper: str, number: str, parts: Any, runs: dict[str, Run], where: str) -> Item:
    options = {key: value for key, value in parts.items() if value is not None}
    wanted = options.pop("runs", [])
    for name in wanted:
        if name not in runs:
            raise UserError(f"{where}: runs: no such run '{name}'{suggest(name, runs)}")
    title, kind = options.pop("title"), options.pop("kind")
    number = "" if number == "only" else number
    return Item(paper, number, title, kind, tuple(runs[name] for name in wanted), options)


def _list(value: Any) -> list[str]:
    return [value] if isinstance(value, str) else list(value)
