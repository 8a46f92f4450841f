"""How a user's table becomes numbers: which column is the label, what is left out, filled in, or scaled.

A recipe is made from one table and can be applied to others with the same columns: a saved model keeps it.
"""

import math
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from omkl import schema
from omkl.data.conversions import LETTERS, Conversion, are_few, conversion, letters, words_of
from omkl.data.data_files import size_limit
from omkl.data.delimited import LONGEST_TEXT
from omkl.data.labels import TRUTH, shortlist
from omkl.data.preparation import (
    Preparation,
    TableFormat,
    column_word,
    kind_of,
    kind_of_amounts,
    plain_values,
    readings,
)
from omkl.data.tables import Table, label_place
from omkl.errors import UserError, counted, quoted, show, suggest

MOST_CATEGORIES = 1000
_NUMBER = re.compile(r"[-+]?[0-9]+(?:[.,][0-9]+)?(?:[eE][-+]?[0-9]+)?")  # with a decimal point or comma


@dataclass
class Recipe:
    """A preparation with what it took from its table.

    columns: the features' columns in order; of each its mean, its scaling (shift, factor), or its categories
    conversions: of columns that are no plain numbers, such as dates, how they become columns of numbers
    label: the label's column    alike: see `omkl.data.labels.against_rest`
    """

    preparation: Preparation
    label: str
    columns: tuple[str, ...]
    means: dict[str, float] = field(default_factory=dict)
    scaling: dict[str, tuple[float, float]] = field(default_factory=dict)
    categories: dict[str, tuple[str, ...]] = field(default_factory=dict)
    alike: tuple[str, ...] = ()
    conversions: dict[str, Conversion] = field(default_factory=dict)

    @property
    def features(self) -> list[str]:
        """The names of the features, one for each category of a column with categories."""
        names = []
        for name in self.columns:
            values = self.categories.get(name)
            names += [name] if values is None else [f"{name}={value}" for value in values]
        return names

    def apply(
        self, table: Table, new: bool = False, labelled: bool = True
    ) -> tuple[Any, np.ndarray | None, np.ndarray]:
        """Return the features (T, d), the labels (T,) or None without such a column, and the rows kept (T,).

        Those of a sparse table are a scipy.sparse.csr_array.
        new: the table is not the recipe's own, so its cells can be corrected, but no setting can be changed.
        labelled: whether each row needs a label; if not, a missing one is the empty text.
        Raises UserError for a table that lacks a column, and for values that the preparation has no way with.
        """
        table = self.converted(table)
        for name in self.columns:
            if name not in table.frame:
                raise UserError(f"{table.path} has no column '{name}'{suggest(name, table.names)}")
        drops = self.preparation.missing == "drop"
        labels = table.labels(self.label) if self.label in table.frame else None
        unlabelled = np.zeros(len(table), bool) if labels is None else table.missing(self.label)
        if labelled and unlabelled.any() and not drops:
            row, helps = int(np.argmax(unlabelled)), "" if new else ", or missing=drop leaves it out"
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
        kept = np.ones(len(table), bool)
        if drops:
            gaps = np.zeros(len(table), bool)
            for name in self.columns:
                gaps |= table.missing(name)
            kept = ~(gaps | unlabelled) if labelled else ~gaps
            if not kept.any() and labelled:
                helps = "" if new or not gaps.all() else "; missing=mean fills them in"
                raise UserError(f"{table.path}: every row has a missing value{helps}")
        rows = slice(None) if kept.all() else kept
        parts = (self._numbers(name, table, new)[rows] for name in self.columns)
        X = _sparse(parts, table) if table.sparse else np.column_stack(list(parts))
        return X, None if labels is None else labels[kept], np.flatnonzero(kept)

    def converted(self, table: Table) -> Table:
        """Return the table with columns of numbers in place of dates and the like."""
        if not self.conversions.keys() & set(table.names):
            return table
        import pandas as pd

        columns: dict[str, Any] = {}
        words = dict(table.words)
        for name in table.names:
            own = self.conversions.get(name)
            made = own.columns(name, table) if own else {name: table.frame[name]}
            words |= {part: table.words.get(name, {}) for part in made}
            columns |= made
        return replace(table, frame=pd.DataFrame(columns, table.frame.index, copy=False), words=words)

    def parts_of(self, name: str) -> list[str]:
        """Return the columns of numbers that a column becomes."""
        own = self.conversions.get(name)
        return [f"{name} ({part})" for part in own.parts] if own and own.parts else [name]

    @property
    def texts(self) -> set[str]:
        """The columns of a table whose texts are needed, also where they are numbers."""
        return {self.label, *self.categories, *self.conversions}

    def ids(self, table: Table) -> dict[str, np.ndarray]:
        """Return the columns that name the rows, as text (T,), those that a table has."""
        return {name: table.text(name) for name in table.names if name in self.preparation.id}

    def unseen(self, table: Table, kept: np.ndarray) -> dict[str, Counter[str]]:
        """Return how often the rows kept hold categories that the recipe's own table lacks, by column."""
        found = {}
        for name in self.categories.keys() & set(table.names):
            fold = _folding(self.categories[name])
            known = set(map(fold, self.categories[name]))
            found[name] = Counter(text for text in table.text(name)[kept] if text and fold(text) not in known)
        return found

    def _numbers(self, name: str, table: Table, new: bool) -> np.ndarray:
        """Return the features of one column (T, 1 or more)."""
        values = table.numbers(name)
        missing = table.missing(name) if values is None else np.isnan(values)
        has_gaps = bool(missing.any())
        if has_gaps and self.preparation.missing == "error":
            row = int(np.argmax(missing))
            word, helps = table.cell(name, row), "missing=mean fills it in, missing=drop leaves the row out"
            if word.isalnum():
                helps += f", {self._na_helps(table, word)}"
            raise UserError(
                f"{table.where(row)}: column '{name}' has no value ({show(word)}); "
                f"{'write one, or remove the row' if new else helps}"
            )
        if name in self.categories:
            fold = _folding(self.categories[name])
            known, words = (list(map(fold, texts)) for texts in (self.categories[name], table.text(name)))
            return (np.array(words, object)[:, None] == np.array(known, object)).astype(float)
        if values is None:
            raise UserError(_no_number(name, table, new))
        _check_finite(name, values, table)
        if has_gaps:
            values = np.where(missing, self.means.get(name, math.nan), values)
        if name in self.scaling:
            shift, factor = self.scaling[name]
            values = (values - shift) * factor
        return values[:, None]

    def _na_helps(self, table: Table, word: str) -> str:
        """Return which setting reads a word, which is a gap now, as a word: the other gaps of the table."""
        others = sorted(own for own in table.gap_words(table.names) if own.lower() != word.lower())
        return f"na={','.join(others) or '[]'} reads {show(word)} as a word"

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
        filled = recipe.means.keys() | recipe.scaling.keys() | recipe.categories.keys()
        if others := sorted(filled - set(recipe.columns)):
            raise ValueError(f"{broken}: {show(others[0])} is not one of its columns")
        if not recipe.columns:
            raise ValueError(f"{broken}: it has no columns")
        return recipe


