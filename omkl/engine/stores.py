"""What is stored of examples: what an Expansion, a Budget and random Features have in common.

Their outputs f (m,) are combined by methods of theirs, since of more than two classes the scores of each are
combined, and the margin of the true class is returned. Steps are against the strongest rival then: see
classes.py. ``classes`` is None for two classes.
"""

import numpy as np

from omkl.engine import experts
from omkl.engine.classes import combined
from omkl.engine.jit import compiled, compiled_without_refcounts
from omkl.engine.records import Record, method


class Store(Record):
    """A record with the fields ``classes``, f (m,) of outputs, and the counts of what it stores."""


# ------------------------------------------------------------------ combinations


@method(Store)
@compiled
def weighted_vote(store, w, f, c=None):
    """sum_i w_i vote(f_i) over all classifiers, or those with c (m,) true; exactly 0 where the votes tie."""
    if c is None:
        return _vote(store, w, f, np.ones(f.size, np.bool_))
    return _vote(store, w, f, c)


@compiled
def _vote(store, w, f, c):
    if store.classes is None:
        return experts.weighted_vote(w, f, c)
    return experts.class_vote(store.classes, w, c)


@method(Store)
@compiled
def weighted_output(store, w, f):
    """sum_i w_i f_i in the order of the kernels."""
    if store.classes is None:
        return experts.weighted_output(w, f)
    total, scores = store.classes.total, store.classes.scores
    total[:] = 0.0
    for i in range(f.size):
        for k in range(total.size):
            total[k] += w[i] * scores[i, k]
    return combined(store.classes)


@method(Store)
@compiled
def weighted_difference(store, other, w, f, g, n):
    """sum_i w_i (f_i - g_i / n), g the outputs of another store."""
    if store.classes is None:
        return experts.weighted_output(w, f - g / n)
    total, scores, minus = store.classes.total, store.classes.scores, other.classes.scores
    total[:] = 0.0
    for i in range(w.size):
        for k in range(total.size):
            total[k] += w[i] * (scores[i, k] - minus[i, k] / n)
    return combined(store.classes)


@method(Store)
@compiled
def mean_vote(store, f):
    """(1/m) sum_i vote(f_i), counted in whole votes: an even split is exactly 0 for every m."""
    if store.classes is None:
        return experts.mean_vote(f)
    experts.count_votes(store.classes, np.ones(f.size), np.ones(f.size, np.bool_))
    return _divided(store.classes, combined(store.classes), f.size)


@method(Store)
@compiled
def mean_output(store, f):
    """(1/m) sum_i f_i."""
    if store.classes is None:
        total = 0.0
        for i in range(f.size):
            total += f[i]
        return total / f.size
    return _divided(store.classes, store.weighted_output(np.ones(f.size), f), f.size)


@compiled_without_refcounts
def _divided(classes, margin, m):
    """margin / m, and so the combined scores that it is made of."""
    for k in range(classes.total.size):
        classes.total[k] /= m
    return margin / m


@method(Store)
@compiled
def scaled(store, scale, f):
    """scale_i f_i (m,), and so the scores that are to be combined."""
    if store.classes is not None:
        for i in range(scale.size):
            for c in range(store.classes.total.size):
                store.classes.scores[i, c] *= scale[i]
    return scale * f


# ------------------------------------------------------------------ steps


@method(Store)
@compiled_without_refcounts
def n_changed(store):
    """||change||^2 of a step of size 1 is this times kappa(x, x): 2 where it changes two classes, else 1."""
    return 1.0 if store.classes is None else 2.0


@method(Store)
@compiled_without_refcounts
def margin_factor(store):
    """The margin f_y - f_r is this times y f: of two classes, whose outputs are f and -f, it is 2."""
    return 2.0 if store.classes is None else 1.0


@method(Store)
@compiled_without_refcounts
def direction(store, i, c, y):
    """What a step of size 1 adds to column c of kernel i's coefficients."""
    if store.classes is None:
        return y
    if c == store.classes.label[0]:
        return 1.0
    return -1.0 if c == store.classes.rival[i] else 0.0


@method(Store)
@compiled
def unite(store, f):
    """Let all kernels move against the strongest rival of the combined scores; returns their margins."""
    if store.classes is not None:
        scores, label, rival = store.classes.scores, store.classes.label[0], store.classes.chosen[1]
        for i in range(f.size):
            f[i] = scores[i, label] - scores[i, rival]
            store.classes.rival[i] = rival
    return f


# ------------------------------------------------------------------ ensembles of a class against all others


@method(Store)
@compiled_without_refcounts
def target(store, stream, t, c):
    """1 if round t's example is of class c, else -1; of two classes its label."""
    if stream.label is None:
        return stream.y[t]
    return 1.0 if stream.label[t] == c else -1.0


@method(Store)
@compiled
def note_excess(store, c, e):
    """Note P - 1/2 of the probability P of class c against all others; of two classes that of label 1."""
    store.f[0] = e
    if store.classes is not None:
        store.classes.total[c] = 0.5 + e


@method(Store)
@compiled
def margin_of_excesses(store, stream, t):
    """The excess noted; of more classes their probabilities, divided by their sum: the true one's less its
    strongest rival's.
    """
    if store.classes is None:
        return store.f[0]
    total = store.classes.total
    whole = total.sum()
    for c in range(total.size):
        total[c] = total[c] / whole if whole > 0.0 else 1.0 / total.size
    store.classes.label[0] = stream.label[t]
    return combined(store.classes)
