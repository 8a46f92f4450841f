"""Budget online multiple kernel learning: Lu, Hoi, Sahoo, "Budget online multiple kernel learning".

SPA, and section 4.3's budget learners as components of online multiple kernel classification: every kernel is
updated in every round by the same single-kernel learner, with a budget of its own; the prediction is Hedge's
weighted vote. With a pool of one kernel they are the single-kernel learners.

Throughout: m kernels; B the classifiers, at most `budget` stored vectors in each, kernel i's in slots s;
f (m,) outputs f_i(x_t); z (m,) true where kernel i errs; w (m,) Hedge weights; gamma in (0, 1) their
discount; a coefficients; k (slots, m) kernel values kappa_i(x_s, x_t).
Projectron: G (m, slots, slots) factored Gram matrices; d (n,) coefficients of P kappa(x, .), the projection
of x on the span of the n stored vectors; residual its squared distance from x.
"""

import math
from functools import partial

import numpy as np

from omkl.engine.api import (
    LARGEST_COEFFICIENT,
    any_of,
    compiled,
    compiled_without_refcounts,
    discount,
    discount_by,
    distance,
    grow,
    hinge,
    mistakes,
    multinomial,
    nystroem,
    projection,
    sampling_share,
    smoothed,
    times,
    within_range,
)
from omkl.engine.methods import Budget, Expansion, Stream, Trace
from omkl.engine.slot_values import least_slots

NEGLIGIBLE = 1e-25  # coefficients of NOGD's maps that could not change one of ordinary size
_TOGETHER = 32  # slots whose costs stay in the first-level cache until they are compared
_LATER = np.iinfo(np.int64).max  # than any example's number


@compiled
def bomkc_rbp(stream: Stream, B: Budget, w, trace: Trace, rng, learn, gamma):
    """Randomised budget perceptron (Cavallanti, Cesa-Bianchi, Gentile 2007): a random vector makes room."""
    for t in range(stream.T):
        y = stream.y[t]
        f = B.outputs(stream, t)
        trace.record(t, B.weighted_vote(w, f), y, B)
        if not learn:
            continue
        z = mistakes(y, f)
        discount(w, gamma, z)
        for i in range(f.size):
            if z[i]:
                s = B.used(i) if B.has_room(i) else int(rng.random() * B.budget())
                B.add(stream, t, i, s, y)


@compiled
def bomkc_forgetron(stream: Stream, B: Budget, w, Q, M, H, trace: Trace, learn, gamma):
    """Self-tuned Forgetron (Dekel, Shalev-Shwartz, Singer 2008, section 5): shrink, then drop the oldest.

    Q (m,) damage of all removals   M (m,) mistakes   r the oldest vector's slot, s that of the new one
    H (m, slots, slots) kernel values: H[i, s] of the vector in slot s with those that were stored before it
    delta = |a_r|, mu = y_r f'(x_r) with f' after the addition   phi factor, the largest in (0, 1] with
    (delta^2 - 2 delta mu) phi^2 + 2 delta phi + Q - (15/32) M <= 0
    Deviations: polynomials are shrunk by the same rule, although it supposes kappa(x, x) <= 1. With more than
    two classes a vector is added to y_r and taken from its rival. Inner products are halved, so that its norm
    stays kappa(x, x): mu is half the margin.
    """
    for t in range(stream.T):
        y = stream.y[t]
        f = B.outputs(stream, t)
        trace.record(t, B.weighted_vote(w, f), y, B)
        if not learn:
            continue
        z = mistakes(y, f)
        discount(w, gamma, z)
        k = B.kernel_values(t)
        for i in range(f.size):
            if not z[i]:
                continue
            M[i] += 1
            phi, s = 1.0, B.used(i)
            if not B.has_room(i):
                r = s = B.oldest_slot(i)
                delta = _largest(B.columns(i)[r])
                mu = within_range(_margin_at_oldest(B, H[i], i, y, k[r, i]))
                phi = _shrinking(delta * delta - 2.0 * delta * mu, 2.0 * delta, Q[i] - 15.0 / 32.0 * M[i])
                damage = delta * phi
                Q[i] += damage * damage + 2.0 * damage * (1.0 - phi * mu)
                Q[i] = min(Q[i], 15.0 / 32.0 * M[i])  # as it is but for rounding
                if phi < 1.0:
                    B.scale(i, phi)
            for q in range(B.used(i)):
                H[i, s, q] = k[q, i]
            B.add_over_oldest(stream, t, i, y * phi)


