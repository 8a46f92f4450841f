"""Outputs so near to 0 that rounding could decide their sign, and how they are settled.

On data of whole numbers many stored vectors lie at exactly equal distances, and exact cancellation is
common: on a9a one row in five has a narrow kernel whose leading terms cancel. What remains is rounding,
and it decides a mistake. The fast sum (ladder, fused multiply-adds) rounds otherwise than the plain one,
so wherever |f| is within the two sums' error bound, the plain sum is computed and used.

With more than two classes what decides is the order of class scores: which is the strongest rival, and
whether the true class is above it. Where two of these scores are within their sums' error bounds, all scores
of that kernel are summed plainly, a class's over the vectors that add to it or take from it.
"""

import math

import numpy as np

from omkl.engine.by_address import call
from omkl.engine.classes import strongest_rival
from omkl.engine.jit import compiled, compiled_without_refcounts
from omkl.engine.kernels import (
    VALUE_ERROR,
    decay,
    falls,
    form_of,
    is_exact,
    of_distance,
    plain,
    plain_cosine,
    reach,
)
from omkl.engine.lanes import FLOOR, LANES, largest_of
from omkl.engine.lookup import may_look_up
from omkl.engine.open_block import dot_products, in_lists, lane_of, product_with, whole_lanes

_ROUNDING = 4.5e-16  # of each of n additions in both sums
_NARROW = 20.0  # decay at the distance of two such vectors above which only the nearest are seen
_CHUNK = 8  # stored vectors whose nearest is looked at before they are
_TILE = 4096  # stored vectors x rows of a tile
_ONE_BY_ONE = 8  # rows of a block in lists
_TINY = 1e-290  # near the subnormals relative errors mean nothing


@compiled
def track(E):
    """Decide for which kernels the block needs G, the sum of absolute terms: those that are narrow on it.

    For the others the number of coefficients bounds that sum well enough.
    """
    largest = largest_of(E.open.row_norm2)
    for i in range(E.f.size):
        E.tracked[i] = of_distance(E.pool.kind[i]) and _narrow(E.pool, i, largest)


@compiled_without_refcounts
def doubtful(f, n, absolute):
    """Whether the sign of f, a sum of n terms of these absolute values in all, is within rounding error."""
    error = (VALUE_ERROR + n * _ROUNDING) * absolute
    return abs(f) <= max(error, _TINY) and absolute > 0.0


@compiled_without_refcounts
def is_sign_uncertain(E, stream, t, r, doubt):
    """Note in doubt[:, r] which outputs E.scores[:, r] of round t are doubtful; returns whether any is.

    Of the block only the squared norm of the row decides, so that the same outputs are settled whatever its
    size. A polynomial never is doubtful, unless divided for cosine, nor is a kernel that is called: its sum
    is the plain one.
    """
    if E.classes is not None:
        return _is_order_uncertain(E, stream.label[t], r, doubt)
    pool, any_doubt = E.pool, False
    for i in range(pool.kind.size):
        absolute = E.n_sv[i] * E.max_abs_coefficient[i]
        if of_distance(pool.kind[i]) and _narrow(pool, i, E.open.row_norm2[r]):
            absolute = E.abs_scores[i, r]
        exact = is_exact(pool.kind[i], pool.cosine[0])
        doubt[i, r] = not exact and doubtful(E.scores[i, r], E.n_sv[i], absolute)
        any_doubt |= doubt[i, r]
    return any_doubt


@compiled_without_refcounts
def _is_order_uncertain(E, label, r, doubt):
    """`is_sign_uncertain` of the differences of the classes' scores E.scores[:, r] of a row of this label."""
    pool, n_sv_per_class, any_doubt, C = E.pool, E.n_sv_per_class, False, E.n_sv_per_class.shape[1]
    for i in range(pool.kind.size):
        doubt[i, r] = False
        if is_exact(pool.kind[i], pool.cosine[0]):
            continue
        f, g, tracked = E.scores[i * C : (i + 1) * C, r], E.abs_scores[i * C : (i + 1) * C, r], False
        if of_distance(pool.kind[i]):
            tracked = _narrow(pool, i, E.open.row_norm2[r])
        rival = strongest_rival(f, label)
        for c in range(C):  # f_y, and of the others the largest that are next to the rival's
            if c != rival:
                n = n_sv_per_class[i, c] + n_sv_per_class[i, rival]
                absolute = g[c] + g[rival] if tracked else n * E.max_abs_coefficient[i]
                doubt[i, r] |= doubtful(f[rival] - f[c], n, absolute)
        any_doubt |= doubt[i, r]
    return any_doubt