def recipe_of(
    table: Table, preparation: Preparation, task: str = "classification"
) -> tuple[Recipe, list[str]]:
    """Return the recipe that prepares this table, and notes on it. Raises UserError, see `Recipe.apply`."""
    chosen = choice_of(table, preparation, task)
    said = chosen.said
    if not chosen.features:
        raise UserError(f"{table.where(0)}: {_nothing_left(table, preparation, chosen)}")
    names = table.names
    saved = replace(  # what auto has decided stays
        preparation, header="yes" if table.named else "no", id=tuple(names[i] for i in chosen.ids)
    )
    recipe = Recipe(saved, names[chosen.label], (), conversions=chosen.conversions)
    used = recipe.converted(table)
    features = [names[i] for i in chosen.features]
    recipe.columns = tuple(part for name in features for part in recipe.parts_of(name))
    notes: list[str] = []
    wanted = () if preparation.label is None else (preparation.label,)
    for key, own in (("label", wanted), ("id", preparation.id), ("drop", preparation.drop)):
        notes += [note for name in own for note in table.note_on(name, key)]
    onehot = preparation.categorical == "onehot"
    for name in recipe.columns:
        numbers = used.numbers(name)
        if numbers is None or (onehot and used.is_truth(name)):
            there = used.text(name)[~used.missing(name)]
            if onehot or (preparation.categorical == "auto" and words_of(there, preparation) is not None):
                recipe.categories[name] = _categories(name, used)
            continue
        _check_finite(name, numbers, used)
        if preparation.missing != "mean" and preparation.scale == "none":
            continue
        there = numbers[~np.isnan(numbers)]
        if preparation.missing == "mean" and not there.size:
            fault = f"column '{name}' has no value in any row, so no mean"
            raise UserError(f"{table.path}: {fault}; {column_word('drop', name)} leaves it out")
        with np.errstate(over="ignore", invalid="ignore"):  # what overflows is refused below
            if preparation.missing == "mean":
                recipe.means[name] = float(np.mean(there))
            if preparation.scale != "none" and there.size:
                recipe.scaling[name] = _scaling(there, preparation.scale)
        if not np.isfinite([recipe.means.get(name, 0.0), *recipe.scaling.get(name, ())]).all():
            row = int(np.nanargmax(np.abs(numbers)))
            raise UserError(
                f"{table.where(row)}: column '{name}': a feature of size {numbers[row]:.3g} "
                "makes the mean or the deviation overflow; correct the cell"
            )
    if recipe.categories:
        count = sum(map(len, recipe.categories.values()))
        made = f"{counted(count, 'feature')} of {', '.join(quoted(recipe.categories))}"
        if preparation.categorical == "auto":
            said.append(f"{made}, one for each word")
        else:
            notes.append(f"categorical=onehot makes {made}")
    if preparation.scale != "none":
        notes.append(f"scale={preparation.scale} uses the whole file: every round knows what comes later")
    if "column 1" in recipe.columns and names[0] == "column 1" and table.named:
        counting = used.numbers("column 1")
        up = None if counting is None else counting - np.arange(len(table))
        if up is not None and up[0] in (0, 1) and (up == up[0]).all():
            drop = column_word("drop", "column 1") if "1" in names else "drop=1"
            notes.append(
                f"{table.path}: the first column has no name and counts the rows; {drop} leaves it out"
            )
    guessed = [*said, *table.notes]
    return recipe, ["; ".join(guessed), *notes] if guessed else notes


