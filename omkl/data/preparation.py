"""How a user's table is written, and what is wanted of it: the settings, and how one types them."""

import re
import shlex
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from functools import cache
from typing import Any

from omkl import schema
from omkl.errors import UserError, show, suggest

MISSING = ("", "?", "na", "n/a", "nan", "null", "none", "<na>")  # the gaps, without regard to case
TRUTH = {"false": 0.0, "true": 1.0}  # words of truth values, without regard to case
LABELS = ("label", "class", "target", "y")  # names of a label's column, without regard to case
_CHOICES = {
    "index_base": ("auto", 0, 1),
    "header": ("auto", "yes", "no"),
    "missing": ("online", "error", "drop", "mean"),
    "dates": ("parts", "ordinal", "drop"),
    "qid": ("error", "drop"),
}
CATEGORICAL = ("auto", "onehot", "letters", "error")  # else categorical= names columns
_GROUPING = {" ": "[ \u00a0\u2009\u202f]", "'": "['\u2019]"}  # in all the forms that programs write
_MINUS = "\u2212\u2010\u2011\u2012\u2013\ufe63\uff0d"  # what programs write for - before a number
_CURRENCY = r"(?:USD|EUR|GBP|JPY|CHF|CNY|INR|[$€£¥₹₽₩₺฿])"  # US$, R$ too
# a cell that begins with a digit, signs left out, or ends with a number after a blank, a currency or a point
_BEGINS = re.compile(r"[\W_]*\d")
_ENDS = re.compile(rf"(?:.*\s|.*{_CURRENCY}|[^\d]*[.,])[\W_]*\d[\d.,'\s]*[\W_]*", re.IGNORECASE)
_LONGEST = 100  # characters of a cell that is near a number
_PLAIN = re.compile(  # texts that a setting need not quote: omkl.config.words reads them as they are
    r"(?!(?:null|true|false|inf|nan)\Z)[^\W\d_]\w*(?: \w+)*|0|[1-9][0-9]{0,17}", re.IGNORECASE
)
_PLAIN_CLASS = re.compile(r"[-+]?[0-9.]+(?:e[-+]?[0-9]+)?|true|false", re.IGNORECASE)


class Stop(UserError):
    """What stops a run on a table: read or refuse, never guess.

    mend: settings of `Preparation` that let the run go on; empty where the file itself must be changed
    column: the column that stops it, if it is one
    """

    def __init__(self, text: str, mend: Mapping[str, Any] | None = None, column: str = "") -> None:
        super().__init__(text)
        self.mend, self.column = dict(mend or {}), column


