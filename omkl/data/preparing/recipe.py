"""How a user's table becomes numbers: which column is the label, and what each other one becomes.

A recipe is made from one table and can be applied to others with the same columns: a saved model keeps it.
"""

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from omkl import schema
from omkl.data.dataset import FILLED, Dataset, dataset_of
from omkl.data.preparation import Preparation, Stop, column_word
from omkl.data.preparing.columns import (
    KINDS,
    LONGEST_TEXT,
    WORDS,
    Column,
    PreparedColumn,
    check_finite,
    no_number,
)
from omkl.data.preparing.decisions import decide
from omkl.data.preparing.labels import Classes, against_rest, notes_on_classes, task_of, y_of
from omkl.data.preparing.mending import stop_of_label
from omkl.data.preparing.notes import Described, note_on_codes, notes_on
from omkl.data.preparing.user_table import Table
from omkl.data.reading.numbered import dense
from omkl.errors import UserError, counted, quoted, shortlist, show, suggest


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
        if of_label is not None:
            self._check_labels(of_label, table, new, labelled)
            kept = ~of_label.missing if labelled else kept
        for column in self.columns:
            missing = table.columns[column.name].missing
            if self.preparation.missing == "error" and missing.any():
                helps = "write one, or remove the row" if new else "missing=drop leaves the row out"
                text = f"{table.where(int(np.argmax(missing)))}: column '{column.name}' has no value"
                raise UserError(f"{text} ({counted(int(missing.sum()), 'such cell')}); {helps}")
            if self.preparation.missing == "drop":
                kept &= ~missing
        if not kept.any() and labelled:
            raise UserError(f"{table.path}: every row has a missing value")
        X, start = np.empty((len(table), len(self.features))), 0
        for column in self.columns:
            part = column.values(table.columns[column.name], table.where)
            X[:, start : start + part.shape[1]] = part
            start += part.shape[1]
        labels = None if of_label is None else of_label.labels()
        if kept.all():
            return X, labels, np.arange(len(table))
        return X[kept], None if labels is None else labels[kept], np.flatnonzero(kept)

    def _check_labels(self, column: Column, table: Table, new: bool, labelled: bool) -> None:
        """Raise UserError for labels that are too long, or missing where that is refused."""
        missing = column.missing
        if missing.all() and labelled:
            fault = f"no row has a label (column '{self.label}')"
            raise UserError(f"{table.path}: {fault}{'' if new else '; label=COLUMN names another'}")
        if missing.any() and self.preparation.missing == "error" and labelled:
            row, helps = int(np.argmax(missing)), "" if new else ", or missing=drop leaves it out"
            fault = f"the label (column '{self.label}') is missing"
            raise UserError(f"{table.where(row)}: {fault}; remove the row{helps}")
        long = [] if column.is_numeric else [word for word in column.words if len(word) > LONGEST_TEXT]
        if long:
            row = int(np.argmax(column.texts == long[0]))
            fault = f"the label has {len(long[0]):,} characters; at most {LONGEST_TEXT} are read"
            raise UserError(f"{table.where(row)}: {fault}")

    def ids(self, table: Table) -> dict[str, np.ndarray]:
        """Return the columns that name the rows, as text (T,), those that a table has."""
        return {name: table.columns[name].texts for name in table.names if name in self.preparation.id}

    def unseen(self, table: Table, kept: np.ndarray) -> dict[str, Counter[str]]:
        """Return how often the rows kept hold words that the recipe's own table lacks, by column."""
        found = {}
        for column in self.columns:
            if column.kind == WORDS:
                of_table = table.columns[column.name]
                place = of_table.place[kept]
                counts = np.bincount(place[place >= 0], minlength=len(of_table.words))
                new = [(word, n) for word, n in zip(of_table.words, counts.tolist(), strict=True) if n]
                found[column.name] = Counter({word: n for word, n in new if word not in column.parts})
        return found

    def to_json(self) -> dict[str, Any]:
        """Return the recipe as JSON holds it."""
        plain: dict[str, Any] = json.loads(json.dumps(asdict(self)))
        return plain

    @classmethod
    def from_json(cls, content: Any) -> "Recipe":
        """Return the recipe of `to_json`. Raises ValueError for anything else."""
        broken = "the recipe of its data is broken"
        try:
            if not isinstance(content, dict) or not isinstance(content.get("preparation"), dict):
                raise ValueError(broken)
            preparation = Preparation.from_json(content["preparation"])
            plain = {key: value for key, value in content.items() if key != "preparation"}
            recipe: Recipe = schema.as_dataclass(cls, plain, broken, preparation=preparation)
        except (UserError, TypeError) as error:
            raise ValueError(str(error)) from None
        if not recipe.columns:
            raise ValueError(f"{broken}: it has no columns")
        for column in recipe.columns:
            if column.kind not in KINDS:
                raise ValueError(f"{broken}: its column {show(column.name)}")
        return recipe


