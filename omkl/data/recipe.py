"""How a user's table becomes numbers: which column is the label, what is left out, filled in, or scaled.

A recipe is made from one table and can be applied to others with the same columns: a saved model keeps it.
"""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from omkl import schema
from omkl.data.columns import (
    DATE,
    KINDS,
    LONGEST_TEXT,
    NUMBERS,
    ONLINE,
    TIME,
    WORDS,
    Column,
    are_few,
    codes_of_gaps,
    is_odd,
    na_word,
    no_number,
    unread_number,
    words_of,
)
from omkl.data.data_files import size_limit
from omkl.data.dataset import FILLED, Dataset, dataset_of
from omkl.data.doubts import note_on_dates, note_on_na, notes_on_codes, notes_on_columns
from omkl.data.labels import Classes, against_rest, note_on_alike, shortlist, task_of, y_of
from omkl.data.parse import dense
from omkl.data.preparation import Preparation, column_word, in_shell, na_text, plain_values
from omkl.data.tables import Table, label_place
from omkl.errors import UserError, counted, quoted, show, suggest

EMPTY = "it has no value in any row"


@dataclass
class Recipe:
    """A preparation with what it took from its table.

    label: the label's column    columns: those of the features, in order
    alike: see `omkl.data.labels.against_rest`
    """

    preparation: Preparation
    label: str
    columns: tuple[Column, ...]
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
        self, table: Table, new: bool = False, labelled: bool = True
    ) -> tuple[Any, np.ndarray | None, np.ndarray]:
        """Return the features (T, d), the labels (T,) or None without such a column, and the rows kept (T,).

        Those of a sparse table are a scipy.sparse.csr_array.
        new: the table is not the recipe's own, so its cells can be corrected, but no setting can be changed.
        labelled: whether each row needs a label; if not, a missing one is the empty text.
        Raises UserError for a table that lacks a column, and for values that the preparation has no way with.
        """
        for column in self.columns:
            if column.name not in table.frame:
                raise UserError(
                    f"{table.path} has no column '{column.name}'{suggest(column.name, table.names)}"
                )
        missing = self.preparation.missing
        drops = missing == "drop"
        labels = table.labels(self.label) if self.label in table.frame else None
        unlabelled = np.zeros(len(table), bool) if labels is None else table.missing(self.label)
        if labelled and unlabelled.any() and (missing == "error" or unlabelled.all()) and not drops:
            row, helps = int(np.argmax(unlabelled)), "" if new else ", or missing=drop leaves it out"
            if unlabelled.all():
                fault = f"no row has a label (column '{self.label}')"
                raise UserError(f"{table.path}: {fault}{'' if new else '; label=COLUMN names another'}")
            word = table.cell(self.label, row)
            if not new and word.isalnum():
                helps += f"; {self._na_helps(table, word)}"
            shown = f" ({show(word)})" if word else ""
            raise UserError(
                f"{table.where(row)}: the label (column '{self.label}') is missing{shown}; "
                f"remove the row{helps}"
            )
        if labels is not None and (long := max(map(len, labels))) > LONGEST_TEXT:
            row = next(i for i, text in enumerate(labels) if len(text) == long)
            raise UserError(
                f"{table.where(row)}: the label has {long:,} characters; at most {LONGEST_TEXT} are read"
            )
        kept = ~unlabelled if labelled else np.ones(len(table), bool)
        if drops:
            gaps = np.zeros(len(table), bool)
            for column in self.columns:
                gaps |= table.missing(column.name)
            kept = ~(gaps | unlabelled) if labelled else ~gaps
            if not kept.any() and labelled:
                helps = "" if new or not gaps.all() else "; missing=mean fills them in"
                raise UserError(f"{table.path}: every row has a missing value{helps}")
        rows = slice(None) if kept.all() else kept
        parts = (self._features(column, table, new)[rows] for column in self.columns)
        X = _sparse(parts, table) if table.sparse else np.column_stack(list(parts))
        return X, None if labels is None else labels[kept], np.flatnonzero(kept)

    def ids(self, table: Table) -> dict[str, np.ndarray]:
        """Return the columns that name the rows, as text (T,), those that a table has."""
        return {name: table.text(name) for name in table.names if name in self.preparation.id}

    def unseen(self, table: Table, kept: np.ndarray) -> dict[str, Counter[str]]:
        """Return how often the rows kept hold words that the recipe's own table lacks, by column."""
        found = {}
        for column in self.columns:
            if column.kind == WORDS:
                fold, texts = column.folding, table.text(column.name)[kept]
                known = set(map(fold, column.parts))
                found[column.name] = Counter(text for text in texts if text and fold(text) not in known)
        return found

    def _features(self, column: Column, table: Table, new: bool) -> np.ndarray:
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
            raise UserError(no_number(name, table, new))
        _check_finite(name, values, table)
        if column.means and missing.any():  # else NaN: the learner fills it (learning/scaling.py)
            values = np.where(np.isnan(values), column.means, values)
        if column.scaling:
            shift, factor = np.array(column.scaling).T
            values = (values - shift) * factor
        return values

    def _na_helps(self, table: Table, word: str) -> str:
        """Return which setting reads a word, which is a gap now, as a word: the other gaps of the table."""
        others = sorted(own for own in table.gap_words(table.names) if own.lower() != word.lower())
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
            lengths = {len(own) for own in (column.means, column.scaling) if own}
            if column.kind not in KINDS or lengths - {len(column.features)}:
                raise ValueError(f"{broken}: its column {show(column.name)}")
        return recipe


