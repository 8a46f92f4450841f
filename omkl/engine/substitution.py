"""Forward and back substitution with a factored Gram matrix, LANES rows at a time.

Throughout: G (slots, slots) holds L D L^T as in gram_matrix.py; x (n,) is solved for in place. Of an element
one product is taken off for each row before it, in their order and each rounded, as in the plain loops.
n mod LANES rows are taken alone first, so that whole vectors are left.
"""

from typing import Any

from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from omkl.engine.arith import any_of
from omkl.engine.jit import compiled
from omkl.engine.vector_code import LANES, SIZE, arrays_of, pointer_to, spread, vector_at


@compiled
def eliminate(G, x):
    """x <- D^-1 L^-1 x; returns x^T K^-1 x of the x given."""
    n, norm2 = x.size, 0.0
    alone = n % LANES
    for s in range(alone):
        if x[s] != 0.0:
            for j in range(s + 1, alone):
                x[j] -= x[s] * G[s, j]
            _row_down(G, x, s, alone, n // LANES)
            norm2 += _divide(G, x, s)
    for s in range(alone, n, LANES):
        if any_of(x[s : s + LANES]):  # a narrow kernel is 0 at most stored vectors
            _rows_down(G, x, s, s + LANES, (n - s) // LANES - 1)
            for q in range(s, s + LANES):
                norm2 += _divide(G, x, q)
    return norm2


@compiled
def _divide(G, x, s):
    z = x[s]
    x[s] = z / G[s, s]
    return z * x[s]


@compiled
def substitute(G, x):
    """x <- L^-T x."""
    n = x.size
    whole = n - n % LANES
    for s in range(n - 1, whole - 1, -1):
        if x[s] != 0.0:
            for j in range(whole, s):
                x[j] -= x[s] * G[s, j]
            _row_up(G, x, s, 0, n // LANES)
    for s in range(whole - LANES, -1, -LANES):
        if any_of(x[s : s + LANES]):
            _rows_up(G, x, s + LANES - 1, 0, s // LANES)


def _taking_off(rows: int, step: int) -> Any:
    """Return the intrinsic that takes off ``rows`` rows, the next one ``step`` after the one before.

    Left to LLVM's loop vectoriser, most of a hundred numbers fall to its scalar remainder loops.
    """

    @intrinsic
    def taking_off(typingctx, G, x, row, at, vectors):
        """Solve x for the rows from ``row`` on, and take them off x: so many vectors, the first at ``at``."""
        signature = types.void(G, x, row, at, vectors)

        def codegen(context, builder, signature, args):
            G, x, row, at, vectors = arrays_of(context, builder, signature, args)
            places = [builder.add(row, SIZE(step * r)) for r in range(rows)]
            z = [builder.load(pointer_to(builder, x, place)) for place in places]
            for r, place in enumerate(places):
                for q in range(r + 1, rows):
                    factor = builder.load(pointer_to(builder, G, place, places[q]))
                    z[q] = builder.fsub(z[q], builder.fmul(z[r], factor))
                builder.store(z[r], pointer_to(builder, x, place))
            lanes = [spread(builder, value) for value in z]
            with cgutils.for_range(builder, vectors, intp=SIZE) as loop:
                j = builder.add(at, builder.mul(loop.index, SIZE(LANES)))
                rest = vector_at(builder, x, j)
                left = builder.load(rest, align=8)
                for value, place in zip(lanes, places, strict=True):
                    factors = builder.load(vector_at(builder, G, place, j), align=8)
                    left = builder.fsub(left, builder.fmul(value, factors))
                builder.store(left, rest, align=8)
            return context.get_dummy_value()

        return signature, codegen

    return taking_off


_row_down, _rows_down = _taking_off(1, 1), _taking_off(LANES, 1)
_row_up, _rows_up = _taking_off(1, -1), _taking_off(LANES, -1)
