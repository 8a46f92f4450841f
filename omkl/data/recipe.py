"""How a user's table becomes numbers: which column is the label, what is left out, filled in, or scaled.

A recipe is made from one table and can be applied to others with the same columns: a saved model keeps it.
"""

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from omkl import schema
from omkl.data.conversions import AMOUNTS, LETTERS, Conversion, are_few, conversion, letters, words_of
from omkl.data.data_files import size_limit
from omkl.data.delimited import LONGEST_TEXT
from omkl.data.labels import TRUTH, shortlist
from omkl.data.tables import (
    Column,
    Table,
    TableFormat,
    column_word,
    in_shell,
    kind_of,
    readings,
    typed,
    typed_setting,
)
from omkl.errors import UserError, counted, quoted, show, suggest

MOST_CATEGORIES = 1000
_CHOICES = {
    "index_base": ("auto", 0, 1),
    "categorical": ("auto", "onehot", "letters", "error"),
    "dates": ("parts", "ordinal", "drop"),
    "day_first": ("auto", "yes", "no"),
    "qid": ("error", "drop"),
}
LABELS = ("label", "class", "target", "y")  # names of a label's column, without regard to case
_NUMBER = re.compile(r"[-+]?[0-9]+(?:[.,][0-9]+)?(?:[eE][-+]?[0-9]+)?")  # with a decimal point or comma


@dataclass(frozen=True)
class Preparation(TableFormat):
    """What a user wants of a file, mostly of a table, beside how it is written; the defaults change nothing.

    label: a column's name or number; None for the last, or for one that is called as in LABELS
    id: columns that name the rows, left out of the features    drop: columns to leave out
    missing: ``error``, ``drop`` the row (also for its label), or ``mean`` of the column
    categorical: ``onehot``, ``letters`` (their codes), ``error``, or ``auto``: onehot for columns of few
    words, others are left out
    dates: ``parts``, ``ordinal`` (only the days since the first) or ``drop``
    day_first: whether 3/4/2024 is in April, ``yes`` or ``no``; ``auto``: as other dates of the column show
    scale: ``none``, ``minmax`` to [0, 1] or ``standard`` to mean 0 and deviation 1, over the whole table
    positive: the class that is +1 against all others, None: all classes as they are
    index_base: of LIBSVM text, the index of the first column, 0 or 1; ``auto``: 0 if there is an index 0
    qid: of LIBSVM text, whether groups of a ranking are an ``error`` or left out (``drop``)
    """

    label: str | None = None
    id: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()
    missing: str = "error"
    categorical: str = "auto"
    dates: str = "parts"
    day_first: str = "auto"
    scale: str = "none"
    positive: str | None = None
    index_base: str | int = "auto"
    qid: str = "error"

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> "Preparation":
        """Return the preparation of plain values, lists for tuples; keys that are not there are as usual.

        Raises UserError for values that cannot be.
        """
        made: Preparation = schema.as_dataclass(cls, _plain(values), "the preparation of a table")
        return made

    def __post_init__(self) -> None:
        """Raise UserError for settings that contradict each other or cannot be."""
        super().__post_init__()
        for key, known in _CHOICES.items():
            if (value := getattr(self, key)) not in known:
                *others, last = map(str, known)
                raise UserError(f"{key}={show(value)}: must be {', '.join(others)} or {last}")

    @property
    def words(self) -> str:
        """The settings other than the defaults, as one types them."""
        return self.words_of(asdict(self))

    def words_of(self, keys: Iterable[str]) -> str:
        """Return those of these settings that are not the defaults, as one types them."""
        words = []
        for key in keys:
            value = getattr(self, key)
            if value == getattr(AS_IT_IS, key):
                continue
            if key in ("label", "id", "drop", "positive"):
                words.append(typed_setting(key, *([value] if isinstance(value, str) else value)))
            else:
                words.append(
                    f"{key}={(','.join(value) or '[]') if isinstance(value, tuple) else typed(value)}"
                )
        return " ".join(map(in_shell, words))


AS_IT_IS = Preparation()


