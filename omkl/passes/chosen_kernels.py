"""The kernels that a learner's setup chooses before a pass."""

import inspect
from typing import Any

import numpy as np

from omkl.algorithms import function
from omkl.config.kernel_kinds import in_medians, with_median
from omkl.config.learners import LearnerSpec
from omkl.engine.expansion import BLOCK, make_expansion, reserve
from omkl.engine.kernels import make_pool
from omkl.engine.stream import Stream, part
from omkl.rounds.widths import STEPS, median_distance


def choose_kernels(
    spec: LearnerSpec,
    params: dict,
    pool: dict,
    d: int,
    stream: Stream,
    seed: int,
    block: int | None = None,
    classes: int = 2,
) -> dict:
    """Let the learner's setup function choose its kernels by this stream; its time is not the learner's.

    seed: of the permutation, apart from the stream's order, that it may choose by. Widths in medians are
    those of the stream's first rows.
    """
    if in_medians(pool["kernels"]):
        pool = with_median(pool, median_distance(part(stream, 0, min(STEPS[-1], stream.T))))

    def run(compiled: Any, state: dict, stop: int, apart: bool) -> None:
        rows = part(_permuted(stream, seed) if apart else stream, 0, min(stop, stream.T))
        lengths = np.diff(rows.indptr)[rows.order]
        many = classes if classes > 2 else None
        E = make_expansion(make_pool(pool["kernels"], pool["normalise"]), d, block or BLOCK, many)
        E = reserve(E, rows.T, int(lengths.sum()), int(lengths.max(initial=0)))
        given = {"stream": _frozen(rows), "E": E, "learn": True, **state}
        compiled(*(given[name] for name in inspect.signature(compiled.py_func).parameters))

    return function(str(spec.setup), False)(run, pool, params, stream.T)


def _permuted(stream: Stream, seed: int) -> Stream:
    """Return the rows of a stream in another order."""
    order = np.sort(stream.order)[np.random.default_rng(seed).permutation(stream.T)]
    place = np.empty(stream.indptr.size - 1, np.int64)
    place[stream.order] = np.arange(stream.T)
    label = None if stream.label is None else stream.label[place[order]]
    return stream._replace(order=order, y=stream.y[place[order]], label=label)


def _frozen(rows: Stream) -> Stream:
    """Return a stream whose arrays are read-only, as `make_stream` makes them: one compiled version."""
    for array in (rows.order, rows.y, rows.label):
        if array is not None:
            array.flags.writeable = False
    return rows