class Choice(NamedTuple):
    """What becomes of the columns of a table, by their places.

    features: those that are features    ids: of `Preparation`    left_out: why others are no features
    conversions: by name, of those that become numbers    said: what is to be said of it
    """

    label: int
    ids: list[int]
    features: list[int]
    left_out: dict[int, str]
    conversions: dict[str, Conversion]
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
    chosen = Choice(label, ids, [], left_out, {}, [why] if why else [])
    said: dict[str, list[str]] = {}
    for place, name in enumerate(names):
        if place in {label, *ids, *left_out}:
            continue
        if table.is_numeric(name):
            chosen.features.append(place)
            continue
        there = table.text(name)[~table.missing(name)]
        made, what = conversion(there, preparation.dates, preparation.day_first)
        if made is None and preparation.categorical == LETTERS:
            made = letters(there)
            what = f"the codes of {len(made.parts)} letters, for kernels of texts such as spectrum"
        if made and made.kind != LETTERS and preparation.dates == "drop":
            left_out[place], what = "dates=drop", ""
        elif made:
            chosen.conversions[name] = made
        elif preparation.categorical == "auto":
            words = words_of(there, preparation)
            if words and not are_few(len(words), len(table)) and not _is_odd(words, words[0], preparation):
                left_out[place] = f"{len(words)} different words in {len(table)} rows are too many"
                what = f"{what}; left out" if what else "left out"
                what += f", since {left_out[place]}; categorical=onehot makes features of them"
        if place not in left_out:
            chosen.features.append(place)
        if what:
            said.setdefault(what, []).append(f"'{name}'")
    chosen.said.extend(f"{', '.join(own)}: {what}" for what, own in said.items())
    return chosen


def _nothing_left(table: Table, preparation: Preparation, chosen: Choice) -> str:
    """Return why no column is a feature, and what helps."""
    words = [place for place, why in chosen.left_out.items() if why != "drop="]
    if words:
        return _no_number(table.names[words[0]], table).removeprefix(f"{table.where(0)}: ")
    if chosen.left_out or chosen.ids:
        listing = preparation.words_of(["id", "drop"])
        return f"{listing} leaves no feature besides the label; leave out fewer columns"
    return f"{counted(len(table.names), 'column')}, so no features; is the delimiter right?"


def _check_finite(name: str, numbers: np.ndarray, table: Table) -> None:
    """Raise UserError for a number of a column that is not finite."""
    if (odd := np.isinf(numbers)).any():
        row = int(np.argmax(odd))
        shown = show(table.cell(name, row))
        raise UserError(f"{table.where(row)}: column '{name}' is not finite ({shown})")


def note_on_gaps(table: Table, recipe: Recipe) -> list[str]:
    """Return a note on the words of the columns in use that are taken as gaps."""
    if not (shown := sorted(table.gap_words({recipe.label, *recipe.columns} & set(table.names)))):
        return []
    return [f"taken as missing: {shortlist(quoted(shown))}; na= says which words are"]


