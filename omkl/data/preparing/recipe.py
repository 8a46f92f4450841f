"""How a user's table becomes numbers: which column is the label, what is left out, filled in, or scaled.

A recipe is made from one table and can be applied to others with the same columns: a saved model keeps it.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from omkl import schema
from omkl.data.dataset import FILLED, Dataset, dataset_of
from omkl.data.preparation import Preparation, Stop, column_word, in_shell, na_text, plain_values
from omkl.data.preparing.columns import (
    KINDS,
    LONGEST_TEXT,
    NUMBERS,
    ONLINE,
    WORDS,
    PreparedColumn,
    decide,
    no_number,
    stop_of_label,
)
from omkl.data.preparing.labels import Classes, against_rest, task_of, y_of
from omkl.data.preparing.notes import Described, note_on_alike, note_on_codes, notes_on
from omkl.data.reading.numbered import dense
from omkl.data.reading.opening import size_limit
from omkl.data.reading.tables import MOST_COLUMNS, DataTable
from omkl.errors import UserError, counted, quoted, shortlist, show, suggest


@dataclass
class Recipe:
    """A preparation with what it took from its table.

    label: the label's column    columns: those of the features, in order
    alike: see `omkl.data.preparing.labels.against_rest`
    """

    preparation: Preparation
    label: str
    columns: tuple[PreparedColumn, ...]
    alike: tuple[str, ...] = ()

    @property
    def features(self) -> list[str]:
        """The names of the features."""
        return [feature for column in self.columns for feature in column.features]

    @property
    def texts(self) -> set[str]:
        """The columns of a table whose texts are needed, also where they are numbers."""
        return {self.label, *(column.name for column in self.columns if column.kind != NUMBERS)}

    def apply(
        self, table: DataTable, new: bool = False, labelled: bool = True
    ) -> tuple[Any, np.ndarray | None, np.ndarray]:
        """Return the features (T, d), the labels (T,) or None without such a column, and the rows kept (T,).

        Those of a sparse table are a scipy.sparse.csr_array.
        new: the table is not the recipe's own, so its cells can be corrected, but no setting can be changed.
        labelled: whether each row needs a label; if not, a missing one is the empty text.
        Raises UserError for a table that lacks a column, and for values that the preparation has no way with.
        """
        if lacks := next((column.name for column in self.columns if column.name not in table.frame), None):
            raise UserError(f"{table.path} has no column '{lacks}'{suggest(lacks, table.names)}")
        labels = table.labels(self.label) if self.label in table.frame else None
        unlabelled = np.zeros(len(table), bool) if labels is None else table.missing(self.label)
        if labels is not None:
            self._check_labels(labels, unlabelled & labelled, table, new)
        kept = ~unlabelled if labelled else np.ones(len(table), bool)
        if self.preparation.missing == "drop":
            gaps = np.any([table.missing(column.name) for column in self.columns], axis=0)
            kept &= ~gaps
            if not kept.any() and labelled:
                helps = "" if new or not gaps.all() else "; missing=mean fills them in"
                raise UserError(f"{table.path}: every row has a missing value{helps}")
        rows = slice(None) if kept.all() else kept
        blocks = (self._features(column, table, new)[rows] for column in self.columns)
        X = _sparse(blocks, table) if table.sparse else np.column_stack(list(blocks))
        return X, None if labels is None else labels[kept], np.flatnonzero(kept)

    def _check_labels(self, labels: np.ndarray, missing: np.ndarray, table: DataTable, new: bool) -> None:
        """Raise UserError for labels (T,) that are too long, or missing where that is refused."""
        if missing.all() and self.preparation.missing != "drop":
            fault = f"no row has a label (column '{self.label}')"
            raise UserError(f"{table.path}: {fault}{'' if new else '; label=COLUMN names another'}")
        if missing.any() and self.preparation.missing == "error":
            row, helps = int(np.argmax(missing)), "" if new else ", or missing=drop leaves it out"
            word = table.cell(self.label, row)
            if not new and word.isalnum():
                helps += f"; {self._na_helps(table, word)}"
            shown = f" ({show(word)})" if word else ""
            fault = f"the label (column '{self.label}') is missing{shown}"
            raise UserError(f"{table.where(row)}: {fault}; remove the row{helps}")
        if (long := max(map(len, labels))) > LONGEST_TEXT:
            row = next(i for i, text in enumerate(labels) if len(text) == long)
            fault = f"the label has {long:,} characters; at most {LONGEST_TEXT} are read"
            raise UserError(f"{table.where(row)}: {fault}")

    def ids(self, table: DataTable) -> dict[str, np.ndarray]:
        """Return the columns that name the rows, as text (T,), those that a table has."""
        return {name: table.text(name) for name in table.names if name in self.preparation.id}

    def unseen(self, table: DataTable, kept: np.ndarray) -> dict[str, Counter[str]]:
        """Return how often the rows kept hold words that the recipe's own table lacks, by column."""
        found = {}
        for column in self.columns:
            if column.kind == WORDS:
                fold, texts = column.folding, table.text(column.name)[kept]
                seen = set(map(fold, column.parts))
                found[column.name] = Counter(text for text in texts if text and fold(text) not in seen)
        return found

    def _features(self, column: PreparedColumn, table: DataTable, new: bool) -> np.ndarray:
        """Return the features of one column (T, 1 or more)."""
        name, missing = column.name, table.missing(column.name)
        if self.preparation.missing == "error" and missing.any():
            row = int(np.argmax(missing))
            word, helps = table.cell(name, row), "missing=mean fills it in, missing=drop leaves the row out"
            if word.isalnum():
                helps += f", {self._na_helps(table, word)}"
            raise UserError(
                f"{table.where(row)}: column '{name}' has no value ({show(word)}); "
                f"{'write one, or remove the row' if new else helps}"
            )
        values = column.values(table)
        if values is None:
            raise UserError(no_number(name, table))
        _check_finite(name, values, table)
        if column.means and missing.any():  # else NaN: the learner fills it (passes/scaling.py)
            values = np.where(np.isnan(values), column.means, values)
        if column.scaling:
            shift, factor = np.array(column.scaling).T
            values = (values - shift) * factor
        return values

    def _na_helps(self, table: DataTable, word: str) -> str:
        """Return which setting reads a word, which is a gap now, as a word: the other gaps of the table."""
        others = sorted(gap for gap in table.gap_words(table.names) if gap.lower() != word.lower())
        return f"{in_shell(na_text(others))} reads {show(word)} as a word"

    def to_json(self) -> dict[str, Any]:
        """Return the recipe as JSON holds it."""
        return asdict(self)

    @classmethod
    def from_json(cls, content: Any) -> "Recipe":
        """Return the recipe of `to_json`. Raises ValueError for anything else."""
        broken = "the recipe of its data is broken"
        try:
            recipe: Recipe = schema.as_dataclass(cls, plain_values(content), broken)
        except UserError as error:
            raise ValueError(str(error)) from None
        if not recipe.columns:
            raise ValueError(f"{broken}: it has no columns")
        for column in recipe.columns:
            lengths = {len(numbers) for numbers in (column.means, column.scaling) if numbers}
            if column.kind not in KINDS or lengths - {len(column.features)}:
                raise ValueError(f"{broken}: its column {show(column.name)}")
        return recipe


