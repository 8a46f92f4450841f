"""What is understood of a data set: its columns, what becomes of each, and the words that change it."""

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from omkl.data.dataset import Dataset
from omkl.data.own_data import Frame, UserFile
from omkl.data.preparation import Preparation, Stop, column_word, in_shell
from omkl.data.preparing.columns import DATE, LETTERS, WORDS, PreparedColumn, date_texts
from omkl.data.preparing.notes import WRITE_ALIKE
from omkl.data.preparing.recipe import TableChoice, choice_of, mended
from omkl.data.reading import opening
from omkl.data.reading.formats import check_settings, format_of, read_table
from omkl.data.reading.tables import DataTable, of_frame
from omkl.data.ref import DataRef
from omkl.errors import UserError, counted, quoted, shortlist, with_user_paths

Row = dict[str, Any]


class Look(NamedTuple):
    """A row for each column, a title, and sentences on what stops a run and what it gets."""

    rows: list[Row]
    title: str
    findings: list[str]


def look_at(ref: DataRef) -> Look:
    """Return what is understood of data, as if all that stops a run had been mended.

    Raises UserError for a file that cannot be read at all, or where no setting mends the last stop.
    """
    name = "standard input" if ref.word == "-" else ref.word
    is_file = isinstance(ref, UserFile)
    stops, table, title = list[Stop](), None, name
    if (read := _reader(ref)) is not None and isinstance(ref, UserFile | Frame):
        table, preparation, stops = mended(read, ref.preparation)
        ref = replace(ref, preparation=preparation)
    findings, rows = [f"A run stops: {with_user_paths(str(stop))}" for stop in stops], list[Row]()
    if table is None and stops:  # the last one is what no setting mends
        raise UserError("\n".join(map(str, stops)))
    dataset, notes = _outcome(ref) if table is not None else (ref.load(), [])
    findings += notes
    if table is not None:
        task = dataset.task if dataset else ref.task
        stopped = {stop.column: stop for stop in stops if stop.column}
        chosen = choice_of(table)
        rows = [_row(column, table, chosen, stopped.get(column), task) for column in table.names]
        form = format_of(ref.path).title if isinstance(ref, UserFile) else "a data frame"
        title = f"{name}: {form}, {counted(len(table), 'row')}"
    elif dataset is not None:
        rows, title = (
            _of_dataset(dataset),
            f"{name}: {counted(dataset.T, 'row')}, {counted(dataset.d, 'feature')}",
        )
    if dataset is not None:
        gets = f"{counted(dataset.T, 'row')} with {counted(dataset.d, 'feature')}"
        findings.append(f"{'With these words a' if stops else 'A'} run gets {gets}.")
        findings += [f"To run it: {_command(ref, dataset.task, rows)}"] if is_file else []
    return Look(rows, title, findings)


def _reader(ref: DataRef) -> Callable[[Preparation], DataTable] | None:
    """Return what reads the columns of a user's table with a preparation; None for other data."""
    if isinstance(ref, Frame):
        frame, name = ref.frame, Path(ref.name)
        return lambda preparation: of_frame(frame, name, preparation)
    if isinstance(ref, UserFile) and format_of(ref.path).is_table:
        path, word = ref.path, ref.word

        def read(preparation: Preparation) -> DataTable:
            check_settings(word, path, preparation)
            return read_table(path, preparation, opening.size_limit())

        return read
    return None


def _command(ref: DataRef, task: str, rows: list[Row]) -> str:
    """Return the command that runs a file, with all settings in it."""
    preparation = getattr(ref, "preparation", Preparation())
    label = next((row["column"] for row in rows if row["use"].startswith("label")), None)
    if format_of(ref.path).is_table:  # type: ignore[attr-defined]
        preparation = replace(preparation, label=label)
    gaps = any(row["gaps"] for row in rows) and "missing=" not in preparation.words
    words = [preparation.words, "missing=online" if gaps else "", f"task={task}"]
    return " ".join(["omkl run algo=auto", in_shell(f"data={ref.word}"), *filter(None, words)])