@dataclass(frozen=True)
class Preparation:
    """What a user wants of a file, mostly of a table; the defaults suit most, and change nothing.

    skip: lines before the table
    header: ``yes`` or ``no``: whether the first line names the columns; ``auto``: it does if it has words
    over numbers
    delimiter: ``auto``, or one character; a space stands for any run of white space
    encoding: of the text, ``auto`` for UTF-8
    thousands: the character between groups of three digits, None for none    decimal: a point or a comma
    na: the words that are gaps, without regard to case, None for MISSING; an empty cell always is one
    label: a column's name or number; None for one that is called as in LABELS, and the last where the columns
    have no names
    id: columns that name the rows, left out of the features    drop: columns to leave out
    missing: ``online``: the learner fills numbers with the mean of the rows that it has seen, a gap among
    words is a word of its own;
    ``error``, ``drop`` the row, or ``mean`` of the column; rows without a label are left out, but for error
    categorical: what columns of words become: ``onehot``, ``letters`` (their codes), ``error``, or ``auto``:
    onehot for columns of few words, others are left out; or the columns that become onehot, others as auto
    dates: ``parts``, ``ordinal`` (only the days since the first) or ``drop``
    scale: ``none``, ``minmax`` to [0, 1] or ``standard`` to mean 0 and deviation 1, over the whole table
    positive: the class that is +1 against all others, None: all classes as they are
    index_base: of LIBSVM text, the index of the first column, 0 or 1; ``auto``: 0 if there is an index 0
    qid: of LIBSVM text, whether groups of a ranking are an ``error`` or left out (``drop``)
    """

    skip: int = 0
    header: str = "auto"
    delimiter: str = "auto"
    encoding: str = "auto"
    thousands: str | None = None
    decimal: str = "."
    na: tuple[str, ...] | None = None
    label: str | None = None
    id: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()
    missing: str = "online"
    categorical: tuple[str, ...] = ("auto",)
    dates: str = "parts"
    scale: str = "none"
    positive: str | None = None
    index_base: str | int = "auto"
    qid: str = "error"

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> "Preparation":
        """Return the preparation of plain values, lists for tuples; keys that are not there are as usual.

        Raises UserError for values that cannot be.
        """
        preparation: Preparation = schema.as_dataclass(
            cls, plain_values(values), "the preparation of a table"
        )
        return preparation

    def __post_init__(self) -> None:
        """Raise UserError for settings that contradict each other or cannot be."""
        for key, choices in _CHOICES.items():
            if (value := getattr(self, key)) not in choices:
                *others, last = map(str, choices)
                raise UserError(f"{key}={show(value)}: must be {', '.join(others)} or {last}")
        if not self.categorical or not all(isinstance(name, str) for name in self.categorical):
            raise UserError(
                f"categorical={show(self.categorical)}: must be onehot, error or names of columns"
            )
        if type(self.skip) is not int or self.skip < 0:
            raise UserError(f"skip={show(self.skip)}: must be a number of lines")
        if self.encoding != "auto":
            _check_encoding(self.encoding)
        self._check_marks()
        if self.na is not None and not (
            isinstance(self.na, tuple) and all(isinstance(word, str) for word in self.na)
        ):
            raise UserError(f"na={show(self.na)}: must be words")

    def _check_marks(self) -> None:
        """Raise UserError for characters that cannot separate columns, digits or decimals."""
        marks = [self.delimiter] if self.delimiter != "auto" else []
        marks += [self.decimal] + ([] if self.thousands is None else [self.thousands])
        if not all(isinstance(mark, str) and len(mark) == 1 for mark in marks):
            raise UserError("delimiter, thousands and decimal must be one character each")
        if self.delimiter != "auto" and (self.delimiter.isalnum() or self.delimiter in '"\r\n'):
            raise UserError(f"delimiter={show(self.delimiter)}: this character cannot separate columns")
        if self.decimal not in ".,":
            raise UserError(f"decimal={self.decimal}: must be a point or a comma")
        if self.thousands == self.decimal:
            other = "," if self.decimal == "." else "."
            raise UserError(f"thousands={self.thousands}: the decimal sign is the same; add decimal={other}")
        if self.thousands is not None and (self.thousands.isalnum() or self.thousands in "+-"):
            raise UserError(f"thousands={show(self.thousands)}: this character cannot separate digits")

    @property
    def named_words(self) -> tuple[str, ...]:
        """The columns that ``categorical`` names."""
        return () if len(self.categorical) == 1 and self.categorical[0] in CATEGORICAL else self.categorical

    @property
    def of_words(self) -> str:
        """What becomes of the other columns of words: one of CATEGORICAL."""
        return "auto" if self.named_words else self.categorical[0]

    @property
    def is_plain(self) -> bool:
        """Whether numbers have a decimal point and no thousands, as ``float`` reads them."""
        return (self.thousands, self.decimal) == (None, ".")

    @property
    def gaps(self) -> frozenset[str]:
        """The texts in lower case that mean that a cell has no value."""
        return frozenset(MISSING if self.na is None else ("", *(word.lower() for word in self.na)))

    def number(self, text: str) -> float | None:
        """Return the number that a text is in this format, nan and inf included, None for other text."""
        plain = self.plain(text)
        try:
            return None if plain is None or "_" in plain else float(plain)  # float() would read 1_000
        except ValueError:
            return None

    def plain(self, text: str) -> str | None:
        """Return a number's text with a decimal point and without thousands; None for what is no number."""
        if text[:1] in _MINUS and text[1:2].isdecimal() | (text[1:2] == self.decimal):
            text = f"-{text[1:]}"
        if self.is_plain:
            return text
        if _written(self.thousands, self.decimal).fullmatch(text):
            text = re.sub(_grouping(self.thousands), "", text) if self.thousands else text
            return text.replace(self.decimal, ".")
        return text if self.decimal == "." or not {".", ","} & set(text) else None

    def mended(self, mend: Mapping[str, Any]) -> "Preparation":
        """Return it with the settings of a `Stop`: columns and gaps join those that are there."""
        changed = dict(mend)
        for key in ("drop", "categorical"):
            if key in mend:
                there = self.named_words if key == "categorical" else self.drop
                changed[key] = (*there, mend[key])
        return replace(self, **changed)

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
            if key in ("label", "id", "drop", "positive", "categorical"):
                words.append(typed_setting(key, *([value] if isinstance(value, str) else value)))
            else:
                words.append(na_text(value) if isinstance(value, tuple) else f"{key}={typed(value)}")
        return " ".join(map(in_shell, words))