def recipe_of(
    table: Table, preparation: Preparation, task: str = "classification"
) -> tuple[Recipe, list[str]]:
    """Return the recipe that prepares this table, and notes on it. Raises UserError, see `Recipe.apply`."""
    chosen = choice_of(table, preparation, task)
    if not chosen.columns:
        raise UserError(f"{table.where(0)}: {_nothing_left(table, preparation, chosen)}")
    names = table.names
    saved = replace(  # what auto has decided stays
        preparation, header="yes" if table.named else "no", id=tuple(names[i] for i in chosen.ids)
    )
    columns = tuple(_learnt(column, table, preparation) for column in chosen.columns.values())
    recipe = Recipe(saved, names[chosen.label], columns)
    said, notes = chosen.said, list[str]()
    wanted = () if preparation.label is None else (preparation.label,)
    for key, own in (("label", wanted), ("id", preparation.id), ("drop", preparation.drop)):
        notes += [note for name in own for note in table.note_on(name, key)]
    if words := [column for column in columns if column.kind == WORDS]:
        count = sum(len(column.parts) for column in words)
        made = f"{counted(count, 'feature')} of {', '.join(quoted(column.name for column in words))}"
        if preparation.categorical == "auto":
            said.append(f"{made}, one for each word")
        else:
            notes.append(f"categorical=onehot makes {made}")
    if preparation.scale != "none":
        notes.append(f"scale={preparation.scale} uses the whole file: every round knows what comes later")
    guessed = [*said, *table.notes]
    return recipe, ["; ".join(guessed), *notes] if guessed else notes


def _learnt(column: Column, table: Table, preparation: Preparation) -> Column:
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


class Choice(NamedTuple):
    """What becomes of the columns of a table, by their places.

    ids: of `Preparation`    left_out: why others are no features
    columns: by name, those that are    said: what is to be said of it
    """

    label: int
    ids: list[int]
    columns: dict[str, Column]
    left_out: dict[int, str]
    said: list[str]


def choice_of(table: Table, preparation: Preparation, task: str = "classification") -> Choice:
    """Return what becomes of each column. Raises UserError for settings that the table does not allow."""
    names = table.names
    label, why = label_place(names, table.named, preparation, table.path)
    ids = [table.place(name, "id") for name in preparation.id]
    left_out = {table.place(name, "drop"): "drop=" for name in preparation.drop}
    for key, places in (("drop", left_out), ("id", ids)):
        if label in places:
            raise UserError(
                f"{column_word(key, names[label])}: this is the label; label=COLUMN names another"
            )
    chosen = Choice(label, ids, {}, left_out, [why] if why else [])
    said: dict[str, list[str]] = {}
    for place, name in enumerate(names):
        if place in {label, *ids, *left_out}:
            continue
        what = ""
        if preparation.missing != "error" and table.missing(name).all():
            left_out[place] = EMPTY
            said.setdefault(f"left out, since {EMPTY}", []).append(f"'{name}'")
            continue
        if table.is_numeric(name):
            is_words = preparation.categorical == "onehot" and table.is_truth(name)
            chosen.columns[name] = Column(name, WORDS if is_words else NUMBERS)
            continue
        there = table.text(name)[~table.missing(name)]
        column, what = Column.of(name, there, preparation)
        if column.kind in (DATE, TIME) and preparation.dates == "drop":
            left_out[place], what = "dates=drop", ""
        elif column.kind == WORDS and preparation.categorical == "auto":
            words = words_of(there, preparation) or []
            if not are_few(len(words), len(table)) and not is_odd(words, preparation):
                left_out[place], helps = _too_many(name, there, words, table)
                what = f"{what}; left out" if what else "left out"
                what += f", since {left_out[place]}; {helps}"
        if place not in left_out:
            chosen.columns[name] = column
        if what:
            said.setdefault(what, []).append(f"'{name}'")
    chosen.said.extend(f"{', '.join(own)}: {what}" for what, own in said.items())
    return chosen


def _too_many(name: str, texts: Sequence[str], words: list[str], table: Table) -> tuple[str, str]:
    """Return why a column of too many different words is left out, and what helps."""
    form = table.form
    if codes := codes_of_gaps(texts, form):
        count = sum(text in codes for text in texts)
        said = (
            f"{count} of {counted(len(table), 'row')} hold {' or '.join(quoted(codes))} in place of a number"
        )
        return (
            said,
            f"{na_word(codes, table)} takes {'these words' if codes[1:] else 'it'} as a missing value",
        )
    if odd := unread_number(texts, form):
        row = table.text(name).tolist().index(odd)
        said = f"{show(odd)} ({table.where(row)}) is a number in a notation that is not read"
        return said, "write numbers such as -1.5 or 2e3"
    said = f"{len(words)} different words in {len(table)} rows are too many"
    return said, "categorical=onehot makes features of them"


