"""What stops a run at a column that is near numbers or dates, and the lines of pandas that mend it.

The lines are for a frame called ``frame``. What a column is near to is decided by most of its cells: units,
percentages, money, thousands, dates in words, in another order or impossible, times, quarters, numbers with a
few words among them. Codes with letters, addresses and names are words.
"""

import datetime
import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from omkl.data.preparation import Stop, column_word
from omkl.data.preparing.columns import Column, date_of, eight_digit_days, is_float, looks_iso
from omkl.errors import counted, show

if TYPE_CHECKING:
    from omkl.data.preparing.user_table import Table

FEW_CODES = 3  # different words in a column of numbers that may mean a gap
MOST = 0.9  # of whole numbers that are dates of eight digits: the others are impossible days
_FEW_LABELS = 20  # different labels such as <=50K and >50K, which are classes
_SAMPLE = 2000  # different words that show whether a column of more is near to anything
_NEAREST = 0.5  # of the cells: more than this are near to numbers, or to dates
_MINUS = "\u2212\u2010\u2011\u2012\u2013\ufe63\uff0d"  # what programs write for - before a number
_NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"
_GROUPED = r"[-+]?\d{1,3}(?:,\d{3})+(?:\.\d*)?"
_BEFORE = r"(?:[<>≤≥~≈±]=?|US\$|R\$|[$€£¥₹₽₩₺฿]|USD|EUR|GBP|CHF|JPY)"
_AFTER = r"(?:[%‰°µμΩ€£$][A-Za-z/²³]{0,6}|\s[^\s\d]{1,10}|[a-z][A-Za-z/²³]{0,5}|[kMGTB])"
_AFFIXED = re.compile(rf"(?P<before>{_BEFORE}\s*)?(?P<number>{_GROUPED}|{_NUMBER})(?P<after>\s*{_AFTER})?")
_INT = re.compile(r"[-+]?\d+")
_COMMAS = re.compile(_GROUPED)
_POINTS = re.compile(r"[-+]?\d{1,3}(?:\.\d{3})+(?:,\d*)?|[-+]?\d*,\d+")
_BLANKS = re.compile(r"[-+]?\d{1,3}(?:[ '’\u2009]\d{3})+(?:[.,]\d*)?")
_SHORT = re.compile(r"(?P<number>[-+]?\d*\.?\d+)[kKMB]")
_SIGNED = re.compile(rf"[{_MINUS}](?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")
_ACCOUNT = re.compile(r"\((\d[\d,]*\.?\d*)\)")
_CLOCK = re.compile(r"\d{1,3}:\d{2}(?P<seconds>:\d{2}(?:\.\d+)?)?")
_QUARTER = re.compile(r"\d{4}[-: ]?[Qq][1-4]")
_WEEK = re.compile(r"\d{4}-?W\d{2}")
_DATELIKE = re.compile(
    r"(?i)(?=.*\d)(?:.*(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec).*"
    r"|\d+([-/. ])\d+\1\d+.*|\d{1,2}/\d{4})"
)
_CODE = re.compile(r"(?=.*[A-Za-z])(?=.*\d).*|\d+(?:[-./]\d+)+|.*\d.*[-/ ].*\d.*")
_PARTS: tuple[str, ...] = (
    "%d{}%m{}%Y",
    "%m{}%d{}%Y",
    "%Y{}%d{}%m",
    "%d{}%m{}%y",
    "%m{}%d{}%y",
    "%d{}%b{}%Y",
    "%d{}%b{}%y",
)
_PARTS += (
    "%d{}%B{}%Y",
    "%d{}%B{}%y",
    "%b{}%d{}%Y",
    "%B{}%d{}%Y",
    "%Y{}%b{}%d",
    "%b{}%Y",
    "%B{}%Y",
    "%b{}%y",
    "%m{}%Y",
)
_PARTS += ("%Y{}%b", "%Y{}%m{}%d")
_IN_WORDS = ("%b %d, %Y", "%B %d, %Y", "%a, %d %b %Y", "%A, %d %B %Y", "%A, %B %d, %Y", "%a %b %d %Y")
_CLOCKS = ("", " %H:%M", " %H:%M:%S", " %I:%M %p", " %I:%M:%S %p", "T%H:%M:%S", " %H.%M")
_SHORT_YEAR = "%y"


