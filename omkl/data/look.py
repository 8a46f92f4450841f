"""What is understood of a data set: its columns, what becomes of each, and what mends what stops a run."""

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from omkl.data.dataset import Dataset
from omkl.data.own_data import Own
from omkl.data.preparation import Preparation
from omkl.data.preparing.columns import DATE, WORDS, Column, PreparedColumn
from omkl.data.preparing.notes import IN_TIME, is_warning
from omkl.data.preparing.recipe import TableChoice, choice_of
from omkl.data.preparing.user_table import Table
from omkl.data.reading.formats import format_of
from omkl.data.ref import DataRef
from omkl.errors import UserError, counted, quoted, shortlist, with_user_paths
from omkl.typed import in_shell

Row = dict[str, Any]


class Look(NamedTuple):
    """A row for each column, a title, and sentences on what stops a run and what it gets."""

    rows: list[Row]
    title: str
    findings: list[str]


def look_at(ref: DataRef) -> Look:
    """Return what is understood of data. Raises UserError for a file that cannot be read at all."""
    name, table = "standard input" if ref.word == "-" else ref.word, ref.table()
    if table is None:
        dataset = ref.load()
        size = f"{counted(dataset.T, 'row')}, {counted(dataset.d, 'feature')}"
        commands = [_command(ref, dataset.task, "label")] if ref.is_own else []
        return Look([], f"{name}: {size}, no named columns", [*_got(dataset), *commands])
    assert isinstance(ref, Own)
    form = format_of(ref.source).title if ref.is_file else "a data frame"
    title = f"{name}: {form}, {counted(len(table), 'row')}"
    label, stops, task = None, list[UserError](), ref.task
    try:
        label = table.label
    except UserError as error:
        stops.append(error)
    chosen = choice_of(table, label)
    stops += chosen.stops
    findings = list[str]()
    if not stops:
        try:
            dataset = ref.load()
            task, in_time = dataset.task, any(note.endswith(IN_TIME) for note in dataset.notes)
            findings = [*_got(dataset), _command(ref, task, label, in_time)]
        except UserError as error:
            stops.append(error)
    elif chosen.stops:
        findings = _mending(ref, table, chosen)
    else:
        findings = [_command(ref, task, label)]
    rows = [_row(table.columns[column], table, chosen, task) for column in table.names]
    return Look(rows, title, [f"A run stops: {with_user_paths(str(stop))}" for stop in stops] + findings)


def _got(dataset: Dataset) -> list[str]:
    """Return the notes on the data of a run, and how many they are."""
    notes = [f"{'Warning' if is_warning(note) else 'Note'}: {note}" for note in dataset.notes]
    return [*notes, f"A run gets {counted(dataset.T, 'row')} with {counted(dataset.d, 'feature')}."]


def _command(ref: DataRef, task: str, label: str | None, in_time: bool = False, file: str = "") -> str:
    """Return the command that runs a file, with all settings in it; the label is named by the user alone."""
    preparation = getattr(ref, "preparation", Preparation())
    if file:  # which is plain
        preparation = replace(preparation, read={})
    words = [preparation.words, "" if label else "label=COLUMN", "order=file" if in_time else ""]
    words.append(f"task={task}" if task != "auto" else "")
    command = " ".join(["omkl run algo=auto", in_shell(f"data={file or ref.word}"), *filter(None, words)])
    return f"To run {'that' if file else 'it'}: {command}"


def _mending(ref: Own, table: Table, chosen: TableChoice) -> list[str]:
    """Return the script that writes the mended file with its command, and, second, the command that drops."""
    names, label = [stop.column for stop in chosen.stops], chosen.label
    dropped = (*ref.preparation.drop, *(name for name in names if name != label))
    without = replace(ref, preparation=replace(ref.preparation, drop=dropped))
    drops = _command(without, ref.task, label).partition(": ")[2]
    if not table.read.script:
        return [f"Or leave out what stops it: {drops}"]
    new = f"{ref.name}-mended.csv"
    lines = [*table.read.script, *(line for stop in chosen.stops for line in stop.lines)]
    script = "\n    ".join(["", "import pandas", *lines, f"frame.to_csv({new!r}, index=False)"])
    them, hold = ("them", "hold") if names[1:] else ("it", "holds")
    yours = ", with yours in place of comments," if any(line.startswith("#") for line in lines) else ""
    return [
        f"These lines of Python{yours} write {new}, which a run takes:{script}",
        _command(ref, ref.task, label, file=new),
        f"Dropping {them} instead loses what {shortlist(quoted(names))} {hold}: {drops}",
    ]


# ------------------------------------------------------------------ the rows


def _row(column: Column, table: Table, chosen: TableChoice, task: str) -> Row:
    """Return the row of a column."""
    name, gaps, missing = column.name, int(column.missing.sum()), table.form.missing
    prepared, is_class = chosen.columns.get(name), name == chosen.label and task != "regression"
    if name in {stop.column for stop in chosen.stops}:
        use = "stops a run, see below"
    elif name == chosen.label:
        use = "label: classes" if is_class else "label: a number to predict"
        use += ", rows without it left out" if gaps and missing != "error" else ""
    elif name in chosen.ids:
        use = "names the rows"
    elif prepared is None:
        use = f"left out ({chosen.left_out[name].rstrip('=')})"
    elif gaps and missing == "error":
        use = "stops a run: gaps"
    else:
        use, filled = "a feature", "the mean of the rows seen" if missing == "online" else "rows left out"
        if prepared.kind == WORDS:
            use, filled = f"{counted(len(column.words), 'feature')}, one for each word", "a word of its own"
        elif prepared.parts:
            use = f"{counted(len(prepared.parts), 'feature')}: {', '.join(prepared.parts)}"
        use += f", gaps: {filled}" if gaps else ""
    kind, values = _content(column, prepared, is_class)
    return {"column": name, "kind": kind, "values": values, "gaps": gaps, "use": use}


def _content(column: Column, prepared: PreparedColumn | None, is_class: bool) -> tuple[str, str]:
    """Return the kind of a column, and what it holds, in short."""
    if column.missing.all():
        return "empty", ""
    if prepared and prepared.kind == DATE and column.dates is not None:
        first, last = np.nanmin(column.dates), np.nanmax(column.dates)
        return "dates", " to ".join(str(np.datetime64(int(np.floor(day)), "D")) for day in (first, last))
    if column.dtype.kind in "mMc":
        return str(column.dtype), ""
    numbers = None if column.is_declared or column.is_truth else column.numbers
    kind = "true, false" if column.is_truth else "words" if numbers is None else "numbers"
    if numbers is not None and not (is_class and len(column.words) <= 20):
        return kind, f"{np.nanmin(numbers):.6g} to {np.nanmax(numbers):.6g}"
    common = sorted(zip(column.words, column.counts.tolist(), strict=True), key=lambda one: (-one[1], one[0]))
    return kind, shortlist([f"{quoted([text])[0]} ({count})" for text, count in common])
