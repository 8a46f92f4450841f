"""From labels as a source writes them to numbers: -1 and +1 of two classes, 0 .. C-1 of more, or targets."""

import contextlib
from collections.abc import Mapping, Sequence

import numpy as np

from omkl.data.parse import to_number
from omkl.errors import UserError, show, suggest

Classes = tuple[str, ...] | None  # labels as a source without YAML writes them, in the order of their numbers
OTHERS = "other"  # all classes but the positive one, where they are several
MOST_CLASSES = 1000
MOST_LISTED = 8  # in a message
FEW = 20  # as many different numbers may be classes whatever they are


def class_numbers(
    labels: np.ndarray, mapping: Mapping[str, int] | None, where: str
) -> tuple[np.ndarray, Classes]:
    """Return y (T,) and, without ``mapping``, the labels as texts in the order of their numbers.

    y is -1 and +1 of two classes, 0 .. C-1 of more, as ``mapping`` says; without it numbers sort as numbers,
    words as words. Raises UserError for labels outside the mapping, for fewer than 2 classes or more than
    MOST_CLASSES, and for numbers that are plainly targets.
    """
    with contextlib.suppress(ValueError):  # '+1', '1' and '1.0' agree if all labels are numbers
        labels = labels.astype(np.float64)
    distinct, place = np.unique(labels, return_inverse=True)
    texts = [
        str(int(label)) if isinstance(label, float) and label.is_integer() else str(label)
        for label in distinct
    ]
    classes: Classes = None
    if mapping is None:
        _check_classes(distinct, texts, len(labels), where)
        classes = tuple(texts)
        mapping = dict(zip(texts, [-1, 1] if len(texts) == 2 else range(len(texts)), strict=True))
    if unknown := [text for text in texts if text not in mapping]:
        raise UserError(f"{where}: label {show(unknown[0])}; expected one of {', '.join(mapping)}")
    return np.array([float(mapping[text]) for text in texts])[place.ravel()], classes


def _check_classes(distinct: np.ndarray, texts: Sequence[str], T: int, where: str) -> None:
    """Raise UserError for labels that are no classes, with the settings that help."""
    count, numbers = len(texts), distinct.dtype.kind == "f"
    faults = []
    if count < 2:
        faults.append("classification needs at least two")
    elif count > MOST_CLASSES:
        faults.append(f"classification takes at most {MOST_CLASSES}")
    if faults or (numbers and _are_targets(distinct, T)):
        if numbers and count > 1:
            faults.append("task=regression takes them as targets")
        if count > 2:
            faults.append("positive=CLASS takes one against the rest of a table")
        labels = f"{count} different labels ({listed(texts)})" if count != 1 else f"every label is {texts[0]}"
        raise UserError("; ".join([f"{where}: {labels}", *faults]))


def _are_targets(numbers: np.ndarray, T: int) -> bool:
    """Whether the different labels of T rows are plainly a regression's: fractions, or most rows differ."""
    several, most = len(numbers) > FEW, 2 * len(numbers) > T
    fractions = bool((numbers != np.round(numbers)).any())
    return len(numbers) > 2 and ((several or most) if fractions else (several and most))


def listed(texts: Sequence[str]) -> str:
    """Return the first of these texts for a message, on one line."""
    words = [printable(text) for text in texts[:MOST_LISTED]]
    return ", ".join(words) + (", ..." if len(texts) > MOST_LISTED else "")


def printable(text: str) -> str:
    """Return a label for a message, on one line."""
    return text if text.isprintable() else show(text)


def note_on(classes: Classes) -> tuple[str, ...]:
    """Return a note that says which label is which number, none where the labels are these numbers.

    And one on numbers that are many: they may be targets.
    """
    if classes is None:
        return ()
    notes = []
    numbers = ("-1", "+1") if len(classes) == 2 else tuple(map(str, range(len(classes))))
    if classes != tuple(number.removeprefix("+") for number in numbers):
        pairs = [f"{printable(text)} -> {number}" for text, number in zip(classes, numbers, strict=True)]
        if len(pairs) > MOST_LISTED:
            pairs[MOST_LISTED - 1 : -1] = ["..."]
        notes.append(f"labels: {', '.join(pairs)}")
    if len(classes) > FEW and all(text.removeprefix("-").isdecimal() for text in classes):
        notes.append(f"{len(classes)} different numbers are classes; task=regression takes them as targets")
    return tuple(notes)


def against_rest(labels: np.ndarray, positive: str, where: str) -> tuple[np.ndarray, Classes]:
    """Return y (T,), +1 for the class ``positive`` and -1 for all others, and the names of these two.

    Raises UserError if no row has it.
    """
    y = np.where(labels == positive, 1.0, -1.0)
    classes = sorted(set(labels.tolist()))
    if positive not in classes:
        listed = ", ".join(map(show, classes[:MOST_LISTED])) + (", ..." if len(classes) > MOST_LISTED else "")
        raise UserError(
            f"positive={positive}: {where} has no such class{suggest(positive, classes)}; it has {listed}"
        )
    others = [name for name in classes if name != positive]
    return y, (str(others[0]) if len(others) == 1 else OTHERS, positive)


def targets(labels: np.ndarray, where: str) -> np.ndarray:
    """Return y (T,) of labels that are numbers. Raises UserError for one that is not."""
    numbers = labels
    if labels.dtype.kind != "f":
        numbers = np.array([to_number(str(label), f"{where}: target") for label in labels])
    if not np.isfinite(numbers).all():
        raise UserError(f"{where}: a target is not finite")
    return numbers