class Mend(NamedTuple):
    """What cells are, and the lines that mend their column.

    near: how many cells are near to what it says, beside numbers or dates
    lines: none where two readings are possible, which ``ways`` has
    """

    what: str
    near: int
    lines: tuple[str, ...]
    ways: tuple[str, ...] = ()


def stop_of(column: Column, table: "Table") -> Stop | None:
    """Return what stops a run at a column of features, None where nothing does."""
    if stop := _stop_of_kind(column, table):
        return stop
    if column.is_numeric or column.is_truth or column.dtype.kind == "M":
        return _stop_of_eight_digits(column, table) if column.is_numeric else None
    if column.dates is not None:
        return _stop_of_offsets(column, table) if len(column.offsets) > 1 else None
    if column.numbers is not None:
        return None
    if len(column.words) > _SAMPLE and stop_of(Column(column.name, _sample(column)), table) is None:
        return None
    is_number = np.array([is_float(word) for word in column.words])
    is_date = np.array([date_of(word) is not None for word in column.words])
    total = int(column.counts.sum())
    iso = sum(n for word, n in zip(column.words, column.counts.tolist(), strict=True) if looks_iso(word))
    if iso > _NEAREST * total:
        return _stop_at(column, table, ~is_date, _dates(column, ~is_date))
    numbers = int(column.counts[is_number].sum())
    least = max(_NEAREST * total - numbers, _NEAREST * (total - numbers))
    mends = [mend for mend in _notations(column, is_number) if mend.near > least]
    if mends:
        best = max(mends, key=lambda mend: mend.near)
        return _stop_at(column, table, ~is_number, best)
    if numbers > _NEAREST * total and (few := _few_words(column, is_number)):
        return _stop_at(column, table, ~is_number, few)
    return None


def stop_of_label(column: Column, table: "Table") -> Stop | None:
    """Return what stops a run at the label: dates, and numbers in another notation."""
    if column.is_declared:
        return None
    if stop := _stop_of_kind(column, table):
        return stop
    frame = _frame(column)
    if column.dtype.kind == "M":
        text = f"{table.path}: the label (column '{column.name}') holds dates or times"
        line = f"{frame} = {frame}.astype(str)"
        return Stop(
            f"{text}; if each is a class, {line} in pandas, else write a number", (line,), column.name
        )
    if column.is_numeric or column.is_truth or not column.words or column.numbers is not None:
        return None
    is_number = np.array([is_float(word) for word in column.words])
    total, numbers = int(column.counts.sum()), int(column.counts[is_number].sum())
    for mend in _notations(column, is_number):
        is_plain = mend.what.startswith("a number in another notation") or len(column.words) > _FEW_LABELS
        if mend.near + numbers == total and is_plain and not _are_dates(mend):
            return _stop_at(column, table, ~is_number, mend, "the label (column '{}')")
    return None


def _sample(column: Column) -> Any:
    import pandas as pd

    return pd.Series(column.words[:_SAMPLE], dtype="str")


def _are_dates(mend: Mend) -> bool:
    return mend.what.startswith(("a date", "a time", "a quarter", "a week"))


def _frame(column: Column) -> str:
    return f"frame[{column.key!r}]"


def _texts(column: Column) -> str:
    """Return the column as texts: what a file has are texts already, a frame may mix them with numbers."""
    frame = _frame(column)
    return frame if column.dtype.name in ("str", "string") else f"{frame}.map(str, na_action='ignore')"


def _first(column: Column, odd: np.ndarray) -> tuple[int, str, int]:
    """Return the row and text of the first cell whose word is odd, and the number of such cells."""
    at = np.flatnonzero(odd)
    row = int(np.argmax(np.isin(column.place, at)))
    return row, column.words[column.place[row]], int(column.counts[at].sum())


