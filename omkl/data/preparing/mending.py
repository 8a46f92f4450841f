"""What stops a run at a column that is near numbers or dates, and the lines of pandas that mend it.

The lines are for a frame called ``frame``. What a column is near to is decided by most of its cells. Codes
with letters, addresses and names are words.
"""

import datetime
import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from omkl.data.preparation import Preparation, Stop
from omkl.data.preparing.columns import Column, date_of, eight_digit_days, is_float, looks_iso
from omkl.errors import counted, show
from omkl.typed import column_word, in_shell

if TYPE_CHECKING:
    from omkl.data.preparing.user_table import Table

MOST = 0.9  # of dates that are read, from which on the others are impossible days
_FEW = 3  # different units, or words that are no dates
_FEW_LABELS = 20  # different labels such as <=50K and >50K, which are classes
_SAMPLE = 2000  # different words that show whether a column of more is near to anything
_NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"
_COMMAS = r"[-+]?\d{1,3}(?:,\d{3})+(?:\.\d*)?"
_POINTS = r"[-+]?\d{1,3}(?:[. \u2009]\d{3})+(?:,\d*)?|[-+]?\d*,\d+"
_MINUS = "\u2212\u2010\u2011\u2012\u2013\ufe63\uff0d"  # what programs write for - before a number
_BEFORE = r"(?:[<>≤≥~≈±]=?|US\$|R\$|[$€£¥₹₽₩₺฿]|USD|EUR|GBP|CHF|JPY)"
_AFTER = r"(?:[%‰°µμΩ€£$][A-Za-z/²³]{0,6}|\s[^\s\d]{1,10}|[a-z][A-Za-z/²³]{0,5}|[kKMGTB])"
_AFFIXED = re.compile(rf"(?P<before>{_BEFORE}\s*)?(?P<number>{_COMMAS}|{_NUMBER})(?P<after>\s*{_AFTER})?")
_CODE = re.compile(r"(?=.*[A-Za-z])(?=.*\d)[^#].*|\d+(?:[-./]\d+)+|.*\d.*[-/ ].*\d.*")
_MONTH = r"\b(?:jan|feb|mar|apr|may|june?|july?|aug|sept?|oct|nov|dec)[a-z]*\b"
_DATE = re.compile(rf"(?i)(?=.*\d\d).{{0,12}}{_MONTH}.{{0,20}}|\d+([-/. ])\d+\1\d+.*|\d{{1,2}}/\d{{4}}")
_ORDERS = (  # of day, month and year, with a mark between them
    *("%Y{}%m{}%d", "%d{}%m{}%Y", "%m{}%d{}%Y", "%Y{}%d{}%m", "%d{}%m{}%y", "%m{}%d{}%y", "%m{}%Y"),
    *("%d{}%b{}%Y", "%d{}%B{}%Y", "%d{}%b{}%y", "%b{}%d{}%Y", "%b{}%d,{}%Y", "%B{}%d{}%Y", "%B{}%d,{}%Y"),
    *("%b{}%Y", "%B{}%Y", "%b{}%y", "%Y{}%b", "%a, %d{}%b{}%Y"),
)
_TIMES = ("", " %H:%M", " %H:%M:%S", " %I:%M %p", " %I:%M:%S %p")
FORMATS = [order.replace("{}", mark) + time for time in _TIMES for mark in "-/. " for order in _ORDERS]
_ISO = "ISO8601"
_YEAR_FIRST = {_ISO, *(form for form in FORMATS if form.startswith("%Y") and form[3:5] == "%m")}


