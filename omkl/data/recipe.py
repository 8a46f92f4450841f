"""How a user's table becomes numbers: which column is the label, what is left out, filled in, or scaled.

A recipe is made from one table and can be applied to others with the same columns: a saved model keeps it.
"""

import math
import re
from collections import Counter
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from omkl.data.delimited import LONGEST_TEXT
from omkl.data.labels import listed
from omkl.data.table_files import Column, Table
from omkl.errors import UserError, show, suggest

MOST_CATEGORIES = 1000
_NUMBER = re.compile(r"[-+]?[0-9]+(?:[.,][0-9]+)?(?:[eE][-+]?[0-9]+)?")  # with a decimal point or comma


@dataclass(frozen=True)
class Preparation:
    """What a user wants of a table; the defaults change nothing.

    label: a column's name or number, None for the last    drop: columns to leave out
    missing: ``error``, ``drop`` the row (also for its label), or ``mean`` of the column
    categorical: ``error`` or ``onehot``
    scale: ``none``, ``minmax`` to [0, 1] or ``standard`` to mean 0 and deviation 1, over the whole table
    positive: the class that is +1 against all others, None: all classes as they are
    """

    label: str | None = None
    drop: tuple[str, ...] = ()
    missing: str = "error"
    categorical: str = "error"
    scale: str = "none"
    positive: str | None = None

    @property
    def words(self) -> str:
        """The settings other than the defaults, as one types them."""
        values = {key: value for key, value in asdict(self).items() if value != getattr(AS_IT_IS, key)}
        return " ".join(f"{key}={','.join(v) if isinstance(v, tuple) else v}" for key, v in values.items())


AS_IT_IS = Preparation()


@dataclass
class Recipe:
    """A preparation with what it took from its table.

    columns: the features' columns in order; of each its mean, its scaling (shift, factor), or its categories
    label: the label's column    alike: see `omkl.data.labels.against_rest`
    """

    preparation: Preparation
    label: str
    columns: list[str]
    means: dict[str, float] = field(default_factory=dict)
    scaling: dict[str, tuple[float, float]] = field(default_factory=dict)
    categories: dict[str, list[str]] = field(default_factory=dict)
    alike: list[str] = field(default_factory=list)

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
    ) -> tuple[np.ndarray, np.ndarray | None, np.ndarray]:
        """Return the features (T, d), the labels (T,) or None without such a column, and the rows kept (T,).

        new: the table is not the recipe's own, so its cells can be corrected, but no setting can be changed.
        labelled: whether each row needs a label; if not, a missing one is the empty text.
        Raises UserError for a table that lacks a column, and for values that the preparation has no way with.
        """
        by_name = {column.name: column for column in table.columns}
        for name in self.columns:
            if name not in by_name:
                raise UserError(f"{table.path} has no column '{name}'{suggest(name, by_name)}")
        used = [by_name[name] for name in self.columns]
        label, drops = by_name.get(self.label), self.preparation.missing == "drop"
        kept = np.ones(len(used[0].text), bool)
        if label is not None and label.missing.any() and labelled and not drops:
            row, helps = int(np.argmax(label.missing)), "" if new else ", or missing=drop leaves it out"
            raise UserError(
                f"{table.where(row)}: the label (column '{label.name}') is missing; remove the row{helps}"
            )
        if label is not None and (long := max(map(len, label.text))) > LONGEST_TEXT:
            row = next(i for i, text in enumerate(label.text) if len(text) == long)
            raise UserError(
                f"{table.where(row)}: the label has {long:,} characters; at most {LONGEST_TEXT} are read"
            )
        if drops:
            gaps = np.any([column.missing for column in used], axis=0)
            kept = ~(gaps | label.missing) if label is not None and labelled else ~gaps
            if not kept.any() and labelled:
                helps = "" if new or not gaps.all() else "; missing=mean fills them in"
                raise UserError(f"{table.path}: every row has a missing value{helps}")
        X = np.column_stack([self._numbers(column, table, new) for column in used])[kept]
        labels = None if label is None else np.where(label.missing, "", label.text)[kept]
        return X, labels, np.flatnonzero(kept)

    def unseen(self, table: Table, kept: np.ndarray) -> list[str]:
        """Return notes on categories of the rows kept that the recipe's own table lacks."""
        notes = []
        for column in table.columns:
            known = set(self.categories.get(column.name, column.text))
            there = column.text[kept[~column.missing[kept]]]
            if new := Counter(text for text in there if text not in known):
                texts = [f"{text} ({count})" for text, count in new.most_common()]
                notes.append(
                    f"{table.path}: column '{column.name}' holds values that were not in the training data: "
                    f"{listed(texts)}; in {new.total()} of {len(kept)} rows all of its features are 0"
                )
        return notes

    def _numbers(self, column: Column, table: Table, new: bool) -> np.ndarray:
        """Return the features of one column (T, 1 or more)."""
        name, missing = column.name, column.missing
        if missing.any() and self.preparation.missing == "error":
            row = int(np.argmax(missing))
            helps = "missing=mean fills it in, missing=drop leaves the row out"
            raise UserError(
                f"{table.where(row)}: column '{name}' has no value ({show(column.text[row])}); "
                f"{'write one, or remove the row' if new else helps}"
            )
        if name in self.categories:
            known = self.categories[name]
            return (column.text[:, None] == np.array(known, object)).astype(float)
        if column.numbers is None:
            _refuse_decimal_commas(column, table)
            row, word = column.first_word()
            helps = f"categorical=onehot makes a feature of each value, drop={name} leaves the column out"
            raise UserError(
                f"{table.where(row)}: column '{name}' holds {show(word)}, which is not a number; "
                f"{'correct the cell, or remove the row' if new else helps}"
            )
        _finite(column, table)
        values = np.where(missing, self.means.get(name, math.nan), column.numbers)
        shift, factor = self.scaling.get(name, (0.0, 1.0))
        return ((values - shift) * factor)[:, None]

    def to_json(self) -> dict[str, Any]:
        """Return the recipe as JSON holds it."""
        return asdict(self)

    @classmethod
    def from_json(cls, text: Any) -> "Recipe":
        """Return the recipe of `to_json`. Raises ValueError for anything else."""
        try:
            own = dict(text)
            wanted = dict(own.pop("preparation"))
            wanted["drop"] = tuple(wanted["drop"])
            recipe = cls(Preparation(**wanted), **own)
            recipe.scaling = {name: (float(a), float(b)) for name, (a, b) in recipe.scaling.items()}
            recipe.means = {name: float(value) for name, value in recipe.means.items()}
            names = [
                recipe.label,
                *recipe.columns,
                *recipe.alike,
                *(v for values in recipe.categories.values() for v in values),
            ]
        except (TypeError, ValueError, AttributeError, KeyError) as error:
            raise ValueError(f"the recipe of its data is broken: {error}") from None
        if not recipe.columns or not all(isinstance(name, str) for name in names):
            raise ValueError("the recipe of its data is broken: it has no columns")
        return recipe