@compiled
def _largest(a):
    """The largest |a_c| of a vector's coefficients in all classes."""
    largest = 0.0
    for c in range(a.size):
        largest = max(largest, abs(a[c]))
    return largest


@compiled
def _margin_at_oldest(B, H, i, y, k):
    """y_r f_i' at kernel i's own oldest vector x_r, f' = f + y kappa(x, .), k = kappa(x_r, x).

    Every other vector was stored later, and knows its kernel value with x_r.
    """
    r, margin, a = B.oldest_slot(i), 0.0, B.columns(i)
    k_rr = B.own_kernels(i)[r]
    for c in range(a.shape[1]):
        if a[r, c] == 0.0:
            continue
        total = 0.0
        for s in range(len(a)):
            total += a[s, c] * (H[s, r] if s != r else k_rr)
        margin += math.copysign(1.0, a[r, c]) * (total + B.direction(i, c, y) * k)
    return margin / B.n_changed()


@compiled
def _shrinking(a, b, c):
    """The largest phi in (0, 1] with a phi^2 + b phi + c <= 0, where b > 0; c < 0 but in a forged model."""
    if a + b + c <= 0.0 or not c < 0.0:
        return 1.0
    return -2.0 * c / (b + math.sqrt(b * b - 4.0 * a * c))


@compiled
def bomkc_bogd(stream: Stream, B: Budget, w, trace: Trace, rng, learn, gamma, eta, lam, removal, clip):
    """Bounded online gradient descent (Zhao, Wang, Wu, Jin, Hoi 2012) on the hinge loss, lam/2 ||f||^2.

    eta step size   p (slots,) probabilities of removal   clip bound of |a| in steps (gamma in that paper)
    Deviations: removal=fifo drops the oldest vector, without rescaling or clipping, as the BOMKL authors did.
    uniform and nonuniform are the paper's: survivors are divided by 1 - p_s; uniform clips.
    """
    for t in range(stream.T):
        y = stream.y[t]
        f = B.outputs(stream, t)
        trace.record(t, B.weighted_vote(w, f), y, B)
        if not learn:
            continue
        discount(w, gamma, mistakes(y, f))
        B.scale_all(1.0 - eta * lam)
        for i in range(f.size):
            if y * f[i] > 1.0:
                continue
            if removal == "fifo" or B.has_room(i):
                B.add_over_oldest(stream, t, i, eta * y)
                continue
            a = B.columns(i)
            p = _removal_probabilities(B.sizes(i), B.own_kernels(i), removal)
            s = multinomial(rng, p)
            for j in range(p.size):
                for c in range(a.shape[1]):
                    if j != s and p[j] < 1.0:
                        a[j, c] = within_range(a[j, c] / (1.0 - p[j]))
                    if removal == "uniform":
                        a[j, c] = min(max(a[j, c], -eta * clip), eta * clip)
            B.add(stream, t, i, s, eta * y)


@compiled
def _removal_probabilities(size, kss, removal):
    """p (slots,): 1 / B each, or 1 - (B - 1) |a_s| sqrt(kappa_ss) / sum_j |a_j| sqrt(kappa_jj); size: |a|.

    Deviations: where the second is negative it is 0, and the others are scaled to the sum 1 again.
    """
    norm = size * np.sqrt(np.minimum(kss, LARGEST_COEFFICIENT))
    if removal == "uniform" or norm.sum() == 0.0:
        return np.full(size.size, 1.0 / size.size)
    p = np.maximum(1.0 - (size.size - 1) / norm.sum() * norm, 0.0)
    return p / p.sum()


