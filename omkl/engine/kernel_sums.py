"""Sums of kernel values over a tile of pairs, all kernels of a pool together, in the order of its plan."""

from collections import namedtuple

import numpy as np

from omkl.engine.called_kernels import called_with_block
from omkl.engine.jit import compiled, compiled_without_refcounts
from omkl.engine.kernels import CALLED, form_of, of_distance, values_of_squares, vanishes
from omkl.engine.lanes import LANES, LARGE, fma, item, load, store, zeros
from omkl.engine.records import Record

_PAIRS = 2048  # stored vectors x rows of a tile: its kernel values stay in the first-level cache


class Scratch(Record, namedtuple("Scratch", "squares K nearest chosen")):
    """Room for the kernel values of a tile.

    squares, K (J, R), nearest (R,), and the vectors picked from the tile, chosen (J,)
    """


class Tile(Record, namedtuple("Tile", "dots scratch doubtful_rows row_index")):
    """Room for one tile of work.

    dots (J, R) scratch        dot products and kernel values of J stored vectors with R rows
    doubtful_rows (S+1, R) row_index (R,)   rows that are summed plainly, side by side: ties.py
    """


def make_tile(R: int, slots: int) -> Tile:
    """Return room for tiles of R rows, of a block that lays out this many columns (and row 0)."""
    J = max(LANES, _PAIRS // R // LANES * LANES)
    scratch = Scratch(np.zeros((J, R)), np.zeros((J, R)), np.zeros(R), np.zeros(J, np.int64))
    return Tile(np.zeros((J, R)), scratch, np.zeros((slots, R)), np.zeros(R, np.int64))


@compiled
def distances(first, count, norm2, row_norm2, dots, scratch):
    """Squared distances of a tile into scratch.squares; returns the smallest, and a bound of the largest."""
    rows = row_norm2.size
    near = scratch.nearest
    largest_norm2, largest_row = 0.0, 0.0
    for r in range(rows):
        near[r] = np.inf
        largest_row = max(largest_row, row_norm2[r])
    for j in range(count):
        norm2_j = norm2[first + j]
        largest_norm2 = max(largest_norm2, norm2_j)
        dot, square = dots[j], scratch.squares[j]
        for r in range(rows):
            distance = norm2_j + row_norm2[r] - 2.0 * dot[r]
            distance = distance if distance > 0.0 else 0.0
            square[r] = distance
            near[r] = distance if distance < near[r] else near[r]
    nearest = np.inf
    for r in range(rows):
        nearest = min(nearest, near[r])
    return nearest, 2.0 * (largest_norm2 + largest_row)


@compiled
def bases(form, first, picked, norm2, row_norm2, dots, scratch):
    """squares, K <- scale x_j.x_r + coef0; for cosine divided by the roots of its values at x_j and x_r."""
    _, scale, constant, _, cosine = form
    rows = row_norm2.size
    roots = scratch.nearest
    for r in range(rows):
        roots[r] = _inverse_root(scale * row_norm2[r] + constant) if cosine else 1.0
    for q in range(picked):
        j = scratch.chosen[q]
        root = _inverse_root(scale * norm2[first + j] + constant) if cosine else 1.0
        dot, base, k = dots[j], scratch.squares[q], scratch.K[q]
        for r in range(rows):
            b = (scale * dot[r] + constant) * root * roots[r]
            base[r] = b
            k[r] = b


@compiled
def _inverse_root(x):
    return 1.0 / np.sqrt(x) if x > 0.0 else 0.0


@compiled
def first_values(form, first, picked, norm2, row_norm2, dots, scratch, farthest):
    """K of a kernel that follows from no other; of a polynomial its base."""
    if of_distance(form[0]):
        for q in range(picked):
            values_of_squares(
                form, farthest, scratch.squares[scratch.chosen[q]], row_norm2.size, scratch.K[q]
            )
    else:
        bases(form, first, picked, norm2, row_norm2, dots, scratch)


@compiled
def _called(E, i, first, picked, dots, scratch, low, high):
    """K of kernel i, which is called by address."""
    for q in range(picked):
        j = first + scratch.chosen[q]
        start, stop = E.indptr[j], E.indptr[j + 1]
        dot, out = dots[scratch.chosen[q], : high - low], scratch.K[q, : high - low]
        vector = (dot, E.norm2[j], E.origin[j], E.indices[start:stop], E.values[start:stop], out)
        called_with_block(E.pool, i, E.open, low, high, *vector)


_FEW = 8  # a vector belongs to few kernels if at most one in so many has stored it


@compiled
def bit(i):
    """The bit of kernel i in a set of kernels; beyond 64 kernels some share one."""
    return np.uint64(1) << np.uint64(i % 64)


@compiled
def belong_to_few(E):
    """Whether the stored vectors belong to few kernels on average."""
    terms = 0
    for i in range(E.n_sv.size):
        terms += E.n_sv[i]
    return _FEW * terms <= E.n_sv_union[0] * E.n_sv.size


@compiled
def accumulate(E, tile, first, count, low, high):
    """scores[i, r] += sum_j A[i, j] kappa_i(x_j, x_r), j = first .. first + count - 1 in this order, for the
    block's rows low <= r < high; abs_scores[i, r] += sum_j |A[i, j]| kappa_i(x_j, x_r) for the kernels
    tracked.

    E       the Expansion; with more than two classes scores (m C, R) has a row for each kernel and class, and
            x_j adds to that of its own class what it takes from that of its rival
    tile    its dots[j, r - low] are the dot products of stored vector first + j with the block's row r

    Each scores[i, r] is one left-to-right sum over j, however the stored vectors are cut into tiles. What
    adds exactly 0 is skipped: kernels that have underflowed on the whole tile, vectors that no kernel of a
    chain has stored, and where vectors belong to few kernels, all after the last that has stored the vector.
    """
    pool, scratch, row_norm2 = E.pool, tile.scratch, E.open.row_norm2[low:high]
    nearest, farthest = distances(first, count, E.norm2, row_norm2, tile.dots, scratch)
    together = 1 if belong_to_few(E) else count
    for j in range(0, count, together):
        start, kernel_mask = 0, np.uint64(0)
        for k in range(j, j + together):
            kernel_mask |= E.kernel_mask[first + k]
        while start < pool.order.size:
            stop = pool.group_end[start]
            last = _last(pool, start, stop, kernel_mask, nearest)
            if last > start:
                picked = _pick(pool.order, start, last, E.kernel_mask, first, j, together, scratch.chosen)
                form = form_of(pool, pool.order[start])
                if form[0] == CALLED:
                    _called(E, pool.order[start], first, picked, tile.dots, scratch, low, high)
                else:
                    first_values(form, first, picked, E.norm2, row_norm2, tile.dots, scratch, farthest)
                if E.classes is None and of_distance(form[0]):
                    add_ladder(E, start, last, first, picked, scratch.chosen, low, high - low, scratch.K)
                else:
                    _add_each(E, scratch, start, last, first, picked, low, high - low)
            start = stop


@compiled
def _last(pool, start, stop, kernel_mask, nearest):
    """The place after the last of a chain's kernels that are in this set and do not vanish."""
    while stop > start:
        i = pool.order[stop - 1]
        if kernel_mask & bit(i) and not (of_distance(pool.kind[i]) and vanishes(form_of(pool, i), nearest)):
            break
        stop -= 1
    return stop


@compiled
def _pick(order, start, last, kernel_mask, first, j, count, chosen):
    """List in chosen (J,) the tile's vectors j .. that one of the kernels order[start:last] has stored."""
    if count == 1:
        chosen[0] = j
        return 1
    kernels, picked = np.uint64(0), 0
    for at in range(start, last):
        kernels |= bit(order[at])
    for k in range(j, j + count):
        chosen[picked] = k
        picked += (kernel_mask[first + k] & kernels) != np.uint64(0)
    return picked


@compiled
def _add_each(E, scratch, start, last, first, picked, low, rows):
    """Add the values of the kernels order[start:last] one by one: to classes, or those of polynomials, whose
    products are rounded before they are added, as by definition. K holds those of the first.
    """
    pool, squares, K, chosen = E.pool, scratch.squares, scratch.K, scratch.chosen
    for at in range(start, last):
        i = pool.order[at]
        near, steps = of_distance(pool.kind[i]), pool.chain[at]
        if at == start:
            steps = 0 if near else pool.degree[i] - 1
        raise_values(near, picked, rows, steps, squares, K)
        if E.classes is not None:
            _add_to_classes(E, i, first, picked, chosen, low, rows, K, near)
            continue
        f = E.scores[i, low : low + rows]
        for q in range(picked):
            a, k = E.A[i, first + chosen[q]], K[q]
            for r in range(rows):
                f[r] = f[r] + a * k[r]


# ------------------------------------------------------------------ sums of a ladder


@compiled_without_refcounts
def add_ladder(E, start, last, first, picked, chosen, low, rows, K):
    """scores[i, low + r] += sum_q A[i, first + chosen[q]] kappa_i, left to right and fused, and abs_scores
    the same of the absolute values where tracked, for r < rows and the kernels i of the places start .. last
    - 1.

    K (picked, rows)  kappa of the first of them; of each other it follows by squarings
    """
    q = 0
    while q + 4 <= picked:
        r = 0
        while r + _ROWS <= rows:
            _add_4(zeros(_ROWS), E, start, last, first, chosen, K, q, r, low + r)
            r += _ROWS
        if r < rows:
            for one in range(q, q + 4):
                _add_1(zeros(LANES), E, start, last, first, chosen, K, one, r, low + r)
        q += 4
    while q < picked:
        r = 0
        while r + 32 <= rows:
            _add_1(zeros(32), E, start, last, first, chosen, K, q, r, low + r)
            r += 32
        while r < rows:
            _add_1(zeros(LANES), E, start, last, first, chosen, K, q, r, low + r)
            r += LANES
        q += 1


@compiled_without_refcounts
def _add_4(like, E, start, last, first, chosen, K, q, r, at):
    """`add_ladder` for four of the vectors, chosen[q:], and the lanes r .. of K, `at` .. of scores.

    Their values stay in registers from kernel to kernel.
    """
    A, scores, abs_scores = E.A, E.scores, E.abs_scores
    j = first + chosen[q]
    j1 = first + chosen[q + 1]
    j2 = first + chosen[q + 2]
    j3 = first + chosen[q + 3]
    k = load(like, K, (q, r))
    k1 = load(like, K, (q + 1, r))
    k2 = load(like, K, (q + 2, r))
    k3 = load(like, K, (q + 3, r))
    for place in range(start, last):
        i = item(E.pool.order, place)
        for _ in range(item(E.pool.chain, place)):  # -1 of the first
            k *= k
            k1 *= k1
            k2 *= k2
            k3 *= k3
        a = item(A, (i, j))
        a1 = item(A, (i, j1))
        a2 = item(A, (i, j2))
        a3 = item(A, (i, j3))
        if (a != 0.0) | (a1 != 0.0) | (a2 != 0.0) | (a3 != 0.0):
            f = load(like, scores, (i, at))
            store(fma(a3, k3, fma(a2, k2, fma(a1, k1, fma(a, k, f)))), scores, (i, at))
            if item(E.tracked, i):
                g = load(like, abs_scores, (i, at))
                store(
                    fma(abs(a3), k3, fma(abs(a2), k2, fma(abs(a1), k1, fma(abs(a), k, g)))),
                    abs_scores,
                    (i, at),
                )


@compiled_without_refcounts
def _add_1(like, E, start, last, first, chosen, K, q, r, at):
    """`_add_4` for one vector."""
    A, scores, abs_scores = E.A, E.scores, E.abs_scores
    j = first + chosen[q]
    k = load(like, K, (q, r))
    for place in range(start, last):
        i = item(E.pool.order, place)
        for _ in range(item(E.pool.chain, place)):
            k *= k
        a = item(A, (i, j))
        if a != 0.0:
            store(fma(a, k, load(like, scores, (i, at))), scores, (i, at))
            if item(E.tracked, i):
                store(fma(abs(a), k, load(like, abs_scores, (i, at))), abs_scores, (i, at))


_ROWS = 16 if LARGE else 8  # of which the values of four vectors stay in registers


@compiled
def raise_values(squared, picked, rows, steps, bases, K):
    """K <- K squared that often, or times its base that often."""
    for q in range(picked):
        k, base, left = K[q], bases[q], steps
        while squared and left >= 2:
            for r in range(rows):
                power = k[r] * k[r]
                k[r] = power * power
            left -= 2
        for _ in range(left):
            for r in range(rows):
                k[r] = k[r] * (k[r] if squared else base[r])


@compiled
def _add_to_classes(E, i, first, picked, chosen, low, rows, K, fused):
    """scores[label_j] += a_j K_j, scores[rival_j] -= a_j K_j of kernel i, j = first + chosen[q], in order.

    fused: by fused multiply-adds; polynomials sum as by definition. abs_scores adds |a_j| K_j to both where
    tracked.
    """
    scores, abs_scores, a, tracked = E.scores, E.abs_scores, E.A[i], E.tracked[i]
    rival, label = E.class_of[i], E.class_of[-1]
    at = i * E.classes.total.size
    for q in range(picked):
        j = first + chosen[q]
        c, k = a[j], K[q]
        if c == 0.0:
            continue
        up, down = scores[at + label[j], low : low + rows], scores[at + rival[j], low : low + rows]
        if fused and tracked:
            s, g, h = (
                abs(c),
                abs_scores[at + label[j], low : low + rows],
                abs_scores[at + rival[j], low : low + rows],
            )
            for r in range(rows):
                up[r] = fma(c, k[r], up[r])
                down[r] = fma(-c, k[r], down[r])
                g[r] = fma(s, k[r], g[r])
                h[r] = fma(s, k[r], h[r])
        elif fused:
            for r in range(rows):
                up[r] = fma(c, k[r], up[r])
                down[r] = fma(-c, k[r], down[r])
        else:
            for r in range(rows):
                up[r] = up[r] + c * k[r]
                down[r] = down[r] - c * k[r]
