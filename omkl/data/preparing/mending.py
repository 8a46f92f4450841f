"""What stops a run at a column that is near numbers or dates, and the lines of pandas that mend it.

The lines are for a frame called ``frame``. What a column is near to is decided by most of its cells. Codes
with letters, addresses and names are words.
"""

import datetime
import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from omkl.data.preparation import Stop
from omkl.data.preparing.columns import Column, date_of, eight_digit_days, is_float, looks_iso
from omkl.errors import counted, show
from omkl.typed import column_word

if TYPE_CHECKING:
    from omkl.data.preparing.user_table import Table

MOST = 0.9  # of dates that are read, from which on the others are impossible days
_FEW = 3  # different units, or words that are no dates
_FEW_LABELS = 20  # different labels such as <=50K and >50K, which are classes
_SAMPLE = 2000  # different words that show whether a column of more is near to anything
_NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"
_COMMAS = r"[-+]?\d{1,3}(?:,\d{3})+(?:\.\d*)?"
_POINTS = r"[-+]?\d{1,3}(?:\.\d{3})+(?:,\d*)?|[-+]?\d*,\d+"
_MINUS = "\u2212\u2010\u2011\u2012\u2013\ufe63\uff0d"  # what programs write for - before a number
_BEFORE = r"(?:[<>≤≥~≈±]=?|US\$|R\$|[$€£¥₹₽₩₺฿]|USD|EUR|GBP|CHF|JPY)"
_AFTER = r"(?:[%‰°µμΩ€£$][A-Za-z/²³]{0,6}|\s[^\s\d]{1,10}|[a-z][A-Za-z/²³]{0,5}|[kMGTB])"
_AFFIXED = re.compile(rf"(?P<before>{_BEFORE}\s*)?(?P<number>{_COMMAS}|{_NUMBER})(?P<after>\s*{_AFTER})?")
_CODE = re.compile(r"(?=.*[A-Za-z])(?=.*\d)[^#].*|\d+(?:[-./]\d+)+|.*\d.*[-/ ].*\d.*")
_MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
_DATE = re.compile(
    rf"(?i)(?=.*\d)(?=.{{4,40}}\Z)(?:.*(?:{'|'.join(_MONTHS)}).*|\d+([-/. ])\d+\1\d+.*|\d{{1,2}}/\d{{4}})"
)


class Kind(NamedTuple):
    """Cells that are near numbers or times.

    what: one is called    pattern: all of one    line: mends a column {c}, whose texts are {t}; {rest} makes
    gaps of cells that are none    plain: all of a number that may stand beside them
    """

    what: str
    pattern: str
    line: str
    plain: str = ".*"


_IN_ANOTHER = "a number in another notation"
_TO_NUMBERS = "{{c}} = pandas.to_numeric({{t}}{}{{rest}})"
_HOURS = ".dt.total_seconds() / 3600"
KINDS = (
    Kind(_IN_ANOTHER, _COMMAS, _TO_NUMBERS.format(".str.replace(',', '')")),
    Kind(
        _IN_ANOTHER,
        _POINTS,
        _TO_NUMBERS.format(".str.replace('.', '').str.replace(',', '.')"),
        rf"[-+]?\d+|{_POINTS}",
    ),
    Kind(
        _IN_ANOTHER,
        r"[-+]?\d{1,3}(?:[ '’\u2009]\d{3})+(?:[.,]\d*)?",
        _TO_NUMBERS.format(r".str.replace(r'[ \'’\u2009]', '', regex=True).str.replace(',', '.')"),
    ),
    Kind(
        "a number with another sign for minus",
        rf"[{_MINUS}]{_NUMBER}",
        _TO_NUMBERS.format(rf".str.replace(r'^[{_MINUS}]', '-', regex=True)"),
    ),
    Kind(
        "a negative number in brackets",
        r"\(\d[\d,]*\.?\d*\)",
        _TO_NUMBERS.format(r".str.replace(r'^\((.*)\)$', r'-\1', regex=True).str.replace(',', '')"),
    ),
    Kind(
        "a number in thousands or millions",
        r"[-+]?\d*\.?\d+[kKMB]",
        "{c} = pandas.to_numeric({t}.replace({{'[kK]$': 'e3', 'M$': 'e6', 'B$': 'e9'}}, regex=True){rest})",
    ),
    Kind(
        "a time of day, or a duration",
        r"\d{1,3}:\d{2}(?::\d{2}(?:\.\d+)?)?",
        "{c} = pandas.to_timedelta({t}.str.replace(r'^(\\d+:\\d+)$', r'\\1:00', regex=True){rest})" + _HOURS,
    ),
    Kind(
        "a time of day",
        r"(?:1[0-2]|0?[1-9]):[0-5]\d ?[AaPp][Mm]",
        "{c} = (pandas.to_datetime({t}.str.replace(' ', ''), format='%I:%M%p'{rest})"
        f" - pandas.Timestamp('1900-01-01')){_HOURS}",
    ),
    Kind(
        "a quarter",
        r"\d{4}[-: ]?[Qq][1-4]",
        "{c} = pandas.PeriodIndex({t}.str.extract(r'^(\\d{{4}}[-: ]?[Qq][1-4])$')[0]"
        ".str.replace(r'[-: ]?[Qq]', 'Q', regex=True), freq='Q').to_timestamp()",
    ),
    Kind(
        "a week",
        r"\d{4}-?W\d{2}",
        "{c} = pandas.to_datetime({t}.str.replace('-', '') + '1', format='%GW%V%u'{rest})",
    ),
)


