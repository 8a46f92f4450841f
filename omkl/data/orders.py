"""The order of the examples in a repetition: as stored, permuted, or one of the OMKC authors' orders."""

import warnings
from pathlib import Path

import numpy as np

from omkl.data import registry
from omkl.data.data_files import find_in, open_binary, search_folders
from omkl.data.dataset import Dataset
from omkl.errors import UserError, suggest
from omkl.seeds import permutation_seed

KINDS = ("file", "permuted", "authors")
FOLDER = "omkc_permutations"
BLOCKS = 5  # with at most 5 changes of label, or one per class, a set is stored class by class


def order(dataset: Dataset, kind: str, base_seed: int, rep: int) -> tuple[np.ndarray, int]:
    """Return the order (T,) int64 of row numbers from 0, and the permutation seed of this repetition.

    kind: ``file`` as stored (the same for every repetition; a generated stream has another realisation for
    each: `omkl.data.realisation`), ``permuted`` drawn from the seed, ``authors`` the 20 of the OMKC authors.
    The seed depends on base seed, content and repetition only; the learner's own randomness is derived from
    it, in every kind. Raises UserError for an unknown kind, and where the authors' orders do not exist, are
    missing, or do not fit the data.
    """
    if kind not in KINDS:
        raise UserError(f"order={kind!r} is unknown{suggest(kind, KINDS)}; one of {', '.join(KINDS)}")
    if rep < 0:
        raise UserError(f"repetition {rep}: repetitions are numbered from 0")
    seed = permutation_seed(base_seed, dataset.content_hash, rep)
    if kind == "permuted":
        return np.random.default_rng(seed).permutation(dataset.T).astype(np.int64), seed
    if kind == "authors":
        return _authors(dataset, rep), seed
    changes = np.count_nonzero(np.diff(dataset.y))
    if 0 < changes <= max(BLOCKS, dataset.n_classes) < dataset.T // 10:
        text = f"the labels of {dataset.name} change only {changes} time(s) in file order"
        warnings.warn(f"{text}: order=file streams long runs of one class", stacklevel=2)
    return np.arange(dataset.T, dtype=np.int64), seed


def order_seed(dataset: Dataset, kind: str, base_seed: int, rep: int) -> int:
    """Return the permutation seed of this repetition as ``order`` does, without drawing a permutation."""
    if kind == "permuted":
        return permutation_seed(base_seed, dataset.content_hash, rep)
    return order(dataset, kind, base_seed, rep)[1]


def _authors(dataset: Dataset, rep: int) -> np.ndarray:
    item = registry.entry_of(dataset.name, dataset.content_hash)
    if item is None or item.permutations is None:
        names = ", ".join(name for name in registry.names() if registry.entry(name).permutations)
        raise UserError(f"order=authors: {dataset.name} has no authors' permutations; these have: {names}")
    path = _find(item.permutations)
    with open_binary(path, 2**28) as file:
        text = file.read().decode("ascii", "replace")
    rows = [line for line in text.splitlines() if line.strip()]
    if rep >= len(rows):
        raise UserError(f"order=authors: {path.name} has {len(rows)} permutations; set reps={len(rows)}")
    try:
        numbers = np.array(rows[rep].split(), dtype=np.int64)
    except (ValueError, OverflowError) as error:
        raise UserError(f"{path}:{rep + 1}: not whole numbers: {error}") from error
    if not np.array_equal(np.sort(numbers), np.arange(1, dataset.T + 1)):
        raise UserError(
            f"{path}:{rep + 1}: {len(numbers)} numbers that are not a permutation of 1..{dataset.T}, "
            f"the rows of {dataset.name}"
        )
    return numbers - 1


def _find(name: str) -> Path:
    folders = [folder / FOLDER for folder in search_folders()]
    for folder in folders:
        if path := find_in(folder, f"{name}.id_all.txt"):
            return path
    looked = ", ".join(map(str, folders))
    raise UserError(f"order=authors: {name}.id_all.txt (.xz) not found; looked in {looked}; set OMKL_DATA")
