"""Kernels that the engine calls by address: further ones, those of a folder, and Gram matrices.

A kernel is a function in a file of its name, whose first arguments say what it is a function of, and whose
others are its parameters:

product, norm2, other_norm2                           the dot product and the squared norms of two vectors
indices, values, other_indices, other_values          their non-zeros, columns ascending

It is compiled once into a loop over the rows of a block, and kept on disk under a hash of its sources. No
learner and no other code of the engine depends on it. Of its values it is assumed that they are finite, and
no more: each is the function's own. Another value raises FloatingPointError with the kind, both row numbers
and the value.
"""

import hashlib
import importlib.util
import inspect
import math
import sys
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import numba
import numpy as np
from numba import types
from numba.core.errors import NumbaError

from omkl.engine.by_address import Pointer, array_at, call, pointer_to
from omkl.engine.compile_faults import fault_in_one_line
from omkl.engine.jit import compiled, compiled_without_refcounts
from omkl.errors import UserError
from omkl.files import hash_of, sources
from omkl.paths import gram_file, kernel_file

PRODUCTS = ("product", "norm2", "other_norm2")
ROWS = ("indices", "values", "other_indices", "other_values")
PRECOMPUTED = "precomputed"
CALLED = 6  # the number of their kind in a pool, after those of the engine's own kinds (kernels.py)
_PAIR = (*PRODUCTS, "row", "other_row", *ROWS)  # what the value of a pair may depend on

_F, _I = types.float64[::1], types.int64[::1]
_TYPES = (
    *(types.int64, types.int64, _F, types.float64, _F),
    *(types.int64, types.int32[::1], _F, _I, _I, types.int32[::1], _F, _F),
)

# A block's rows against one vector. Of each pair the names of _PAIR, as far as the expression has them.
_LOOP = """
def pair_{name}(numbers, {pair}):
    return {expression}

def {name}(address, count, dot, norm2, row_norm2, row, indices, values, rows, starts, columns, theirs, out):
    numbers = array_at(address, count)
    {own}
    for r in range(out.size):
        product, other_norm2, other_row = dot[r], row_norm2[r], rows[r]
        other_indices = columns[starts[r] : starts[r + 1]]
        other_values = theirs[starts[r] : starts[r + 1]]
        k = pair_{name}(numbers, {pair})
        if not math.isfinite(k):
            raise FloatingPointError("{kind}", row, rows[r], k)
        {divided}
        out[r] = k
"""
_OWN = "mine = pair_{name}(numbers, norm2, norm2, norm2, row, row, indices, values, indices, values)"
_DIVIDED = """square = mine * pair_{name}(
            numbers, other_norm2, other_norm2, other_norm2, other_row, other_row,
            other_indices, other_values, other_indices, other_values
        )
        if not math.isfinite(square):
            raise FloatingPointError("{kind}", other_row, other_row, square)
        k = k / math.sqrt(square) if square > 0.0 else 0.0"""


# ------------------------------------------------------------------ the function of a kind


@cache
def _module(path: Path, content: bytes) -> ModuleType:
    name = f"omkl_kernel_{path.stem}_{hashlib.sha256(content).hexdigest()[:12]}"
    if name in sys.modules:
        return sys.modules[name]
    spec: Any = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
        sys.modules[name] = module  # compiled code that is loaded from disk looks for it there
    except (Exception, SystemExit) as error:
        raise UserError(f"{path}: cannot be imported: {type(error).__name__}: {error}") from error
    return module


def function_of(kind: str) -> Any:
    """Return the plain Python function of a kind. Raises UserError where its file has none that fits."""
    path = kernel_file(kind)
    found = vars(_module(path, path.read_bytes())).get(kind)
    found = getattr(found, "py_func", found)
    if not inspect.isfunction(found):
        raise UserError(f"{path}: has no function {kind}")
    arguments_of(found, path)
    return found


def arguments_of(function: Any, path: Path | str) -> tuple[tuple[str, ...], list[str]]:
    """Return what a kernel is a function of, PRODUCTS or ROWS, and the names of its parameters."""
    names = tuple(inspect.signature(function).parameters)
    for form in (PRODUCTS, ROWS):
        if names[: len(form)] == form:
            return form, list(names[len(form) :])
    raise UserError(f"{path}: {function.__name__} must begin with {', '.join(PRODUCTS)} or {', '.join(ROWS)}")


