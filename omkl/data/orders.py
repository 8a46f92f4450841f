"""The order of the examples in a repetition: as stored, permuted, or one of the OMKC authors' orders."""

import warnings
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from omkl.data import registry, streams
from omkl.data.dataset import Dataset, dataset_of
from omkl.data.reading.opening import find_in, open_binary, search_folders
from omkl.errors import UserError, counted, suggest
from omkl.seeds import halves_seed, permutation_seed

if TYPE_CHECKING:
    from omkl.data.ref import DataRef

KINDS = ("file", "permuted", "halves", "authors")
FOLDER = "omkc_permutations"
BLOCKS = 5  # with at most 5 changes of label, or one per class, a set is stored class by class


def order(data: "Dataset | DataRef", kind: str, base_seed: int, rep: int) -> tuple[np.ndarray, int]:
    """Return the order (T,) int64 of row numbers from 0, and the permutation seed of this repetition.

    kind: ``file`` as stored (the same for every repetition; a generated stream has another realisation for
    each, `omkl.data.realisation`), ``permuted`` drawn from the seed, ``halves`` the same within each of two
    halves, which have the same rows in every repetition, of any seed, ``authors`` the 20 of the OMKC authors.
    The seed depends on base seed, content and repetition only; the learner's own randomness is derived from
    it, in every kind. Raises UserError for an unknown kind, and where the authors' orders do not exist, are
    missing, or do not fit the data.
    """
    if kind not in KINDS:
        raise UserError(f"order must be one of {', '.join(KINDS)}, got {kind!r}{suggest(kind, KINDS)}")
    if rep < 0:
        raise UserError(f"repetition {rep}: repetitions are numbered from 0")
    seed = permutation_seed(base_seed, data.content_hash, rep)
    if kind == "permuted":
        return np.random.default_rng(seed).permutation(data.T).astype(np.int64), seed
    if kind == "halves":
        return _halves(data, seed), seed
    if kind == "authors":
        return _authors(data, rep), seed
    if blocks := _blocks(data):
        warnings.warn(f"{blocks}: order=file streams long runs of one class", stacklevel=2)
    return np.arange(data.T, dtype=np.int64), seed


def _halves(data: "Dataset | DataRef", seed: int) -> np.ndarray:
    rows = np.random.default_rng(halves_seed(data.content_hash)).permutation(data.T).astype(np.int64)
    rng = np.random.default_rng(seed)
    return np.concatenate([rng.permutation(half) for half in (rows[: data.T // 2], rows[data.T // 2 :])])


def order_seed(data: "Dataset | DataRef", kind: str, base_seed: int, rep: int) -> int:
    """Return the permutation seed of this repetition as ``order`` does, without drawing a permutation."""
    if kind in ("permuted", "halves"):
        return permutation_seed(base_seed, data.content_hash, rep)
    return order(data, kind, base_seed, rep)[1]


def distinct_reps(reps: int, kind: str, draws: bool, name: str, content: str | None = None) -> int:
    """Return how many of these repetitions differ: one in file order, of a learner that draws nothing.

    A generated stream has another realisation for each. content: hash of the data, None for those of the name
    """
    return 1 if kind == "file" and not draws and stream_entry(name, content) is None else reps


def is_one_order(kind: str, name: str, content: str | None = None) -> bool:
    """Whether all repetitions have the same order: in file order, but of a generated stream."""
    return distinct_reps(2, kind, False, name, content) == 1


def stream_entry(name: str, content: str | None) -> registry.DataEntry | None:
    """Return the entry of a registered stream that is generated, None for other data."""
    item = registry.entry_of(name, content)
    return item if item and item.forms[0].format == "stream" else None


def realisation(dataset: Dataset, rep: int) -> Dataset:
    """Return the data of repetition ``rep`` (from 0) in file order: a stream's realisation of seed rep + 1.

    Data that are not a registered stream are returned as they are. A stream's registered content is seed 1's.
    """
    item = stream_entry(dataset.name, dataset.content_hash)
    if rep == 0 or item is None:
        return dataset
    examples = streams.realised(item.forms[0].dataset, rep + 1)[0]
    return dataset_of(item.name, examples, examples.labels, item.d, item.task, item.notes, registered=True)


def _blocks(data: "Dataset | DataRef") -> str:
    """Return how data are stored in blocks of one class, "" where they are not."""
    if item := registry.entry_of(data.name, data.content_hash):
        return f"{data.name} is {item.file_order}" if item.file_order else ""
    dataset = data if isinstance(data, Dataset) else data.load()
    changes = np.count_nonzero(np.diff(dataset.y))
    if not 0 < changes <= max(BLOCKS, dataset.n_classes) < dataset.T // 10:
        return ""
    return f"the labels of {data.name} change only {counted(int(changes), 'time')} in file order"


def _authors(dataset: "Dataset | DataRef", rep: int) -> np.ndarray:
    item = registry.entry_of(dataset.name, dataset.content_hash)
    if item is None or item.permutations is None:
        names = ", ".join(name for name in registry.registered_names() if registry.entry(name).permutations)
        raise UserError(f"order=authors: {dataset.name} has no authors' permutations; these have: {names}")
    if (path := _file(item.permutations)) is None:
        looked = ", ".join(str(folder / FOLDER) for folder in search_folders())
        fault = f"{item.permutations}.id_all.txt (.xz) not found; looked in {looked}"
        raise UserError(f"order=authors: {fault}; set OMKL_DATA")
    with open_binary(path, 2**28) as file:
        text = file.read().decode("ascii", "replace")
    rows = [line for line in text.splitlines() if line.strip()]
    if rep >= len(rows):
        has = f"{path.name} has {counted(len(rows), 'permutation')}"
        raise UserError(f"order=authors: {has}; set reps={len(rows)} or less")
    try:
        numbers = np.array(rows[rep].split(), dtype=np.int64)
        is_order = np.array_equal(np.sort(numbers), np.arange(1, dataset.T + 1))
    except (ValueError, OverflowError):
        is_order = False
    if not is_order:
        raise UserError(f"{path}:{rep + 1}: not a permutation of 1..{dataset.T}, the rows of {dataset.name}")
    return numbers - 1


def rounds_of(rounds: str | None, T: int, data: str) -> tuple[int, int] | None:
    """Return the first round and the one after the last that ``rounds`` selects of T; None for all of them.

    data: the name of the data set. Raises UserError where it has none of these rounds.
    """
    if rounds is None:
        return None
    start, _, stop = rounds.partition(":")
    chosen = int(float(start) * T if "." in start else start), min(int(stop or T), T)
    if chosen[0] >= T:
        raise UserError(
            f"rounds={rounds}: data={data} has {counted(T, 'example')}; choose rounds within these"
        )
    return chosen if chosen != (0, T) else None


def has_authors(name: str) -> bool:
    """Whether the authors' permutations of a registered data set are here."""
    permutations = registry.entry(name).permutations if registry.is_name(name) else None
    return permutations is not None and _file(permutations) is not None


def _file(name: str) -> Path | None:
    paths = (find_in(folder / FOLDER, f"{name}.id_all.txt") for folder in search_folders())
    return next((path for path in paths if path), None)