def _outcome(ref: DataRef) -> tuple[Dataset | None, list[str]]:
    """Return the data set that a run gets and its notes, or what stops it."""
    try:
        dataset = ref.load()
    except UserError as error:
        return None, [f"A run stops: {with_user_paths(str(error))}"]
    kind = {True: "Warning", False: "Note"}
    return dataset, [f"{kind[note.endswith(WRITE_ALIKE)]}: {note}" for note in dataset.notes]


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


def _row(name: str, table: DataTable, chosen: TableChoice, stop: Stop | None, task: str) -> Row:
    """Return the row of a column; stop: what stops a run at it, which settings have mended."""
    column, gaps = chosen.columns.get(name), int(table.missing(name).sum())
    is_class = name == chosen.label and task != "regression"
    kind, values = _content(name, column, table, is_class)
    if name == chosen.label:
        use = "label: classes" if is_class else "label: a number to predict"
        other = ", task=regression" if kind == "numbers" else ", positive=CLASS"
        use += ", rows without it left out" if gaps and table.form.missing != "error" else ""
        other = other if is_class else ", task=classification"
        return _line(name, kind, values, gaps, use, f"label=COLUMN{other}")
    if stop:
        return _line(name, kind, values, gaps, "stops a run, see below", _words_of(stop))
    if name in chosen.ids:
        return _line(name, kind, values, gaps, "names the rows", "id=COLUMN")
    if column is None:
        why = chosen.left_out.get(name, "")
        helps = {"drop=": "drop=COLUMN", "dates=drop": "dates=parts"}.get(why, "")
        return _line(name, kind, values, gaps, f"left out ({why.rstrip('=')})", helps)
    use, words = _use(column, table), [column_word("drop", name)]
    words += {DATE: ["dates=ordinal"], WORDS: ["categorical=error"]}.get(column.kind, [])
    if table.form.scale != "none":
        use += f", scale={table.form.scale}"
    filled = {"mean": "the mean", "online": "the mean of the rows seen", "drop": "rows with gaps left out"}
    if gaps and table.form.missing == "error":
        return _line(name, kind, values, gaps, "stops a run: gaps", "missing=mean, missing=drop")
    if gaps:
        way = filled[table.form.missing]
        use += ", a gap is a word of its own" if column.kind == WORDS else f", gaps: {way}"
    return _line(name, kind, values, gaps, use, ", ".join(words))


def _words_of(stop: Stop) -> str:
    return Preparation().mended(stop.mend).words


def _use(column: PreparedColumn, table: DataTable) -> str:
    if column.kind == WORDS:
        different = [word for word in column.with_words(table).parts if word]
        return f"{counted(len(different), 'feature')}, one for each word"
    if column.parts:
        features = f": {', '.join(column.parts)}" if column.kind != LETTERS else ", the codes of letters"
        return f"{counted(len(column.parts), 'feature')}{features}"
    return "a feature"


def _content(name: str, column: PreparedColumn | None, table: DataTable, is_class: bool) -> tuple[str, str]:
    """Return the kind of a column, and what it holds, in short."""
    missing, numbers = table.missing(name), table.numbers(name)
    if missing.all():
        return "empty", ""
    if column and column.kind == DATE and (features := column.values(table)) is not None:
        texts = date_texts(name, table)
        first, last = np.nanargmin(features[:, 0]), np.nanargmax(features[:, 0])
        return "dates", f"{texts[first]} to {texts[last]}"
    is_truth = table.is_truth(name)
    kind = "words" if numbers is None else "true, false" if is_truth else "numbers"
    counts = Counter(table.text(name)[~missing]) if numbers is None or is_class or is_truth else Counter()
    if numbers is not None and not is_truth and not (is_class and len(counts) <= 20):
        return kind, f"{np.nanmin(numbers):.6g} to {np.nanmax(numbers):.6g}"
    common = sorted(counts.items(), key=lambda one: (-one[1], one[0]))
    if len(common) > 8 and not is_class:
        return kind, f"{len(common)} different: {', '.join(quoted([text for text, _ in common[:3]]))}, ..."
    names = quoted([text for text, _ in common])
    return kind, shortlist([f"{name} ({count})" for name, (_, count) in zip(names, common, strict=True)])