@compiled_without_refcounts
def _narrow(pool, i, norm2):
    """Whether a kernel of the distance sees but some of the vectors with norms like this one."""
    return not falls(pool.kind[i]) or decay(form_of(pool, i), 2.0 * norm2) > _NARROW


@compiled
def resum_rows(E, stream, tile, low, high):
    """Find the doubtful outputs of rows low .. high - 1 of a block just opened, and sum them plainly.

    The sums are in exact (m C, R) where settled. These rows are laid side by side, so that one pass over the
    stored vectors serves them all.
    """
    doubtful_rows, row_index, settled = tile.doubtful_rows, tile.row_index, E.settled
    R, t = 0, E.open.first[0]
    for r in range(low, high):
        if is_sign_uncertain(E, stream, t + r, r, settled):
            row_index[R] = r
            R += 1
    if R == 0:
        return
    E.exact[:, low:high] = 0.0
    rows = E.open.rows
    if in_lists(E.open):
        for q in range(R if R <= _ONE_BY_ONE else 0):
            call(E.pointers.plain_sums, (E, rows, low, low + LANES, row_index[q : q + 1], 0, settled))
        if R > _ONE_BY_ONE:
            lanes = np.arange(low, high)
            call(E.pointers.plain_sums, (E, rows, low, whole_lanes(high), lanes, 0, settled))
        return
    for s in range(E.open.n_columns[0] + 1):
        for q in range(R):
            doubtful_rows[s, q] = rows[s, row_index[q]]
    call(E.pointers.plain_sums, (E, doubtful_rows, 0, whole_lanes(R), row_index[:R], 0, settled))