_IN_ANOTHER = "a number in another notation"
_TO_NUMBERS = "{{c}} = pandas.to_numeric({{t}}{}{{rest}})"
# what a cell is called, all of one, and the line that mends a column {c}, whose texts are {t}; {rest} makes
# gaps of cells that are none
KINDS = (
    (_IN_ANOTHER, _COMMAS, _TO_NUMBERS.format(".str.replace(',', '')")),
    (
        _IN_ANOTHER,
        _POINTS,
        _TO_NUMBERS.format(r".str.replace(r'[. \u2009]', '', regex=True).str.replace(',', '.')"),
    ),
    (
        "a number with another sign for minus",
        rf"[{_MINUS}]{_NUMBER}",
        _TO_NUMBERS.format(rf".str.replace(r'^[{_MINUS}]', '-', regex=True)"),
    ),
    (
        "a time of day, or a duration",
        r"\d{1,3}:\d{2}(?::\d{2}(?:\.\d+)?)?",
        "{c} = pandas.to_timedelta({t}.str.replace(r'^(\\d+:\\d+)$', r'\\1:00', regex=True){rest})"
        ".dt.total_seconds() / 3600",
    ),
)
_NEAR = re.compile(  # brackets, other marks of thousands, quarters, weeks, clocks, and months in words
    r"\(\d[\d.,]*\)|\d{1,3}(?:['’]\d{3})+(?:[.,]\d*)?|\d{1,3}(?: \d{3})+\.\d+|\d{4}[-: ]?[QqWw]\d\d?"
    r"|\d\d?:\d\d.*|\d+[-/.]\d+[-/.]\d+[T ].+"
    rf"|(?i:(?=.*\b\d{{4}}\b)(?=.*\b\d\d?(?:st|nd|rd|th)?\b)(?=.*{_MONTH}).{{8,40}})"
)


class Mend(NamedTuple):
    """What cells are, how many are near to it, and the ways to mend their column: lines of pandas each."""

    what: str
    near: int
    ways: tuple[tuple[str, ...], ...] = ()


def stop_of(column: Column, table: "Table") -> Stop | None:
    """Return what stops a run at a column of features, None where nothing does."""
    if column.is_numeric:
        return _stop_of_eight_digits(column, table)
    if (stop := _stop_of_kind(column, table)) or column.is_truth or column.dtype.kind == "M":
        return stop
    if column.dates is not None and len(column.offsets) > 1:
        local = ".dt.tz_convert('Europe/Berlin').dt.tz_localize(None)"  # such as it may be
        line = f"{_frame(column)} = pandas.to_datetime({_texts(column)}, utc=True){local}"
        shown = " and ".join(offset or "none" for offset in column.offsets[:3])
        text = f"{table.path}: column '{column.name}' holds times with different offsets from UTC ({shown})"
        return _stop(column, text, 1, (line,))
    if column.dates is not None or column.numbers is not None:
        return None
    if len(column.words) > _SAMPLE:
        import pandas as pd

        sample = Column(column.name, pd.Series(column.words[:_SAMPLE], dtype="str"), column.key)
        if not stop_of(sample, table):
            return None
    is_number = np.array([is_float(word) for word in column.words])
    is_odd = ~is_number & np.array([date_of(word) is None for word in column.words])
    total, numbers = int(column.counts.sum()), int(column.counts[is_number].sum())
    mends = [mend for mend in _mends(column, is_number) if 2 * mend.near > total - numbers]
    mend = max(mends, key=lambda one: (bool(one.ways), one.near), default=None)
    if mend and 2 * (numbers + mend.near) > total:  # with the ways of what is called alike
        ways = [way for one in mends if one[:2] == mend[:2] for way in one.ways]
        mend = mend._replace(ways=tuple(ways[:2]))
    else:
        mend = _few_words(column, is_number) if 2 * numbers > total else None
    if mend is None:
        return None
    at = np.flatnonzero(is_odd)
    row, count = int(np.argmax(np.isin(column.place, at))), int(column.counts[at].sum())
    holds = f"column '{column.name}' holds {show(column.words[column.place[row]])}, {mend.what}"
    return _stop(column, f"{table.where(row)}: {holds}", count, *mend.ways)


def stop_of_label(column: Column, table: "Table") -> Stop | None:
    """Return what stops a run at the label: dates, and what would be numbers, where it is no few classes."""
    if column.is_declared or column.is_numeric or column.missing.all():
        return None
    if column.dtype.kind == "M":
        line = f"{_frame(column)} = {_frame(column)}.astype(str)"
        fault = f"{table.path}: the label (column '{column.name}') holds dates or times; if each is a class"
        return Stop(f"{fault}, {line} in pandas, else write a number", (line,), column.name)
    stop = stop_of(column, table)
    is_kind = column.dtype.kind in "mcO" and _stop_of_kind(column, table)
    are_classes = len(column.words) <= _FEW_LABELS and not (stop and _IN_ANOTHER in str(stop))
    return None if are_classes and not is_kind else stop


def _frame(column: Column) -> str:
    return f"frame[{column.key!r}]"


def _texts(column: Column) -> str:
    """Return the column as texts: what a file has are texts already, a frame may mix them with numbers."""
    frame = _frame(column)
    return frame if column.dtype.name in ("str", "string") else f"{frame}.map(str, na_action='ignore')"


