"""m classifiers f_i(x) = sum_s A[s, i] kappa_i(x_s, x) of at most `budget` stored vectors each.

Every kernel has slots of its own, which may be overwritten and scaled. All blocking hides here: ``outputs``
opens a block, the dot products of every stored vector with the block's rows, and keeps the kernel values K of
every slot with the next few of these rows; ``add`` writes the new vector's values over those of the slot that
it takes. An output is one plain sum over the slots in the order of their
numbers, at the time of the call, so that removals and scalings are exact; a kernel value depends on its
two vectors alone. Neither depends on where blocks begin: block sizes agree to the last bit. Where rounding
could decide an output's sign it is summed again with the C library's exp (ties.py).
"""

from typing import Any

import numpy as np

from omkl.engine.budget_blocks import Entries, fill_rows, fill_slot, open_block, place, store
from omkl.engine.budget_classes import (
    columns,
    doubtful_output,
    margin_again,
    norms,
    put,
    scores_of,
    settle_classes,
    settled,
    sum_terms,
)
from omkl.engine.by_address import call, entries
from omkl.engine.classes import margins
from omkl.engine.jit import compiled, uncounted
from omkl.engine.kernels import of_distance, value
from omkl.engine.open_block import is_open, row_of
from omkl.engine.pool import form_of
from omkl.engine.slot_values import most
from omkl.engine.stream import empty_stream


def budget_entries(B: Any) -> Entries:
    """Return the entries of these functions for a Budget (budget_record.py)."""
    stream = empty_stream(B.classes is not None)
    return entries(
        Entries,
        {
            "read": (_read, B, stream, 0),
            "add": (_add, B, stream, 0, 0, 0, 0.0),
            "open_block": (open_block, B, stream, 0),
            "fill_rows": (fill_rows, B, 0),
            "fill_slot": (fill_slot, B, 0, 0, 0),
            "store": (store, B, stream, 0),
        },
    )


@compiled
def outputs(B, stream, t):
    """f (m,): f_i(x_t) of all m classifiers, margins of class y where there are more than two classes
    (classes.py). The array is reused by the next call.
    """
    call(B.entries.read, (B, stream, t))
    return B.f


@compiled
def _read(B, stream, t):
    """Write the outputs of round t into B.f."""
    if not is_open(B.open, t):
        call(B.entries.open_block, (B, stream, t))
    if row_of(B.open, t) >= B.now[2]:
        call(B.entries.fill_rows, (B, t))
    f, g, n_sv = B.f, B.g, B.n_sv
    if B.classes is not None:
        _read_classes(B, B.classes, kernel_values(B, t), t, stream.label)
        return
    sum_terms(B.A, B.K, place(B, t), most(n_sv), f, g)
    for i in range(f.size):
        if of_distance(B.pool.kind[i]) and doubtful_output(f, n_sv, g, i):
            f[i] = settled(B, t, i, columns(B, i)[:, 0])


@compiled
def _read_classes(B, classes, K, t, label):
    """The class scores and margins of round t, settled where rounding could decide."""
    if classes is not None:
        A, f, g, scores = B.A, B.f, B.g, classes.scores
        scores[:] = 0.0
        g[:] = 0.0
        for s in range(most(B.n_sv)):
            for i in range(f.size):
                a, k, total, size = A[s, i], K[s, i], scores[i], g[i]
                for c in range(a.size):
                    term = a[c] * k
                    total[c] += term
                    size[c] += abs(term)
        for i in range(f.size):
            settle_classes(B, t, i, scores[i], g[i], label[t])
        margins(classes, label[t], f)


@compiled
def kernel_values(B, t):
    """K (S, m): kappa_i(x_s, x_t) of every slot in use with the round of the last call of `outputs`."""
    return B.K[place(B, t)]


@compiled
def output_again(B, t, i):
    """f_i(x_t) of that round, or its margin, after its coefficients changed."""
    K, a, f = kernel_values(B, t), columns(B, i), np.zeros(1)
    scores = scores_of(B.classes, i, f)
    scores[:] = 0.0
    for s in range(len(a)):
        for c in range(scores.size):
            scores[c] += a[s, c] * K[s, i]
    margin_again(B.classes, i, f)
    return f[0]


@compiled
def self_kernels(B, t):
    """kappa_i(x_t, x_t) (m,) of that round."""
    own = np.empty(B.f.size)
    norm2 = B.open.row_norm2[row_of(B.open, t)]
    for i in range(own.size):
        own[i] = value(form_of(B.pool, i), norm2, norm2, norm2)
    return own


