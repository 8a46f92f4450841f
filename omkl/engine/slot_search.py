"""Search among the slots of every kernel at once (budgeted.py)."""

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from omkl.engine.jit import uncounted
from omkl.engine.vector_code import LANES, SIZE, arrays_of, spread, vector_at

_WHOLE = ir.VectorType(SIZE, LANES)


@uncounted
def least_slots(cost, born, first, stop, r, least, oldest):
    """Go on with slots first to stop - 1 of every kernel in a search for the slot of the least cost.

    cost (stop - first, m) of these slots, never the least where it is NaN
    born (S, m) ages of all slots: of several the one with the least age is the oldest, and goes first
    r, least, oldest (m,) the best slots so far, their costs and ages
    """
    m = r.size
    if m < LANES:
        for s in range(first, stop):
            for i in range(m):
                c = cost[s - first, i]
                if c < least[i] or (c == least[i] and born[s, i] < oldest[i]):
                    r[i], least[i], oldest[i] = s, c, born[s, i]
        return
    i = 0
    while i < m:
        if i + 2 * LANES <= m:
            _search_16(cost, born, first, stop, i, r, least, oldest)
            i += 2 * LANES
        else:
            _search_8(cost, born, first, stop, min(i, m - LANES), r, least, oldest)  # the last may overlap
            i += LANES


def _search(width: int) -> Any:
    """Return the intrinsic behind `least_slots` for `width` kernels at once: the best stay in registers."""

    @intrinsic
    def search(typingctx, cost, born, first, stop, i, r, least, oldest):
        signature = types.void(cost, born, first, stop, i, r, least, oldest)

        def codegen(context, builder, signature, args):
            cost, born, first, stop, i, r, least, oldest = arrays_of(context, builder, signature, args)
            parts = []
            for k in range(0, width, LANES):
                at = builder.add(i, SIZE(k))
                best = [
                    vector_at(builder, least, at),
                    vector_at(builder, oldest, at, kind=_WHOLE),
                    vector_at(builder, r, at, kind=_WHOLE),
                ]
                kept = [cgutils.alloca_once_value(builder, builder.load(b, align=8)) for b in best]
                parts.append((at, best, kept))
            with cgutils.for_range_slice(builder, first, stop, SIZE(1), SIZE) as (s, _):
                slot = spread(builder, s)
                for at, _, kept in parts:
                    c = builder.load(vector_at(builder, cost, builder.sub(s, first), at), align=8)
                    age = builder.load(vector_at(builder, born, s, at, kind=_WHOLE), align=8)
                    before = [builder.load(k) for k in kept]
                    tie = builder.fcmp_ordered("==", c, before[0])
                    older = builder.and_(tie, builder.icmp_signed("<", age, before[1]))
                    better = builder.or_(builder.fcmp_ordered("<", c, before[0]), older)
                    for new, old, to in zip((c, age, slot), before, kept, strict=True):
                        builder.store(builder.select(better, new, old), to)
            for _, best, kept in parts:
                for value, to in zip(kept, best, strict=True):
                    builder.store(builder.load(value), to, align=8)
            return context.get_dummy_value()

        return signature, codegen

    return search


_search_16, _search_8 = _search(2 * LANES), _search(LANES)