def _stop(column: Column, text: str, count: int, *ways: tuple[str, ...]) -> Stop:
    """Return a stop with the ways that mend the column. count: of such cells"""
    others, frame = f" ({count} such cells)" if count > 1 else "", _frame(column)
    reads = in_shell(Preparation(read={"dtype": {column.key: "category"}}).words.strip("'"))
    declared = f"a line of yours mends them; {reads} (in a frame .astype('category')) makes words of them"
    helps = ", or ".join("; ".join(lines) for lines in ways) or declared
    drop = column_word("drop", column.name)
    own = [f"# {frame} = ...: a line of yours that makes numbers or dates of it"]
    lines = [*ways[0], *(f"# or {'; '.join(lines)}" for lines in ways[1:])] if ways else own
    return Stop(f"{text}{others}; in pandas {helps}, or {drop} leaves the column out", lines, column.name)


# ------------------------------------------------------------------ kinds of values


def _stop_of_kind(column: Column, table: "Table") -> Stop | None:
    """Return what stops a run at values that are no numbers, texts or dates, or not of one kind."""
    kind, frame = column.dtype.kind, _frame(column)
    kinds = {type(value) for value in column.values[~column.missing]} if column.dtype == object else set()
    if kind == "m":
        what, lines = "durations", [f"{frame} = {frame}.dt.total_seconds()"]
    elif getattr(column.dtype, "name", "").startswith("period"):
        what, lines = "periods", [f"{frame} = {frame}.dt.to_timestamp()"]
    elif kind == "c" or any(issubclass(one, complex | list | dict | set | np.ndarray) for one in kinds):
        what, lines = "lists, objects or complex numbers", [f"del {frame}"]
    elif bool in kinds and len(kinds) > 1 and kinds <= {bool, int, float}:
        what, lines = "both numbers and true or false", [f"{frame} = {frame}.astype(float)"]
    else:
        return None
    row = int(np.argmax(~column.missing))
    return _stop(column, f"{table.where(row)}: column '{column.name}' holds {what}", 1, tuple(lines))


def _stop_of_eight_digits(column: Column, table: "Table") -> Stop | None:
    """Return what stops a run at whole numbers most of which are dates of eight digits, but not all."""
    numbers = column.numbers
    assert numbers is not None
    there = numbers[~column.missing]
    if not len(there) or not 1000_01_01 <= np.median(there[:_SAMPLE]) <= 9999_12_31:
        return None
    is_date = ~np.isnan(eight_digit_days(there))
    if is_date.all() or is_date.mean() < MOST:
        return None
    row, frame = int(np.flatnonzero(~column.missing)[np.argmin(is_date)]), _frame(column)
    digits = f"{frame}.astype('Int64').astype(str)"
    line = f"{frame} = pandas.to_datetime({digits}, format='%Y%m%d', errors='coerce')"
    holds = f"{table.where(row)}: column '{column.name}' holds {numbers[row]:.0f}"
    return _stop(column, f"{holds}, which is no date, as the others are", int((~is_date).sum()), (line,))


# ------------------------------------------------------------------ notations of numbers and times


def _mends(column: Column, is_number: np.ndarray) -> Iterator[Mend]:
    """Yield what the words that are no numbers may be, where the plain numbers beside them fit."""
    odd = [word for word, is_one in zip(column.words, is_number, strict=True) if not is_one]
    plain = [word for word, is_one in zip(column.words, is_number, strict=True) if is_one]
    counts, names = column.counts[~is_number], {"c": _frame(column), "t": _texts(column)}
    for what, pattern, line in KINDS:
        is_near = np.array([re.fullmatch(pattern, word) is not None for word in odd])
        if is_near.any() and not (pattern == _POINTS and "." in "".join(plain)):  # 1.5 beside 1,5
            rest = "" if is_near.all() and (not plain or "to_numeric" in line) else ", errors='coerce'"
            mend = line.format(**names, rest=rest)
            yield Mend(what, int(counts[is_near].sum()), ((mend,),))
    yield from _affixed(odd, counts, column)
    yield from _dates(column)
    is_near = np.array([_NEAR.fullmatch(word) is not None for word in odd])
    yield Mend("which is near a number or a date", int(counts[is_near].sum()))