def _plain(value: Any) -> Any:
    """Return a value as JSON holds it, without what is null."""
    if isinstance(value, Mapping):
        return {key: _plain(own) for key, own in value.items() if own is not None}
    return [_plain(own) for own in value] if isinstance(value, tuple | list) else value


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
        by_name = {column.name: column for column in table.columns}
        for name in self.columns:
            if name not in by_name:
                raise UserError(f"{table.path} has no column '{name}'{suggest(name, by_name)}")
        used = [by_name[name] for name in self.columns]
        label, drops = by_name.get(self.label), self.preparation.missing == "drop"
        kept = np.ones(len(used[0].text), bool)
        if label is not None and label.missing.any() and labelled and not drops:
            row, helps = int(np.argmax(label.missing)), "" if new else ", or missing=drop leaves it out"
            if not new and label.text[row].isalnum():
                helps += f"; {self._na_helps(table, label.text[row])}"
            shown = f" ({show(label.text[row])})" if label.text[row] else ""
            raise UserError(
                f"{table.where(row)}: the label (column '{label.name}') is missing{shown}; "
                f"remove the row{helps}"
            )
        if label is not None and (long := max(map(len, label.text))) > LONGEST_TEXT:
            row = next(i for i, text in enumerate(label.text) if len(text) == long)
            raise UserError(
                f"{table.where(row)}: the label has {long:,} characters; at most {LONGEST_TEXT} are read"
            )
        if drops:
            gaps = np.zeros(len(kept), bool)
            for column in used:
                if column.distinct.missing.any():
                    gaps |= column.missing
            kept = ~(gaps | label.missing) if label is not None and labelled else ~gaps
            if not kept.any() and labelled:
                helps = "" if new or not gaps.all() else "; missing=mean fills them in"
                raise UserError(f"{table.path}: every row has a missing value{helps}")
        parts = (self._numbers(column, table, new)[kept] for column in used)
        X = _sparse(parts, table) if table.sparse else np.column_stack(list(parts))
        labels = None if label is None else np.where(label.missing, "", label.text)[kept]
        return X, labels, np.flatnonzero(kept)

    def converted(self, table: Table) -> Table:
        """Return the table with columns of numbers in place of dates, percentages and the like."""
        if not self.conversions:
            return table
        columns: list[Column] = []
        for column in table.columns:
            own = self.conversions.get(column.name)
            columns += own.columns(column, table) if own else [column]
        return replace(table, columns=columns)

    def ids(self, table: Table) -> dict[str, np.ndarray]:
        """Return the columns that name the rows, as text (T,), those that a table has."""
        return {column.name: column.text for column in table.columns if column.name in self.preparation.id}

    def unseen(self, table: Table, kept: np.ndarray) -> dict[str, Counter[str]]:
        """Return how often the rows kept hold categories that the recipe's own table lacks, by column."""
        found = {}
        for column in table.columns:
            if column.name in self.categories:
                fold = _folding(self.categories[column.name])
                known = set(map(fold, self.categories[column.name]))
                there = column.text[kept[~column.missing[kept]]]
                found[column.name] = Counter(text for text in there if fold(text) not in known)
        return found

    def _numbers(self, column: Column, table: Table, new: bool) -> np.ndarray:
        """Return the features of one column (T, 1 or more)."""
        name, has_gaps = column.name, column.distinct.missing.any()
        if has_gaps and self.preparation.missing == "error":
            row = int(np.argmax(column.missing))
            helps = "missing=mean fills it in, missing=drop leaves the row out"
            if column.text[row].isalnum():
                helps += f", {self._na_helps(table, column.text[row])}"
            raise UserError(
                f"{table.where(row)}: column '{name}' has no value ({show(column.text[row])}); "
                f"{'write one, or remove the row' if new else helps}"
            )
        if name in self.categories:
            fold = _folding(self.categories[name])
            known, words = (list(map(fold, texts)) for texts in (self.categories[name], column.text))
            return (np.array(words, object)[:, None] == np.array(known, object)).astype(float)
        values = column.numbers
        if values is None:
            raise UserError(_no_number(column, table, self.preparation, new))
        _check_finite(column, table)
        if has_gaps:
            values = np.where(column.missing, self.means.get(name, math.nan), values)
        shift, factor = self.scaling.get(name, (0.0, 1.0))
        return ((values - shift) * factor)[:, None]

    def _na_helps(self, table: Table, word: str) -> str:
        """Return which setting reads a word, which is a gap now, as a word: the other gaps of the table."""
        gaps = [column.distinct for column in table.columns if column.distinct.missing.any()]
        there = {text for column in gaps for text in column.text[column.missing] if text}
        others = sorted({text for text in there if text.lower() != word.lower()})
        return f"na={','.join(others) or '[]'} reads {show(word)} as a word"

    def to_json(self) -> dict[str, Any]:
        """Return the recipe as JSON holds it."""
        return asdict(self)

    @classmethod
    def from_json(cls, content: Any) -> "Recipe":
        """Return the recipe of `to_json`. Raises ValueError for anything else."""
        broken = "the recipe of its data is broken"
        try:
            recipe: Recipe = schema.as_dataclass(cls, _plain(content), broken)
        except UserError as error:
            raise ValueError(str(error)) from None
        filled = recipe.means.keys() | recipe.scaling.keys() | recipe.categories.keys()
        if others := sorted(filled - set(recipe.columns)):
            raise ValueError(f"{broken}: {show(others[0])} is not one of its columns")
        if not recipe.columns:
            raise ValueError(f"{broken}: it has no columns")
        if recipe.preparation.header == "auto":  # of version 0.2, which did not keep what auto had decided
            numbered = all(name.isdecimal() and name != "0" for name in recipe.columns)  # from 1 up
            recipe.preparation = replace(recipe.preparation, header="no" if numbered else "yes")
        return recipe


