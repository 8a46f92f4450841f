"""What is understood of a data set: its columns, what becomes of each, and what mends what stops a run."""

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from omkl.data.dataset import Dataset
from omkl.data.own_data import UserFile
from omkl.data.preparation import Preparation, Stop, column_word, in_shell
from omkl.data.preparing.columns import DATE, WORDS, Column, PreparedColumn
from omkl.data.preparing.notes import IN_TIME, is_warning
from omkl.data.preparing.recipe import TableChoice, choice_of
from omkl.data.preparing.user_table import Table
from omkl.data.reading.formats import format_of
from omkl.data.ref import DataRef
from omkl.errors import UserError, counted, quoted, shortlist, with_user_paths

Row = dict[str, Any]


class Look(NamedTuple):
    """A row for each column, a title, and sentences on what stops a run and what it gets."""

    rows: list[Row]
    title: str
    findings: list[str]


def look_at(ref: DataRef) -> Look:
    """Return what is understood of data. Raises UserError for a file that cannot be read at all."""
    name = "standard input" if ref.word == "-" else ref.word
    table = ref.table()
    if table is None:
        dataset, notes = _outcome(ref)
        if dataset is None:
            raise UserError(notes[0])
        size = f"{counted(dataset.T, 'row')}, {counted(dataset.d, 'feature')}"
        findings = [*notes, _gets(dataset, "A run"), *([_command(ref, dataset.task)] if ref.is_own else [])]
        return Look(_of_dataset(dataset), f"{name}: {size}", findings)
    try:
        label, findings = table.label, []
    except UserError as error:
        label, findings = None, [_stops(error)]
    chosen = choice_of(table, label)
    task = ref.task if label is None else _task(ref)
    rows = [_row(table.columns[column], table, chosen, task) for column in table.names]
    form = format_of(ref.path).title if isinstance(ref, UserFile) else "a data frame"
    title = f"{name}: {form}, {counted(len(table), 'row')}"
    findings += [_stops(stop) for stop in chosen.stops]
    if chosen.stops:
        return Look(rows, title, findings + _mending(ref, table, chosen.stops))
    if label is None:
        return Look(rows, title, [*findings, _command(ref, ref.task)])
    dataset, notes = _outcome(ref)
    findings += notes
    if dataset is not None:
        is_in_time = any(note.endswith(IN_TIME) for note in dataset.notes)
        findings += [_gets(dataset, "A run"), _command(ref, dataset.task, is_in_time)]
    return Look(rows, title, findings)


def _stops(error: UserError) -> str:
    return f"A run stops: {with_user_paths(str(error))}"


def _gets(dataset: Dataset, who: str) -> str:
    return f"{who} gets {counted(dataset.T, 'row')} with {counted(dataset.d, 'feature')}."


def _task(ref: DataRef) -> str:
    try:
        return ref.load().task
    except UserError:
        return ref.task


def _outcome(ref: DataRef) -> tuple[Dataset | None, list[str]]:
    """Return the data set that a run gets and its notes, or what stops it."""
    try:
        dataset = ref.load()
    except UserError as error:
        return None, [_stops(error)]
    kind = {True: "Warning", False: "Note"}
    return dataset, [f"{kind[is_warning(note)]}: {note}" for note in dataset.notes]


def _command(ref: DataRef, task: str, in_time: bool = False, file: str = "") -> str:
    """Return the command that runs a file, with all settings in it; the label is named by the user alone."""
    preparation = getattr(ref, "preparation", Preparation())
    is_table = ref.is_table
    if file:  # which is plain
        preparation = replace(preparation, read={})
    words = [preparation.words, "label=COLUMN" if is_table and _has_no_label(ref) else ""]
    words += ["order=file" if in_time else "", f"task={task}" if task != "auto" else ""]
    command = " ".join(["omkl run algo=auto", in_shell(f"data={file or ref.word}"), *filter(None, words)])
    return f"To run {'that' if file else 'it'}: {command}"


def _has_no_label(ref: DataRef) -> bool:
    table = ref.table()
    try:
        return table is not None and not table.label
    except UserError:
        return True


def _mending(ref: DataRef, table: Table, stops: list[Stop]) -> list[str]:
    """Return the script that writes the mended file with its command, and, second, the command that drops."""
    preparation = getattr(ref, "preparation", Preparation())
    names = [stop.column for stop in stops]
    dropped = replace(
        preparation, drop=(*preparation.drop, *(name for name in names if name != preparation.label))
    )
    second = replace(ref, preparation=dropped)  # type: ignore[call-arg]
    if not isinstance(ref, UserFile) or not table.script:
        return [f"Or leave out what stops it: {_command(second, ref.task).partition(': ')[2]}"]
    new = f"{ref.name}-mended.csv"
    source = [*table.script, *(line for stop in stops for line in stop.lines)]
    modules = ["numpy", "pandas"] if any("numpy." in line for line in source) else ["pandas"]
    script = [*(f"import {module}" for module in modules), *source, f"frame.to_csv({new!r}, index=False)"]
    return [
        "\n".join(
            [f"These lines of Python write {new}, which a run takes:", *(f"    {line}" for line in script)]
        ),
        _command(ref, ref.task, file=new),
        f"Dropping {'them' if names[1:] else 'it'} instead loses what {shortlist(quoted(names))} "
        f"hold{'' if names[1:] else 's'}: {_command(second, ref.task).partition(': ')[2]}",
    ]


