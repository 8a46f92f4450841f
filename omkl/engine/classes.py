"""More than two classes: class scores f_ic of each kernel i and class c, and what a learner sees of them.

The learner sees *margins* f_i = f_iy - f_ir in place of outputs, y the round's class and r_i its strongest
rival for kernel i, and label +1 in every round. So z_i = [f_i <= 0], hinge losses and steps are those of two
classes, and ``add`` puts +a_i on class y and -a_i on class r_i (ALGORITHMS.md section 14). Of equal
scores the lowest class is the prediction, or the rival.

Engine records have a field ``classes``, None for two classes. It is handed to functions as an argument of its
own: numba leaves out a branch on it when it compiles them, and the code for two classes is what it would be
without the others.
"""

from collections import namedtuple

import numpy as np
from numba import njit

# scores (m, C)    f_ic(x_t) of the last outputs
# total (C,)       scores of the classifiers combined
# label (1,)       class of that round's example
# rival (m,)       its strongest rival for each kernel
# vote (m,)        the class with each kernel's largest score
# chosen (2,)      the class predicted; the strongest rival in it
Classes = namedtuple("Classes", "scores total label rival vote chosen")


def make_classes(m: int, C: int | None) -> Classes | None:
    """Return the record of C classes for m kernels, None for two of them (C None)."""
    if C is None:
        return None
    each = [np.zeros(size, np.int64) for size in (1, m, m, 2)]
    return Classes(np.zeros((m, C)), np.zeros(C), *each)


@njit(cache=True)
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


@njit(cache=True)
def strongest_rival(scores, label):
    """The class other than `label` with the largest of the scores (C,), the lowest of several."""
    best = -1
    for c in range(scores.size):
        if c != label and (best < 0 or scores[c] > scores[best]):
            best = c
    return best


@njit(cache=True)
def winner(margin, label, rival):
    """The class with the larger score, the lower of two equal ones; margin: score of label less rival's."""
    if margin > 0.0:
        return label
    return rival if margin < 0.0 else min(label, rival)


@njit(cache=True)
def combined(classes):
    """The margin of the combined scores classes.total (C,), whose argmax is the prediction."""
    label = classes.label[0]
    rival = strongest_rival(classes.total, label)
    margin = classes.total[label] - classes.total[rival]
    choose(classes, margin, rival)
    return margin


@njit(cache=True)
def choose(classes, margin, rival):
    """Note the prediction of combined classifiers, whose strongest rival of the true class is `rival`."""
    classes.chosen[0], classes.chosen[1] = winner(margin, classes.label[0], rival), rival


@njit(cache=True)
def predicted(classes):
    """The class predicted; -1 for two classes."""
    if classes is None:
        return -1
    return classes.chosen[0]
