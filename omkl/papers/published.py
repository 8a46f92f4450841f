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
        """Return ours minus published in published standard deviations, None where there is none.

        A deviation printed as 0 is one below half the last printed digit.
        """
        if self.std is None:
            return None
        gap = ours - self.mean
        if self.std == 0.0 and abs(gap) <= self.step / 2:
            return 0.0
        return gap / (self.std or self.step / 2)

    def agrees(self, ours: float) -> bool | None:
        """Return whether ours lies within two published standard deviations, None without one."""
        difference = self.difference(ours)
        return None if difference is None else abs(difference) <= WITHIN


@cache
def values(stem: str) -> dict[tuple[str, str, str, str], Value]:
    """Return the published values of a CSV by (table, data, algorithm, metric)."""
    found = {}
    path = published_folder() / f"{stem}.csv"
    if not path.is_file():
        known = [other.stem for other in path.parent.glob("*.csv")]
        raise UserError(f"published: {show(stem)}: there is no {path}{suggest(stem, known)}")
    with open(path, newline="", encoding="utf-8") as file:
        for line in csv.DictReader(file):
            digits = line["mean"].partition(".")[2]
            key = (line["table"], line["data"], line["algorithm"], line["metric"])
            std = float(line["std"]) if line["std"] else None
            found[key] = Value(float(line["mean"]), std, 10.0 ** -len(digits))
    return found


@cache
def sizes() -> list[dict[str, str]]:
    """Return the published sizes of data sets: paper, data, T, d, note."""
    with open(published_folder() / "datasets.csv", newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))
