"""The coefficients of a Budget, for two classes and for more: a number per slot, or one for each class."""

import math

import numpy as np

from omkl.engine.classes import strongest_rival
from omkl.engine.conventions import within_range
from omkl.engine.jit import compiled, uncounted
from omkl.engine.kernels import of_distance, value
from omkl.engine.open_block import row_of
from omkl.engine.pool import form_of
from omkl.engine.slot_values import sum_slots
from omkl.engine.ties import doubtful


@compiled
def columns(B, i):
    """Kernel i's coefficients (n, C), slot by slot, of each class; (n, 1) for two classes."""
    return _columns(B.A, B.n_sv[i], i)


@compiled
def _columns(A, n, i):
    if A.ndim == 2:
        return A[:n, i : i + 1]
    return A[:n, i]


@compiled
def sizes(B, i):
    """|a_s| (n,) of kernel i's coefficients, as of a step: with more classes (1/2 sum_c a_sc^2)^1/2."""
    a = columns(B, i)
    size = np.empty(len(a))
    for s in range(len(a)):
        size[s] = abs(a[s, 0]) if a.shape[1] == 1 else math.sqrt(0.5 * (a[s] * a[s]).sum())
    return size


@compiled
def norms(A, n):
    """The first n slots' coefficients (n, m), or their norms over classes."""
    if A.ndim == 2:
        return A[:n]
    norm = np.empty(A[:n, :, 0].shape)
    for s in range(n):
        for i in range(A.shape[1]):
            norm[s, i] = math.sqrt((A[s, i] * A[s, i]).sum())
    return norm


@compiled
def scores_of(classes, i, f):
    """Where the outputs of kernel i are: f (1,), or its class scores (C,)."""
    if classes is None:
        return f
    return classes.scores[i]


@compiled
def margin_again(classes, i, f):
    if classes is not None:
        label = classes.label[0]
        classes.rival[i] = strongest_rival(classes.scores[i], label)
        f[0] = classes.scores[i, label] - classes.scores[i, classes.rival[i]]


@uncounted
def put(classes, A, s, i, a):
    """A step of size a as the coefficients of slot s."""
    if classes is None:
        A[s, i] = a
    if classes is not None:
        A[s, i] = 0.0
        A[s, i, classes.label[0]] = a
        A[s, i, classes.rival[i]] = -a


@compiled
def held(A, s, i):
    """The coefficient of slot s, or a copy of those of its classes."""
    if A.ndim == 2:
        return A[s, i]
    return A[s, i].copy()


@uncounted
def put_more(A, s, i, before, share, whole):
    """Add share / whole times what a slot held `before` to its coefficients."""
    if A.ndim == 2:
        A[s, i] = within_range(before * share / whole + A[s, i])
    if A.ndim == 3:
        for c in range(before.size):
            A[s, i, c] = within_range(before[c] * share / whole + A[s, i, c])


@compiled
def settle_classes(B, t, i, scores, g, label):
    """Sum kernel i's class scores (C,) plainly where rounding could decide which are largest."""
    rival, doubt = strongest_rival(scores, label), False
    for c in range(scores.size):
        if c != rival and of_distance(B.pool.kind[i]):
            doubt |= doubtful(scores[rival] - scores[c], 2 * B.n_sv[i], g[rival] + g[c])
    if doubt:
        for c in range(scores.size):
            scores[c] = settled(B, t, i, columns(B, i)[:, c])


@uncounted
def settled(B, t, i, a):
    """f_i(x_t) of coefficients a (n,) by one plain sum, left to right, with the C library's exp."""
    form, r, total = form_of(B.pool, i), row_of(B.open, t), 0.0
    for s in range(a.size):
        e = B.holds[s, i]
        total += a[s] * value(form, B.dots[e, r], B.norm2[e], B.open.row_norm2[r])
    return total


@uncounted
def sum_terms(A, K, r, n, f, g):
    """f and g (m,) of the first n slots' coefficients A and kernel values K[r] (n, m), for two classes."""
    if A.ndim == 2:
        sum_slots(A, K, r, n, f, g)


@uncounted
def doubtful_output(f, n_sv, g, i):
    """`doubtful` of f_i, for two classes."""
    if g.ndim == 1:
        return doubtful(f[i], n_sv[i], g[i])
    return False