AS_IT_IS = Preparation()


def is_near_number(text: str) -> bool:
    """Whether a text begins or ends with a number: ``78 °C``, ``€ 5``, ``<0.5``, ``3.2k``, ``5/4/99``."""
    return len(text) <= _LONGEST and bool(_BEGINS.match(text) or _ENDS.fullmatch(text))


def plain_values(value: Any) -> Any:
    """Return a value as JSON holds it, without what is null."""
    if isinstance(value, Mapping):
        return {key: plain_values(item) for key, item in value.items() if item is not None}
    return [plain_values(item) for item in value] if isinstance(value, tuple | list) else value


def _check_encoding(name: str) -> None:
    """Raise UserError for a name that is none of an encoding of text."""
    try:
        "".encode(name)
    except (LookupError, ValueError):
        near = suggest(name, ("utf-8", "utf-16", "latin1", "cp1252", "cp1250", "cp1251", "gbk", "shift_jis"))
        raise UserError(
            f"encoding={show(name)}: no such encoding{near}; write one such as utf-16, latin1 or cp1252"
        ) from None


def _grouping(thousands: str) -> str:
    return _GROUPING.get(thousands, re.escape(thousands))


@cache
def _written(thousands: str | None, decimal: str) -> re.Pattern[str]:
    grouped = rf"\d{{1,3}}(?:{_grouping(thousands)}\d{{3}})+|" if thousands else ""
    point = re.escape(decimal)
    body = rf"(?:(?:{grouped}\d+)(?:{point}\d*)?|{point}\d+)"
    return re.compile(rf"[-+]?{body}(?:[eE][-+]?\d+)?", re.ASCII)


def typed(mark: str | None) -> str:
    """Return a separator as one types it on the command line."""
    return {"\t": "tab", " ": "space", None: "null"}.get(mark, str(mark))


def typed_setting(key: str, *texts: str) -> str:
    """Return the setting of columns or of a class as omkl reads it: ``drop=age,"price, net"``."""
    plain = {
        text: _PLAIN.fullmatch(text) or (key == "positive" and _PLAIN_CLASS.fullmatch(text)) for text in texts
    }
    quotes = not all(plain.values())  # beside a quoted text, letters beyond ASCII need quotes too
    values = [
        text if plain[text] and not (quotes and not text.isascii()) else _in_quotes(text) for text in texts
    ]
    return f"{key}={','.join(values)}"


def _in_quotes(text: str) -> str:
    """Return a text in quotes; in them only a quote, and the backslashes before one, are escaped."""
    return '"' + re.sub(r'(\\*)("|\Z)', lambda found: 2 * found[1] + (found[2] and r"\""), text) + '"'


def na_text(words: Iterable[str]) -> str:
    """Return the setting of words that are gaps as omkl reads it: ``na=#N/A,"not known, yet"``."""
    texts = [_in_quotes(word) if set(word) & set(",\"'") else word for word in words]
    return f"na={','.join(texts) or '[]'}"


def in_shell(word: str) -> str:
    """Return a setting as one types it in a shell: ``'drop=mean radius'``."""
    return word if re.fullmatch(r"[\w@%+=:,./#\[\]-]+", word) else shlex.quote(word)


def column_word(key: str, name: str) -> str:
    """Return the setting that names a column, as one types it: ``drop=age``, ``'drop="price, net"'``."""
    return in_shell(typed_setting(key, name))
