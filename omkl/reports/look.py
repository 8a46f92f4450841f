"""What is understood of a data set: its columns, what will be done with each, and the words to change it."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from omkl.config.data_choice import files
from omkl.data.dataset import Dataset
from omkl.data.formats import format_of
from omkl.data.labels import shortlist
from omkl.data.recipe import Choice, choice_of, fault_of_words
from omkl.data.ref import DataRef, Frame, UserFile
from omkl.data.tables import Column as DataColumn
from omkl.data.tables import Table as DataTable
from omkl.data.tables import column_word
from omkl.errors import UserError, called, counted, quoted
from omkl.reports.table import Table

MOST = 200  # columns that are shown; JSON has all
Row = dict[str, Any]


def look(data: Any, words: Sequence[str] = (), **settings: Any) -> Table:
    """Show what is understood of data before anything is run on them.

    Parameters
    ----------
    data
        A path, ``-`` for standard input, the name of a registered data set, or a frame (pandas, polars).
    words
        Settings as the command takes them, such as ``["label=repaid", "missing=mean"]``.
    **settings
        Such settings as keywords.

    Returns
    -------
    Table
        A row for each column: its kind, its range, its gaps, what will be done with it, and the words that
        change this. A notebook shows it as HTML; ``render("json")`` returns the rows as JSON.

    Raises
    ------
    UserError
        For a file that cannot be read at all. What only stops a run is shown below the table.
    """
    given = Frame("data", "classification", "data", data) if hasattr(data, "columns") else str(data)
    (ref,) = files(list(words), settings, [given])
    name = "standard input" if ref.word == "-" else ref.word
    if isinstance(ref, UserFile | Frame) and (table := ref.table()) is not None:
        chosen = choice_of(table, ref.preparation, ref.task)
        rows = [_row(place, table, chosen, ref) for place in range(len(table.columns))]
        form = f"{format_of(ref.path).title}" if isinstance(ref, UserFile) else "a data frame"
        title = f"{name}: {form}, {counted(len(table.columns[0].text), 'row')}"
    else:
        rows = _of_dataset(ref.load())
        title = f"{name}: {counted(ref.T, 'row')}, {counted(ref.d, 'feature')}"
    notes, fault = _outcome(ref)
    below = (
        [f"Columns {MOST + 1} to {len(rows)} are not shown; --format json has them."] if rows[MOST:] else []
    )
    return Table.of(rows, rows[:MOST], title=title, findings=[*notes, *fault], below=below)


def _outcome(ref: DataRef) -> tuple[list[str], list[str]]:
    """Return the notes of a run on the data, and what would stop it."""
    try:
        dataset = ref.load()
    except UserError as error:
        return [], [f"A run stops: {called(str(error))}"]
    return [f"Note: {note}" for note in dataset.notes], [
        f"A run gets {counted(dataset.T, 'row')} with {counted(dataset.d, 'feature')}."
    ]


def _of_dataset(dataset: Dataset) -> list[Row]:
    """Return the rows on data without named columns."""
    low, high = (dataset.values.min(), dataset.values.max()) if dataset.nnz else (0.0, 0.0)
    if dataset.nnz < dataset.T * dataset.d:
        low, high = min(low, 0.0), max(high, 0.0)
    share = dataset.nnz / max(1, dataset.T * dataset.d)
    features = f"features; {100 * share:.3g} % of the values are not 0"
    return [
        _made("label", "classes" if dataset.classes else dataset.task, _classes(dataset), 0, "label", ""),
        _made(f"1 to {dataset.d}", "numbers", f"{low:.6g} to {high:.6g}", 0, features, ""),
    ]


def _classes(dataset: Dataset) -> str:
    values, counts = np.unique(dataset.y, return_counts=True)
    if dataset.task != "classification":
        return f"{values[0]:.6g} to {values[-1]:.6g}"
    names = quoted(dataset.classes or ("-1", "+1"))
    return shortlist([f"{name} ({count})" for name, count in zip(names, counts.tolist(), strict=False)])


def _made(column: str, kind: str, values: str, gaps: int, use: str, words: str) -> Row:
    return {"column": column, "kind": kind, "values": values, "gaps": gaps, "use": use, "to change": words}


def _row(place: int, table: DataTable, chosen: Choice, ref: UserFile | Frame) -> Row:
    column, preparation = table.columns[place], ref.preparation
    own, gaps = chosen.conversions.get(column.name), int(column.missing.sum())
    texts, counts = np.unique(column.text[~column.missing].astype(str), return_counts=True)
    if own:
        kind = {"a date": "dates", "a time": "times", "a percentage": "percentages"}.get(own.kind, "money")
    elif not len(texts):
        kind = "empty"
    elif column.numbers is None:
        kind = "words"
    else:
        kind = "true, false" if column.truth else "numbers"
    values = _values(column, texts, counts, place == chosen.label and ref.task == "classification")
    if own:
        numbers = own.columns(column, table)[0].numbers
        assert numbers is not None
        values = f"{np.nanmin(numbers):.6g} to {np.nanmax(numbers):.6g}"
        if own.kind == "a date":
            values = f"{column.text[np.nanargmin(numbers)]} to {column.text[np.nanargmax(numbers)]}"
    if place == chosen.label:
        use = "label: classes" if ref.task == "classification" else "label: a number to predict"
        other = ", task=regression" if kind == "numbers" else ", positive=CLASS"
        other = other if ref.task == "classification" else ""
        return _made(column.name, kind, values, gaps, use, f"label=COLUMN{other}")
    if place in chosen.ids:
        return _made(column.name, kind, values, gaps, "names the rows", "id=COLUMN")
    if place in chosen.left_out:
        why = chosen.left_out[place]
        helps = {"drop=": "drop=COLUMN", "dates=drop": "dates=parts"}.get(why, "categorical=onehot")
        return _made(column.name, kind, values, gaps, f"left out ({why.rstrip('=')})", helps)
    use, words = "a feature", [column_word("drop", column.name)]
    if own and own.parts:
        use = f"{len(own.parts)} features: {', '.join(own.parts)}" if own.parts[1:] else "a feature: days"
        words.append("dates=ordinal" if own.parts[1:] else "dates=parts")
    elif (column.numbers is None or (column.truth and preparation.categorical == "onehot")) and not own:
        different = {text.lower() for text in texts} if column.truth else texts
        use = f"{counted(len(different), 'feature')}, one for each word"
        if column.numbers is None and (fault := fault_of_words(column, preparation)):
            use = f"stops a run: {fault[0]}"
            words += filter(None, fault[1:])
        else:
            words.append("categorical=error")
    elif preparation.scale != "none":
        use += f", scale={preparation.scale}"
    if gaps and preparation.missing == "error":
        use = f"{use}, gaps" if use.startswith("stops") else "stops a run: gaps"
        words = ["missing=mean", "missing=drop", *words]
    elif gaps:
        use += ", the mean in gaps" if preparation.missing == "mean" else ", rows with gaps left out"
    return _made(column.name, kind, values, gaps, use, ", ".join(words))


def _values(column: DataColumn, texts: np.ndarray, counts: np.ndarray, is_class: bool) -> str:
    if not len(texts):
        return ""
    if column.numbers is not None and not column.truth and not (is_class and len(texts) <= 20):
        there = column.numbers[~column.missing]
        return f"{there.min():.6g} to {there.max():.6g}"
    order = np.argsort(-counts, kind="stable")
    if len(texts) > 8 and not is_class:
        return f"{len(texts)} different: {', '.join(quoted(texts[order[:3]]))}, ..."
    return shortlist([f"{name} ({counts[at]})" for name, at in zip(quoted(texts[order]), order, strict=True)])