def recipe_of(
    table: Table, preparation: Preparation, task: str = "classification"
) -> tuple[Recipe, list[str]]:
    """Return the recipe that prepares this table, and notes on it. Raises UserError, see `Recipe.apply`."""
    chosen = choice_of(table, preparation, task)
    own, conversions, said = table.columns[chosen.label], chosen.conversions, chosen.said
    kept = [table.columns[i] for i in chosen.features]
    if not kept:
        raise UserError(f"{table.where(0)}: {_nothing_left(table, preparation, chosen)}")
    names = tuple(table.columns[i].name for i in chosen.ids)
    saved = replace(
        preparation, header="yes" if table.named else "no", id=names
    )  # what auto has decided stays
    recipe = Recipe(saved, own.name, (), conversions=conversions)
    used = recipe.converted(replace(table, columns=kept)).columns
    recipe.columns = tuple(column.name for column in used)
    notes: list[str] = []
    wanted = () if preparation.label is None else (preparation.label,)
    for key, names in (("label", wanted), ("id", preparation.id), ("drop", preparation.drop)):
        notes += [note for name in names for note in table.note_on(name, key)]
    for column in used:
        if column.distinct.numbers is None or (column.distinct.truth and preparation.categorical == "onehot"):
            asked = preparation.categorical == "onehot"
            if asked or (preparation.categorical == "auto" and words_of(column, preparation) is not None):
                recipe.categories[column.name] = _categories(column, table, preparation)
            continue
        _check_finite(column, table)
        if preparation.missing != "mean" and preparation.scale == "none":
            continue
        assert column.numbers is not None
        there = column.numbers[~column.missing]
        if preparation.missing == "mean" and not there.size:
            fault = f"column '{column.name}' has no value in any row, so no mean"
            raise UserError(f"{table.path}: {fault}; {column_word('drop', column.name)} leaves it out")
        with np.errstate(over="ignore", invalid="ignore"):  # what overflows is refused below
            if preparation.missing == "mean":
                recipe.means[column.name] = float(np.mean(there))
            if preparation.scale != "none" and there.size:
                recipe.scaling[column.name] = _scaling(there, preparation.scale)
        if not np.isfinite([recipe.means.get(column.name, 0.0), *recipe.scaling.get(column.name, ())]).all():
            row = int(np.argmax(np.abs(np.where(column.missing, 0.0, column.numbers))))
            raise UserError(
                f"{table.where(row)}: column '{column.name}': a feature of size {column.numbers[row]:.3g} "
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
    counting = table.columns[0]
    if counting in used and table.named and counting.name == "column 1" and counting.numbers is not None:
        first = counting.numbers[0]
        if first in (0, 1) and np.array_equal(counting.numbers, first + np.arange(len(counting.numbers))):
            is_name = any(column.name == "1" for column in table.columns)
            drop = column_word("drop", counting.name) if is_name else "drop=1"
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
    label, why = _label(table, preparation)
    own = table.columns[label]
    ids = [table.place(name, "id") for name in preparation.id]
    left_out = {table.place(name, "drop"): "drop=" for name in preparation.drop}
    for key, places in (("drop", left_out), ("id", ids)):
        if label in places:
            raise UserError(f"{column_word(key, own.name)}: this is the label; label=COLUMN names another")
    chosen = Choice(label, ids, [], left_out, {}, [why] if why else [])
    said: dict[str, list[str]] = {}
    for place, column in enumerate(table.columns):
        if place in {label, *ids, *left_out}:
            continue
        made, what = None, ""
        if column.distinct.numbers is None:
            made, what = conversion(column, preparation, preparation.dates, preparation.day_first)
            if made is None and preparation.categorical == LETTERS:
                made = letters(column)
                what = f"the codes of {len(made.parts)} letters, for kernels of texts such as spectrum"
        if made and made.kind in ("a date", "a time") and preparation.dates == "drop":
            left_out[place], what = "dates=drop", ""
        elif made:
            chosen.conversions[column.name] = made
        elif column.distinct.numbers is None and preparation.categorical == "auto":
            words = words_of(column, preparation)
            rows = len(column.text)
            many = words is not None and not are_few(len(words), rows)
            if words is not None and many and not _other_notation(words, words[0], preparation):
                left_out[place] = f"{len(words)} different words in {rows} rows are too many"
                what = f"{what}; left out" if what else "left out"
                what += f", since {left_out[place]}; categorical=onehot makes features of them"
        if place not in left_out:
            chosen.features.append(place)
        if what:
            said.setdefault(what, []).append(f"'{column.name}'")
    if task != "classification" and own.distinct.numbers is None:
        made, what = conversion(own, preparation, "ordinal")
        if made and made.kind in AMOUNTS:
            chosen.conversions[own.name] = made
            said.setdefault(what, []).append(f"'{own.name}'")
    chosen.said.extend(f"{', '.join(names)}: {what}" for what, names in said.items())
    return chosen


def _nothing_left(table: Table, preparation: Preparation, chosen: Choice) -> str:
    """Return why no column is a feature, and what helps."""
    words = [place for place, why in chosen.left_out.items() if why != "drop="]
    if words:
        text = _no_number(table.columns[words[0]], table, preparation)
        return text.removeprefix(f"{table.where(0)}: ")
    if chosen.left_out or chosen.ids:
        listing = preparation.words_of(["id", "drop"])
        return f"{listing} leaves no feature besides the label; leave out fewer columns"
    return f"{counted(len(table.columns), 'column')}, so no features; is the delimiter right?"


def _label(table: Table, preparation: Preparation) -> tuple[int, str]:
    """Return the place of the label's column, and how it was chosen unless the user did."""
    if preparation.label is not None:
        return table.place(preparation.label, "label"), ""
    names = [column.name for column in table.columns]
    last = len(names) - 1
    out = {table.place(name, key) for key in ("id", "drop") for name in getattr(preparation, key)}
    lower = [name.strip().lower() for name in names]
    found = [lower.index(name) for name in LABELS if name in lower and lower.index(name) not in out]
    if table.named and found and lower[last] not in LABELS:
        return found[0], f"the label is column '{names[found[0]]}', by its name; label= names another"
    shown = f"'{names[last]}'" if table.named else names[last]
    return last, f"the label is column {shown}, the last; label= names another"


def _check_finite(column: Column, table: Table) -> None:
    """Raise UserError for a number of a column that is not finite."""
    numbers = column.distinct.numbers
    if numbers is None or np.isfinite(numbers[~column.distinct.missing]).all():
        return
    assert column.numbers is not None
    row = int(np.argmax(~np.isfinite(column.numbers) & ~column.missing))
    raise UserError(f"{table.where(row)}: column '{column.name}' is not finite ({show(column.text[row])})")


def note_on_gaps(table: Table, recipe: Recipe) -> list[str]:
    """Return a note on the words of the columns in use that are taken as gaps."""
    used = {recipe.label, *recipe.columns}
    columns = [column.distinct for column in table.columns if column.name in used]
    words = {text for column in columns if column.missing.any() for text in column.text[column.missing]}
    if not (shown := sorted(word for word in words if word)):
        return []
    return [f"taken as missing: {shortlist(quoted(shown))}; na= says which words are"]


def refuse_odd_targets(table: Table, recipe: Recipe) -> None:
    """Raise UserError where the label's column holds something else than numbers, with what helps."""
    column = next(column for column in table.columns if column.name == recipe.label)
    if column.numbers is None:
        raise UserError(_no_number(column, table, recipe.preparation, target=True))


def _no_number(
    column: Column, table: Table, form: TableFormat, new: bool = False, target: bool = False
) -> str:
    """Return what is wrong with a column that is not all numbers, and what helps.

    new: no setting can be changed    target: the column can neither be left out nor be categories
    """
    there = column.text[~column.missing]
    row, word = column.first_word(form)
    holds = f"{table.where(row)}: column '{column.name}' holds {show(word)}"
    drop = f"{column_word('drop', column.name)} leaves the column out"
    if new and readings(there, word, form):
        return f"{holds}, which is not a number in the notation of the training data; write it as there"
    if said := _other_notation(there, word, form):
        return f"{holds}, {said}"
    if kind := kind_of(there):
        convert = "write a number for each" if kind in ("a date", "a time") else "write the numbers alone"
        return f"{holds}, {kind}; {convert}{'' if new or target else f', or {drop}'}"
    helps = f"categorical=onehot makes a feature of each value, {drop}"
    helps = "correct the cell, or remove the row" if new or target else helps
    if row == 0 and any("header=yes" in note for note in table.notes):
        helps += "; header=yes takes the first line as names"
    return f"{holds}, which is not a number; {helps}"


def fault_of_words(column: Column, preparation: Preparation) -> tuple[str, str] | None:
    """Return why a column that is not all numbers stops a run, and which settings help; None if it does not.

    The latter is empty where the cells must be corrected.
    """
    there, (_, word) = column.text[~column.missing], column.first_word(preparation)
    if _other_notation(there, word, preparation):
        return f"{show(word)} is in another notation", " or ".join(readings(there, word, preparation))
    as_words = preparation.categorical == "auto" and words_of(column, preparation) is not None
    if as_words or preparation.categorical == "onehot":
        return None
    return f"{show(word)} is no number", "categorical=onehot"


def _other_notation(texts: np.ndarray, word: str, form: TableFormat) -> str | None:
    """Return with which settings all texts are numbers, and what the word is then; None for other texts."""
    if found := readings(texts, word, form):
        return "which is " + " or ".join(f"{value} with {words}" for words, value in found.items())
    if all(_NUMBER.fullmatch(text) for text in texts):
        return "a number with a decimal comma in a column with decimal points; write all numbers in one way"
    return None


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


def _categories(column: Column, table: Table, form: TableFormat) -> tuple[str, ...]:
    row, word = column.first_word(form)
    if said := _other_notation(column.text[~column.missing], word, form):
        raise UserError(f"{table.where(row)}: column '{column.name}' holds {show(word)}, {said}")
    values = tuple(sorted(set(column.text[~column.missing])))
    if column.distinct.truth:  # one each, in capital letters or not
        lower = [value.lower() for value in values]
        values = tuple(value for i, value in enumerate(values) if lower.index(lower[i]) == i)
    if len(values) > MOST_CATEGORIES:
        raise UserError(
            f"{table.path}: column '{column.name}' has {len(values)} different values, such as "
            f"{show(values[0])}; categorical=onehot takes {MOST_CATEGORIES}; "
            f"{column_word('drop', column.name)} leaves the column out"
        )
    long = next((value for value in values if len(value) > LONGEST_TEXT), None)
    if long is not None:
        raise UserError(
            f"{table.path}: column '{column.name}' holds a text of {len(long)} characters; "
            f"{column_word('drop', column.name)} leaves the column out"
        )
    return values


def _folding(words: Sequence[str]) -> Callable[[str], str]:
    """Return what is done to texts before they are compared with the words of a column.

    True and true are one, as in labels, except where a model of an older version has both.
    """
    lower = {word.lower() for word in words}
    return str.lower if len(lower) == len(words) and lower <= TRUTH.keys() else str


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
