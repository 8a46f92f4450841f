"""From labels as a source writes them to numbers: -1 and +1 of two classes, 0 .. C-1 of more, or targets.

What a class is, for files, arrays, ``positive=`` and saved models:

* Numbers are compared as numbers. A plus sign, an exponent and decimals that are all 0 do not matter: 1, +1,
  1.0 and 1e0 are one class, which is called 1.
* Zeros before a whole part, and zeros that end other decimals, are part of a class: 007 and 7 (codes) or 2.10
  and 2.1 (versions) are different classes of one file, and a note says so. So are numbers above 2^53 that
  differ in a digit, or that are written in different ways.
* true and false are one class each, in capital letters or not. Other words are compared letter by letter.
* Where a class is looked up (``positive=``, the labels of a saved model), it is the one that this rule says.
  Without one, it is the only class that is the same number, however it is written; true counts as 1, false
  as 0.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from omkl.data.preparation import TRUTH
from omkl.data.preparing.notes import note_on_alike
from omkl.data.reading.numbered import to_number
from omkl.errors import MOST_LISTED, UserError, counted, quoted, shortlist, show, shown, suggest

Classes = tuple[str, ...] | None  # labels as a source without YAML writes them, in the order of their numbers
OTHERS = "other"  # all classes but the positive one, where they are several
MOST_CLASSES = 1000
FEW = 20  # different whole numbers that are classes where nothing else is said ...
FEWEST_ROWS = 10  # ... if each has this many rows on average
_SCALARS = (bool, int, float, str, np.bool_, np.integer, np.floating, np.str_)  # what JSON can hold
_EXACT = 2.0**53  # up to here, different whole numbers are different floats
_DECIMAL = re.compile(r"[-+]?(\d+)(?:\.(\d*))?|[-+]?\.(\d+)")
_EXPONENT = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)[eE][-+]?\d+|[-+]?inf(?:inity)?", re.IGNORECASE)


class _Reading(NamedTuple):
    """What a label means: its number, None of other words, and what else of its text is part of the class."""

    number: float | None
    rest: str


def _read(text: str) -> _Reading:
    """Return the reading of a label; equal readings are one class."""
    if text.lower() in TRUTH:
        return _Reading(None, text.lower())
    try:
        number = float(text)
    except ValueError:
        return _Reading(None, text)
    if number != number:
        return _Reading(None, text)
    text = text.strip()
    unsigned = text.lstrip("+-")
    if _EXPONENT.fullmatch(text) and not _EXACT <= abs(number) < np.inf:
        return _Reading(number, "")
    form = _DECIMAL.fullmatch(text)
    if form is None or abs(number) >= _EXACT:
        return _Reading(number, unsigned)
    whole, decimals = form[1] or "0", form[2] or form[3] or ""
    leading = whole[: len(whole) - len(whole.lstrip("0"))] if whole.strip("0") else whole[1:]
    trailing = decimals[len(decimals.rstrip("0")) :] if decimals.strip("0") else ""
    return _Reading(number, f"{leading}.{trailing}" if leading or trailing else "")


def _name(text: str) -> str:
    """Return what a class that is a number is called."""
    number, rest = _read(text)
    return text.strip().removeprefix("+") if number is None or rest else _plain(number)


def _plain(number: float) -> str:
    return str(int(number)) if float(number).is_integer() else str(number)


def distinct(labels: np.ndarray) -> tuple[tuple[str, ...], np.ndarray, np.ndarray | None]:
    """Return the names of the classes, the class of each label (T,) and, if all are numbers, the numbers.

    labels (T,): numbers or texts. Numbers sort as numbers; where some are words, all sort as words.
    """
    if labels.dtype.kind in "iuf":
        numbers, place = np.unique(labels, return_inverse=True)
        short = numbers.dtype.kind == "f" and numbers.dtype.itemsize < 8  # 0.1 of float32 is 0.1
        plain = [float(str(number)) for number in numbers] if short else numbers.tolist()
        return tuple(map(_plain, plain)), place.ravel(), numbers.astype(np.float64)
    import pandas as pd

    place, different = pd.factorize(np.array(list(map(str, labels.tolist())), object))
    codes = {text: code for code, text in enumerate(different)}
    texts: dict[_Reading, str] = {}  # the first text of each class, in the order of texts
    readings = {text: _read(text) for text in sorted(codes)}
    for text, reading in readings.items():
        texts.setdefault(reading, text)
    numeric = all(reading.number is not None for reading in texts)
    order = sorted(texts, key=lambda one: (one.number, texts[one])) if numeric else list(texts)
    names = tuple(_name(texts[one]) if numeric else texts[one] for one in order)
    number_of = {reading: number for number, reading in enumerate(order)}
    of_code = np.array([number_of[readings[text]] for text in codes], np.int64)
    return names, of_code[place], np.array([one.number for one in order]) if numeric else None


def values_of(classes: Classes, raw: Any = None) -> tuple[Any, ...] | None:
    """Return the classes as their source holds them, such as True, 1.5 or the word '9'.

    raw (T,): the labels of a source whose values have types; without them, classes are what their text is
    read as: all true and false, all numbers, or words.
    """
    if classes is None:
        return None
    if raw is not None:
        raw = np.asarray(raw).reshape(-1)
        each = raw.tolist() if raw.dtype.kind == "O" else np.unique(raw)
        different = {(type(value), value): value for value in each if isinstance(value, _SCALARS)}
        place = {_read(name): at for at, name in enumerate(classes)}
        found: dict[int, Any] = {}
        for value in different.values():
            if (at := place.get(_read(str(value)))) is not None:
                found.setdefault(at, value.item() if isinstance(value, np.generic) else value)
        return tuple(found.get(at, name) for at, name in enumerate(classes))
    texts = [name.removeprefix("+") for name in classes]
    if all(text.lower() in TRUTH for text in texts):
        return tuple(text.lower() == "true" for text in texts)
    numbers = [_read(text).number for text in texts]
    if any(number is None or _plain(number) != text for number, text in zip(numbers, texts, strict=True)):
        return classes
    return tuple(int(text) if "." not in text else float(text) for text in texts)


def finder(names: Iterable[Any]) -> Callable[[str], int | None]:
    """Return the look-up of classes by a label: its place among the names, None if it is none of them."""
    exact: dict[_Reading, int] = {}
    by_number: dict[float, list[int]] = {}

    def number_of(reading: _Reading) -> float | None:
        return TRUTH.get(reading.rest) if reading.number is None else reading.number

    for place, name in enumerate(names):
        reading = _read(str(name))
        exact.setdefault(reading, place)
        if (number := number_of(reading)) is not None:
            by_number.setdefault(number, []).append(place)

    def find(label: str) -> int | None:
        reading = _read(label)
        number = number_of(reading)
        same = by_number.get(number, []) if number is not None else []
        return exact.get(reading, same[0] if len(same) == 1 else None)

    return find


def class_numbers(
    labels: np.ndarray, mapping: Mapping[str, int] | None, where: str
) -> tuple[np.ndarray, Classes]:
    """Return y (T,) and, without ``mapping``, the labels as texts in the order of their numbers.

    y is -1 and +1 of two classes, 0 .. C-1 of more, as ``mapping`` says; without it numbers sort as numbers,
    words as words. Raises UserError for labels outside the mapping, for fewer than 2 classes or more than
    MOST_CLASSES, and for numbers that are plainly targets.
    """
    names, place, numbers = distinct(labels)
    if mapping is None:
        _check_classes(names, numbers, len(labels), where)
        numbers_of_classes = [-1.0, 1.0] if len(names) == 2 else np.arange(float(len(names)))
        return np.array(numbers_of_classes)[place], names
    find, given_numbers = finder(mapping), [float(number) for number in mapping.values()]
    found = [find(name) for name in names]
    if None in found:
        unknown = names[found.index(None)]
        raise UserError(f"{where}: label {show(unknown)}; expected one of {', '.join(mapping)}")
    return np.array([given_numbers[number] for number in found if number is not None])[place], None


def y_of(labels: np.ndarray, task: str, where: str) -> tuple[np.ndarray, Classes]:
    """Return labels or targets as numbers (T,), and the names of the classes."""
    return class_numbers(labels, None, where) if task == "classification" else (targets(labels, where), None)


def task_of(labels: np.ndarray, where: str, positive: str | None = None) -> tuple[str, str]:
    """Return the task of labels (T,), and a note on what numbers are taken for.

    Words and truth values are classes. So are two different whole numbers, and up to FEW of them if each has
    FEWEST_ROWS rows on average. All other numbers are targets.
    """
    names, _, numbers = distinct(labels)
    if numbers is None or positive is not None:
        return "classification", ""
    codes = any(re.match(r"[-+]?0\d", name) for name in names) or len(set(numbers)) < len(
        names
    )  # 007; 2.1, 2.10
    whole = bool((numbers == np.round(numbers)).all())
    kind = f"{counted(len(numbers), 'different number')}{'' if whole else ', not all whole'}"
    if codes or (whole and len(numbers) <= 2):
        return "classification", ""
    if whole and len(numbers) <= FEW and FEWEST_ROWS * len(numbers) <= len(labels):
        helps = "task=regression takes them as targets"
        return "classification", f"{where} holds {kind}, so task=classification; {helps}"
    return (
        "regression",
        f"{where} holds {kind}, so task=regression; task=classification takes them as classes",
    )


def _check_classes(texts: Sequence[str], numbers: np.ndarray | None, T: int, where: str) -> None:
    """Raise UserError for labels that are no classes, with the settings that help."""
    count = len(texts)
    faults = []
    if count < 2:
        faults.append("classification needs at least two")
    elif count > MOST_CLASSES:
        faults.append(f"classification takes at most {MOST_CLASSES}")
    elif numbers is None and count > FEW and 2 * count > T:
        faults.append("they name the rows rather than classes")
    if faults and numbers is None and count > 1:
        faults.append("label=COLUMN names another column of a table")
    if faults or (numbers is not None and _are_targets(numbers, T)):
        if numbers is not None and count > 1:
            faults.append("task=regression takes them as targets")
        if count > 2:
            faults.append("positive=CLASS takes one against the rest of a table")
        labels = (
            f"{count} different labels ({shortlist(quoted(texts))})"
            if count != 1
            else f"every label is {shown(texts[0])}"
        )
        raise UserError("; ".join([f"{where}: {labels}", *faults]))


def _are_targets(numbers: np.ndarray, T: int) -> bool:
    """Whether the different labels of T rows are plainly a regression's: fractions, or most rows differ."""
    several, most = len(numbers) > FEW, 2 * len(numbers) > T
    fractions = bool((numbers != np.round(numbers)).any())
    return len(numbers) > 2 and ((several or most) if fractions else (several and most))