class Mend(NamedTuple):
    """What cells are, how many are near to it, and the ways to mend their column: lines of pandas each."""

    what: str
    near: int
    ways: tuple[tuple[str, ...], ...]


def stop_of(column: Column, table: "Table") -> Stop | None:
    """Return what stops a run at a column of features, None where nothing does."""
    if column.is_numeric:
        return _stop_of_eight_digits(column, table)
    if (stop := _stop_of_kind(column, table)) or column.is_truth or column.dtype.kind == "M":
        return stop
    if column.dates is not None:
        return _stop_of_offsets(column, table) if len(column.offsets) > 1 else None
    if column.numbers is not None:
        return None
    if len(column.words) > _SAMPLE and not stop_of(column.of_words(_SAMPLE), table):
        return None
    is_number = np.array([is_float(word) for word in column.words])
    total, numbers = int(column.counts.sum()), int(column.counts[is_number].sum())
    is_odd = ~is_number
    if 2 * int(column.counts[[looks_iso(word) for word in column.words]].sum()) > total:
        is_odd = np.array([date_of(word) is None for word in column.words])
        mend: Mend | None = _mend_of_dates(column, is_odd)
    else:
        mends = [mend for mend in _mends(column, is_number) if 2 * mend.near > total - numbers]
        mend = max(mends, key=lambda one: one.near, default=None)
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
    others = f" ({count} such cells)" if count > 1 else ""
    helps = ", or ".join("; ".join(lines) for lines in ways)
    drop = column_word("drop", column.name)
    lines = [*ways[0], *(f"# or {'; '.join(lines)}" for lines in ways[1:])]
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
    elif kind == "c" or complex in kinds:
        what, lines = "complex numbers", [f"{frame} = {frame}.map(numpy.abs)"]
    elif any(issubclass(one, list | dict | set | np.ndarray) for one in kinds):
        what, lines = "lists or objects", [f"del {frame}"]
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


def _stop_of_offsets(column: Column, table: "Table") -> Stop:
    local = ".dt.tz_convert('Europe/Berlin').dt.tz_localize(None)"  # such as it may be
    line = f"{_frame(column)} = pandas.to_datetime({_texts(column)}, utc=True){local}"
    shown = " and ".join(offset or "none" for offset in column.offsets[:3])
    text = f"{table.path}: column '{column.name}' has times with different offsets from UTC ({shown})"
    return _stop(column, f"{text}; write local times", 1, (line,))


# ------------------------------------------------------------------ notations of numbers and times


def _mends(column: Column, is_number: np.ndarray) -> Iterator[Mend]:
    """Yield what the words that are no numbers may be, where the plain numbers beside them fit."""
    odd = [word for word, is_one in zip(column.words, is_number, strict=True) if not is_one]
    plain = [word for word, is_one in zip(column.words, is_number, strict=True) if is_one]
    counts, names = column.counts[~is_number], {"c": _frame(column), "t": _texts(column)}
    for kind in KINDS:
        is_near = np.array([re.fullmatch(kind.pattern, word) is not None for word in odd])
        if is_near.any() and all(re.fullmatch(kind.plain, word) for word in plain):
            rest = "" if is_near.all() and (not plain or "to_numeric" in kind.line) else ", errors='coerce'"
            line = kind.line.format(**names, rest=rest)
            yield Mend(kind.what, int(counts[is_near].sum()), ((line,),))
    yield from _affixed(odd, counts, column)
    yield from _dates(odd, counts, column)


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
        unit = f"frame[{f'{column.name} unit'!r}]"
        lines.insert(0, rf"{unit} = {texts}.str.extract(r'([^\d\s.,-][^\d\s]*)$')[0]")
        what = f"a number in one of several units ({', '.join(sorted(units))})"
    yield Mend(what, sum(n for _, n in matches), (tuple(lines),))


