"""What a learner reads and what it leaves behind: the stream of examples and the trace of its rounds."""

from collections import namedtuple

import numpy as np

from omkl.engine.classes import note_scores
from omkl.engine.conventions import is_mistake
from omkl.engine.jit import compiled_without_refcounts
from omkl.engine.records import Record, method

MOST_SCORES = 2**25  # of all classes in all rounds: 256 MiB
UNRECORDED = np.array(0x7FF8000000000BAD).view(np.float64)[()]  # a NaN that no arithmetic makes


class Stream(Record, namedtuple("Stream", "T order indptr indices values y label")):
    """The examples that arrive.

    T              number of rounds
    order (T,)     row of the data that arrives in round t
    indptr (n+1,) indices (nnz,) values (nnz,)   the data's rows, sparse (CSR)
    y (T,)         labels in the order of arrival; with more than two classes 1 in every round, see classes.py
    label (T,)     class of each round's example, 0 .. C - 1; None for two classes, and for other tasks
    """


class Trace(
    Record,
    namedtuple("Trace", "score mistake n_sv_sum n_sv_union n_sv_combined further predicted class_scores"),
):
    """What happened in each round.

    score (T,)     the prediction's score in each round, UNRECORDED before it
    mistake (T,)   whether it was one
    n_sv_sum, n_sv_union, n_sv_combined (T,)     support vectors behind the prediction
    further (T, q)  the q further measures that the learner declares, in their order
    predicted (T,)  the class predicted, where there are more than two; else None
    class_scores (T, C)  the scores of all classes then; (0, C) where these would be more than MOST_SCORES
    """


def make_stream(
    indptr: np.ndarray,
    indices: np.ndarray,
    values: np.ndarray,
    y: np.ndarray,
    order: np.ndarray,
    classes: int = 2,
) -> Stream:
    """Return the Stream of the rows of a CSR matrix in this order.

    y: labels or targets of the rows; where there are more than two classes, their numbers 0 .. classes - 1.
    All arrays become read-only views, so that compiled code cannot change its input, and so that
    memory-mapped and ordinary arrays have one type and share one compiled version. Raises ValueError for a
    class outside.
    """

    def frozen(array, dtype):
        view = np.require(np.asarray(array), dtype, ["C", "A"]).view(np.ndarray)
        view.flags.writeable = False
        return view

    order, label = frozen(order, np.int64), None
    y = np.asarray(y)[order]
    if classes > 2:
        label = frozen(y, np.int64)
        if label.size and (label.min() < 0 or label.max() >= classes):
            raise ValueError(f"a class is outside [0, {classes - 1}]")
        y = np.ones(order.size)
    return Stream(
        order.size,
        order,
        frozen(indptr, np.int64),
        frozen(indices, np.int32),
        frozen(values, np.float64),
        frozen(y, np.float64),
        label,
    )


def empty_stream(many: bool) -> Stream:
    """Return a stream without rounds; many: with labels, as where there are more than two classes."""
    none = np.zeros(0)
    return make_stream(none, none, none, none, none, 3 if many else 2)


def part(stream: Stream, start: int, stop: int) -> Stream:
    """Return rounds start .. stop - 1 of a stream as a stream of its own."""
    label = None if stream.label is None else stream.label[start:stop]
    return stream._replace(
        T=stop - start, order=stream.order[start:stop], y=stream.y[start:stop], label=label
    )


def make_trace(T: int, further: int = 0, classes: int = 0) -> Trace:
    """Return an empty trace of T rounds, with that many further measures.

    classes: their number where a stream has labels, else 0
    """
    total, union, combined = (np.zeros(T, np.int64) for _ in range(3))
    predicted = np.zeros(T, np.int64) if classes else None
    rows = T if T * classes <= MOST_SCORES else 0
    class_scores = np.full((rows, classes), UNRECORDED) if classes else None
    score, mistake = np.full(T, UNRECORDED), np.zeros(T, np.bool_)
    return Trace(score, mistake, total, union, combined, np.zeros((T, further)), predicted, class_scores)


def unrecorded(score: np.ndarray) -> np.ndarray:
    """Return which rounds' scores (T,) nobody has written."""
    return score.view(np.int64) == UNRECORDED.view(np.int64)


def trace_part(trace: Trace, start: int, stop: int) -> Trace:
    """Return the views of rounds start .. stop - 1 of a trace."""
    return Trace(*(None if array is None else array[start:stop] for array in trace))


@method(Stream)
@compiled_without_refcounts
def row(stream, t):
    """First and last-plus-one position of round t's example in stream.indices and stream.values."""
    i = stream.order[t]
    return stream.indptr[i], stream.indptr[i + 1]


@method(Trace)
@compiled_without_refcounts
def record(trace, t, score, y, store=None, c=None, predicted=-1):
    """Note the score of round t, and whether it errs on label y.

    store: the Expansion, Budget or Features that predicted   c (m,): true where a classifier was combined, if
    not all were   predicted: the class, of a learner of many classes without a store
    """
    trace.score[t] = score
    trace.mistake[t] = is_mistake(y, score)
    if store is None and trace.predicted is not None:
        trace.predicted[t] = predicted
    if store is not None:
        trace.n_sv_union[t] = store.n_sv_union[0]
        trace.n_sv_sum[t] = store.n_sv_sum[0]
        trace.n_sv_combined[t] = store.n_sv_sum[0]
        if c is not None:
            combined = 0
            for i in range(c.size):
                if c[i]:
                    combined += store.n_sv[i]
            trace.n_sv_combined[t] = combined
        if store.classes is not None:
            trace.predicted[t] = store.classes.chosen[0]
            if t < len(trace.class_scores):
                note_scores(store.classes, trace.class_scores[t])