def _stop_at(
    column: Column, table: "Table", odd: np.ndarray, mend: Mend, called: str = "column '{}'"
) -> Stop:
    """Return the stop at the first odd cell. odd: which of the words"""
    row, cell, count = _first(column, odd)
    others = f" ({count} such cells)" if count > 1 else ""
    ways = ", or ".join(mend.ways) if mend.ways else "; ".join(mend.lines)
    helps = f"in pandas {ways}, or {column_word('drop', column.name)} leaves the column out"
    text = f"{table.where(row)}: {called.format(column.name)} holds {show(cell)}, {mend.what}{others}"
    others_of_script = [f"# or {way}" for way in mend.ways[1:]]
    return Stop(f"{text}; {helps}", (*mend.lines, *others_of_script), column.name)


# ------------------------------------------------------------------ kinds of values


def _stop_of_kind(column: Column, table: "Table") -> Stop | None:
    """Return what stops a run at values that are no numbers, texts or dates, or not of one kind."""
    kind, frame = column.dtype.kind, _frame(column)
    if kind == "m":
        return _of_kind(column, table, "durations", f"{frame} = {frame}.dt.total_seconds()")
    if kind == "c":
        return _of_kind(
            column, table, "complex numbers",
            f"frame[{f'{column.name} (imaginary)'!r}] = numpy.imag({frame})",
            f"{frame} = numpy.real({frame})",
        )  # fmt: skip
    if getattr(column.dtype, "name", "").startswith("period"):
        return _of_kind(column, table, "periods", f"{frame} = {frame}.dt.to_timestamp()")
    if column.dtype != object:
        return None
    kinds = {type(value) for value in column.values[~column.missing]}
    if found := next((one for one in kinds if issubclass(one, list | dict | set | np.ndarray)), None):
        return _of_kind(column, table, f"{'objects' if issubclass(found, dict) else 'lists'}", f"del {frame}")
    if complex in kinds:
        line = f"{frame} = {frame}.map(numpy.abs)"
        return _of_kind(column, table, "complex numbers", line)
    if bool in kinds and len(kinds) > 1 and kinds - {bool} <= {int, float}:
        return _of_kind(column, table, "both numbers and true or false", f"{frame} = {frame}.astype(float)")
    return None


def _of_kind(column: Column, table: "Table", what: str, *lines: str) -> Stop:
    row = int(np.argmax(~column.missing))
    helps = f"in pandas {'; '.join(lines)}, or {column_word('drop', column.name)} leaves the column out"
    return Stop(f"{table.where(row)}: column '{column.name}' holds {what}; {helps}", lines, column.name)


def _stop_of_eight_digits(column: Column, table: "Table") -> Stop | None:
    """Return what stops a run at whole numbers most of which are dates of eight digits, but not all."""
    numbers = column.numbers
    assert numbers is not None
    there = numbers[~column.missing]
    if not np.median(there) >= 1000_01_01 or np.median(there) > 9999_12_31:
        return None
    good = ~np.isnan(eight_digit_days(there))
    if good.all() or good.mean() < MOST:
        return None
    row = np.flatnonzero(~column.missing)[int(np.argmin(good))]
    count, frame = int(np.count_nonzero(~good)), _frame(column)
    line = (
        f"{frame} = pandas.to_datetime({frame}.astype('Int64').astype(str), format='%Y%m%d', errors='coerce')"
    )
    holds = f"{table.where(int(row))}: column '{column.name}' holds {numbers[row]:.0f}"
    text = f"{holds}, which is no date, as the others are"
    drop = column_word("drop", column.name)
    helps = f"in pandas {line} makes gaps of such cells, or {drop} leaves the column out"
    return Stop(f"{text}{f' ({count} such cells)' if count > 1 else ''}; {helps}", (line,), column.name)


def _stop_of_offsets(column: Column, table: "Table") -> Stop:
    frame = _frame(column)
    local = ".dt.tz_convert('Europe/Berlin').dt.tz_localize(None)"
    line = f"{frame} = pandas.to_datetime({_texts(column)}, utc=True){local}"
    shown = " and ".join(offset or "none" for offset in column.offsets[:3])
    text = f"{table.path}: column '{column.name}' has times with different offsets from UTC ({shown})"
    helps = (
        f"write local times, in pandas {line}, or {column_word('drop', column.name)} leaves the column out"
    )
    return Stop(f"{text}; {helps}", (line,), column.name)


