"""One classifier f = scale (what is stored) that shrinks in every round and forgets: NORMA's expansion.

Without a window it is an Expansion E, with one a Budget B, whose slots are used again; the other is None.
(Each has an `if` of its own: the compiler leaves out its body where the argument's type is None.)
Throughout: scale (1,)   now (2,) rounds learnt; those of them when B was last rewritten
With a window f has the terms of the last tau rounds, tau the length of window (3, tau). Its rows:
BORN the round of the term in each slot
ALPHA its coefficient when it was new
POWER 1, c, c^2, ... where every round shrinks f by the same c: the cache of section II-D and Fig. 1
There the scale is the power of the rounds since B was last rewritten: with alpha_i c^(t - i - 1) for the term
of round i, in the round t that no further power is left for, or none that is not tiny.
"""

import numpy as np

from omkl.engine.arith import any_of
from omkl.engine.classes import combined
from omkl.engine.jit import compiled

BORN, ALPHA, POWER = 0, 1, 2  # rows of `window`
LEAST_SCALE = 1e-30  # below this the scale goes into the coefficients: new ones are divided by it


@compiled
def either(E, B):
    """The store that there is."""
    if E is None:
        return B
    return E


@compiled
def shifted(store, scale, f, b):
    """g = f + b of b (C, 1), C = 1 for two classes; with more the margin of g."""
    if store.classes is None:
        return f + b[0, 0]
    classes = store.classes
    if not any_of(b[:, 0]):
        return f
    for c in range(len(b)):
        classes.total[c] = scale[0] * classes.scores[0, c] + b[c, 0]
    g = combined(classes)
    classes.rival[0] = classes.chosen[1]
    return g


@compiled
def shift(store, b, a):
    """b <- b + a, of the round's class; its rival's falls."""
    for c in range(len(b)):
        b[c, 0] += a * store.direction(0, c, 1.0)


@compiled
def descend(E, B, scale, now, window, stream, t, c, a, alike):
    """f <- c f + a kappa(x_t, .), less the term that leaves the window: the end of a round that is learnt.

    alike: c is the same in every round.
    """
    if B is not None:
        drop(B, window, t, now[0] - window.shape[1])
        if alike:
            _shrink(B.columns(0), scale, now, window, c)
    _descend(E, B, scale, now, window, stream, t, c, a, alike)


@compiled
def descend_unlike(B, scale, now, window, stream, t, c, a):
    """f <- c f + a kappa(x_t, .), where c may change and nothing leaves; window (2, n) of B's n slots."""
    _descend(None, B, scale, now, window, stream, t, c, a, False)


@compiled
def _descend(E, B, scale, now, window, stream, t, c, a, alike):
    if B is None or not alike:
        scale[0] *= c
        if scale[0] < LEAST_SCALE:
            either(E, B).scale(0, scale[0])
            scale[0] = 1.0
    if a != 0.0:
        if E is not None:
            E.add(stream, t, np.full(1, a / scale[0]))
        if B is not None:
            s = B.n_sv[0]
            window[BORN, s], window[ALPHA, s] = now[0], a
            B.add(stream, t, 0, s, a / scale[0])
    now[0] += 1


@compiled
def _shrink(a, scale, now, window, c):
    """f <- c f by the cache of powers, f of the coefficients scale a (n, 1), or (n, C)."""
    tau = window.shape[1]
    coming = now[0] + 1
    if coming == 1:
        window[POWER, 0] = 1.0
    if coming < tau:
        window[POWER, coming] = window[POWER, coming - 1] * c
    age = coming - now[1]
    if age < tau and window[POWER, age] >= LEAST_SCALE:
        scale[0] = window[POWER, age]
        return
    scale[0], now[1] = 1.0, coming
    for s in range(len(a)):
        power = window[ALPHA, s] * window[POWER, coming - int(window[BORN, s]) - 1]
        for k in range(a.shape[1]):
            a[s, k] = power if a.shape[1] == 1 else power * np.sign(a[s, k])


@compiled
def drop(B, window, t, born):
    """Empty the slots whose terms are of this round or of an earlier one."""
    s = 0
    while s < B.n_sv[0]:
        if window[BORN, s] <= born:
            last = B.n_sv[0] - 1
            window[BORN, s], window[ALPHA, s] = window[BORN, last], window[ALPHA, last]
            B.remove(t, 0, s)
        else:
            s += 1