def _few_words(column: Column, is_number: np.ndarray) -> Mend | None:
    """Return the mend of a few words among numbers; None for codes with letters."""
    odd = [word for word, is_one in zip(column.words, is_number, strict=True) if not is_one]
    counts, frame = column.counts[~is_number], _frame(column)
    near = int(counts.sum())
    if 2 * sum(n for word, n in zip(odd, counts, strict=True) if _CODE.fullmatch(word)) > near:
        return None
    if odd == [column.name]:
        without = f"frame = frame[{frame} != {odd[0]!r}].copy()"
        return Mend("the column's name", near, ((without, f"{frame} = pandas.to_numeric({frame})"),))
    numbers = f"pandas.to_numeric({frame}, errors='coerce')"
    if not any(letter.isalnum() for letter in "".join(odd)):
        return Mend("which may mean that there is no value", near, ((f"{frame} = {numbers}",),))
    words = f"frame[{f'{column.name} word'!r}] = {frame}.where({numbers}.isna())"
    return Mend("which is no number", near, ((words, f"{frame} = {numbers}"),))


# ------------------------------------------------------------------ dates


def _mend_of_dates(column: Column, is_odd: np.ndarray) -> Mend:
    """Return the mend of a column of dates with the year first, of which the odd words are none."""
    frame, texts = _frame(column), _texts(column)
    others = [word for word, is_one in zip(column.words, is_odd, strict=True) if is_one]
    written = [word for word in column.words if looks_iso(word)]
    count = int(column.counts[is_odd].sum())
    if all_read := [form for form, share in _formats(written, others) if share == 1]:
        rest = ", errors='coerce'" if len(written) < len(column.words) else ""
        lines = [f"{frame} = pandas.to_datetime({texts}, format={form!r}{rest})" for form in all_read[:2]]
        return Mend("a date in another order", count, tuple((line,) for line in lines))
    line = f"{frame} = pandas.to_datetime({texts}, format='ISO8601', errors='coerce')"
    if len(others) <= _FEW:
        line = f"{frame} = {frame}.mask({texts}.str.strip().isin({others!r}))"
    return Mend("which is no date", count, ((line,),))


def _dates(odd: Sequence[str], counts: np.ndarray, column: Column) -> Iterator[Mend]:
    """Yield dates that do not begin with the year, with the formats that read them all."""
    written = [word for word in odd if _DATE.fullmatch(word)]
    formats = [form for form, share in _formats(written, written) if share >= MOST]
    frame, texts, ways = _frame(column), _texts(column), []
    for form in formats[:2]:
        near = int(sum(n for word, n in zip(odd, counts, strict=True) if _is_read(word, form)))
        rest = ", errors='coerce'" if near < column.counts.sum() else ""
        lines = [f"{frame} = pandas.to_datetime({texts}, format={form!r}{rest})"]
        if "%y" in form:  # 65 is 2065 there
            past = f"{frame} - pandas.DateOffset(years=100)"
            lines.append(f"{frame} = {frame}.where({frame} < pandas.Timestamp.now(), {past})")
        ways.append((near, tuple(lines)))
    if ways:
        what = (
            "a date in words"
            if re.search("%[bB]", formats[0])
            else "a date that does not begin with the year"
        )
        yield Mend(what, ways[0][0], tuple(lines for _, lines in ways))


def _formats(words: Sequence[str], examples: Sequence[str]) -> list[tuple[str, float]]:
    """Return the formats, as strptime takes them, that read most of the words, and the share that they read.

    examples: the words whose parts are looked at
    """
    of_examples = dict.fromkeys(form for word in examples[:5] for form in _formats_of(word))
    found = [(form, sum(_is_read(word, form) for word in words) / len(words)) for form in of_examples]
    most = max((share for _, share in found), default=0.0)
    return [(form, share) for form, share in found if share == most > 0]


def _formats_of(word: str) -> Iterator[str]:
    """Yield the formats that a date may have: day, month and year in their usual orders, and a time."""
    parts = re.findall(r"\d+|[^\W\d_]+|[\W_]+", word)
    dates = [at for at, part in enumerate(parts) if part.isdecimal() or part[:3].lower() in _MONTHS][:3]
    has_half = any(part.lower() in ("am", "pm") for part in parts)
    clock = iter(("%I" if has_half else "%H", "%M", "%S", "%f"))
    form = [
        next(clock, "") if part.isdecimal() and at not in dates else part for at, part in enumerate(parts)
    ]
    for at, part in enumerate(parts):
        if part.lower() in ("am", "pm"):
            form[at] = "%p"
        elif part[:3].lower() in ("mon", "tue", "wed", "thu", "fri", "sat", "sun"):
            form[at] = "%a" if len(part) == 3 else "%A"
    for order in ("dmy", "mdy", "ydm", "ymd", "my", "ym"):
        if len(order) == len(dates):
            for at, field in zip(dates, order, strict=True):
                is_name, is_long = not parts[at].isdecimal(), len(parts[at]) > (3 if field == "m" else 2)
                letter = {"m": "bB"[is_long] if is_name else "m", "y": "yY"[is_long]}.get(field, field)
                form[at] = f"%{letter}"
            yield "".join(form)


def _is_read(word: str, form: str) -> bool:
    try:
        datetime.datetime.strptime(word, form)
    except ValueError:
        return False
    return True