# ------------------------------------------------------------------ notations of numbers and times


def _notations(column: Column, is_number: np.ndarray) -> Iterator[Mend]:
    """Yield what the words that are no numbers may be, where the plain numbers beside them fit."""
    words, counts = column.words, column.counts
    odd = [word for word, is_one in zip(words, is_number, strict=True) if not is_one]
    of_odd = counts[~is_number]
    plain = [word for word, is_one in zip(words, is_number, strict=True) if is_one]
    frame, texts = _frame(column), _texts(column)

    def near(pattern: re.Pattern[str]) -> int:
        return int(sum(n for word, n in zip(odd, of_odd, strict=True) if pattern.fullmatch(word)))

    def numbers_of(text: str, near: int) -> str:
        rest = ", errors='coerce'" if near < of_odd.sum() else ""
        return f"{frame} = pandas.to_numeric({text}{rest})"

    ways = list(_decimals(odd, of_odd, plain, texts, numbers_of))
    if ways:
        what = "a number in another notation"
        lines = [line for _, line in ways]
        yield Mend(what, ways[0][0], tuple(lines[:1]), tuple(lines[:2]) if len(lines) > 1 else ())
    if count := near(_SIGNED):
        replaced = f"{texts}.str.replace(r'^[{_MINUS}]', '-', regex=True)"
        yield Mend("a number with another sign for minus", count, (numbers_of(replaced, count),))
    if count := near(_ACCOUNT):
        replaced = rf"{texts}.str.replace(r'^\((.*)\)$', r'-\1', regex=True).str.replace(',', '')"
        yield Mend("a negative number in brackets", count, (numbers_of(replaced, count),))
    if count := near(_SHORT):
        powers = "{'[kK]$': 'e3', 'M$': 'e6', 'B$': 'e9'}"
        yield Mend(
            "a number in thousands or millions",
            count + 1,
            (numbers_of(f"{texts}.replace({powers}, regex=True)", count),),
        )
    yield from _affixed(odd, of_odd, column)
    yield from _times(odd, of_odd, column)
    yield from _dates_in_words(column, odd, of_odd)


def _decimals(
    odd: Sequence[str], of_odd: np.ndarray, plain: Sequence[str], texts: str, numbers_of: Any
) -> Iterator[tuple[int, str]]:
    """Yield how many cells, and the line, of each notation of thousands and decimals."""
    for pattern, steps in (
        (_COMMAS, ".str.replace(',', '')"),
        (_POINTS, ".str.replace('.', '').str.replace(',', '.')"),
        (_BLANKS, r".str.replace(r'[ \'’\u2009]', '', regex=True).str.replace(',', '.')"),
    ):
        count = int(sum(n for word, n in zip(odd, of_odd, strict=True) if pattern.fullmatch(word)))
        as_plain = pattern is not _POINTS or all(_INT.fullmatch(w) or pattern.fullmatch(w) for w in plain)
        if count and as_plain:
            yield count, numbers_of(f"{texts}{steps}", count)