# ------------------------------------------------------------------ a kernel as an expression


def _parts(kernel: Mapping[str, Any]) -> tuple[str, np.ndarray, Any, str]:
    """Return a kernel's value of a pair as text, its numbers (P,), its function and the hash of its sources.

    The numbers are the parameters. Of a list they hold its first place and the one after its last, and at the
    end its content: the text has no lengths, so that data of any number of features share it.
    """
    kind = kernel["kind"]
    if kind == PRECOMPUTED:  # the file as it is, which processes share
        text = "numbers[row * int(math.sqrt(numbers.size)) + other_row]"
        return text, gram_matrix(kernel["file"]).reshape(-1), None, ""
    path, function = kernel_file(kind), function_of(kind)
    form, names = arguments_of(function, path)
    head: list[float] = []
    lists: list[tuple[int, np.ndarray]] = []
    given = list(form)
    for name in names:
        if name not in kernel:
            raise UserError(f"{path}: {kind} takes {name}, which conf/kernel/{kind}.yaml does not have")
        value = [1.0] if kernel[name] == "auto" else kernel[name]  # the list comes with the data
        at = len(head)
        if isinstance(value, list):
            lists.append((at, np.asarray(value, np.float64)))
            given.append(f"numbers[int(numbers[{at}]) : int(numbers[{at + 1}])]")
            head += [0.0, 0.0]
        else:
            given.append(f"numbers[{at}]")
            head.append(float(value))
    start = len(head)
    for at, part in lists:
        head[at : at + 2] = start, start + part.size
        start += part.size
    numbers = np.concatenate([head, *(part for _, part in lists)], dtype=np.float64)
    return f"own({', '.join(given)})", numbers, function, hash_of(sources(path))


@cache
def _pointer_of(text: str, name: str, function: Any) -> Pointer:
    space = {
        "array_at": array_at,
        "math": math,
        "__name__": __name__,
        "own": function and numba.njit(function),
    }
    exec(compile(text, __file__, "exec"), space)
    space[f"pair_{name}"] = numba.njit(space[f"pair_{name}"])
    return pointer_to(compiled(space[name], nogil=True), _TYPES)


def called_kernel(kernel: Mapping[str, Any], cosine: bool) -> tuple[Pointer, np.ndarray]:
    """Return the pointer to a kernel's loop over rows, compiled or loaded from disk, and its numbers (P,).

    Raises UserError, with the file, for a function that cannot be compiled.
    """
    expression, numbers, function, source = _parts(kernel)
    parts: dict[str, Any] = {"pair": ", ".join(_PAIR), "expression": expression, "kind": kernel["kind"]}
    parts["own"] = _OWN.format(name="NAME") if cosine else ""
    parts["divided"] = _DIVIDED.format(name="NAME", kind=kernel["kind"]) if cosine else ""
    text = _LOOP.format(**parts, name="NAME")
    name = f"loop_{hashlib.sha256(f'{text}{source}'.encode()).hexdigest()[:16]}"
    try:
        return _pointer_of(text.replace("NAME", name), name, function), numbers
    except NumbaError as error:
        if function is None:
            raise
        raise UserError(fault_in_one_line(function, str(error))) from error


def gram_matrix(file: str) -> np.ndarray:
    """Return the Gram matrix (n, n) of a .npy file, mapped into memory; of another, its text is read.

    Raises UserError where it is none.
    """
    path = gram_file(file)
    try:
        if path.suffix == ".npy":
            K = np.load(path, mmap_mode="r", allow_pickle=False)
        else:
            K = np.loadtxt(path, delimiter="," if path.suffix == ".csv" else None, ndmin=2)
    except (OSError, ValueError) as error:
        raise UserError(f"{file}: cannot be read as a Gram matrix (.npy, .csv, text): {error}") from error
    if K.ndim != 2 or K.shape[0] != K.shape[1] or K.size == 0 or K.dtype.kind not in "fiu":
        raise UserError(f"{file}: a Gram matrix is n x n numbers, this is {' x '.join(map(str, K.shape))}")
    return np.ascontiguousarray(K, np.float64)


# ------------------------------------------------------------------ values