class TableChoice(NamedTuple):
    """What becomes of the columns of a table.

    label: None where nothing says which    ids: of `Preparation`, by name    columns: the features by name
    left_out: why others are no features    stops: what stops a run    said: what is to be said of it
    """

    label: str | None
    ids: list[str]
    columns: dict[str, PreparedColumn]
    left_out: dict[str, str]
    stops: list[Stop]
    said: list[str]


def choice_of(table: Table, label: str | None) -> TableChoice:
    """Return what becomes of each column. Raises UserError for settings that the table does not allow."""
    names, preparation = table.names, table.form
    ids = [names[table.place(name, "id")] for name in preparation.id]
    left_out = {names[table.place(name, "drop")]: "drop=" for name in preparation.drop}
    for key, unused in (("drop", left_out), ("id", ids)):
        if label in unused:
            raise UserError(f"{column_word(key, str(label))}: this is the label; label=COLUMN names another")
    chosen, said = TableChoice(label, ids, {}, left_out, [], []), dict[str, list[str]]()
    if label is not None and (stop := stop_of_label(table.columns[label], table)):
        chosen.stops.append(stop)
    for name in (name for name in names if name not in {label, *ids, *left_out}):
        decision = decide(table.columns[name], table)
        if decision.stop:
            chosen.stops.append(decision.stop)
        elif decision.column:
            chosen.columns[name] = decision.column
        else:
            chosen.left_out[name] = decision.left_out
        if decision.said:
            said.setdefault(decision.said, []).append(f"'{name}'")
    chosen.said.extend(f"{', '.join(columns_said)}: {what}" for what, columns_said in said.items())
    return chosen


def recipe_of(table: Table) -> tuple[Recipe, list[str]]:
    """Return the recipe that prepares this table, and notes on it.

    Raises Stop for what stops a run, see `choice_of`, and UserError, see `Recipe.apply`.
    """
    label = table.label
    chosen, preparation = choice_of(table, label), table.form
    if chosen.stops:
        first, *others = chosen.stops
        columns = shortlist(quoted(stop.column for stop in others))
        more = (
            f"; so {'does' if len(others) == 1 else 'do'} {columns}: `omkl data look` shows all"
            if others
            else ""
        )
        raise Stop(f"{first}{more}", first.lines, first.column)
    if not chosen.columns:
        raise UserError(f"{table.path}: {_nothing_left(table, chosen)}")
    gaps = preparation.missing == "online"
    prepared = tuple(
        column.with_words(table.columns[name], gaps) if column.kind == WORDS else column
        for name, column in chosen.columns.items()
    )
    of_label = table.columns[label]
    words = of_label.is_declared or of_label.numbers is None
    saved = replace(preparation, id=tuple(chosen.ids))  # by name
    recipe = Recipe(saved, label, prepared, words)
    said, notes = list(chosen.said), list[str]()
    wanted = () if preparation.label is None else (preparation.label,)
    for key, names in (("label", wanted), ("id", preparation.id), ("drop", preparation.drop)):
        notes += [note for name in names for note in table.note_on(name, key)]
    if word_columns := [column for column in prepared if column.kind == WORDS]:
        count = sum(len(column.parts) for column in word_columns)
        of_columns = ", ".join(quoted(column.name for column in word_columns))
        said.append(f"{counted(count, 'feature')} of {of_columns}, one for each word")
    used = {label, *(column.name for column in prepared)}
    notes += _notes_on_numbers(table, used)
    return recipe, [*(["; ".join(said)] if said else []), *table.notes, *notes]


def _notes_on_numbers(table: Table, used: set[str]) -> list[str]:
    """Return notes on whole numbers in use that a double does not keep, and on cells over lines."""
    notes = []
    for column in (table.columns[name] for name in table.names if name in used):
        if column.dtype.kind in "iu" and len(column) and np.abs(column.numbers).max(initial=0) > 2.0**53:  # type: ignore[arg-type]
            if not any(note.startswith(f"column '{column.name}'") for note in table.notes):
                frame = f"frame[{column.key!r}]"
                notes.append(
                    f"column '{column.name}' holds numbers beyond 2^53, which lose digits; if they are codes "
                    f"in pandas {frame} = {frame}.astype(str)"
                )
        elif column.dtype.kind not in "iufcbmM":
            cells = column.values[~column.missing].astype(str)
            if len(long := np.flatnonzero(cells.str.contains("\n", regex=False).to_numpy(bool))):
                row = int(np.flatnonzero(~column.missing)[long[0]])
                text = f"{table.where(row)}: column '{column.name}' goes over several lines"
                notes.append(f"{text} ({counted(len(long), 'such cell')}); is a quote missing?")
    return notes


