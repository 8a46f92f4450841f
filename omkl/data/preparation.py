"""What is wanted of a user's file: which columns are what, how it is read, and how one types that."""

import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from omkl import schema
from omkl.errors import UserError, show
from omkl.typed import in_shell, typed_keyword, typed_setting

LABELS = ("label", "class", "target", "y")  # names of a label's column, without regard to case
_CHOICES = {
    "index_base": ("auto", 0, 1),
    "missing": ("online", "error", "drop"),
    "qid": ("error", "drop"),
}


class Stop(UserError):
    """What stops a run at a column: read or refuse, never guess.

    lines: of pandas, which mend ``frame``    column: the column that stops it
    """

    def __init__(self, text: str, lines: Iterable[str] = (), column: str = "") -> None:
        super().__init__(text)
        self.lines, self.column = tuple(lines), column


@dataclass(frozen=True)
class Preparation:
    """What a user wants of a file, mostly of a table; the defaults suit most, and change nothing.

    read: keywords of pandas' reader of the file
    label: a column's name or number; None for one that is called as in LABELS
    id: columns that name the rows, left out of the features    drop: columns to leave out
    missing: ``online``: the learner fills numbers with the mean of the rows that it has seen, a gap among
    words is a word of its own; ``drop`` the row, or ``error``; rows without a label are left out, but for
    error
    positive: the class that is +1 against all others, None: all classes as they are
    index_base: of LIBSVM text, the index of the first column, 0 or 1; ``auto``: 0 if there is an index 0
    qid: of LIBSVM text, whether groups of a ranking are an ``error`` or left out (``drop``)
    """

    read: Mapping[str, Any] = field(default_factory=dict)
    label: str | None = None
    id: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()
    missing: str = "online"
    positive: str | None = None
    index_base: str | int = "auto"
    qid: str = "error"

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> "Preparation":
        """Return the preparation of plain values, lists for tuples; keys that are not there are as usual.

        Raises UserError for values that cannot be.
        """
        plain = {
            key: list(value) if isinstance(value, tuple) else value
            for key, value in values.items()
            if value is not None
        }
        read = plain.pop("read", {})
        if not isinstance(read, dict):
            raise UserError(f"the preparation of a table: read must hold keys and values, got {show(read)}")
        preparation: Preparation = schema.as_dataclass(cls, plain, "the preparation of a table", read=read)
        return preparation

    def __post_init__(self) -> None:
        """Raise UserError for settings that cannot be."""
        for key, choices in _CHOICES.items():
            if (value := getattr(self, key)) not in choices:
                *others, last = map(str, choices)
                raise UserError(f"{key}={show(value)}: must be {', '.join(others)} or {last}")

    @property
    def words(self) -> str:
        """The settings other than the defaults, as one types them."""
        return self.words_of(asdict(self))

    def words_of(self, keys: Iterable[str]) -> str:
        """Return those of these settings that are not the defaults, as one types them."""
        words = []
        for key in keys:
            value = getattr(self, key)
            if value == getattr(AS_IT_IS, key):
                continue
            if key == "read":
                words += [f"read.{name}={typed_keyword(of_reader)}" for name, of_reader in value.items()]
            elif key in ("label", "id", "drop", "positive"):
                words.append(typed_setting(key, *([value] if isinstance(value, str) else value)))
            else:
                words.append(f"{key}={value}")
        return " ".join(map(in_shell, words))


AS_IT_IS = Preparation()


def clean(text: str) -> str:
    """Return a word in Unicode's NFC with single blanks, so that what looks the same is the same."""
    return " ".join(text.split()) if text.isascii() else " ".join(unicodedata.normalize("NFC", text).split())