@compiled
def resum_exactly(E, r, f):
    """Replace the doubtful outputs f (m C,) of the block's row r, noted in E.doubt, by plain sums."""
    m, C = E.f.size, f.size // E.f.size
    doubt, settled, exact = E.doubt, E.settled, E.exact
    low = r // LANES * LANES
    lanes = np.full(1, r) if in_lists(E.open) else np.arange(low, low + LANES)
    at_opening = np.empty(f.size)
    wanted = np.zeros((m, E.open.row_norm2.size), np.bool_)
    late = False
    for k in range(f.size):
        at_opening[k] = exact[k, r]
        if doubt[k // C, r] and not settled[k // C, r]:
            wanted[k // C, r], late = True, True
            exact[k, r] = 0.0
    if late:  # not doubtful when the block was opened: from the first stored vector on
        call(E.pointers.plain_sums, (E, E.open.rows, low, low + LANES, lanes, 0, wanted))
    for i in range(m):
        wanted[i, r] = doubt[i, r] and settled[i, r]
    call(E.pointers.plain_sums, (E, E.open.rows, low, low + LANES, lanes, E.open.n_stored[0], wanted))
    for k in range(f.size):
        if doubt[k // C, r]:
            f[k] = exact[k, r]
        exact[k, r] = at_opening[k]


@compiled
def plain_sums(E, rows, low, high, row_of, start, wanted):
    """exact[i, r] += sum_j A[i, j] kappa_i(x_j, x_r) over j >= start where wanted (m, R), by the definition:
    left to right, with the C library's exp. Lanes low .. high - 1 of rows (S+1, R) hold the
    block's rows row_of; of a block in lists these may also be one row alone.
    """
    A, norm2, exact, stop = E.A, E.norm2, E.exact, E.n_sv_union[0]
    row_norm2 = E.open.row_norm2
    lanes = high - low
    if start == stop:
        return
    if may_look_up(E):
        call(E.pointers.plain_looked_up, (E, rows, low, high, row_of, start, wanted))
        return
    J = max(_CHUNK, min(_TILE // lanes // _CHUNK * _CHUNK, -(-(stop - start) // _CHUNK) * _CHUNK))
    dots, squares, nearest = np.zeros((J, lanes)), np.empty((J, lanes)), np.empty((J // _CHUNK, lanes))
    alone = in_lists(E.open) and row_of.size == 1
    x, own = lane_of(E.open, rows, row_of[0]) if alone else np.zeros(0), np.zeros(lanes)
    for q in range(row_of.size):
        own[q] = row_norm2[row_of[q]]
    first = start
    while first < stop:
        count = min(J, stop - first)
        if alone:
            for j in range(count):
                dots[j, 0] = product_with(E, first + j, x)
        else:
            dot_products(E, rows, low, high, first, count, dots)
        _chunk_distances(norm2[first : first + count], own, dots, squares, nearest)
        for q in range(row_of.size):
            r = row_of[q]
            for i in range(E.f.size):
                if not wanted[i, r]:
                    continue
                form = form_of(E.pool, i)
                if E.classes is not None:
                    _sum_classes(E, form, i, first, count, dots[:, q], squares[:, q], r)
                    continue
                total = exact[i, r]
                if of_distance(form[0]):
                    total = _continued(
                        form, E.max_abs_coefficient[i], A[i], first, count, squares, nearest, q, total
                    )
                else:  # polynomials are settled where they are divided for cosine
                    for j in range(count):
                        if A[i, first + j] != 0.0:
                            k = plain_cosine(form, dots[j, q], norm2[first + j], row_norm2[r])
                            total += A[i, first + j] * k
                exact[i, r] = total
        first += count


@compiled
def _sum_classes(E, form, i, first, count, dots, squares, r):
    """E.exact[i C + c, r] += what vectors first .. of a tile add to class c or take from it, in their order.

    dots, squares (J,) of these vectors with the row. Terms below a quarter of a total's last place are left
    out, as in ``_continued``.
    """
    a, class_of, norm2, largest = E.A[i], E.class_of, E.norm2, E.max_abs_coefficient[i]
    C = E.classes.total.size
    totals, far = E.exact[i * C : (i + 1) * C, r], np.full(C, np.inf)
    for c in range(C if of_distance(form[0]) else 0):
        far[c] = _reach(form, largest, totals[c])
    for j in range(count):
        up, down = class_of[-1, first + j], class_of[i, first + j]
        if a[first + j] == 0.0 or squares[j] > max(far[up], far[down]):
            continue
        if of_distance(form[0]):
            term = a[first + j] * plain(form, squares[j])
        else:
            term = a[first + j] * plain_cosine(form, dots[j], norm2[first + j], E.open.row_norm2[r])
        totals[up] += term
        totals[down] -= term
        if of_distance(form[0]):
            far[up], far[down] = _reach(form, largest, totals[up]), _reach(form, largest, totals[down])


@compiled
def _chunk_distances(norm2, own, dots, squares, nearest):
    """Squared distances of a tile, and the nearest in each chunk of vectors, per lane."""
    for j in range(norm2.size):
        dot, square, near = dots[j], squares[j], nearest[j // _CHUNK]
        if j % _CHUNK == 0:
            near[:] = np.inf
        for q in range(own.size):
            distance = norm2[j] + own[q] - 2.0 * dot[q]
            distance = distance if distance > 0.0 else 0.0
            square[q] = distance
            near[q] = distance if distance < near[q] else near[q]


@compiled
def _continued(form, largest, a, first, count, squares, nearest, q, total):
    """total + sum_j a[first + j] kappa(squares[j, q]), left to right, with the C library's exp.

    Vectors beyond ``_reach`` are left out: their terms are below a quarter of total's last place.
    """
    far = _reach(form, largest, total)
    for chunk in range(0, count, _CHUNK):
        if nearest[chunk // _CHUNK, q] > far:
            continue
        for j in range(chunk, min(chunk + _CHUNK, count)):
            if squares[j, q] <= far and a[first + j] != 0.0:
                total += a[first + j] * plain(form, squares[j, q])
                far = _reach(form, largest, total)
    return total


@compiled
def _reach(form, largest, total):
    """Squared distance beyond which no term can change a sum of this size; a sum of 0 by none that is 0."""
    if total == 0.0:
        return reach(form, -FLOOR)
    exponent = (np.float64(abs(total) / largest).view(np.int64) >> 52) - 1023
    power = exponent if exponent > -1023 else -1074  # of two, which the quotient is not below
    return reach(form, 38.0 - power * math.log(2.0))  # exp(-38) < 2**-54