def recipe_of(table: DataTable) -> tuple[Recipe, list[str]]:
    """Return the recipe that prepares this table, and notes on it.

    Raises Stop for what stops a run, see `choice_of`, and UserError, see `Recipe.apply`.
    """
    chosen, preparation = choice_of(table), table.form
    if chosen.stops:
        others = [stop.column for stop in chosen.stops[1:]]
        more = f"; so do {shortlist(quoted(others))}: `omkl data look` shows all" if others else ""
        raise Stop(f"{chosen.stops[0]}{more}", chosen.stops[0].mend, chosen.stops[0].column)
    if not chosen.columns:
        raise UserError(f"{table.where(0)}: {_nothing_left(table, chosen)}")
    saved = replace(  # what auto has decided stays
        preparation, header="yes" if table.named else "no", id=tuple(chosen.ids)
    )
    columns = tuple(_learnt(column, table, preparation) for column in chosen.columns.values())
    recipe = Recipe(saved, chosen.label, columns)
    said, notes = list(chosen.said), list[str]()
    wanted = () if preparation.label is None else (preparation.label,)
    for key, names in (("label", wanted), ("id", preparation.id), ("drop", preparation.drop)):
        notes += [note for name in names for note in table.note_on(name, key)]
    if word_columns := [column for column in columns if column.kind == WORDS]:
        count = sum(len(column.parts) for column in word_columns)
        of_columns = ", ".join(quoted(column.name for column in word_columns))
        said.append(f"{counted(count, 'feature')} of {of_columns}, one for each word")
    if preparation.scale != "none":
        notes.append(
            f"scale={preparation.scale} is fitted on all rows, which leaks later rows into every round"
        )
    together = [*said, *table.notes]
    return recipe, ["; ".join(together), *notes] if together else notes