# ------------------------------------------------------------------ the rows


def _of_dataset(dataset: Dataset) -> list[Row]:
    """Return the rows on data without named columns."""
    there = dataset.values[~np.isnan(dataset.values)]
    low, high = (there.min(), there.max()) if there.size else (0.0, 0.0)
    if dataset.nnz < dataset.T * dataset.d:
        low, high = min(low, 0.0), max(high, 0.0)
    share = dataset.nnz / max(1, dataset.T * dataset.d)
    features = f"features; {100 * share:.3g} % of the values are not 0"
    return [
        _line("label", "classes" if dataset.classes else dataset.task, _classes(dataset), 0, "label", ""),
        _line(f"1 to {dataset.d}", "numbers", f"{low:.6g} to {high:.6g}", 0, features, ""),
    ]


def _classes(dataset: Dataset) -> str:
    values, counts = np.unique(dataset.y, return_counts=True)
    if dataset.task != "classification":
        return f"{values[0]:.6g} to {values[-1]:.6g}"
    names = quoted(dataset.classes or ("-1", "+1"))
    return shortlist([f"{name} ({count})" for name, count in zip(names, counts.tolist(), strict=False)])


def _line(column: str, kind: str, values: str, gaps: int, use: str, words: str) -> Row:
    return {"column": column, "kind": kind, "values": values, "gaps": gaps, "use": use, "to change": words}


def _row(column: Column, table: Table, chosen: TableChoice, task: str) -> Row:
    """Return the row of a column."""
    name, gaps = column.name, int(column.missing.sum())
    prepared = chosen.columns.get(name)
    is_class = name == chosen.label and task != "regression"
    kind, values = _content(column, prepared, is_class)
    if name in {stop.column for stop in chosen.stops}:
        return _line(name, kind, values, gaps, "stops a run, see below", column_word("drop", name))
    if name == chosen.label:
        use = "label: classes" if is_class else "label: a number to predict"
        other = ", task=regression" if kind == "numbers" else ", positive=CLASS"
        use += ", rows without it left out" if gaps and table.form.missing != "error" else ""
        other = other if is_class else ", task=classification"
        return _line(name, kind, values, gaps, use, f"label=COLUMN{other}")
    if name in chosen.ids:
        return _line(name, kind, values, gaps, "names the rows", "id=COLUMN")
    if prepared is None:
        why = chosen.left_out.get(name, "")
        return _line(
            name, kind, values, gaps, f"left out ({why.rstrip('=')})", "drop=COLUMN" if why == "drop=" else ""
        )
    use = _use(column, prepared)
    filled = {"online": "the mean of the rows seen", "drop": "rows with gaps left out"}
    words = column_word("drop", name)
    if gaps and table.form.missing == "error":
        return _line(name, kind, values, gaps, "stops a run: gaps", "missing=online, missing=drop")
    if gaps:
        way = filled[table.form.missing]
        use += ", a gap is a word of its own" if prepared.kind == WORDS else f", gaps: {way}"
    return _line(name, kind, values, gaps, use, words)


def _use(column: Column, prepared: PreparedColumn) -> str:
    if prepared.kind == WORDS:
        return f"{counted(len(column.words), 'feature')}, one for each word"
    if prepared.parts:
        return f"{counted(len(prepared.parts), 'feature')}: {', '.join(prepared.parts)}"
    return "a feature"


def _content(column: Column, prepared: PreparedColumn | None, is_class: bool) -> tuple[str, str]:
    """Return the kind of a column, and what it holds, in short."""
    if column.missing.all():
        return "empty", ""
    if prepared and prepared.kind == DATE and column.dates is not None:
        first, last = np.nanmin(column.dates), np.nanmax(column.dates)
        return "dates", " to ".join(str(np.datetime64(int(np.floor(day)), "D")) for day in (first, last))
    if column.dtype.kind in "mMc" or any(
        not isinstance(v, str | int | float | bool) for v in column.values.head(1)
    ):
        return str(column.dtype), ""
    numbers = None if column.is_declared or column.is_truth else column.numbers
    kind = "true, false" if column.is_truth else "words" if numbers is None else "numbers"
    if numbers is not None and not (is_class and len(column.words) <= 20):
        return kind, f"{np.nanmin(numbers):.6g} to {np.nanmax(numbers):.6g}"
    counts = dict(zip(column.words, column.counts.tolist(), strict=True))
    common = sorted(counts.items(), key=lambda one: (-one[1], one[0]))
    if len(common) > 8 and not is_class:
        return kind, f"{len(common)} different: {', '.join(quoted([text for text, _ in common[:3]]))}, ..."
    names = quoted([text for text, _ in common])
    return kind, shortlist([f"{name} ({count})" for name, (_, count) in zip(names, common, strict=True)])