@compiled
def budget(B):
    """How many slots each kernel may use."""
    return B.limit[0]


@compiled
def used(B, i):
    """How many slots kernel i uses, always the first ones: the number of its first empty slot."""
    return B.n_sv[i]


@compiled
def has_room(B, i):
    """Whether kernel i has an empty slot."""
    return B.n_sv[i] < B.limit[0]


@compiled
def oldest(B, i):
    """The slot that `add_over_oldest` takes when kernel i has no room."""
    return B.oldest[i]


@compiled
def ages(B, i):
    """When each of kernel i's vectors was stored (n,), slot by slot: smaller numbers are older."""
    return B.born[: B.n_sv[i], i]


@compiled
def slot_of(B, stream, t, i):
    """The slot of kernel i that holds example t, -1 where none does: it may come again in another pass."""
    for s in range(B.n_sv[i]):
        if B.origin[B.holds[s, i]] == stream.order[t]:
            return s
    return -1


@compiled
def coefficients(B, i):
    """Kernel i's coefficients (n,), slot by slot; writing into them changes the function."""
    return B.A[: B.n_sv[i], i]


@compiled
def own_kernels(B, i):
    """kappa_i(x_s, x_s) (n,) of kernel i's stored vectors, slot by slot."""
    return B.own[: B.n_sv[i], i]


@compiled
def slots(B):
    """Coefficients, kappa(x_s, x_s) and ages (n, m) of all slots in use; smaller numbers are older.

    Where there are more than two classes: the norms over classes of the coefficients.
    """
    n = most(B.n_sv)
    return norms(B.A, n), B.own[:n], B.born[:n]


@compiled
def term_sums(B):
    """g (m,), or (m, C): the sums of the absolute values of the terms of the last outputs."""
    return B.g


@uncounted
def add(B, stream, t, i, s, a):
    """Store example t in slot s of kernel i with coefficient a, in place of what it held."""
    call(B.entries.add, (B, stream, t, i, s, np.float64(a)))


@uncounted
def _add(B, stream, t, i, s, a):
    """`add`."""
    if s == B.n_sv[i]:
        B.n_sv[i] += 1
        B.size[1] += 1
    else:
        _release(B, B.holds[s, i])
    if B.now[0] != t:
        call(B.entries.store, (B, stream, t))
    e, form = B.now[1], form_of(B.pool, i)
    B.users[e] += 1
    B.holds[s, i], B.born[s, i] = e, B.n_put[0]
    B.n_put[0] += 1
    put(B.classes, B.A, s, i, a)
    B.own[s, i] = value(form, B.norm2[e], B.norm2[e], B.norm2[e])
    if row_of(B.open, t) + 1 < B.now[2]:
        call(B.entries.fill_slot, (B, t, s, i))


@compiled
def remove(B, t, i, s):
    """Empty slot s of kernel i in round t: the last slot in use takes its number."""
    last = B.n_sv[i] - 1
    _release(B, B.holds[s, i])
    B.holds[s, i], B.born[s, i] = B.holds[last, i], B.born[last, i]
    B.A[s, i], B.own[s, i] = B.A[last, i], B.own[last, i]
    B.A[last, i] = 0.0
    for r in range(place(B, t), len(B.K)):
        B.K[r, s, i] = B.K[r, last, i]
    B.n_sv[i] = last
    B.size[1] -= 1


@uncounted
def add_over_oldest(B, stream, t, i, a):
    """Store example t in place of kernel i's oldest vector, or in an empty slot."""
    if has_room(B, i):
        add(B, stream, t, i, B.n_sv[i], a)
    else:
        add(B, stream, t, i, B.oldest[i], a)
        B.oldest[i] = (B.oldest[i] + 1) % B.limit[0]


@uncounted
def forget(B, i):
    """f_i <- 0; its vectors stay."""
    B.A[:, i] = 0.0


@compiled
def scale(B, i, c):
    """f_i <- c f_i, in the coefficients themselves."""
    a = columns(B, i)
    for s in range(len(a)):
        for k in range(a.shape[1]):
            a[s, k] *= c


@uncounted
def scale_all(B, c):
    """f_i <- c f_i for every kernel."""
    a = B.A.reshape(-1)
    for k in range(most(B.n_sv) * (a.size // max(len(B.A), 1))):
        a[k] *= c


@uncounted
def _release(B, e):
    """One slot fewer holds example e; without any it leaves the store."""
    B.users[e] -= 1
    if B.users[e] == 0:
        B.free[B.n_free[0]] = e
        B.n_free[0] += 1
        B.size[0] -= 1