def _nothing_left(table: Table, chosen: TableChoice) -> str:
    """Return why no column is a feature, and what helps."""
    others = {name: why for name, why in chosen.left_out.items() if why != "drop="}
    if others:
        return "; ".join(f"column '{name}' is left out, since {why}" for name, why in others.items())
    if chosen.left_out or chosen.ids:
        listing = table.form.words_of(["id", "drop"])
        return f"{listing} leaves no feature besides the label; leave out fewer columns"
    count = counted(len(table.names), "column")
    return f"{count}, so no features; 'read.sep=;' says what separates the columns"


def prepared_table(table: Table, task: str) -> tuple[Dataset, Recipe]:
    """Return the data set of a table, and the recipe that prepares others like it.

    Raises UserError that names row, column and what helps.
    """
    said, preparation = "", table.form
    recipe, notes = recipe_of(table)
    label = table.columns[recipe.label]
    declared = label.is_declared
    if task == "auto":
        there = label.labels()[~label.missing]
        if preparation.positive is not None:
            task = "classification"
        else:
            task, said = task_of(there, f"column '{recipe.label}'", declared)
    notes += [said] if said else []
    X, labels, kept = recipe.apply(table)
    assert labels is not None  # the recipe was made from this table
    rows = len(table)
    if len(kept) < rows:
        notes.append(left_out_rows(recipe, rows - len(kept), rows))
    gaps = {name: int(table.columns[name].missing[kept].sum()) for name in (c.name for c in recipe.columns)}
    if filled := note_on_filled(recipe, gaps):
        notes.append(filled)
    where = f"{table.path}: column '{recipe.label}'"
    classes: Classes
    if task == "classification" and preparation.positive is not None:
        y, classes = against_rest(labels, preparation.positive, where, declared)
    else:
        if task != "classification":
            if label.numbers is None:
                raise UserError(no_number(label, table.where))
            check_finite(label, table.where)
            labels = label.numbers[kept]
        y, classes = y_of(labels, task, where, declared)
    notes += notes_on_classes(classes, y)
    if task != "novelty":
        notes += notes_on(X, y, described(recipe, table), classes=classes is not None)
    if task == "regression":
        notes += note_on_codes(Described(recipe.label, key=label.key), y)
    examples = dense(X, labels)
    raw = label.values if classes is not None else None
    name = table.path
    return dataset_of(name, examples, y, examples.d, task, tuple(notes), classes, raw=raw), recipe


def described(recipe: Recipe, table: Table) -> list[Described]:
    """Return the columns of a recipe as notes need them."""
    return [
        Described(
            column.name,
            column.kind,
            len(column.features),
            column.parts if column.kind == WORDS else (),
            column.first,
            table.columns[column.name].key,
        )
        for column in recipe.columns
    ]


def left_out_rows(recipe: Recipe | None, count: int, rows: int) -> str:
    """Return the note on rows of a table that are left out."""
    if recipe is not None and recipe.preparation.missing == "drop":
        return f"missing=drop leaves out {count} of {counted(rows, 'row')}"
    return f"{count} of {counted(rows, 'row')} {'has' if count == 1 else 'have'} no label and are left out"


def note_on_filled(recipe: Recipe, gaps: Mapping[str, int], new: bool = False) -> str:
    """Return the note on the gaps that ``missing=online`` fills, empty where there are none.

    gaps: their number by column    new: whether they are those of a table that is not the recipe's own
    """
    if recipe.preparation.missing != "online":
        return ""
    kinds = [
        [column for column in recipe.columns if (column.kind == WORDS) == is_words]
        for is_words in (False, True)
    ]
    texts = [
        [f"'{column.name}' ({gaps[column.name]})" for column in columns if gaps.get(column.name)]
        for columns in kinds
    ]
    said = [
        f"{shortlist(of_kind)} {what}"
        for of_kind, what in zip(texts, (f"with {FILLED}", "as a word of their own"), strict=True)
        if of_kind
    ]
    rejects = "" if new else "; missing=error rejects them"
    return f"missing values were filled: {', '.join(said)}{rejects}" if said else ""