def recipe_of(table: Table, preparation: Preparation) -> tuple[Recipe, list[str]]:
    """Return the recipe that prepares this table, and notes on it. Raises UserError, see `Recipe.apply`."""
    wanted = preparation.label
    label = len(table.columns) - 1 if wanted is None else table.place(wanted, "label")
    dropped = {table.place(name, "drop") for name in preparation.drop}
    if label in dropped:
        raise UserError(f"drop={table.columns[label].name}: this is the label; label=COLUMN names another")
    used = [column for i, column in enumerate(table.columns) if i != label and i not in dropped]
    if not used:
        fault = f"{len(table.columns)} column(s), so no features; is the delimiter right?"
        if dropped:
            listing = ",".join(preparation.drop)
            fault = f"drop={listing} leaves no feature beside the label; drop fewer columns"
        raise UserError(f"{table.where(0)}: {fault}")
    recipe = Recipe(preparation, table.columns[label].name, [column.name for column in used])
    notes = []
    for column in used:
        if column.numbers is None or (column.truth and preparation.categorical == "onehot"):
            if preparation.categorical == "onehot":
                recipe.categories[column.name] = _categories(column, table)
            continue
        there = _finite(column, table)
        if preparation.missing == "mean" and not there.size:
            fault = f"column '{column.name}' has no value in any row, so no mean"
            raise UserError(f"{table.path}: {fault}; drop={column.name} leaves it out")
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
        made = sum(map(len, recipe.categories.values()))
        notes.append(f"categorical=onehot makes {made} features of {', '.join(recipe.categories)}")
    if preparation.scale != "none":
        notes.append(f"scale={preparation.scale} is over the whole file: every round knows what comes later")
    counting = table.columns[0]
    if counting in used and table.named and counting.name == "column 1" and counting.numbers is not None:
        first = counting.numbers[0]
        if first in (0, 1) and np.array_equal(counting.numbers, first + np.arange(len(counting.numbers))):
            notes.append(
                f"{table.path}: the first column has no name and counts the rows; drop=1 leaves it out"
            )
    return recipe, notes


def _finite(column: Column, table: Table) -> np.ndarray:
    """Return the numbers of a column that are there. Raises UserError for one that is not finite."""
    assert column.numbers is not None
    wrong = ~np.isfinite(column.numbers) & ~column.missing
    if wrong.any():
        row = int(np.argmax(wrong))
        raise UserError(
            f"{table.where(row)}: column '{column.name}' is not finite ({show(column.text[row])})"
        )
    return column.numbers[~column.missing]


def _refuse_decimal_commas(column: Column, table: Table) -> None:
    """Raise UserError where a column that is not all numbers would be with points in place of commas."""
    there = column.text[~column.missing]
    if all(_NUMBER.fullmatch(text) for text in there):
        row, text = column.first_word()
        raise UserError(
            f"{table.where(row)}: column '{column.name}' holds {show(text)}, a number with a decimal comma; "
            f"write a point in the whole column ({text.replace(',', '.')})"
        )


def _categories(column: Column, table: Table) -> list[str]:
    _refuse_decimal_commas(column, table)
    values = sorted(set(column.text[~column.missing]))
    if len(values) > MOST_CATEGORIES:
        raise UserError(
            f"{table.path}: column '{column.name}' has {len(values)} different values, such as "
            f"{show(values[0])}; categorical=onehot takes {MOST_CATEGORIES}; drop={column.name} leaves it out"
        )
    long = next((value for value in values if len(value) > LONGEST_TEXT), None)
    if long is not None:
        raise UserError(
            f"{table.path}: column '{column.name}' holds a text of {len(long)} characters; drop it"
        )
    return values


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