def _learnt(column: PreparedColumn, table: DataTable, preparation: Preparation) -> PreparedColumn:
    """Return a column with its words, or the means and the scaling of its features."""
    if column.kind == WORDS:
        return column.with_words(table)
    fills = preparation.missing == "mean"
    if not fills and preparation.scale == "none":
        return column
    values = column.values(table)
    if values is None:
        return column  # `Recipe.apply` says what is wrong
    _check_finite(column.name, values, table)
    means, scaling = list[float](), list[tuple[float, float]]()
    for name, numbers in zip(column.features, values.T, strict=True):
        there = numbers[~np.isnan(numbers)]
        with np.errstate(over="ignore", invalid="ignore"):  # what overflows is refused below
            if fills:
                means.append(float(np.mean(there)) if there.size else 0.0)
            if preparation.scale != "none":
                scaling.append(_scaling(there, preparation.scale) if there.size else (0.0, 1.0))
        if not np.isfinite([*means[-1:], *(scaling[-1] if scaling else ())]).all():
            row = int(np.nanargmax(np.abs(numbers)))
            raise UserError(
                f"{table.where(row)}: column '{name}': a feature of size {numbers[row]:.3g} "
                "makes the mean or the deviation overflow; correct the cell"
            )
    return replace(column, means=tuple(means), scaling=tuple(scaling))


class TableChoice(NamedTuple):
    """What becomes of the columns of a table.

    ids: of `Preparation`, by name    columns: the features by name    left_out: why others are no features
    stops: what stops a run    said: what is to be said of it
    """

    label: str
    ids: list[str]
    columns: dict[str, PreparedColumn]
    left_out: dict[str, str]
    stops: list[Stop]
    said: list[str]


def choice_of(table: DataTable) -> TableChoice:
    """Return what becomes of each column. Raises UserError for settings that the table does not allow."""
    names, preparation, label = table.names, table.form, table.label
    ids = [names[table.place(name, "id")] for name in preparation.id]
    left_out = {names[table.place(name, "drop")]: "drop=" for name in preparation.drop}
    for key, unused in (("drop", left_out), ("id", ids)):
        if label in unused:
            raise UserError(f"{column_word(key, label)}: this is the label; label=COLUMN names another")
    chosen, said = TableChoice(label, ids, {}, left_out, [], []), dict[str, list[str]]()
    if stop := stop_of_label(label, table):
        chosen.stops.append(stop)
    for name in (name for name in names if name not in {label, *ids, *left_out}):
        decision = decide(name, table)
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


def mended(
    read: Callable[[Preparation], DataTable], preparation: Preparation
) -> tuple[DataTable | None, Preparation, list[Stop]]:
    """Return a table as if all that stops a run had been mended, the settings that do, and what stops it.

    read: gives the table with a preparation    The table is None where no setting mends the last stop.
    """
    stops = list[Stop]()
    while True:
        found, table = list[Stop](), None
        try:
            table = read(preparation)
            found = choice_of(table).stops
        except Stop as error:
            found = [error]
        notation = [stop for stop in found if "decimal" in stop.mend]  # which changes what the others are
        found = notation[:1] or found
        if not found:
            return table, preparation, stops
        stops += found
        for stop in found:
            if not stop.mend or len(stops) > MOST_COLUMNS:
                return None, preparation, stops
            preparation = preparation.mended(stop.mend)


def _nothing_left(table: DataTable, chosen: TableChoice) -> str:
    """Return why no column is a feature, and what helps."""
    others = {name: why for name, why in chosen.left_out.items() if why != "drop="}
    if others:
        return "; ".join(f"column '{name}' is left out, since {why}" for name, why in others.items())
    if chosen.left_out or chosen.ids:
        listing = table.form.words_of(["id", "drop"])
        return f"{listing} leaves no feature besides the label; leave out fewer columns"
    count = counted(len(table.names), "column")
    return f"{count}, so no features; delimiter=CHARACTER says what separates the columns"


def _check_finite(name: str, numbers: np.ndarray, table: DataTable) -> None:
    """Raise UserError for a number of a column that is not finite."""
    if (odd := np.isinf(numbers)).any():
        row = int(np.argmax(odd.reshape(len(table), -1).any(axis=1)))
        shown = show(table.cell(name, row))
        raise UserError(f"{table.where(row)}: column '{name}' is not finite ({shown})")


def _note_on_gaps(table: DataTable, recipe: Recipe) -> list[str]:
    """Return a note on the words of the columns in use that are taken as gaps."""
    if not (shown := sorted(table.gap_words({recipe.label, *(column.name for column in recipe.columns)}))):
        return []
    return [f"taken as missing: {shortlist(quoted(shown))}; na= says which words are"]


def _note_on_na(table: DataTable) -> list[str]:
    """Return a note on words of ``na=`` that no cell holds."""
    form = table.form
    if not form.na:
        return []
    there = {word.lower() for word in table.gap_words(table.names)}
    numbers = {form.number(word) for word in there}
    unknown = [
        word
        for word in form.na
        if word
        and word.lower() not in there
        and (form.number(word) is None or form.number(word) not in numbers)
    ]
    return [f"na={','.join(unknown)}: no cell holds {' or '.join(quoted(unknown))}"] if unknown else []