@compiled
def bomkc_bpas(stream: Stream, B: Budget, w, trace: Trace, learn, gamma, C, normalise):
    """Budgeted passive-aggressive "simple" (Wang and Vucetic 2010): the cheapest vector makes room.

    tau step   a_r coefficients, b_r = a_r kappa(x_r, x) / kappa(x, x) + y tau that of x in place of r
    cost_r = 1/2 ||change||^2 + C loss after it: that loss is the same for every r, and
    ||change||^2 = a_r^2 (kappa(x_r, x_r) - kappa(x_r, x)^2 / kappa(x, x)) + tau^2 kappa(x, x)

    On rows of 0 and 1, terms cancel exactly and many costs tie, so rounding moves the counts. On the first
    5000 rows of a9a the learner makes 1129 mistakes, with f summed from left to right and costs without a
    sum. With other orders of summation, or with the whole cost of each r, it makes 1088 to 1139.

    Deviations: kappa(x, x) is taken for 1 with every kernel, as in the authors' code, unless `normalise`.
    With it polynomials of unscaled data multiply their coefficients by kappa again and again: these stay
    within range. Of equally cheap vectors the oldest goes, the first in the authors' list. With more than two
    classes tau is the loss over 2 kappa(x, x), and a_r^2 the sum over classes.
    """
    for t in range(stream.T):
        y = stream.y[t]
        f = B.outputs(stream, t)
        trace.record(t, B.weighted_vote(w, f), y, B)
        if not learn:
            continue
        discount(w, gamma, mistakes(y, f))
        k = B.kernel_values(t)
        kxx = B.self_kernels(t) if normalise else np.ones(f.size)
        cheapest = _cheapest(B, k, kxx, normalise)
        for i in range(f.size):
            loss = hinge(y, f[i])
            if loss == 0.0 or kxx[i] == 0.0 or kxx[i] == math.inf:
                continue
            tau = min(C, loss / (B.n_changed() * kxx[i]))
            if B.has_room(i):
                B.add(stream, t, i, B.used(i), tau * y)
            else:
                r = cheapest[i]
                before = B.held(r, i)
                B.add(stream, t, i, r, tau * y)
                B.put_more(r, i, before, k[r, i], kxx[i])


@compiled
def _cheapest(B, k, kxx, normalise):
    """r (m,): the slot with the least a_r^2 (kappa(x_r, x_r) - kappa(x_r, x)^2 / kappa(x, x)), the oldest of
    several.
    """
    r, least, oldest = np.zeros(kxx.size, np.int64), np.full(kxx.size, np.inf), np.full(kxx.size, _LATER)
    cost = np.empty((_TOGETHER, kxx.size))
    _find_cheapest(*B.slots(), k, kxx, normalise, r, least, oldest, cost)
    return r


@partial(compiled_without_refcounts, error_model="numpy")
def _find_cheapest(A, own_kernels, born, k, kxx, normalise, r, least, oldest, cost):
    for first in range(0, len(A), _TOGETHER):
        stop = min(first + _TOGETHER, len(A))
        if normalise:
            for s in range(first, stop):
                for i in range(kxx.size):
                    cost[s - first, i] = A[s, i] * A[s, i] * (own_kernels[s, i] - k[s, i] * k[s, i] / kxx[i])
        else:
            _costs(A[first:stop].reshape(-1), k[first:stop].reshape(-1), cost.reshape(-1))
        least_slots(cost, born, first, stop, r, least, oldest)


@compiled_without_refcounts
def _costs(a, k, cost):
    """The costs where every kappa(x, x) is 1; flat arrays, for vector code."""
    for q in range(a.size):
        cost[q] = a[q] * a[q] * (1.0 - k[q] * k[q])


@compiled
def bomkc_projectron(stream: Stream, B: Budget, w, G, trace: Trace, learn, gamma):
    """Projectron: a mistake is stored while there is room, and projected on what is stored after that.

    Orabona, Keshet, Caputo, "Bounded kernel-based online learning" (2009).
    Deviations: the paper's eta, the distance from which on a mistake is stored, is 0 while there is room and
    infinite after that (as in the code of Lu et al. 2016). But an example with a residual of at most 1e-8
    kappa(x, x) is in the span already and is projected at once, since the inverse would grow to noise; and an
    output or coefficient that is rounding beside its terms is 0. The inverse is held as the factors L D L^T =
    K.
    """
    for t in range(stream.T):
        y = stream.y[t]
        f = B.rounded(B.outputs(stream, t))
        trace.record(t, B.weighted_vote(w, f), y, B)
        if not learn:
            continue
        z = mistakes(y, f)
        discount(w, gamma, z)
        k, kxx = B.kernel_values(t), B.self_kernels(t)
        for i in range(f.size):
            if z[i] and kxx[i] < math.inf:
                n, kss = B.used(i), B.own_kernels(i)
                u, _, residual = distance(G[i], k[:n, i], kxx[i], kss)
                if B.has_room(i) and residual > 0.0:
                    grow(G[i], u, residual)
                    B.add(stream, t, i, n, y)
                else:
                    B.move(i, y, projection(G[i], k[:n, i], kxx[i], kss, u))


