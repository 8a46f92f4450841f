"""What is understood of a data set: its columns, what will be done with each, and the words to change it."""

import shlex
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np

from omkl.config.request import files
from omkl.data.columns import DATE, LETTERS, TIME, WORDS, fault_of_words
from omkl.data.dataset import Dataset
from omkl.data.formats import format_of
from omkl.data.labels import WRITE_ALIKE, shortlist
from omkl.data.preparation import column_word, in_shell
from omkl.data.recipe import EMPTY, Choice, choice_of
from omkl.data.ref import DataRef, Frame, UserFile
from omkl.data.tables import Table as DataTable
from omkl.data.tables import label_place
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
    given = Frame("data", "auto", "data", data) if hasattr(data, "columns") else str(data)
    (ref,) = files(list(words), settings, [given])
    with suppress(UserError):  # which is shown below the table
        ref = ref.decided() if isinstance(ref, UserFile | Frame) else ref
    name = "standard input" if ref.word == "-" else ref.word
    if isinstance(ref, UserFile | Frame) and (table := ref.table()) is not None:
        chosen = choice_of(table, ref.preparation, ref.task)
        rows = [_row(place, table, chosen, ref) for place in range(len(table.names))]
        form = f"{format_of(ref.path).title}" if isinstance(ref, UserFile) else "a data frame"
        title = f"{name}: {form}, {counted(len(table), 'row')}"
    else:
        rows = _of_dataset(ref.load())
        title = f"{name}: {counted(ref.T, 'row')}, {counted(ref.d, 'feature')}"
    notes, fault = _outcome(ref)
    if isinstance(ref, UserFile):
        command, runs = _command(ref, rows)
        fault += [f"To run it: {command}"] if runs else []
    below = (
        [f"Columns {MOST + 1} to {len(rows)} are not shown; --format json has them."] if rows[MOST:] else []
    )
    return Table.of(rows, rows[:MOST], title=title, findings=[*notes, *fault], below=below)


def _command(ref: UserFile, rows: list[Row]) -> tuple[str, bool]:
    """Return the command that runs a file, with all settings in it, and whether it does.

    rows: of the table that is shown: where a run would stop, the words in them that help
    """
    table, preparation = ref.table(), ref.preparation
    gaps = table is not None and any(row["gaps"] for row in rows) and "missing=" not in preparation.words
    words = {"missing": "missing=online"} if gaps else {}
    if table is not None:
        place, _ = label_place(table.names, table.named, preparation, table.path)
        preparation = replace(preparation, label=table.names[place])
    try:
        task = ref.decided().load().task
    except UserError:
        stops = [row["column"] for row in rows if row["use"].startswith("stops")]
        helps = [word for name in stops for word in _helping(name, table)] if table is not None else []
        if not helps:
            return "", False
        words = {word.partition("=")[0]: word for word in [*shlex.split(preparation.words), *helps]}
        (changed,) = files(list(words.values()), {"task": ref.task}, [ref.word])
        assert isinstance(changed, UserFile)
        return _command(changed, [row for row in rows if not row["use"].startswith("stops")])
    own = " ".join(filter(None, [preparation.words, *words.values()]))
    return f"omkl run algo=auto {in_shell(f'data={ref.word}')} {own} task={task}".replace("  ", " "), True


def _helping(name: str, table: DataTable) -> list[str]:
    """Return the settings that keep a column which stops a run, or else leave it out."""
    fault = None if table.is_numeric(name) else fault_of_words(name, table)
    if fault is None:  # gaps, where missing=error refuses them
        return []
    return shlex.split(fault[1].partition(" or ")[0] or column_word("drop", name))


def _outcome(ref: DataRef) -> tuple[list[str], list[str]]:
    """Return the notes of a run on the data, and what would stop it."""
    try:
        dataset = ref.load()
    except UserError as error:
        return [], [f"A run stops: {called(str(error))}"]
    kind = {True: "Warning", False: "Note"}
    return [f"{kind[note.endswith(WRITE_ALIKE)]}: {note}" for note in dataset.notes], [
        f"A run gets {counted(dataset.T, 'row')} with {counted(dataset.d, 'feature')}."
    ]


