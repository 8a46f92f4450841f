"""What data call classes and columns, and parameters of an estimator that name them."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from omkl.errors import UserError, quoted, shortlist, show
from omkl.others.pipelines import Steps
from omkl.others.traits import params_of

CHOOSE_COLUMNS = ("transformers", "categorical_features", "categorical_feature", "cat_features")


class Names(NamedTuple):
    """What a data set calls its classes and columns, which estimators of other packages see.

    labels (C,): the classes as the source holds them; empty for -1 and 1, or 0, 1, 2, ..., and for numbers
    features (d,): the names of the columns; None where they have none    renumbered: whether they are other
    columns than the source's own, so that the numbers of these mean others
    """

    labels: tuple[Any, ...] = ()
    features: tuple[str, ...] | None = None
    renumbered: bool = False

    @classmethod
    def of(cls, dataset: Any) -> "Names":
        """Return those of a Dataset."""
        labels = dataset.values_of_classes or dataset.classes or ()
        return cls(tuple(labels), dataset.features, dataset.renumbered)

    def labels_of(self, classes: int) -> tuple[Any, ...]:
        """Return the labels of this number of classes, of one type as an array has them."""
        return tuple(np.array(self.labels or (range(classes) if classes > 2 else (-1, 1))).tolist())


UNNAMED = Names()


def parameters_of(model: Any) -> Iterator[tuple[str, Any]]:
    """Yield the parameters of a model and of all that it consists of, by name."""
    left: list[Any] = [model]
    while left:
        value = left.pop()
        if isinstance(value, Steps):
            left += [*value.parts, value.last]
        elif isinstance(value, list | tuple):
            left += value
        elif isinstance(steps := getattr(value, "steps", None), Mapping):
            left += steps.values()
        elif (params := params_of(value)) is not None:
            yield from params.items()
            left += params.values()


def check_labels(where: str, key: str, value: Any, own: tuple[Any, ...], told: tuple[Any, ...]) -> None:
    """Raise UserError for a mapping whose keys are labels of an estimator that is told others."""
    if own == told or not isinstance(value, Mapping):
        return
    called = dict(zip(own, told, strict=True))
    as_told = isinstance(told[0], bool) and any(isinstance(label, bool) for label in value)
    meant = [] if as_told else [label for label in value if label in called and called[label] != label]
    if meant:
        pairs = ", ".join(f"{show(label)} as {other}" for label, other in called.items())
        raise UserError(f"{where}: {key} has the label {show(meant[0])}, and it is told {pairs}; write these")


def check_columns(where: str, key: str, value: Any, features: Sequence[str] | None) -> None:
    """Raise UserError for numbers of columns, where those of the rows are others than the table's."""
    if key not in CHOOSE_COLUMNS:
        return
    for columns in [each[-1] for each in value] if key == "transformers" else [value]:
        if isinstance(columns, slice):
            columns = [columns.start, columns.stop]
        each = [columns] if isinstance(columns, int | str) or not isinstance(columns, Iterable) else columns
        if any(isinstance(number, int | np.integer | np.bool_) for number in each):
            raise UserError(
                f"{where}: {key} has numbers of columns, and the rows have other columns than the table; "
                f"give their names: {shortlist(quoted(features)) if features else 'the table has none'}"
            )