@compiled
def bomkc_projectronpp(stream: Stream, B: Budget, w, G, trace: Trace, learn, gamma):
    """Projectron++: also learns from margins below 1, by a projection where that is sure to help.

    Deviations: those of Projectron.
    tau = min(1, loss / norm2) step of a margin error, norm2 = ||P kappa(x, .)||^2
    U = 1/4 sqrt((budget + 1) / ln(budget + 1)) norm of the classifiers that it competes with: the step is
    taken if it goes nearer to all of these, tau (2 loss - tau norm2 - 2 U sqrt(residual)) >= 0
    With more than two classes norm2 and residual are doubled: two classes change.
    """
    n = B.budget() + 1.0
    U = 0.25 * math.sqrt(n / math.log(n))
    for t in range(stream.T):
        y = stream.y[t]
        f = B.rounded(B.outputs(stream, t))
        trace.record(t, B.weighted_vote(w, f), y, B)
        if not learn:
            continue
        z = mistakes(y, f)
        discount(w, gamma, z)
        k, kxx = B.kernel_values(t), B.self_kernels(t)
        for i in range(f.size):
            loss = hinge(y, f[i])
            if kxx[i] == math.inf or not (z[i] or loss > 0.0):
                continue
            n, kss, step = B.used(i), B.own_kernels(i), 0.0
            u, norm2, residual = distance(G[i], k[:n, i], kxx[i], kss)
            if not z[i]:
                size2 = B.n_changed() * norm2
                tau = min(1.0, loss / size2) if size2 > 0.0 else 0.0
                if 2.0 * loss - tau * size2 >= 2.0 * U * math.sqrt(B.n_changed() * residual):
                    step = tau
            elif B.has_room(i) and residual > 0.0:
                grow(G[i], u, residual)
                B.add(stream, t, i, n, y)
            else:
                step = 1.0
            if step > 0.0:
                B.move(i, y * step, projection(G[i], k[:n, i], kxx[i], kss, u))


@compiled
def bomkc_nogd(stream: Stream, B: Budget, w, M, N, r, trace: Trace, learn, gamma, eta, rank):
    """Nystroem online gradient descent on the hinge loss: Algorithm 3 of Lu, Hoi, Wang, Zhao, Liu, "Large
    scale online kernel learning" (2016). Kernel gradient descent until the budget is full, then a linear one
    on z(x).

    z = M_i k (r_i,) Nystroem features of x, k its kernel values with the stored vectors
    M (m, slots, slots) the maps D^-1/2 V^T of the r (m,) largest eigenvalues of the Gram matrices, N their
    transposes   rank how many eigenvalues, as a share of the budget   eta step size
    a the coefficients of f_i, a = M_i^T v for the linear weights v (w in the paper, here Hedge's weights)
    Deviations: v is held as a, the same function v . z(x) = a . k(x) at a cost of one sum over the budget. A
    map keeps also what ties with its last eigenvalue, and nothing below 1e-8 of the largest. From then on an
    output of at most 1e-10 of its terms, of its largest coefficient or of eta is 0: it is rounding.
    The Gram matrix of a narrow Gaussian is close to the identity. Its eigenvalues then hardly differ, and
    which eigenvectors belong to the largest says nothing about the data; of an identity the map keeps all.
    """
    slots = B.budget()
    for t in range(stream.T):
        y = stream.y[t]
        f = B.rounded(B.outputs(stream, t), _sizes(B, r, eta))
        trace.record(t, B.weighted_vote(w, f), y, B)
        if not learn:
            continue
        discount(w, gamma, mistakes(y, f))
        k = B.kernel_values(t)
        for i in range(f.size):
            if hinge(y, f[i]) == 0.0:
                continue
            if not B.has_room(i):
                B.move(i, eta * y, _mapped(M[i], N[i], r[i], k[:slots, i].copy()))
                continue
            B.add(stream, t, i, B.used(i), eta * y)
            if not B.has_room(i):
                K, a = B.gram(i), B.columns(i).copy()
                projection = nystroem(K, max(1, math.floor(rank * slots + 0.5)))
                r[i] = len(projection)
                M[i, : r[i]], N[i, :, : r[i]] = projection, projection.T
                B.forget(i)
                for c in range(a.shape[1]):  # v = D^1/2 V^T a = M K a
                    B.move_column(i, c, 1.0, _mapped(M[i], N[i], r[i], times(K, a[:, c].copy())))


