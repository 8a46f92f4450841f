"""From labels as a source writes them to numbers: -1 and +1 of two classes, 0 .. C-1 of more, or targets.

Labels that are all numbers are compared as numbers: 1, 1.0 and "1" are one class, which is called 1. Others
are words, compared letter by letter, and so are those that their source declares to be classes. Where a class
is looked up (``positive=``, the labels of a saved model), it is the one that is written so, else the only one
that is the same number or truth value.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from omkl.data.preparation import clean
from omkl.data.preparing.columns import TRUTH, floats, is_float
from omkl.data.preparing.notes import IS_CLASS, note_on_alike
from omkl.data.reading.numbered import to_number
from omkl.errors import UserError, quoted, shortlist, show, suggest

Classes = tuple[str, ...] | None  # labels as a source without YAML writes them, in the order of their numbers
OTHERS = "other"  # all classes but the positive one, where they are several
MOST_CLASSES = 1000
FEW = 20  # different whole numbers that are classes where nothing else is said ...
FEWEST_ROWS = 10  # ... if each has this many rows on average
_EXACT = 2.0**53  # up to here, different whole numbers are different floats
_SCALARS = (bool, int, float, str, np.bool_, np.integer, np.floating, np.str_)  # what JSON can hold


def _plain(number: float) -> str:
    return str(int(number)) if float(number).is_integer() else str(number)


def distinct(
    labels: np.ndarray, declared: bool = False
) -> tuple[tuple[str, ...], np.ndarray, np.ndarray | None]:
    """Return the names of the classes, the class of each label (T,) and, if all are numbers, the numbers.

    labels (T,): numbers or texts. Numbers sort as numbers; where some are words, all sort as words.
    declared: whether the source says that they are classes: then texts are words, which may sort as numbers
    """
    if labels.dtype.kind in "iuf":
        numbers, place = np.unique(labels, return_inverse=True)
        plain = [float(str(number)) if numbers.dtype.kind == "f" else int(number) for number in numbers]
        return tuple(map(_plain, plain)), place.ravel(), numbers.astype(np.float64)
    import pandas as pd

    place, different = pd.factorize(labels.astype(object))
    words = [clean(str(word)) for word in different]
    numbers_of_words = floats(words)
    is_exact = numbers_of_words is None or np.abs(numbers_of_words).max(initial=0.0) < _EXACT
    if numbers_of_words is None or declared or not is_exact:
        order = sorted(set(words), key=None if numbers_of_words is None else lambda word: (float(word), word))
        at = {word: number for number, word in enumerate(order)}
        return tuple(order), np.array([at[word] for word in words], np.int64)[place], None
    numbers, at_number = np.unique(numbers_of_words, return_inverse=True)
    return tuple(map(_plain, numbers.tolist())), at_number.ravel()[place], numbers


def values_of(classes: Classes, raw: Any = None) -> tuple[Any, ...] | None:
    """Return the classes as their source holds them, such as True, 1.5 or the word '9'.

    raw (T,): the labels of a source whose values have types; without them, classes are what their text is
    read as: all true and false, all numbers, or words.
    """
    if classes is None:
        return None
    if raw is not None:
        different = dict.fromkeys(np.asarray(raw).reshape(-1))
        find = finder(classes)
        found = {find(str(value)): value for value in reversed(different) if isinstance(value, _SCALARS)}
        plain = (found.get(at, name) for at, name in enumerate(classes))
        return tuple(value.item() if isinstance(value, np.generic) else value for value in plain)
    if all(text.lower() in TRUTH for text in classes):
        return tuple(text.lower() == "true" for text in classes)
    if not all(is_float(text) and _plain(float(text)) == text for text in classes):
        return classes
    return tuple(int(text) if "." not in text else float(text) for text in classes)


def finder(names: Iterable[Any]) -> Callable[[str], int | None]:
    """Return the look-up of classes by a label: its place among the names, None if it is none of them."""
    exact: dict[str, int] = {}
    by_number: dict[float, list[int]] = {}

    def number_of(text: str) -> float | None:
        return float(text) if is_float(text) else TRUTH.get(text.lower())

    for place, name in enumerate(map(str, names)):
        exact.setdefault(name, place)
        if (number := number_of(name)) is not None:
            by_number.setdefault(number, []).append(place)

    def find(label: str) -> int | None:
        number = number_of(label)
        same = by_number.get(number, []) if number is not None else []
        return exact.get(label, same[0] if len(same) == 1 else None)

    return find


def y_of(
    labels: np.ndarray,
    task: str,
    where: str,
    declared: bool = False,
    mapping: Mapping[str, int] | None = None,
    positive: str | None = None,
) -> tuple[np.ndarray, Classes]:
    """Return labels or targets as numbers (T,), and, without ``mapping``, the names of the classes in order.

    Classes are -1 and +1 of two, 0 .. C-1 of more, as ``mapping`` says; without it numbers sort as numbers,
    words as words. positive: the class that is +1 against all others. Raises UserError for labels outside the
    mapping, for fewer than 2 classes or more than MOST_CLASSES, for numbers that are plainly targets, for
    targets that are none, and if no row has the positive class.
    """
    if task != "classification" and mapping is None:
        return targets(labels, where), None
    names, place, numbers = distinct(labels, declared)
    if positive is not None:
        if (chosen := finder(names)(positive)) is None:
            has = f"{suggest(positive, names)}; it has {shortlist(list(map(show, names)))}"
            raise UserError(f"positive={positive}: {where} has no such class{has}")
        others = [name for name in names if name != names[chosen]]
        rest = others[0] if len(others) == 1 else OTHERS
        return np.where(place == chosen, 1.0, -1.0), (rest, names[chosen])
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


def task_of(labels: np.ndarray, where: str, declared: bool = False) -> tuple[str, str]:
    """Return the task of labels (T,), and a note on what whole numbers are taken for.

    Words and truth values are classes. So are two different whole numbers, and up to FEW of them if each has
    FEWEST_ROWS rows on average. All other numbers are targets.
    """
    _, _, numbers = distinct(labels, declared)
    if numbers is None or (len(numbers) <= 2 and (numbers == np.round(numbers)).all()):
        return "classification", ""
    if (numbers != np.round(numbers)).any():
        return "regression", ""
    are_classes = len(numbers) <= FEW and FEWEST_ROWS * len(numbers) <= len(labels)
    task, other = "regression", "classification takes them as classes"
    if are_classes:
        task, other = "classification", "regression takes them as targets"
    return task, f"{where} holds {len(numbers)} different whole numbers, so task={task}; task={other}"


def _check_classes(texts: Sequence[str], numbers: np.ndarray | None, T: int, where: str) -> None:
    """Raise UserError for labels that are no classes, with the settings that help."""
    count = len(texts)
    name_rows = numbers is None and count > FEW and 2 * count > T
    are_targets = numbers is not None and _are_targets(numbers, T)
    if 2 <= count <= MOST_CLASSES and not name_rows and not are_targets:
        return
    fault = "they name the rows" if name_rows else f"classification takes 2 to {MOST_CLASSES} classes"
    helps = (
        "label=COLUMN names another column" if numbers is None else "task=regression takes them as targets"
    )
    every = f"{count} different labels ({shortlist(quoted(texts))})"
    helps += ", positive=CLASS takes one class of a table against the rest"
    raise UserError(f"{where}: {every if count > 1 else f'every label is {texts[0]}'}; {fault}; {helps}")


def _are_targets(numbers: np.ndarray, T: int) -> bool:
    """Whether the different labels of T rows are plainly a regression's: fractions, or most rows differ."""
    several, most = len(numbers) > FEW, 2 * len(numbers) > T
    if (numbers != np.round(numbers)).any():
        return len(numbers) > 2 and (several or most)
    return most and (several or FEWEST_ROWS <= T == len(numbers))


def notes_on_classes(classes: Classes, y: np.ndarray) -> tuple[str, ...]:
    """Return notes on classes that may be none: spellings of another, or one row."""
    if classes is None:
        return ()
    notes = list(note_on_alike(classes))
    if len(classes) > 2:
        rows = np.bincount(y.astype(np.int64), minlength=len(classes))
        if single := [name for name, count in zip(classes, rows.tolist(), strict=True) if count == 1]:
            are = "has one row" if len(single) == 1 else "have one row each"
            notes.append(f"labels: {shortlist(quoted(single))} {are}; {IS_CLASS}")
    return tuple(notes)


def targets(labels: np.ndarray, where: str) -> np.ndarray:
    """Return y (T,) of labels that are numbers. Raises UserError for one that is not."""
    if labels.dtype.kind in "biuf":
        numbers = labels.astype(np.float64)
    else:
        numbers = np.array([to_number(text, f"{where}: target") for text in labels.astype(str).tolist()])
    if not np.isfinite(numbers).all():
        raise UserError(f"{where}: a target is not finite")
    return numbers