def refuse_odd_targets(table: Table, recipe: Recipe) -> None:
    """Raise UserError where the label's column holds something else than finite numbers, with what helps."""
    if (numbers := table.numbers(recipe.label)) is None:
        raise UserError(_no_number(recipe.label, table, target=True))
    _check_finite(recipe.label, numbers, table)


def _no_number(name: str, table: Table, new: bool = False, target: bool = False) -> str:
    """Return what is wrong with a column that is not all numbers, and what helps.

    new: no setting can be changed    target: the column can neither be left out nor be categories
    """
    form = table.form
    there = table.text(name)[~table.missing(name)]
    row, word = table.first_word(name)
    holds = f"{table.where(row)}: column '{name}' holds {show(word)}"
    drop = f"{column_word('drop', name)} leaves the column out"
    if new and readings(there, word, form):
        return f"{holds}, which is not a number in the notation of the training data; write it as there"
    if said := _other_notation(there, word, form):
        return f"{holds}, {said}"
    if kind := kind_of(there) or kind_of_amounts(there, form):
        if kind in ("a date", "a time"):
            convert = "write a number for each"
        else:
            convert = "write the numbers without their sign, for example in pandas"
        return f"{holds}, {kind}; {convert}{'' if new or target else f', or {drop}'}"
    helps = f"categorical=onehot makes a feature of each value, {drop}"
    helps = "correct the cell, or remove the row" if new or target else helps
    if row == 0 and any("header=yes" in note for note in table.notes):
        helps += "; header=yes takes the first line as names"
    return f"{holds}, which is not a number; {helps}"


def fault_of_words(name: str, table: Table) -> tuple[str, str] | None:
    """Return why a column that is not all numbers stops a run, and which settings help; None if it does not.

    The latter is empty where the cells must be corrected.
    """
    form = table.form
    there, (_, word) = table.text(name)[~table.missing(name)], table.first_word(name)
    if _other_notation(there, word, form):
        return f"{show(word)} is in another notation", " or ".join(readings(there, word, form))
    words = words_of(there, form)
    kind = kind_of_amounts(there, form)
    if kind or not (form.categorical == "onehot" or (form.categorical == "auto" and words is not None)):
        return f"{show(word)} is {kind or 'no number'}", "" if kind else "categorical=onehot"
    return None


def _other_notation(texts: Collection[str], word: str, form: TableFormat) -> str | None:
    """Return with which settings all texts are numbers, and what the word is then; None for other texts."""
    if found := readings(texts, word, form):
        return "which is " + " or ".join(f"{value} with {words}" for words, value in found.items())
    if all(_NUMBER.fullmatch(text) for text in texts):
        return "a number with a decimal comma in a column with decimal points; write all numbers in one way"
    return None


def _is_odd(texts: list[str], word: str, form: TableFormat) -> bool:
    """Whether texts are numbers in another notation, or with a sign, so that they are taken for no words."""
    return bool(_other_notation(texts, word, form) or kind_of_amounts(texts, form))


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


def _categories(name: str, table: Table) -> tuple[str, ...]:
    form, texts = table.form, table.text(name)[~table.missing(name)]
    values = tuple(sorted(set(texts)))
    if not table.is_truth(name):
        row, word = table.first_word(name)
        if said := _other_notation(texts, word, form):
            raise UserError(f"{table.where(row)}: column '{name}' holds {show(word)}, {said}")
        if _is_odd(list(values), word, form):
            raise UserError(_no_number(name, table))
    else:  # one each, in capital letters or not
        lower = [value.lower() for value in values]
        values = tuple(value for i, value in enumerate(values) if lower.index(lower[i]) == i)
    if len(values) > MOST_CATEGORIES:
        raise UserError(
            f"{table.path}: column '{name}' has {len(values)} different values, such as "
            f"{show(values[0])}; categorical=onehot takes {MOST_CATEGORIES}; "
            f"{column_word('drop', name)} leaves the column out"
        )
    long = next((value for value in values if len(value) > LONGEST_TEXT), None)
    if long is not None:
        raise UserError(
            f"{table.path}: column '{name}' holds a text of {len(long)} characters; "
            f"{column_word('drop', name)} leaves the column out"
        )
    return values


def _folding(words: Sequence[str]) -> Callable[[str], str]:
    """Return what is done to texts before they are compared with the words of a column.

    True and true are one, as in labels.
    """
    return str.lower if {word.lower() for word in words} <= TRUTH.keys() else str


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
