"""A symmetric matrix under changes of rank three.

change (4, n), of a matrix K: its rows s, g and h, and a factor in the last row's first place. K waits to
become factor (K + s s' - g h' - h g').
"""

from functools import partial

from omkl.engine.jit import compiled_without_refcounts
from omkl.engine.lanes import fma, item, load, store, sum_onto, zeros
from omkl.engine.rank_one import LANES


@compiled_without_refcounts
def product_after_change(K, change, z, out, keep):
    """out (n,) <- K z of the K that the change makes, of which the first n rows and columns are used.

    keep: it replaces K, and nothing waits any more; else K and what waits stay as they are. Either way the
    bits are the same.
    """
    n, factor = z.size, change[3, 0]
    whole = n - n % LANES
    out[:] = 0.0
    for r in range(0, whole, LANES):
        if keep:  # one loop for each
            _four_changed(zeros(LANES), K, r, change, z, out, True)
        else:
            _four_changed(zeros(LANES), K, r, change, z, out, False)
    s, g, h = change[0], change[1], change[2]
    for r in range(whole, n):
        row = K[r]
        for j in range(r + 1):
            p = factor * fma(-h[r], g[j], fma(-g[r], h[j], fma(s[r], s[j], row[j])))
            out[j] = fma(p, z[r], out[j])
            if j < r:
                out[r] = fma(p, z[j], out[r])
            if keep:
                row[j] = p
                if j >= whole:  # of a block that becomes whole when there are more vectors
                    K[j, r] = p
    if keep:
        change[:] = 0.0
        change[3, 0] = 1.0


@partial(compiled_without_refcounts, inline="always")
def _four_changed(zero, K, r, change, z, out, keep):
    """``_four_rows`` of a change of rank three."""
    a, a1, a2, a3 = zero, zero, zero, zero
    for j in range(0, r, LANES):
        p, p1, p2, p3 = _changed_columns(zero, K, r, j, change, z, out, keep)
        other = load(zero, z, j)
        a, a1, a2, a3 = fma(p, other, a), fma(p1, other, a1), fma(p2, other, a2), fma(p3, other, a3)
    _changed_columns(zero, K, r, r, change, z, out, keep)
    store(sum_onto(item(out, r), a), out, r)
    store(sum_onto(item(out, r + 1), a1), out, r + 1)
    store(sum_onto(item(out, r + 2), a2), out, r + 2)
    store(sum_onto(item(out, r + 3), a3), out, r + 3)


@compiled_without_refcounts
def _changed_columns(like, K, r, j, change, z, out, keep):
    """``_columns`` of a change of rank three."""
    columns = load(like, change, (0, j)), load(like, change, (1, j)), load(like, change, (2, j))
    p = _changed_row(like, K, r, j, change, columns)
    p1 = _changed_row(like, K, r + 1, j, change, columns)
    p2 = _changed_row(like, K, r + 2, j, change, columns)
    p3 = _changed_row(like, K, r + 3, j, change, columns)
    total = fma(p1, item(z, r + 1), fma(p, item(z, r), load(like, out, j)))
    store(fma(p3, item(z, r + 3), fma(p2, item(z, r + 2), total)), out, j)
    if keep:
        store(p, K, (r, j))
        store(p1, K, (r + 1, j))
        store(p2, K, (r + 2, j))
        store(p3, K, (r + 3, j))
    return p, p1, p2, p3


@partial(compiled_without_refcounts, inline="always")
def _changed_row(like, K, r, j, change, columns):
    s, g, h = columns
    p = fma(item(change, (0, r)), s, load(like, K, (r, j)))
    return item(change, (3, 0)) * fma(-item(change, (2, r)), g, fma(-item(change, (1, r)), h, p))