def _affixed(odd: Sequence[str], of_odd: np.ndarray, column: Column) -> Iterator[Mend]:
    """Yield numbers with one text, or one of a few, before or after them."""
    found = [(_AFFIXED.fullmatch(word), int(n)) for word, n in zip(odd, of_odd, strict=True)]
    matches = [(match, n) for match, n in found if match and (match["before"] or match["after"])]
    befores = {(match["before"] or "").strip() for match, _ in matches}
    afters = {(match["after"] or "").strip() for match, _ in matches}
    units = afters - {""}
    if 2 * len({match["number"] for match, _ in matches}) <= len(matches):
        return  # <=50K and >50K are words
    if not matches or len(units) > FEW_CODES or len(befores) > FEW_CODES + 1:
        return
    if len(units) > 1 and all(re.fullmatch(r"[a-z]", unit) for unit in units):
        return  # house numbers, 12a
    count, frame, texts = sum(n for _, n in matches), _frame(column), _texts(column)
    groups = ".str.replace(',', '')" if any("," in match["number"] for match, _ in matches) else ""
    form = r"[-+]?[\d.]+" if all(re.fullmatch(r"[-+]?[\d.,]+", m["number"]) for m, _ in matches) else _NUMBER
    number = f"{frame} = pandas.to_numeric({texts}{groups}.str.extract(r'({form})')[0])"
    if len(units) < 2:
        what = "a number with a text" if befores <= {""} or units else "a number with a sign or a currency"
        bare = int(column.counts.sum()) - int(of_odd.sum())
        what += (
            f"; {counted(bare, 'cell')} {'has' if bare == 1 else 'have'} none"
            if bare and "%" in units
            else ""
        )
        yield Mend(what, count, (number,))
        return
    new = f"frame[{f'{column.name} unit'!r}]"
    unit = rf"{new} = {texts}.str.extract(r'([^\d\s.,-][^\d\s]*)$')[0]"
    yield Mend(f"a number in one of several units ({', '.join(sorted(units))})", count, (unit, number))


def _times(odd: Sequence[str], of_odd: np.ndarray, column: Column) -> Iterator[Mend]:
    """Yield times of day and durations, quarters and weeks."""
    frame, texts = _frame(column), _texts(column)

    def share(pattern: re.Pattern[str]) -> int:
        return int(sum(n for word, n in zip(odd, of_odd, strict=True) if pattern.fullmatch(word)))

    if count := share(_CLOCK):
        seconds = all(match["seconds"] for word in odd if (match := _CLOCK.fullmatch(word)))
        short = any(not match["seconds"] for word in odd if (match := _CLOCK.fullmatch(word)))
        more = "" if seconds else " + ':00'"
        if not (short and not seconds and any(m["seconds"] for w in odd if (m := _CLOCK.fullmatch(w)))):
            rest = ", errors='coerce'" if count < of_odd.sum() else ""
            line = f"{frame} = pandas.to_timedelta({texts}{more}{rest}).dt.total_seconds() / 3600"
            yield Mend("a time of day, or a duration", count, (line,))
    for form in (" ", ""):
        clock = f"%I:%M{form}%p"
        if (count := _readable(odd, of_odd, clock)) > 0:
            time = f"pandas.to_datetime({texts}, format={clock!r}, errors='coerce')"
            line = f"{frame} = ({time} - pandas.Timestamp('1900-01-01')).dt.total_seconds() / 3600"
            yield Mend("a time of day", count, (line,))
    if count := share(_QUARTER):
        clean = rf"{texts}.str.replace(r'[-: ]?[Qq]', 'Q', regex=True)"
        clean += (
            r".where(" + rf"{texts}.str.fullmatch(r'\d{{4}}[-: ]?[Qq][1-4]'))" if count < of_odd.sum() else ""
        )
        yield Mend("a quarter", count, (f"{frame} = pandas.PeriodIndex({clean}, freq='Q').to_timestamp()",))
    if count := share(_WEEK):
        days = f"{texts}.str.replace('-', '') + '1'"
        line = f"{frame} = pandas.to_datetime({days}, format='%GW%V%u', errors='coerce')"
        yield Mend("a week", count, (line,))


def _few_words(column: Column, is_number: np.ndarray) -> Mend | None:
    """Return the mend of a few words among numbers; None for codes with letters."""
    odd = [word for word, is_one in zip(column.words, is_number, strict=True) if not is_one]
    counts = column.counts[~is_number]
    frame, near = _frame(column), int(counts.sum())
    codes = (n for word, n in zip(odd, counts, strict=True) if _CODE.fullmatch(word) and word[0] != "#")
    if sum(codes) > near / 2:
        return None
    if odd == [column.name]:
        line = f"frame = frame[{frame} != {odd[0]!r}].copy()"
        return Mend("the column's name", near, (line, f"{frame} = pandas.to_numeric({frame})"))
    if len(odd) <= FEW_CODES:
        mask = f"{frame}.mask({_texts(column)}.str.split().str.join(' ').isin({odd!r}))"
        what = (
            "which is no number"
            if any(c.isalnum() for c in "".join(odd))
            else "which may mean that there is no value"
        )
        return Mend(what, near, (f"{frame} = pandas.to_numeric({mask})",))
    return Mend("which is no number", near, (f"{frame} = pandas.to_numeric({frame}, errors='coerce')",))


