"""One classifier f = scale (what is stored) that shrinks in every round and forgets: NORMA's expansion.

Without a window it is an Expansion E, with one a Budget B, whose slots are used again; the other is None.
(Each has an `if` of its own: the compiler leaves out what is inside where the argument's type is None.)
Throughout: scale (1,); now (1,) rounds learnt; born (tau,) the round of the term in each slot, where tau is
the window: f has the terms of the last tau rounds.
"""

import numpy as np
from numba import njit

from omkl.engine import budget, expansion, trace

LEAST_SCALE = 1e-30  # below this the scale goes into the coefficients: new ones are divided by it

_add, _outputs, _multiply = expansion.add, expansion.outputs, expansion.multiply
_put, _remove, _slot_outputs, _scale = budget.put, budget.remove, budget.outputs, budget.scale
_record = trace.record


@njit(cache=True)
def output(E, B, scale, stream, t):
    """f(x_t)."""
    f = 0.0
    if E is not None:
        f = _outputs(E, stream, t)[0]
    if B is not None:
        f = _slot_outputs(B, stream, t)[0]
    return scale[0] * f


@njit(cache=True)
def record(trace, t, score, y, E, B):
    """Note round t of f."""
    if E is not None:
        _record(trace, t, score, y, E)
    if B is not None:
        _record(trace, t, score, y, B)


@njit(cache=True)
def descend(E, B, scale, now, born, stream, t, c, a):
    """f <- c f + a kappa(x_t, .), less the term that leaves the window: the end of a round that is learnt."""
    scale[0] *= c
    if scale[0] < LEAST_SCALE:
        if E is not None:
            _multiply(E, 0, scale[0])
        if B is not None:
            _scale(B, 0, scale[0])
        scale[0] = 1.0
    if B is not None:
        _slide(B, born, now[0], t)
    if a != 0.0:
        if E is not None:
            _add(E, stream, t, np.full(1, a / scale[0]))
        if B is not None:
            born[B.n_sv[0]] = now[0]
            _put(B, stream, t, 0, B.n_sv[0], a / scale[0])
    now[0] += 1


@njit(cache=True)
def _slide(B, born, now, t):
    """Empty the slot whose term is as old as the window is long."""
    last = B.n_sv[0] - 1
    for s in range(last + 1):
        if born[s] == now - born.size:
            born[s] = born[last]
            _remove(B, t, 0, s)
            return