def _nothing_left(table: Table, preparation: Preparation, chosen: Choice) -> str:
    """Return why no column is a feature, and what helps."""
    words = [place for place, why in chosen.left_out.items() if why not in ("drop=", EMPTY)]
    if words:
        return no_number(table.names[words[0]], table).removeprefix(f"{table.where(0)}: ")
    if chosen.left_out or chosen.ids:
        listing = preparation.words_of(["id", "drop"])
        return f"{listing} leaves no feature besides the label; leave out fewer columns"
    texts = [table.names[0], *table.text(table.names[0])[:20]] if len(table.names) == 1 else []
    for mark in "~^:#!*&@/" if texts else "":
        if len(counts := {text.count(mark) for text in texts}) == 1 and counts != {0}:
            return f"1 column, so no features; {in_shell(f'delimiter={mark}')} divides it"
    return f"{counted(len(table.names), 'column')}, so no features; is the delimiter right?"


def _check_finite(name: str, numbers: np.ndarray, table: Table) -> None:
    """Raise UserError for a number of a column that is not finite."""
    if (odd := np.isinf(numbers)).any():
        row = int(np.argmax(odd.reshape(len(table), -1).any(axis=1)))
        shown = show(table.cell(name, row))
        raise UserError(f"{table.where(row)}: column '{name}' is not finite ({shown})")


def _note_on_gaps(table: Table, recipe: Recipe) -> list[str]:
    """Return a note on the words of the columns in use that are taken as gaps."""
    if not (shown := sorted(table.gap_words({recipe.label, *(column.name for column in recipe.columns)}))):
        return []
    return [f"taken as missing: {shortlist(quoted(shown))}; na= says which words are"]


def prepared_table(table: Table, task: str, preparation: Preparation) -> tuple[Dataset, Recipe]:
    """Return the data set of a table, and the recipe that prepares others like it.

    Raises UserError that names row, column and what helps.
    """
    said = ""
    if task == "auto":
        label = table.names[label_place(table.names, table.named, preparation, table.path)[0]]
        there = table.labels(label)[~table.missing(label)]
        task, said = task_of(there, f"column '{label}'", preparation.positive)
    recipe, notes = recipe_of(table, preparation, task)
    notes += [said] if said else []
    X, labels, kept = recipe.apply(table)
    assert labels is not None  # the recipe was made from this table
    rows = len(table)
    if len(kept) < rows:
        notes.append(left_out_rows(recipe, rows - len(kept), rows))
    gaps = {column.name: int(table.missing(column.name)[kept].sum()) for column in recipe.columns}
    if filled := note_on_filled(recipe, gaps):
        notes.append(filled)
    notes += _note_on_gaps(table, recipe) + note_on_na(table)
    where = f"{table.path}: column '{recipe.label}'"
    classes: Classes
    if task == "classification" and preparation.positive is not None:
        y, pair, alike = against_rest(labels, preparation.positive, where)
        recipe.alike, classes = tuple(alike), pair
        notes += note_on_alike([pair[1], *recipe.alike])
    else:
        if task != "classification":
            if (numbers := table.numbers(recipe.label)) is None:
                raise UserError(no_number(recipe.label, table, target=True))
            _check_finite(recipe.label, numbers, table)
        y, classes = y_of(labels, task, where)
    features = [column.name for column in recipe.columns]
    widths = [len(column.features) for column in recipe.columns]
    if task != "novelty":
        own = np.unique(labels, return_inverse=True)[1] if task == "classification" else y
        notes += notes_on_columns(table, features, X, widths, own)
    if task == "regression":
        notes += notes_on_codes(recipe.label, y, "whose rows are left out")
    for column, at in zip(recipe.columns, np.cumsum(widths) - widths, strict=True):
        if column.kind in (DATE, TIME) and isinstance(X, np.ndarray):
            notes += note_on_dates(column.name, X[:, at])
    examples = dense(X, labels)
    raw = table.raw.get(recipe.label)
    made = dataset_of(table.path.name, examples, y, examples.d, task, tuple(notes), classes, raw=raw)
    return made, recipe


def _sparse(parts: Iterable[np.ndarray], table: Table) -> Any:
    """Return the features, (T, 1 or more) each, side by side as a scipy.sparse.csr_array.

    Raises UserError where that takes more memory than a file may.
    """
    import scipy.sparse as sp  # 0.15 s

    entries, d, T, stored = [], 0, 0, 0
    for part in parts:
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
    kinds = [[column for column in recipe.columns if (column.kind == WORDS) == own] for own in (False, True)]
    texts = [[f"'{own.name}' ({gaps[own.name]})" for own in kind if gaps.get(own.name)] for kind in kinds]
    said = [
        f"those of {shortlist(own)} are {what}"
        for own, what in zip(texts, (FILLED, "a word of their own"), strict=True)
        if own
    ]
    return (
        f"gaps are filled: {', '.join(said)}{'' if new else '; missing=error refuses them'}" if said else ""
    )


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
