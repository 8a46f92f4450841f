"""What conf/paper may hold: the type of each key, so that a mistake is named before anything runs."""

import reprlib
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from omkl.errors import UserError, show, suggest

# What a claim says of how many data sets, and the least share that makes it true.
QUANTIFIERS = {"all": 1.0, "nearly all": 0.8, "most": 0.5, "some": 0.0}


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _is_name(value: Any) -> bool:
    return _is_text(value) or (type(value) is int)


def _is_number(value: Any) -> bool:
    return type(value) in (int, float)


def _is_flag(value: Any) -> bool:
    return isinstance(value, bool)


def _is_names(value: Any) -> bool:
    return _is_text(value) or (isinstance(value, list) and bool(value) and all(map(_is_text, value)))


def _is_texts(value: Any) -> bool:
    return isinstance(value, list) and all(map(_is_text, value))


def _is_mapping(value: Any) -> bool:
    return isinstance(value, dict)


def _is_mappings(value: Any) -> bool:
    return isinstance(value, list) and all(map(_is_mapping, value))


def _is_mapping_to_mappings(value: Any) -> bool:
    return isinstance(value, dict) and all(map(_is_mapping, value.values()))


def _is_mapping_to_texts(value: Any) -> bool:
    return isinstance(value, dict) and all(isinstance(text, str) for text in value.values())


def _is_count(value: Any) -> bool:
    return type(value) is int and value > 0


WORDS: dict[Callable[[Any], bool], str] = {
    _is_text: "a text",
    _is_name: "a text or a whole number",
    _is_number: "a number",
    _is_flag: "true or false",
    _is_names: "a name or a list of names",
    _is_texts: "a list of texts",
    _is_mapping: "keys and values",
    _is_mappings: "a list of keys and values",
    _is_mapping_to_mappings: "names, each with keys and values",
    _is_mapping_to_texts: "names, each with a text",
    _is_count: "a whole number from 1 up",
}
PAPER = {"title": _is_text, "cite": _is_text, "published": _is_text, "deviations": _is_texts}
PAPER |= dict.fromkeys(("unavailable", "runs", "tables", "figures", "claims"), _is_mapping_to_mappings)
UNAVAILABLE = {"title": _is_text, "how": _is_text}
RUN = {"words": _is_mapping, "per_data": _is_mapping_to_mappings, "extra": _is_flag}
RUN |= {"published": _is_mapping_to_texts, "labels": _is_mapping_to_texts}
RUN_WORDS = {"algo": _is_names, "data": _is_names, "reps": _is_count}
NOTE = {"data": _is_names, "row": _is_names, "of": _is_names, "text": _is_text, "always": _is_flag}
ITEM = {"title": _is_text, "kind": _is_text, "runs": _is_texts, "pool": _is_text}
GROUPS = {
    "tables": {
        "published": _is_name,
        "published_data": _is_mapping_to_texts,
        "notes": _is_mappings,
        "ranks": _is_flag,
        "data": _is_names,
        "base": _is_text,
    },
    "figures": {
        "measure": _is_text,
        "key": _is_text,
        "yardsticks": _is_flag,
        "log": _is_flag,
        "log_x": _is_flag,
        "alpha": _is_number,
        "beta": _is_number,
    },
    "claims": {
        "sets": _is_text,
        "left": _is_text,
        "right": _is_names,
        "order": _is_texts,
        "label": _is_text,
        "key": _is_text,
        "direction": _is_text,
        **dict.fromkeys(("measure", "left_measure", "right_measure"), _is_text),
        **dict.fromkeys(("low", "high", "until", "start", "end"), _is_number),
    },
}
NEEDED = {  # by group and kind, beside title and kind; a claim needs runs
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
    """Raise UserError, one line that names file and key, for what no paper can say.

    An empty optional key (``claims:``) is as good as none.
    """
    check(content, PAPER, where, ("title", "cite"))
    for name, entry in (content.get("unavailable") or {}).items():
        check(entry, UNAVAILABLE, f"{where}: unavailable.{name}", UNAVAILABLE)
    for name, run in (content.get("runs") or {}).items():
        check(run, RUN, f"{where}: runs.{name}", ("words",))
        check(run["words"], RUN_WORDS, f"{where}: runs.{name}.words", ("algo",))
        for data, words in (run.get("per_data") or {}).items():
            check(words, RUN_WORDS, f"{where}: runs.{name}.per_data.{data}")
    for group, types in GROUPS.items():
        for number, item in (content.get(group) or {}).items():
            _check_item(item, group, types, f"{where}: {group}.{number}")


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
    content: Mapping[str, Any], types: Mapping[str, Callable], where: str, needed: Iterable[str] = ()
) -> None:
    """Raise UserError for a key of the wrong type, and for one that is missing. Other keys are let be."""
    for key in needed:
        if content.get(key) is None:
            raise UserError(f"{where}: '{key}' is missing")
    for key, fits in types.items():
        if content.get(key) is not None and not fits(content[key]):
            raise UserError(f"{where}: {key}: must be {WORDS[fits]}, is {reprlib.repr(content[key])}")
