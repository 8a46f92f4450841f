"""How a set's YAML declares its files and the steps from there to rows and labels: plain values, no work."""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Link:
    """Where a file is downloaded from; ``member`` is its name inside a .zip archive."""

    url: str
    member: str | None = None


@dataclass(frozen=True)
class DataFile:
    """A file of a form: the name it is looked for under, and where it can be downloaded (none: never)."""

    name: str
    links: tuple[Link, ...] = ()


@dataclass(frozen=True)
class Affine:
    """(raw + add) / divide; rows whose raw value lies outside ``keep`` (both ends in) are left out."""

    add: float = 0.0
    divide: float = 1.0
    keep: tuple[float, float] | None = None

    def __call__(self, raw: np.ndarray) -> np.ndarray:
        """Return the changed numbers, of any shape."""
        return (raw + self.add) / self.divide


@dataclass(frozen=True)
class Form:
    """One format that a set is found in, and the steps from there to rows and labels.

    format: libsvm (files one after the other) | table | sparse_binary (a line lists the columns that are 1)
        | npz (arrays X and y) | sklearn (the copy that scikit-learn embeds) | stream (made from a seed)
    labels: source label -> +1 or -1; other labels are errors. None: the labels are numbers, kept as they are
    label: column of the label: first | last | number from 1 | file (the second file holds one label per line)
    delimiter: "," or "whitespace"   drop: columns left out, from 1   values: words -> numbers
    missing: rows with this mark in a kept feature are left out   rows: only the first ones of the file
    times: columns with a time of day, HH:MM, read as a fraction of the day
    unit: each feature is brought to [0, 1] by its own least and largest value
    target: of the labels, as numbers   scale: of all features alike
    dataset: name of what is embedded or made
    """

    format: str
    files: tuple[DataFile, ...] = ()
    labels: dict[str, int] | None = None
    label: str | int = "last"
    delimiter: str = ","
    drop: tuple[int, ...] = ()
    values: dict[str, float] | None = None
    missing: str | None = None
    header: bool | None = False  # None: taken as one where the first line's features are no numbers
    dataset: str | None = None
    rows: int | None = None
    times: tuple[int, ...] = ()
    unit: bool = False
    target: Affine | None = None
    scale: Affine | None = None

    @property
    def needs_files(self) -> bool:
        """Whether the set is read from files, not embedded or made."""
        return self.format not in ("sklearn", "stream")
