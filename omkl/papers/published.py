"""The papers' numbers: results/published/*.csv."""

import csv
from dataclasses import dataclass
from functools import cache

from omkl.errors import UserError, show, suggest
from omkl.paths import published_folder

WITHIN = 2.0  # published standard deviations


@dataclass(frozen=True)
class Value:
    """A published mean and standard deviation (None where none is printed), and the last digit's step."""

    mean: float
    std: float | None
    step: float

    def difference(self, ours: float) -> float | None:
        """Return ours minus published in published standard deviations, None where there is none, or 0."""
        return (ours - self.mean) / self.std if self.std else None

    def agrees(self, ours: float) -> bool | None:
        """Return whether ours lies within two published standard deviations, None without one.

        Where 0 is printed, a count or a constant answer: within one of the last printed digit.
        """
        if self.std is None:
            return None
        return bool(abs(ours - self.mean) <= (WITHIN * self.std or self.step * (1.0 + 1e-9)))


@cache
def values(stem: str) -> dict[tuple[str, str, str, str], Value]:
    """Return the published values of a CSV by (table, data, algorithm, metric)."""
    table = {}
    path = published_folder() / f"{stem}.csv"
    if not path.is_file():
        known = [other.stem for other in path.parent.glob("*.csv")]
        raise UserError(f"published: {show(stem)}: there is no {path}{suggest(stem, known)}")
    with open(path, newline="", encoding="utf-8") as file:
        for line in csv.DictReader(file):
            digits = line["mean"].partition(".")[2]
            key = (line["table"], line["data"], line["algorithm"], line["metric"])
            std = float(line["std"]) if line["std"] else None
            table[key] = Value(float(line["mean"]), std, 10.0 ** -len(digits))
    return table


@cache
def sizes() -> list[dict[str, str]]:
    """Return the published sizes of data sets: paper, data, T, d, note."""
    with open(published_folder() / "datasets.csv", newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))