@compiled
def _sizes(B, r, eta):
    """g (m, C): what outputs are known relative to, once coefficients are solutions, which may all cancel."""
    g = np.zeros_like(B.term_sums())
    for i in range(r.size):
        if r[i] > 0:
            g[i] = np.maximum(max(eta, np.abs(B.columns(i)).max()), B.term_sums()[i])
    return g


@compiled
def _mapped(M, N, r, k):
    """M^T z, z = M k, of M's first r rows, where N is the transpose of M: both products run along rows.

    What could not change a coefficient of ordinary size is passed over: subnormal numbers are slow.
    """
    z, d = np.zeros(min(r, len(M))), np.zeros(k.size)  # r may come from a file
    _add_rows(N, k, z)
    _add_rows(M, z, d)
    return d


@compiled
def _add_rows(rows, c, total):
    """total += sum_s c_s rows[s], left to right, four rows a pass; not those with a negligible c_s."""
    used, count, n = np.empty(c.size, np.int64), 0, total.size
    for s in range(c.size):
        used[count] = s
        count += abs(c[s]) > NEGLIGIBLE
    q = 0
    while q + 4 <= count:
        s0, s1, s2, s3 = used[q], used[q + 1], used[q + 2], used[q + 3]
        c0, c1, c2, c3 = c[s0], c[s1], c[s2], c[s3]
        u, v, w, x = rows[s0, :n], rows[s1, :n], rows[s2, :n], rows[s3, :n]
        for j in range(n):
            total[j] = (((total[j] + c0 * u[j]) + c1 * v[j]) + c2 * w[j]) + c3 * x[j]
        q += 4
    while q < count:
        c0, u = c[used[q]], rows[used[q], :n]
        for j in range(n):
            total[j] += c0 * u[j]
        q += 1


@compiled
def bomkc_spa(
    stream: Stream,
    E: Expansion,
    S: Expansion,
    w,
    n,
    trace: Trace,
    rng,
    learn,
    alpha,
    beta,
    eta,
    gamma,
    delta,
    discount,
    predict,
    normalise,
):
    """Sparse passive-aggressive learning on a budget: Algorithm 1 of Lu, Hoi, Sahoo.

    f, loss (m,) outputs and hinge losses   w (m,) Hedge weights, held at sum 1 (theta)   a (m,) coefficients
    p (m,) probability that a kernel is looked at, delta its smoothing   rho that the example is then added
    alpha / beta the largest rho   eta > 0 step   gamma in (0, 1) discount   n (1,) rounds learned from
    S the expansion of coefficients s a, s the round that added a: the mean of f_i over rounds 1..t, the
    classifier before learning in each, is sum_s a_s (t - s) / t kappa_i(x_s, .) = f_i - S_i / t
    Deviations: the indentation is ambiguous; every kernel's weight is discounted in every round, by its hinge
    loss, which gives the published table. Options that differ from print: discount=zero_one by mistakes;
    predict=votes combines the signs of the outputs (the code that the authors uploaded does both);
    predict=averaged combines the running means, at the cost of S; normalise=false does not divide the loss
    by kappa_i(x, x) (the authors' code). With more than two classes the loss is also divided by 2.
    """
    loss, a = np.empty(w.size), np.empty(w.size)
    for t in range(stream.T):
        y = stream.y[t]
        f = E.outputs(stream, t)
        if predict == "averaged":
            s = S.outputs(stream, t)
            score = E.weighted_difference(S, w, f, s, n[0] + 1.0)
        elif predict == "votes":
            score = E.weighted_vote(w, f)
        else:
            score = E.weighted_output(w, f)
        trace.record(t, score, y, E)
        if not learn:
            continue
        n[0] += 1
        p = smoothed(sampling_share(w, "max"), delta, "delta")
        kxx = E.n_changed() * (E.self_kernels(t) if normalise else np.ones(w.size))
        for i in range(w.size):
            a[i], loss[i] = 0.0, hinge(y, f[i])
            rho = min(alpha, loss[i]) / beta
            if rng.random() < p[i] and rng.random() < rho:
                a[i] = y * min(eta / rho, _full_step(loss[i], kxx[i]))
        discount_by(w, gamma, loss if discount == "hinge" else 1.0 * mistakes(y, f))
        if any_of(a):
            E.add(stream, t, a)
            if predict == "averaged":
                S.add_beside(E, stream, t, a * n[0])


@compiled
def _full_step(loss, kxx):
    """The step after which the loss is 0, loss / kxx; kxx: kappa(x, x), or what stands for it."""
    return loss / kxx if kxx > 0.0 else math.inf
