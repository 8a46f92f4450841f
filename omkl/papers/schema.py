"""What conf/paper may hold: the type of each key, so that a mistake is reported before anything runs."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from omkl.config.domains import Check, checked, such
from omkl.errors import UserError, show, suggest

# A claim says on how many data sets it holds; here the smallest share that makes it true.
QUANTIFIERS = {"all": 1.0, "nearly all": 0.8, "most": 0.5, "some": 0.0}


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

PAPER = {"title": TEXT, "cite": TEXT, "published": TEXT, "deviations": TEXTS}
PAPER |= dict.fromkeys(("unavailable", "runs", "tables", "figures", "claims"), NAMED_MAPPINGS)
UNAVAILABLE = {"title": TEXT, "how": TEXT}
RUN = {"words": MAPPING, "per_data": NAMED_MAPPINGS, "extra": FLAG, "tune": MAPPING, "folder": TEXT}
RUN |= {"published": NAMED_TEXTS, "labels": NAMED_TEXTS}
RUN_WORDS = {"algo": NAMES, "data": NAMES, "reps": COUNT}
NOTE = {"data": NAMES, "row": NAMES, "of": NAMES, "text": TEXT, "always": FLAG}
ITEM = {"title": TEXT, "kind": TEXT, "runs": TEXTS, "published": NAME, "published_data": NAMED_TEXTS}
ITEM |= {"notes": MAPPINGS, "data": NAMES, "right": NAMES, "order": TEXTS}
ITEM |= dict.fromkeys(("pool", "base", "measure", "key", "sets", "left", "label", "direction", "cost"), TEXT)
ITEM |= dict.fromkeys(("ranks", "yardsticks", "log"), FLAG)
ITEM |= dict.fromkeys(("alpha", "beta", "low", "high", "until", "start", "end"), NUMBER)
# The kinds of each group, and the keys that an item of the kind needs besides title and kind.
KINDS: dict[str, dict[str, tuple[str, ...]]] = {
    "tables": {"results": (), "tuning": (), "best": (), "times": ("base",), "sizes": ("data",)},
    "figures": dict.fromkeys(("ranks", "times", "digits"), ())
    | {"curves": ("measure",), "sensitivity": ("key",), "spa": ("alpha", "beta")}
    | {"pareto": ("cost",)},
    "claims": {
        "less": ("runs", "left", "right", "measure"),
        "comparable": ("runs", "left", "right"),
        "ratio": ("runs", "left", "right", "measure"),
        "ordered": ("runs", "order", "measure"),
        "best_between": ("runs", "label", "key", "low", "high"),
        "trend": ("runs", "label", "key", "measure", "direction"),
        "step": ("runs", "label", "key", "measure", "start", "end"),
        "tracks": ("runs", "label"),
        "value_within": ("runs", "label", "measure"),
    },
}


def check_paper(content: Mapping[str, Any], where: str) -> None:
    """Raise UserError, one line that names file and key, for content that is not a paper's.

    An empty optional key (``claims:``) counts as left out.
    """
    own = {key: value for key, value in content.items() if key != "sets"}  # a place for YAML anchors
    _check(own, PAPER, where, ("title", "cite"))
    for name, entry in (content.get("unavailable") or {}).items():
        _check(entry, UNAVAILABLE, f"{where}: unavailable.{name}", UNAVAILABLE)
    runs = content.get("runs") or {}
    for name, run in runs.items():
        _check(run, RUN, f"{where}: runs.{name}", ("words",))
        _check_words(run["words"], f"{where}: runs.{name}.words", ("algo",))
        for data, words in (run.get("per_data") or {}).items():
            _check_words(words, f"{where}: runs.{name}.per_data.{data}")
    for group in KINDS:
        for number, item in (content.get(group) or {}).items():
            _check_item(item, group, runs, f"{where}: {group}.{number}")


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
    for run in item.get("runs") or ():
        if run not in runs:
            raise UserError(f"{where}: runs: no such run '{run}'{suggest(run, runs)}")
    for place, note in enumerate(item.get("notes") or [], 1):
        _check(note, NOTE, f"{where}.notes[{place}]", ("text",))
    for key, known in (("sets", QUANTIFIERS), ("direction", ("up", "down"))):
        if item.get(key, next(iter(known))) not in known:
            near = suggest(item[key], known)
            raise UserError(f"{where}.{key}: {show(item[key])}{near}; one of {', '.join(known)}")