@compiled
def called_values(pool, i, pair):
    """out[r] = kappa_i of one vector and each row r of some, i a kernel that is called.

    pair: what its loop (`_LOOP`) takes after the kernel's numbers,
    dot (R,) norm2 row_norm2 (R,)    their dot products and squared norms
    row indices, values (n,)         the vector's row number in the data and its non-zeros
    rows (R,)                        the row numbers of the rows
    starts (R+1,) columns, theirs    their non-zeros, one row after another
    out (R,)
    """
    call((pool.pointer[i, 0], pool.pointer[i, 1]), (pool.numbers[i, 0], pool.numbers[i, 1], *pair))


@compiled
def called_with_block(pool, i, block, low, high, dot, norm2, row, indices, values, out):
    """`called_values` with the rows low .. high - 1 of an open block."""
    vector = (dot, norm2, block.row_norm2[low:high], row, indices, values)
    numbers, starts = block.row_numbers[low:high], block.row_starts[low : high + 1]
    called_values(pool, i, (*vector, numbers, starts, block.row_indices, block.row_values, out))


@compiled
def called_own(E, r, out):
    """out (m,) <- kappa_i(x, x) of the open block's row r, of the kernels that are called; E: or a Budget."""
    pool, block = E.pool, E.open
    start, stop = block.row_starts[r], block.row_starts[r + 1]
    indices, values, norm2 = block.row_indices[start:stop], block.row_values[start:stop], block.row_norm2
    for i in range(out.size):
        if pool.kind[i] == CALLED:
            vector = (norm2[r : r + 1], norm2[r], block.row_numbers[r], indices, values, out[i : i + 1])
            called_with_block(pool, i, block, r, r + 1, *vector)


# ------------------------------------------------------------------ of a Budget


@compiled_without_refcounts
def called_of_slot(B, i, e, low, rows, out):
    """out[r] = kappa_i, which is called, of a Budget's example e with the block's row low + r, r < rows."""
    start, stop = B.ends[2 * e], B.ends[2 * e + 1]
    vector = (B.dots[e, low : low + rows], B.norm2[e], B.origin[e], B.indices[start:stop])
    called_with_block(B.pool, i, B.open, low, low + rows, *vector, B.values[start:stop], out[:rows])


@compiled
def called_gram_row(B, i, q, out):
    """out (n,): the values of kernel i, which is called, of its vector in slot q with all it has stored."""
    there, dense, dot = B.holds[q, i], B.dense, np.empty(1)
    start, stop = B.ends[2 * there], B.ends[2 * there + 1]
    dense[B.indices[start:stop]] = B.values[start:stop]
    for s in range(out.size):
        e = B.holds[s, i]
        first, last = B.ends[2 * e], B.ends[2 * e + 1]
        dot[0] = 0.0
        for k in range(first, last):
            dot[0] += dense[B.indices[k]] * B.values[k]
        called_pair(B, i, e, there, dot, out[s : s + 1])
    dense[B.indices[start:stop]] = 0.0


@compiled_without_refcounts
def called_pair(B, i, e, there, dot, out):
    """out (1,): the value of kernel i, which is called, of the stored examples e and `there`."""
    start, stop = B.ends[2 * e], B.ends[2 * e + 1]
    vector = (dot, B.norm2[e], B.norm2[there : there + 1], B.origin[e], B.indices[start:stop])
    other = (B.origin[there : there + 1], B.ends[2 * there : 2 * there + 2], B.indices, B.values)
    called_values(B.pool, i, (*vector, B.values[start:stop], *other, out))


# ------------------------------------------------------------------ for kernels of features one by one


@compiled_without_refcounts
def next_pair(indices, values, other_indices, other_values, i, j):
    """The next column that one of two rows has: (column, value, other value, i, j), with the places after it.

    i, j: the places in the rows so far, from 0. A row without the column has the value 0 there. There must be
    a next one: ``while i < indices.size or j < other_indices.size``.
    """
    if j == other_indices.size or (i < indices.size and indices[i] < other_indices[j]):
        return indices[i], values[i], 0.0, i + 1, j
    if i == indices.size or other_indices[j] < indices[i]:
        return other_indices[j], 0.0, other_values[j], i, j + 1
    return indices[i], values[i], other_values[j], i + 1, j + 1
