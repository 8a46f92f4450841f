"""What is stored of examples: what an Expansion, a Budget and random Features have in common.

Their outputs f (m,) are combined by methods of theirs, since of more than two classes the scores of each are
combined, and the margin of the true class is returned. Steps are against the strongest rival then: see
classes.py. ``classes`` is None for two classes.
"""

from omkl.engine import experts
from omkl.engine.classes import combined
from omkl.engine.jit import compiled, compiled_without_refcounts
from omkl.engine.records import Record, method


class Store(Record):
    """A record with the fields ``classes``, f (m,) of outputs, and ``size`` of the vectors that it stores."""


# ------------------------------------------------------------------ combinations


@method(Store)
@compiled
def weighted_vote(store, w, f, c=None):
    """sum_i w_i vote(f_i) over all classifiers, or those with c (m,) true; exactly 0 where the votes tie."""
    return experts.weighted_vote(w, f, c, store.classes)


@method(Store)
@compiled
def weighted_output(store, w, f):
    """sum_i w_i f_i in the order of the kernels."""
    return experts.weighted_output(w, f, store.classes)


@method(Store)
@compiled
def weighted_difference(store, other, w, f, g, n):
    """sum_i w_i (f_i - g_i / n), g the outputs of another store."""
    return experts.weighted_difference(w, f, g, n, store.classes, other.classes)


@method(Store)
@compiled
def mean_vote(store, f):
    """(1/m) sum_i vote(f_i), counted in whole votes: an even split is exactly 0 for every m."""
    return experts.mean_vote(f, store.classes)


@method(Store)
@compiled
def mean_output(store, f):
    """(1/m) sum_i f_i."""
    return experts.mean_output(f, store.classes)


@method(Store)
@compiled
def scaled(store, scale, f):
    """scale_i f_i (m,), and so the scores that are to be combined."""
    _scale_scores(store.classes, scale)
    return scale * f


@compiled
def _scale_scores(classes, scale):
    if classes is not None:
        for i in range(scale.size):
            for c in range(classes.total.size):
                classes.scores[i, c] *= scale[i]


# ------------------------------------------------------------------ steps


@method(Store)
@compiled_without_refcounts
def sides(store):
    """||change||^2 of a step of size 1 is this times kappa(x, x): 2 where it changes two classes, else 1."""
    return 1.0 if store.classes is None else 2.0


@method(Store)
@compiled_without_refcounts
def pair(store):
    """The margin f_y - f_r is this times y f: of two classes, whose outputs are f and -f, it is 2."""
    return 2.0 if store.classes is None else 1.0


@method(Store)
@compiled_without_refcounts
def direction(store, i, c, y):
    """What a step of size 1 adds to column c of kernel i's coefficients."""
    return _direction(store.classes, i, c, y)


@compiled_without_refcounts
def _direction(classes, i, c, y):
    if classes is None:
        return y
    if c == classes.label[0]:
        return 1.0
    return -1.0 if c == classes.rival[i] else 0.0


@method(Store)
@compiled
def unite(store, f):
    """Let all kernels move against the strongest rival of the combined scores; returns their margins."""
    _unite(store.classes, f)
    return f


@compiled
def _unite(classes, f):
    if classes is not None:
        label, rival = classes.label[0], classes.chosen[1]
        for i in range(f.size):
            f[i] = classes.scores[i, label] - classes.scores[i, rival]
            classes.rival[i] = rival


# ------------------------------------------------------------------ ensembles of a class against all others


@method(Store)
@compiled_without_refcounts
def target(store, stream, t, c):
    """1 if round t's example is of class c, else -1; of two classes its label."""
    return _target(stream.label, stream.y, t, c)


@compiled_without_refcounts
def _target(label, y, t, c):
    if label is None:
        return y[t]
    return 1.0 if label[t] == c else -1.0


@method(Store)
@compiled
def note_excess(store, c, e):
    """Note P - 1/2 of the probability P of class c against all others; of two classes that of label 1."""
    store.f[0] = e
    _note_probability(store.classes, c, 0.5 + e)


@compiled
def _note_probability(classes, c, P):
    if classes is not None:
        classes.total[c] = P


@method(Store)
@compiled
def margin_of_excesses(store, stream, t):
    """The excess noted; of more classes their probabilities, divided by their sum: the true one's less its
    strongest rival's.
    """
    return _margin_of_probabilities(store.classes, store.f[0], stream.label, t)


@compiled
def _margin_of_probabilities(classes, e, label, t):
    if classes is None:
        return e
    whole = classes.total.sum()
    for c in range(classes.total.size):
        classes.total[c] = classes.total[c] / whole if whole > 0.0 else 1.0 / classes.total.size
    classes.label[0] = label[t]
    return combined(classes)