def _of_dataset(dataset: Dataset) -> list[Row]:
    """Return the rows on data without named columns."""
    there = dataset.values[~np.isnan(dataset.values)]
    low, high = (there.min(), there.max()) if there.size else (0.0, 0.0)
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
    name, preparation = table.names[place], ref.preparation
    column, missing = chosen.columns.get(name), table.missing(name)
    own = column if column and column.kind in (DATE, TIME, LETTERS) else None
    gaps, is_label = int(missing.sum()), place == chosen.label
    numbers, is_truth = table.numbers(name), table.is_truth(name)
    is_class = is_label and ref.task != "regression"
    counts: Counter[str] = Counter()
    if numbers is None or is_class or is_truth:
        counts = Counter(table.text(name)[~missing])
    if own:
        kind = {DATE: "dates", TIME: "times"}.get(own.kind, "words")
    elif gaps == len(table):
        kind = "empty"
    elif numbers is None:
        kind = "words"
    else:
        kind = "true, false" if is_truth else "numbers"
    values = _values(numbers, is_truth, counts, is_class)
    if own and (features := own.values(table)) is not None:
        made = features[:, 0]
        values = f"{np.nanmin(made):.6g} to {np.nanmax(made):.6g}"
        if own.kind == DATE:
            texts = table.text(name)
            values = f"{texts[np.nanargmin(made)]} to {texts[np.nanargmax(made)]}"
    if is_label:
        use = "label: classes" if is_class else "label: a number to predict"
        other = ", task=regression" if kind == "numbers" else ", positive=CLASS"
        use += ", rows without it left out" if gaps and preparation.missing != "error" else ""
        other = other if is_class else ", task=classification"
        return _made(name, kind, values, gaps, use, f"label=COLUMN{other}")
    if place in chosen.ids:
        return _made(name, kind, values, gaps, "names the rows", "id=COLUMN")
    if place in chosen.left_out:
        why = chosen.left_out[place]
        known = {"drop=": "drop=COLUMN", "dates=drop": "dates=parts", EMPTY: ""}
        helps = known.get(why, "categorical=onehot")
        return _made(name, kind, values, gaps, f"left out ({why.rstrip('=')})", helps)
    use, words = "a feature", [column_word("drop", name)]
    if own and own.parts:
        use = f"{len(own.parts)} features: {', '.join(own.parts)}" if own.parts[1:] else "a feature: days"
        words.append("dates=ordinal" if own.parts[1:] else "dates=parts")
    elif (numbers is None or (is_truth and preparation.categorical == "onehot")) and not own:
        different = {text.lower() for text in counts} if is_truth else counts
        use = f"{counted(len(different), 'feature')}, one for each word"
        if numbers is None and (fault := fault_of_words(name, table)):
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
        filled = "a word of its own" if column and column.kind == WORDS else "the mean of the rows before"
        ways = {"mean": "the mean", "online": filled}
        way = ways.get(preparation.missing)
        use += f", {way} in gaps" if way else ", rows with gaps left out"
    return _made(name, kind, values, gaps, use, ", ".join(words))


def _values(numbers: np.ndarray | None, is_truth: bool, counts: Counter[str], is_class: bool) -> str:
    """Return what a column holds, in short: its range, or its words with their counts."""
    if numbers is not None and not is_truth and not (is_class and len(counts) <= 20):
        return "" if np.isnan(numbers).all() else f"{np.nanmin(numbers):.6g} to {np.nanmax(numbers):.6g}"
    common = sorted(counts.items(), key=lambda one: (-one[1], one[0]))
    if len(common) > 8 and not is_class:
        return f"{len(common)} different: {', '.join(quoted([text for text, _ in common[:3]]))}, ..."
    names = quoted([text for text, _ in common])
    return shortlist([f"{name} ({count})" for name, (_, count) in zip(names, common, strict=True)])
