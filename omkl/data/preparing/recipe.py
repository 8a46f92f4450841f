"""How a user's table becomes numbers: which column is the label, and what each other one becomes.

A recipe is made from one table and can be applied to others with the same columns: a saved model keeps it.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from omkl import schema
from omkl.data.dataset import FILLED, Dataset, dataset_of
from omkl.data.preparation import Preparation, Stop
from omkl.data.preparing.columns import DATE, KINDS, NUMBERS, WORDS, Column, PreparedColumn, numbers_of
from omkl.data.preparing.labels import notes_on_classes, task_of, y_of
from omkl.data.preparing.mending import stop_of, stop_of_label
from omkl.data.preparing.notes import Noted, note_on_codes, notes_on
from omkl.data.preparing.user_table import Table
from omkl.data.reading.numbered import dense
from omkl.errors import UserError, counted, quoted, shortlist, suggest
from omkl.typed import column_word

FEW_WORDS = 50  # different words of a column that is not declared as classes ...
FEWEST_ROWS = 10  # ... each of which has as many rows on average
MOST_CATEGORIES = 1000
EMPTY = "it has no value in any row"
ROW_NAMES = "it has no name and names the rows"
NAMELESS = ("column 1", "Unnamed: 0")  # as omkl and pandas call it
_DAYS = ("days", "month", "day", "weekday")  # of a date; with a time of day, the hour too


@dataclass
class Recipe:
    """A preparation with what it took from its table.

    label: the label's column    columns: those of the features, in order
    words: whether the labels are words, in files too where some look like numbers
    """

    preparation: Preparation
    label: str
    columns: tuple[PreparedColumn, ...]
    words: bool = False

    @property
    def features(self) -> list[str]:
        """The names of the features."""
        return [feature for column in self.columns for feature in column.features]

    @property
    def texts(self) -> set[str]:
        """The columns of a file whose texts are needed, also where they are numbers."""
        words = {column.name for column in self.columns if column.kind == WORDS}
        return {*words, *self.preparation.id, *([self.label] if self.words else [])}

    def apply(
        self, table: Table, new: bool = False, labelled: bool = True
    ) -> tuple[np.ndarray, np.ndarray | None, np.ndarray]:
        """Return the features (T, d), the labels (T,) or None without such a column, and the rows kept (T,).

        new: the table is not the recipe's own, so its cells can be corrected, but no setting can be changed.
        labelled: whether each row needs a label; if not, a missing one is the empty text.
        Raises UserError for a table that lacks a column, and for values that the preparation has no way with.
        """
        if lacks := next((column.name for column in self.columns if column.name not in table.columns), None):
            raise UserError(f"{table.path} has no column '{lacks}'{suggest(lacks, table.names)}")
        of_label = table.columns.get(self.label)
        kept = np.ones(len(table), bool)
        needed = [table.columns[column.name] for column in self.columns]
        if of_label is not None and labelled:
            kept = ~of_label.missing
            needed.insert(0, of_label)
        if not kept.any():
            helps = "" if new else "; label=COLUMN names another"
            raise UserError(f"{table.path}: no row has a label (column '{self.label}'){helps}")
        for column in needed:
            if self.preparation.missing == "error" and column.missing.any():
                helps = "write one, or remove the row" if new else "missing=drop leaves the row out"
                fault = f"{table.where(int(np.argmax(column.missing)))}: column '{column.name}' has no value"
                raise UserError(f"{fault} ({counted(int(column.missing.sum()), 'such cell')}); {helps}")
            if self.preparation.missing == "drop":
                kept &= ~column.missing
        if not kept.any() and labelled:
            raise UserError(f"{table.path}: every row has a missing value")
        parts = [column.values(table.columns[column.name], table.where) for column in self.columns]
        X = np.column_stack(parts)
        labels = None if of_label is None else of_label.labels()
        if kept.all():
            return X, labels, np.arange(len(table))
        return X[kept], None if labels is None else labels[kept], np.flatnonzero(kept)

    def ids(self, table: Table) -> dict[str, np.ndarray]:
        """Return the columns that name the rows, as text (T,), those that a table has."""
        return {name: table.columns[name].texts for name in table.names if name in self.preparation.id}

    def to_json(self) -> dict[str, Any]:
        """Return the recipe as JSON holds it."""
        plain: dict[str, Any] = json.loads(json.dumps(asdict(self)))
        return plain

    @classmethod
    def from_json(cls, content: Any) -> "Recipe":
        """Return the recipe of `to_json`. Raises ValueError for anything else."""
        broken = "the recipe of its data is broken"
        try:
            plain = dict(content)
            preparation = Preparation.from_json(plain.pop("preparation"))
            recipe: Recipe = schema.as_dataclass(cls, plain, broken, preparation=preparation)
        except (UserError, TypeError, ValueError, KeyError, AttributeError) as error:
            raise ValueError(f"{broken}: {error}") from None
        if not recipe.columns or any(column.kind not in KINDS for column in recipe.columns):
            raise ValueError(f"{broken}: its columns")
        return recipe


# ------------------------------------------------------------------ what becomes of the columns


class TableChoice(NamedTuple):
    """What becomes of the columns of a table.

    label: None where nothing says which    ids: of `Preparation`, by name    columns: the features by name
    left_out: why others are no features    stops: what stops a run
    """

    label: str | None
    ids: list[str]
    columns: dict[str, PreparedColumn]
    left_out: dict[str, str]
    stops: list[Stop]


def choice_of(table: Table, label: str | None) -> TableChoice:
    """Return what becomes of each column. Raises UserError for settings that the table does not allow."""
    ids = [table.column(name, "id") for name in table.form.id]
    left_out = {table.column(name, "drop"): "drop=" for name in table.form.drop}
    for key, unused in (("drop", left_out), ("id", ids)):
        if label in unused:
            raise UserError(f"{column_word(key, str(label))}: this is the label; label=COLUMN names another")
    chosen = TableChoice(label, ids, {}, left_out, [])
    if label is not None and (stop := stop_of_label(table.columns[label], table)):
        chosen.stops.append(stop)
    for name in (name for name in table.names if name not in {label, *ids, *left_out}):
        found = decide(table.columns[name], table)
        if isinstance(found, Stop):
            chosen.stops.append(found)
        elif isinstance(found, str):
            left_out[name] = found
        else:
            chosen.columns[name] = found
    return chosen


def decide(column: Column, table: Table) -> PreparedColumn | Stop | str:
    """Return what a column of features becomes, or what stops a run, or why it is left out."""
    if column.missing.all():
        return EMPTY
    if _names_rows(column, table):
        return ROW_NAMES
    if not column.is_declared:
        if stop := stop_of(column, table):
            return stop
        if column.are_dates and column.dates is not None:
            clock = ("hour",) if (column.dates[~column.missing] % 1 != 0).any() else ()
            first, offset = float(np.floor(np.nanmin(column.dates))), column.offsets[0]
            return PreparedColumn(column.name, DATE, (*_DAYS, *clock), first, offset)
        if column.numbers is not None:
            return PreparedColumn(column.name)
    different, of_category = len(column.words), getattr(column.dtype, "name", "") == "category"
    most = MOST_CATEGORIES if of_category else min(FEW_WORDS, len(table) // FEWEST_ROWS)
    if different <= most:
        of_gaps = [""] if table.form.missing == "online" and column.missing.any() else []
        return PreparedColumn(column.name, WORDS, (*sorted(column.words), *of_gaps))
    return f"{different} different words in {len(table)} rows are too many"


def _names_rows(column: Column, table: Table) -> bool:
    """Whether a column is what R and pandas write before the rows: first, nameless, each cell different."""
    is_first = table.read.named and column.name in NAMELESS and table.names[0] == column.name
    if not is_first or column.missing.any() or len(column.words) < len(column):
        return False
    return column.numbers is None or bool((np.diff(column.numbers) > 0).all())


def recipe_of(table: Table) -> tuple[Recipe, list[str]]:
    """Return the recipe that prepares this table, and notes on it.

    Raises Stop for what stops a run, see `choice_of`, and UserError, see `Recipe.apply`.
    """
    label = table.label
    chosen = choice_of(table, label)
    if chosen.stops:
        first, *others = chosen.stops
        does = "does" if len(others) == 1 else "do"
        more = f"; so {does} {shortlist(quoted(stop.column for stop in others))}: `omkl data look` shows all"
        raise Stop(f"{first}{more if others else ''}", first.lines, first.column)
    if not chosen.columns:
        raise UserError(f"{table.path}: {_nothing_left(table, chosen)}")
    prepared, of_label = tuple(chosen.columns.values()), table.columns[label]
    saved = replace(table.form, id=tuple(chosen.ids))  # by name
    recipe = Recipe(saved, label, prepared, of_label.is_declared or of_label.numbers is None)
    return recipe, [*_said_of_choice(table, chosen), *table.read.notes, *_notes_on_cells(table, recipe)]


def _said_of_choice(table: Table, chosen: TableChoice) -> list[str]:
    """Return the note on columns that are no plain numbers, empty where all are."""
    by_kind: dict[str, list[str]] = {}
    for name, why in chosen.left_out.items():
        if why != "drop=":
            by_kind.setdefault(f"left out, since {why}", []).append(f"'{name}'")
    for column in (column for column in chosen.columns.values() if column.kind == DATE):
        source = table.columns[column.name]
        zone = getattr(source.dtype, "tz", None) or (f"offset {column.offset}" if column.offset else "")
        said = "eight digits that are dates" if source.is_numeric else "dates"
        said += f" as {', '.join(column.parts)}" + (f", in local time ({zone})" if zone else "")
        by_kind.setdefault(said, []).append(f"'{column.name}'")
    said_of = [f"{', '.join(names)}: {what}" for what, names in by_kind.items()]
    if words := [column for column in chosen.columns.values() if column.kind == WORDS]:
        count = counted(sum(len(column.parts) for column in words), "feature")
        said_of.append(f"{count} of {', '.join(quoted(one.name for one in words))}, one for each word")
    return ["; ".join(said_of)] if said_of else []


def _notes_on_cells(table: Table, recipe: Recipe) -> list[str]:
    """Return notes on whole numbers in use that a double does not keep, and on cells over lines."""
    notes = []
    for column in (table.columns[name] for name in (recipe.label, *(one.name for one in recipe.columns))):
        is_named = any(note.startswith(f"column '{column.name}'") for note in table.read.notes)
        if column.dtype.kind in "iu" and not is_named and np.abs(column.numbers).max(initial=0) > 2.0**53:  # type: ignore[arg-type]
            line = f"frame[{column.key!r}] = frame[{column.key!r}].astype(str)"
            fault = f"column '{column.name}' holds numbers beyond 2^53, which lose digits"
            notes.append(f"{fault}; if they are codes, in pandas {line} makes them words")
        elif column.dtype.kind not in "iufcbmM" and (
            long := [at for at, raw in enumerate(column.raw[1]) if "\n" in raw]
        ):
            rows = np.flatnonzero(np.isin(column.raw[0], long))
            fault = f"{table.where(int(rows[0]))}: column '{column.name}' goes over several lines"
            notes.append(f"{fault} ({counted(len(rows), 'such cell')}); is a quote missing?")
    return notes


def _nothing_left(table: Table, chosen: TableChoice) -> str:
    """Return why no column is a feature."""
    why = [f"'{name}' ({reason})" for name, reason in chosen.left_out.items()]
    why += [f"'{name}' (id=)" for name in chosen.ids] or ["it has one column"] * (not why)
    return f"no column is left as a feature: {shortlist(why)}{table.of_separator}"


# ------------------------------------------------------------------ the data set of a table


def prepared_table(table: Table, task: str) -> tuple[Dataset, Recipe]:
    """Return the data set of a table, and the recipe that prepares others like it.

    Raises UserError that names row, column and what helps.
    """
    recipe, notes = recipe_of(table)
    label, positive = table.columns[recipe.label], table.form.positive
    if task == "auto" and positive is not None:
        task = "classification"
    elif task == "auto":
        task, said = task_of(label.labels()[~label.missing], f"column '{recipe.label}'", label.is_declared)
        notes += [said] if said else []
    X, labels, kept = recipe.apply(table)
    assert labels is not None  # the recipe was made from this table
    if len(kept) < len(table):
        notes.append(left_out_rows(recipe, len(table) - len(kept), len(table)))
    gaps = {column.name: int(table.columns[column.name].missing[kept].sum()) for column in recipe.columns}
    notes += note_on_filled(recipe, gaps)
    where = f"{table.path}: column '{recipe.label}'"
    labels = labels if task == "classification" else numbers_of(label, table.where)[kept]
    of_task = positive if task == "classification" else None
    y, classes = y_of(labels, task, where, label.is_declared, positive=of_task)
    notes += notes_on_classes(classes, y)
    examples = dense(X, labels)
    if task != "novelty":
        noted = [_noted(at, column, table, kept) for at, column in enumerate(recipe.columns)]
        notes += notes_on(noted, examples, y, classes=classes is not None)
    if task == "regression":
        notes += note_on_codes(Noted(y, -1, recipe.label, key=label.key))
    raw = label.values.unique() if classes is not None else None
    dataset = dataset_of(table.path, examples, y, examples.d, task, tuple(notes), classes, raw=raw)
    features = tuple(recipe.features)
    renumbered = features != tuple(table.names[: len(features)])
    return replace(dataset, features=features if table.read.named else None, renumbered=renumbered), recipe


def _noted(at: int, column: PreparedColumn, table: Table, kept: np.ndarray) -> Noted:
    """Return a column as notes need it."""
    source = table.columns[column.name]
    if column.kind == WORDS:
        numbers = np.where(source.place < 0, np.nan, source.place)
    else:
        numbers = source.numbers if column.kind == NUMBERS else source.dates  # type: ignore[assignment]
    numbers = numbers if len(kept) == len(numbers) else numbers[kept]
    words = column.parts if column.kind == WORDS else ()
    return Noted(numbers, at, column.name, column.kind, words, source.key)


def left_out_rows(recipe: Recipe | None, count: int, rows: int) -> str:
    """Return the note on rows of a table that are left out."""
    if recipe is not None and recipe.preparation.missing == "drop":
        return f"missing=drop leaves out {count} of {counted(rows, 'row')}"
    return f"{count} of {counted(rows, 'row')} {'has' if count == 1 else 'have'} no label and are left out"


def note_on_filled(recipe: Recipe, gaps: Mapping[str, int], new: bool = False) -> list[str]:
    """Return a note on the gaps that ``missing=online`` fills, where there are some.

    gaps: their number by column    new: whether they are those of a table that is not the recipe's own
    """
    if recipe.preparation.missing != "online":
        return []
    said = []
    for is_words, what in ((False, f"with {FILLED}"), (True, "as a word of their own")):
        columns = [one.name for one in recipe.columns if (one.kind == WORDS) == is_words]
        if texts := [f"'{name}' ({gaps[name]})" for name in columns if gaps.get(name)]:
            said.append(f"{shortlist(texts)} {what}")
    rejects = "" if new else "; missing=error rejects them"
    return [f"missing values were filled: {', '.join(said)}{rejects}"] if said else []