def note_on(classes: Classes) -> tuple[str, ...]:
    """Return a note that says which label is which number, none where the labels are these numbers.

    And one on numbers that are many: they may be targets; and one on those that are written in several ways.
    """
    if classes is None:
        return ()
    notes = []
    numbers = ("-1", "+1") if len(classes) == 2 else tuple(map(str, range(len(classes))))
    if classes != tuple(number.removeprefix("+") for number in numbers):
        pairs = [f"{shown(text)} -> {number}" for text, number in zip(quoted(classes), numbers, strict=True)]
        if len(pairs) > MOST_LISTED:
            pairs[MOST_LISTED - 1 : -1] = ["..."]
        notes.append(f"labels: {', '.join(pairs)}")
    if len(classes) > FEW and all(text.removeprefix("-").isdecimal() for text in classes):
        text = f"{len(classes)} different numbers are taken as classes"
        notes.append(f"{text}; task=regression takes them as targets")
    return (*notes, *note_on_alike(classes))


def against_rest(
    labels: np.ndarray, positive: str, where: str
) -> tuple[np.ndarray, tuple[str, str], list[str]]:
    """Return y (T,), +1 for the class ``positive`` and -1 for all others, and the names of these two.

    And the other classes that are the same number as the positive one, so that none is taken for it later.
    Raises UserError if no row has it.
    """
    names, place, _ = distinct(labels)
    chosen = finder(names)(positive)
    if chosen is None:
        has = shortlist(list(map(show, names)))
        raise UserError(
            f"positive={positive}: {where} has no such class{suggest(positive, names)}; it has {has}"
        )
    others = [name for name in names if name != names[chosen]]
    number = _read(names[chosen]).number
    alike = [name for name in others if number is not None and _read(name).number == number]
    y = np.where(place == chosen, 1.0, -1.0)
    return y, (others[0] if len(others) == 1 else OTHERS, names[chosen]), alike


def targets(labels: np.ndarray, where: str) -> np.ndarray:
    """Return y (T,) of labels that are numbers. Raises UserError for one that is not."""
    numbers = labels = labels.astype(np.float64) if labels.dtype.kind == "b" else labels
    if labels.dtype.kind != "f":
        texts = labels.astype(str).tolist()
        together = "".join(texts)
        try:
            numbers = np.array(texts, object).astype(np.float64)
        except ValueError:
            together = "_"
        if not together.isascii() or "_" in together or not np.isfinite(numbers).all():  # names the first one
            numbers = np.array([to_number(text, f"{where}: target") for text in texts])
    if not np.isfinite(numbers).all():
        raise UserError(f"{where}: a target is not finite")
    return numbers
