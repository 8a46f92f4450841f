"""Errors that end a command with one clear line instead of a traceback."""

import difflib
import re
import sys
from collections.abc import Iterable, Sequence
from typing import Any

MOST_LISTED = 8  # of several things, in a message


class OmklError(Exception):
    """A run failed: the command ends with exit code 1. Its message has no control characters."""

    exit_code = 1

    def __str__(self) -> str:
        return without_controls(super().__str__())


class Overflow(OmklError):
    """Predictions left the range of numbers: with these hyperparameters they always will."""


class UserError(OmklError):
    """A mistake in the input: the message says what is wrong, where, and what to do. Exit code 2."""

    exit_code = 2


def path_error(what: str, error: OSError, advice: str = "") -> OmklError:
    """Return the error of a path that cannot be read or written; a wrong path is the user's mistake.

    what: as in "write model.omkl"; advice: further sentences.
    """
    reason = error.strerror or error
    if isinstance(error, FileExistsError):  # what mkdir says of a file
        reason = f"{error.filename} is a file, not a folder"
    wrong = isinstance(error, FileExistsError | IsADirectoryError | NotADirectoryError)
    kind = UserError if wrong else OmklError
    return kind(f"cannot {what}: {reason}{advice}")


def suggest(word: str, candidates: Iterable[str], most: int = 1) -> str:
    """Return ``" (did you mean 'x'?)"`` for the closest known words, at most so many, else the empty string.

    Where none is close, up to three that contain the word: ``" (did you mean 'x', 'y' or 'z'?)"``.
    """
    names, lowered = list(candidates), str(word).lower()
    of_lowered = {name.lower(): name for name in names}
    close = difflib.get_close_matches(str(word), names, n=most, cutoff=0.6)
    close = close or [
        of_lowered[match] for match in difflib.get_close_matches(lowered, of_lowered, n=most, cutoff=0.6)
    ]
    if not close and len(lowered) > 2:
        close = [name for name in names if lowered in name.lower()][:3]
    if not close:
        return ""
    *first, last = [f"'{name}'" for name in close]
    return f" (did you mean {', '.join(first)}{' or ' if first else ''}{last}?)"


def counted(number: int, noun: str) -> str:
    """Return a number with its noun, in the plural unless it is 1: ``3 rows``, ``1 row``, ``2 passes``."""
    return f"{number} {noun}{'' if number == 1 else 'es' if noun.endswith('s') else 's'}"


def quoted(names: Iterable[object]) -> list[str]:
    """Return names for a list with commas: one that holds a comma and a blank is in quotes."""
    return [f"'{name}'" if ", " in name else name for name in map(str, names)]


def with_article(noun: str) -> str:
    """Return a noun with its article: ``a gaussian``, ``an ard``."""
    return f"{'an' if noun[:1] in tuple('aeio') else 'a'} {noun}"


CALLED: dict[str, str] = {}  # paths that messages call by another name, such as that of standard input


def with_user_paths(text: str) -> str:
    """Return a message with the paths in CALLED as their users call them."""
    for path, name in CALLED.items():
        text = text.replace(path, name)
    return text


# Controls, and marks of the direction of text, with which a name could rearrange what is around it.
_CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def without_controls(text: str) -> str:
    """Return a text with its control characters written as \\u001b: a terminal would obey them.

    Tabs and line ends stay. The text may be JSON, which stays the same.
    """
    return _CONTROLS.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def printable(text: str) -> str:
    """Return a name as it is printed: on one line, without controls."""
    return without_controls(text).replace("\n", "\\n").replace("\t", "\\t")


def show(value: Any) -> str:
    """Return a value as messages print it: one short line, strings quoted."""
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


def shown(word: str) -> str:
    """Return a word of the command for a message: printable, on one line, of at most 100 characters."""
    text = word if word.isprintable() else repr(word)
    return text if len(text) <= 100 else text[:97] + "..."


def shortlist(texts: Sequence[str]) -> str:
    """Return the first of these texts for a message, on one line."""
    return ", ".join(map(shown, texts[:MOST_LISTED])) + (", ..." if len(texts) > MOST_LISTED else "")


def outside() -> int:
    """Return the ``stacklevel`` with which a warning names the line that called omkl, by scikit-learn too."""
    frame, level = sys._getframe(1), 1
    while frame.f_back and str(frame.f_globals.get("__name__")).startswith(("omkl.", "sklearn.")):
        frame, level = frame.f_back, level + 1
    return level