def _affixed(odd: Sequence[str], counts: np.ndarray, column: Column) -> Iterator[Mend]:
    """Yield numbers with one text, or one of a few, before or after them."""
    found = [(_AFFIXED.fullmatch(word), int(n)) for word, n in zip(odd, counts, strict=True)]
    matches = [(match, n) for match, n in found if match and (match["before"] or match["after"])]
    befores = {(match["before"] or "").strip() for match, _ in matches}
    units = {(match["after"] or "").strip() for match, _ in matches} - {""}
    if 2 * len({match["number"] for match, _ in matches}) <= len(matches):  # <=50K and >50K are words
        return
    if len(units) > _FEW or len(befores) > _FEW + 1:
        return
    if len(units) > 1 and all(len(unit) == 1 and unit.islower() for unit in units):  # house numbers, 12a
        return
    frame, texts = _frame(column), _texts(column)
    lines = [rf"{frame} = pandas.to_numeric({texts}.str.replace(',', '').str.extract(r'({_NUMBER})')[0])"]
    what = "a number with a text" if units else "a number with a sign or a currency"
    if "%" in units and (bare := int(column.counts.sum() - counts.sum())):
        what += f"; {counted(bare, 'cell')} {'has' if bare == 1 else 'have'} none"
    if len(units) > 1:
        what += f" of several kinds ({', '.join(sorted(units))}); the lines keep it"
        kept = f"frame[{f'{column.name} unit'!r}]"
        lines.insert(0, rf"{kept} = {texts}.str.extract(r'([^\d\s.,-][^\d\s]*)$')[0]")
    yield Mend(what, sum(n for _, n in matches), (tuple(lines),))


def _few_words(column: Column, is_number: np.ndarray) -> Mend | None:
    """Return the mend of a few words among numbers; None for codes with letters."""
    is_code = np.array([_CODE.fullmatch(word) is not None for word in column.words]) & ~is_number
    near, frame = int(column.counts[~is_number].sum()), _frame(column)
    if 2 * int(column.counts[is_code].sum()) > near:
        return None
    if [word for word in column.words if not is_float(word)] == [column.name]:
        without = f"frame = frame[{frame} != {column.name!r}].copy()"
        return Mend("the column's name", near, ((without, f"{frame} = pandas.to_numeric({frame})"),))
    numbers = f"pandas.to_numeric({frame}, errors='coerce')"
    words = f"frame[{f'{column.name} word'!r}] = {frame}.where({numbers}.isna())"
    return Mend("which is no number", near, ((words, f"{frame} = {numbers}"),))


# ------------------------------------------------------------------ dates


def _dates(column: Column) -> Iterator[Mend]:
    """Yield dates in another order, or with impossible days, and the formats that read them."""
    formats = _formats([word for word in column.words if _DATE.fullmatch(word)])
    is_iso = [looks_iso(word) for word in column.words]
    if not formats and 2 * int(column.counts[is_iso].sum()) > column.counts.sum():
        formats = [_ISO]
    frame, ways, near = _frame(column), list[tuple[str, ...]](), 0
    for form in formats[: 1 if formats and formats[0] in _YEAR_FIRST else 2]:
        near = int(column.counts[[_is_read(word, form) for word in column.words]].sum())
        rest = ", errors='coerce'" if near < column.counts.sum() else ""
        lines = [f"{frame} = pandas.to_datetime({_texts(column)}, format={form!r}{rest})"]
        if "%y" in form:  # 65 is 2065 there
            past = f"{frame} - pandas.DateOffset(years=100)"
            lines.append(f"{frame} = {frame}.where({frame} < pandas.Timestamp.now(), {past})")
        ways.append(tuple(lines))
    what = "which is no date" if formats and formats[0] in _YEAR_FIRST else "a date in another order"
    yield Mend(what, near, tuple(ways))


def _formats(words: Sequence[str]) -> list[str]:
    """Return the formats of FORMATS that read most of the words, and at least MOST of them."""
    likely = [form for form in FORMATS if any(_is_read(word, form) for word in words[:5])]
    read = {form: sum(_is_read(word, form) for word in words) for form in likely}
    most = max(read.values(), default=0)
    return [form for form, count in read.items() if count == most >= MOST * len(words)]


def _is_read(word: str, form: str) -> bool:
    if form == _ISO:
        return date_of(word) is not None
    try:
        datetime.datetime.strptime(word, form)
    except ValueError:
        return False
    return True
