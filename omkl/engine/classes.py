"""More than two classes: class scores f_ic of each kernel i and class c, and what a learner sees of them.

The learner sees *margins* f_i = f_iy - f_ir in place of outputs, y the round's class and r_i its strongest
rival for kernel i, and label +1 in every round. So z_i = [f_i <= 0], hinge losses and steps are those of two
classes, and ``add`` puts +a_i on class y and -a_i on class r_i. Of equal
scores the lowest class is the prediction, or the rival.

Stores have a field ``classes``, None for two classes. The code behind ``if store.classes is not None`` is
left out there (records.py): the code for two classes is what it would be without the others.
"""

from collections import namedtuple

import numpy as np

from omkl.engine.jit import compiled, compiled_without_refcounts
from omkl.engine.records import Record


class Classes(Record, namedtuple("Classes", "scores total label rival vote chosen")):
    """What a learner sees of C classes, for m kernels.

    scores (m, C)    f_ic(x_t) of the last outputs
    total (C,)       scores of the classifiers combined, or of kernel 0
    label (1,)       class of that round's example
    rival (m,)       its strongest rival for each kernel
    vote (m,)        the class with each kernel's largest score
    chosen (2,)      the class predicted; the strongest rival in it
    """


def make_classes(m: int, C: int | None) -> Classes | None:
    """Return the record of C classes for m kernels, None for two of them (C None)."""
    if C is None:
        return None
    each = [np.zeros(size, np.int64) for size in (1, m, m, 2)]
    return Classes(np.zeros((m, C)), np.zeros(C), *each)


@compiled
def margins(classes, label, f):
    """f (m,) <- f_iy - f_ir of the scores, with rivals and votes; kernel 0's vote is the first prediction."""
    scores = classes.scores
    classes.label[0] = label
    for i in range(f.size):
        rival = strongest_rival(scores[i], label)
        f[i] = scores[i, label] - scores[i, rival]
        classes.rival[i] = rival
        classes.vote[i] = winner(f[i], label, rival)
    classes.chosen[0], classes.chosen[1] = classes.vote[0], classes.rival[0]
    note_scores(classes, classes.total, 0)


@compiled
def rounded_margins(classes, g, least, f):
    """`margins` again, with differences of at most `least` (g_ic + g_ik), g (m, C), taken for 0."""
    label = classes.label[0]
    for i in range(f.size):
        s, rival = classes.scores[i], strongest_rival(classes.scores[i], label)
        for c in range(s.size):
            if c != label and s[rival] - s[c] <= least * (g[i, rival] + g[i, c]):
                rival = c
                break
        f[i] = s[label] - s[rival]
        if abs(f[i]) <= least * (g[i, label] + g[i, rival]):
            f[i] = 0.0
        classes.rival[i] = rival
        classes.vote[i] = winner(f[i], label, rival)
    classes.chosen[0], classes.chosen[1] = classes.vote[0], classes.rival[0]


@compiled_without_refcounts
def strongest_rival(scores, label):
    """The class other than `label` with the largest of the scores (C,), the lowest of several."""
    best = -1
    for c in range(scores.size):
        if c != label and (best < 0 or scores[c] > scores[best]):
            best = c
    return best


@compiled_without_refcounts
def winner(margin, label, rival):
    """The class with the larger score, the lower of two equal ones; margin: score of label less rival's."""
    if margin > 0.0:
        return label
    return rival if margin < 0.0 else min(label, rival)


@compiled_without_refcounts
def combined(classes):
    """The margin of the combined scores classes.total (C,), whose argmax is the prediction."""
    label = classes.label[0]
    rival = strongest_rival(classes.total, label)
    margin = classes.total[label] - classes.total[rival]
    choose(classes, margin, rival)
    return margin


@compiled_without_refcounts
def choose(classes, margin, rival):
    """Note the prediction of combined classifiers, whose strongest rival of the true class is `rival`."""
    classes.chosen[0], classes.chosen[1] = winner(margin, classes.label[0], rival), rival


@compiled_without_refcounts
def note_scores(classes, scores, i=-1):
    """scores (C,) <- the combined scores, or those of kernel i."""
    for c in range(scores.size):
        scores[c] = classes.total[c] if i < 0 else classes.scores[i, c]


# Of learners without a store: what is learnt has a first side of classes, 1 for two of them, where
# stream.label is None. With more, the round's class and its strongest rival take the parts of the two signs.
@compiled
def class_of(stream, t):
    """Round t's class, 0 of two."""
    return 0 if stream.label is None else stream.label[t]


@compiled
def lead_of(stream, t, scores):
    """The score of round t's class less its strongest rival's, of scores (C, 1), and the rival, -1 of two."""
    if stream.label is None:
        return scores[0, 0], -1
    label = stream.label[t]
    rival = strongest_rival(scores[:, 0], label)
    return scores[label, 0] - scores[rival, 0], rival


@compiled
def note_class_scores(trace, t, scores):
    if trace.class_scores is not None and t < len(trace.class_scores):
        for c in range(len(scores)):
            trace.class_scores[t, c] = scores[c, 0]


@compiled
def winner_of(stream, t, margin, rival):
    return -1 if stream.label is None else winner(margin, stream.label[t], rival)
