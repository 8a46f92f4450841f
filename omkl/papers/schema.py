"""What conf/paper may hold: the type of each key, so that a mistake is named before anything runs."""

import reprlib
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from omkl.errors import UserError, show, suggest

# What a claim says of how many data sets, and the least share that makes it true.
QUANTIFIERS = {"all": 1.0, "nearly all": 0.8, "most": 0.5, "some": 0.0}


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _all(check: Callable[[Any], bool], values: Any, kind: type) -> bool:
    return isinstance(values, kind) and all(map(check, values.values() if kind is dict else values))


TEXT, NAME, NUMBER, FLAG = "a text", "a text or a whole number", "a number", "true or false"
NAMES, TEXTS, COUNT = "a name or a list of names", "a list of texts", "a whole number from 1 up"
MAPPING, MAPPINGS = "keys and values", "a list of keys and values"
NAMED_MAPPINGS, NAMED_TEXTS = "names, each with keys and values", "names, each with a text"
KINDS: dict[str, Callable[[Any], bool]] = {
    TEXT: _is_text,
    NAME: lambda value: _is_text(value) or type(value) is int,
    NUMBER: lambda value: type(value) in (int, float),
    FLAG: lambda value: isinstance(value, bool),
    NAMES: lambda value: _is_text(value) or (bool(value) and _all(_is_text, value, list)),
    TEXTS: lambda value: _all(_is_text, value, list),
    MAPPING: lambda value: isinstance(value, dict),
    MAPPINGS: lambda value: _all(KINDS[MAPPING], value, list),
    NAMED_MAPPINGS: lambda value: _all(KINDS[MAPPING], value, dict),
    NAMED_TEXTS: lambda value: _all(lambda text: isinstance(text, str), value, dict),
    COUNT: lambda value: type(value) is int and value > 0,
}
PAPER = {"title": TEXT, "cite": TEXT, "published": TEXT, "deviations": TEXTS}
PAPER |= dict.fromkeys(("unavailable", "runs", "tables", "figures", "claims"), NAMED_MAPPINGS)
UNAVAILABLE = {"title": TEXT, "how": TEXT}
RUN = {"words": MAPPING, "per_data": NAMED_MAPPINGS, "extra": FLAG}
RUN |= {"published": NAMED_TEXTS, "labels": NAMED_TEXTS}
RUN_WORDS = {"algo": NAMES, "data": NAMES, "reps": COUNT}
NOTE = {"data": NAMES, "row": NAMES, "of": NAMES, "text": TEXT, "always": FLAG}
ITEM = {"title": TEXT, "kind": TEXT, "runs": TEXTS, "pool": TEXT}
GROUPS = {
    "tables": {"published": NAME, "published_data": NAMED_TEXTS, "notes": MAPPINGS, "ranks": FLAG}
    | {"data": NAMES, "base": TEXT},
    "figures": {"measure": TEXT, "key": TEXT, "yardsticks": FLAG, "log": FLAG, "log_x": FLAG}
    | {"alpha": NUMBER, "beta": NUMBER},
    "claims": {"sets": TEXT, "left": TEXT, "right": NAMES, "order": TEXTS, "label": TEXT, "key": TEXT}
    | dict.fromkeys(("direction", "measure", "left_measure", "right_measure"), TEXT)
    | dict.fromkeys(("low", "high", "until", "start", "end"), NUMBER),
}
NEEDED = {  # by group and kind, besides title and kind; a claim needs runs
    ("tables", "sizes"): ("data",),
    ("tables", "times"): ("base",),
    ("figures", "curves"): ("measure",),
    ("figures", "sensitivity"): ("key",),
    ("figures", "spa"): ("alpha", "beta"),
    ("claims", "less"): ("left", "right", "measure"),
    ("claims", "comparable"): ("left", "right"),
    ("claims", "ratio"): ("left", "right"),
    ("claims", "ordered"): ("order", "measure"),
    ("claims", "best_between"): ("label", "key", "low", "high"),
    ("claims", "trend"): ("label", "key", "measure", "direction"),
    ("claims", "step"): ("label", "key", "measure", "start", "end"),
    ("claims", "tracks"): ("label",),
    ("claims", "value_within"): ("label", "measure"),
}


def check_paper(content: Mapping[str, Any], where: str) -> None:
    """Raise UserError, one line that names file and key, for what no paper can have.

    An empty optional key (``claims:``) counts as left out.
    """
    _check_keys(content, {*PAPER, "sets"}, where)  # sets: a place for YAML anchors
    check(content, PAPER, where, ("title", "cite"))
    for name, entry in (content.get("unavailable") or {}).items():
        check(entry, UNAVAILABLE, f"{where}: unavailable.{name}", UNAVAILABLE)
    for name, run in (content.get("runs") or {}).items():
        _check_keys(run, set(RUN), f"{where}: runs.{name}")
        check(run, RUN, f"{where}: runs.{name}", ("words",))
        check(run["words"], RUN_WORDS, f"{where}: runs.{name}.words", ("algo",))
        for data, words in (run.get("per_data") or {}).items():
            check(words, RUN_WORDS, f"{where}: runs.{name}.per_data.{data}")
    for group, types in GROUPS.items():
        for number, item in (content.get(group) or {}).items():
            _check_item(item, group, types, f"{where}: {group}.{number}")


def _check_keys(content: Mapping[str, Any], known: set[str], where: str) -> None:
    for key in sorted(content.keys() - known):
        raise UserError(f"{where}: unknown key '{key}'{suggest(key, known)}")


def _check_item(item: Mapping[str, Any], group: str, types: Mapping[str, Any], where: str) -> None:
    needed = ("runs",) if group == "claims" else ()
    needed += NEEDED.get((group, str(item.get("kind"))), ())
    check(item, ITEM | types, where, ("title", "kind", *needed))
    for place, note in enumerate(item.get("notes") or [], 1):
        check(note, NOTE, f"{where}.notes[{place}]", ("text",))
    for key, known in (("sets", QUANTIFIERS), ("direction", ("up", "down"))):
        if group == "claims" and item.get(key, next(iter(known))) not in known:
            near = suggest(item[key], known)
            raise UserError(f"{where}.{key}: {show(item[key])}{near}; one of {', '.join(known)}")
    if item.get("kind") == "ratio" and not (
        "measure" in item or {"left_measure", "right_measure"} <= item.keys()
    ):
        raise UserError(f"{where}: 'measure' is missing, or left_measure and right_measure")


def check(
    content: Mapping[str, Any], types: Mapping[str, str], where: str, needed: Iterable[str] = ()
) -> None:
    """Raise UserError for a key of the wrong type, and for one that is missing. Other keys are ignored."""
    for key in needed:
        if content.get(key) is None:
            raise UserError(f"{where}: '{key}' is missing")
    for key, kind in types.items():
        if content.get(key) is not None and not KINDS[kind](content[key]):
            raise UserError(f"{where}: {key}: must be {kind}, got {reprlib.repr(content[key])}")