def prepared_table(table: DataTable, task: str) -> tuple[Dataset, Recipe]:
    """Return the data set of a table, and the recipe that prepares others like it.

    Raises UserError that names row, column and what helps.
    """
    said, preparation = "", table.form
    if task == "auto":
        label = table.label
        there = table.labels(label)[~table.missing(label)]
        task, said = task_of(there, f"column '{label}'", preparation.positive)
    recipe, notes = recipe_of(table)
    notes += [said] if said else []
    X, labels, kept = recipe.apply(table)
    assert labels is not None  # the recipe was made from this table
    rows = len(table)
    if len(kept) < rows:
        notes.append(left_out_rows(recipe, rows - len(kept), rows))
    gaps = {column.name: int(table.missing(column.name)[kept].sum()) for column in recipe.columns}
    if filled := note_on_filled(recipe, gaps):
        notes.append(filled)
    notes += _note_on_gaps(table, recipe) + _note_on_na(table)
    where = f"{table.path}: column '{recipe.label}'"
    classes: Classes
    if task == "classification" and preparation.positive is not None:
        y, pair, alike = against_rest(labels, preparation.positive, where)
        recipe.alike, classes = tuple(alike), pair
        notes += note_on_alike([pair[1], *recipe.alike])
    else:
        if task != "classification":
            if (numbers := table.numbers(recipe.label)) is None:
                raise UserError(no_number(recipe.label, table))
            _check_finite(recipe.label, numbers, table)
        y, classes = y_of(labels, task, where)
    if task != "novelty":
        notes += notes_on(_unfilled(recipe, table, X), y, described(recipe), classes=classes is not None)
    if task == "regression":
        notes += note_on_codes(recipe.label, y, "whose rows are left out")
    examples = dense(X, labels)
    raw = table.raw.get(recipe.label)
    dataset = dataset_of(table.path.name, examples, y, examples.d, task, tuple(notes), classes, raw=raw)
    return dataset, recipe


def described(recipe: Recipe) -> list[Described]:
    """Return the columns of a recipe as notes need them."""
    return [
        Described(
            column.name,
            column.kind,
            len(column.features),
            column.parts if column.kind == WORDS else (),
            column.first,
        )
        for column in recipe.columns
    ]


def _unfilled(recipe: Recipe, table: DataTable, X: Any) -> Any:
    """Return the features before they are filled and scaled; X are those after it."""
    if not any(column.scaling or column.means for column in recipe.columns):
        return X
    columns = tuple(replace(column, means=(), scaling=()) for column in recipe.columns)
    return replace(recipe, columns=columns).apply(table)[0]


def _sparse(blocks: Iterable[np.ndarray], table: DataTable) -> Any:
    """Return the features, (T, 1 or more) each, side by side as a scipy.sparse.csr_array.

    Raises UserError where that takes more memory than a file may.
    """
    import scipy.sparse as sp  # 0.15 s

    entries, d, T, stored = [], 0, 0, 0
    for part in blocks:
        rows, columns = np.nonzero(part)
        entries.append((rows, columns + d, part[rows, columns]))
        T, d, stored = len(part), d + part.shape[1], stored + len(rows)
        if 16 * stored > size_limit():
            raise UserError(
                f"{table.path}: {T} rows with over {stored // T} values other than 0 are too many; "
                "leave out scale= and missing=mean, or set OMKL_MAX_BYTES"
            )
    rows, columns, values = (np.concatenate(arrays) for arrays in zip(*entries, strict=True))
    return sp.coo_array((values, (rows, columns)), shape=(T, d)).tocsr()


def left_out_rows(recipe: Recipe | None, count: int, rows: int) -> str:
    """Return the note on rows of a table that are left out."""
    if recipe is not None and recipe.preparation.missing == "drop":
        return f"missing=drop leaves out {count} of {counted(rows, 'row')}"
    return f"{count} of {counted(rows, 'row')} {'has' if count == 1 else 'have'} no label and are left out"


def note_on_filled(recipe: Recipe, gaps: Mapping[str, int], new: bool = False) -> str:
    """Return the note on the gaps that ``missing=online`` fills, empty where there are none.

    gaps: their number by column    new: whether they are those of a table that is not the recipe's own
    """
    if recipe.preparation.missing != ONLINE:
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


def _scaling(values: np.ndarray, kind: str) -> tuple[float, float]:
    """Return shift and factor: (x - shift) factor is the scaled value; a constant column becomes 0.

    The shift is not finite where the spread is not.
    """
    low, high = (
        (values.min(), values.max()) if kind == "minmax" else (values.mean(), values.mean() + values.std())
    )
    span = float(high - low)
    if not math.isfinite(span):
        return math.nan, 0.0
    return float(low), 1.0 / span if span > 0 and math.isfinite(1.0 / span) else 0.0