# ------------------------------------------------------------------ dates


def _dates(column: Column, odd: np.ndarray) -> Mend:
    """Return the mend of a column of dates with the year first, of which the odd words are none."""
    frame, texts = _frame(column), _texts(column)
    others = [word for word, is_odd in zip(column.words, odd, strict=True) if is_odd]
    count = int(column.counts[odd].sum())
    written = [word for word in column.words if looks_iso(word)]
    if orders := _formats(written, all_of_them=True):
        rest = ", errors='coerce'" if len(written) < len(column.words) else ""
        lines = [f"{frame} = pandas.to_datetime({texts}, format={order!r}{rest})" for order in orders[:2]]
        return Mend("a date in another order", count, tuple(lines[:1]), tuple(lines) if lines[1:] else ())
    if len(others) <= FEW_CODES:
        line = f"{frame} = {frame}.mask({_texts(column)}.str.split().str.join(' ').isin({others!r}))"
        return Mend("which is no date", count, (line,))
    line = f"{frame} = pandas.to_datetime({texts}, errors='coerce', format='ISO8601')"
    return Mend("which is no date", count, (line,))


def _dates_in_words(column: Column, odd: Sequence[str], of_odd: np.ndarray) -> Iterator[Mend]:
    """Yield dates that do not begin with the year, with the formats that read them all."""
    orders = _formats(odd) if odd else []
    if not orders:
        return
    frame, texts = _frame(column), _texts(column)
    count = _readable(odd, of_odd, orders[0])
    rest = ", errors='coerce'" if count < column.counts.sum() else ""
    ways = []
    for order in orders[:2]:
        line = f"{frame} = pandas.to_datetime({texts}, format={order!r}{rest})"
        if _SHORT_YEAR in order:  # 65 is 2065 there
            past = f"{frame}.where({frame} < pandas.Timestamp.now(), {frame} - pandas.DateOffset(years=100))"
            line = f"{line}; {frame} = {past}"
        ways.append(line)
    what = (
        "a date that does not begin with the year"
        if "%b" not in orders[0] and "%B" not in orders[0]
        else "a date in words"
    )
    yield Mend(what, count, tuple(ways[0].split("; ")), tuple(ways) if ways[1:] else ())


def _formats(words: Sequence[str], all_of_them: bool = False) -> list[str]:
    """Return the formats, as strptime takes them, that read most of the words, at least nine in ten."""
    sample = [word for word in words if _DATELIKE.fullmatch(word) and len(word) <= 40][:200]
    if not sample or 2 * len(sample) < min(len(words), 200):
        return []
    firsts, found = sample[:: max(1, len(sample) // 5)], list[tuple[int, str]]()
    dates = [part.format(mark, mark) for part in _PARTS for mark in "/-. "] + list(_IN_WORDS)
    for order in (date + time for date in dates for time in _CLOCKS):
        if sum(_is_read(word, order) for word in firsts) * 2 > len(firsts):
            read = sum(_is_read(word, order) for word in words)
            if read == len(words) or (not all_of_them and read >= MOST * len(words)):
                found.append((read, order))
    most = max((read for read, _ in found), default=0)
    return [
        order for read, order in found if read == most and not (all_of_them and order.startswith("%Y-%m"))
    ]


def _is_read(word: str, order: str) -> bool:
    try:
        datetime.datetime.strptime(word, order)
    except ValueError:
        return False
    return True


def _readable(odd: Sequence[str], counts: np.ndarray, order: str) -> int:
    """Return how many cells a format reads."""
    return int(sum(n for word, n in zip(odd, counts, strict=True) if _is_read(word, order)))
