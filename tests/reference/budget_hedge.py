"""Budget learners as components of multi-kernel learning.

Every round: predict, record, discount the weights by gamma where a kernel errs, update every kernel by the
single-kernel learner's rule. Slots are numbered in the order they were first filled.
"""

import math

import numpy as np

from .classes import classes_of
from .omkc import hinges
from .rounds import ClassSlots, rounds, slots
from .slots import Slots
from .weights import RealWeights, Weights


def bomkc_rbp(X, y, kernels, *, budget, gamma, normalise="none", rng):
    """On d <= 0 append e; if full, overwrite a uniformly random slot: floor(u B)."""
    E = slots(X, y, kernels, normalise, budget)
    for t in range(len(y)):
        d, e = E.margins(t)
        E.discount(gamma, d <= 0)
        for i in range(E.m):
            if d[i] <= 0 and E.full(i):
                E.replace(i, int(rng.random() * budget), t, e[i])
            elif d[i] <= 0:
                E.append(i, t, e[i])
    return E.finish()


def bomkc_forgetron(X, y, kernels, *, budget, gamma, normalise="none", rng=None):
    """Self-tuned Forgetron (Dekel, Shalev-Shwartz, Singer 2008): append, shrink, drop the oldest.

    With more than two classes inner products are halved: ||e||^2 = 1, and mu is half a margin, of x_r's class
    and rival.
    """
    E = slots(X, y, kernels, normalise, budget)
    Q, M = [0.0] * E.m, [0] * E.m
    for t in range(len(y)):
        d, e = E.margins(t)
        E.discount(gamma, d <= 0)
        for i in range(E.m):
            if d[i] > 0:
                continue
            M[i] += 1
            if not E.full(i):
                E.append(i, t, e[i])
                continue
            s = E.oldest[i]
            r, a_r = E.held[i][s], E.a[i][s]
            delta = np.max(np.abs(a_r))
            mu = E.along(a_r, E.value(i, r) + e[i] * E.kappa(i, t, r))  # of f' = f + e kappa(x_t, .) at x_r
            phi = largest_root(delta**2 - 2 * delta * mu, 2 * delta, Q[i] - 15 / 32 * M[i])
            Q[i] += (delta * phi) ** 2 + 2 * (delta * phi) * (1 - phi * mu)
            Q[i] = min(Q[i], 15 / 32 * M[i])  # true of the root; rounding must not break it
            E.scale(i, phi)
            E.replace_oldest(i, t, e[i] * phi)
    return E.finish()


def largest_root(a, b, c):
    """Largest phi in (0, 1] with a phi^2 + b phi + c <= 0; c < 0 < b, so all is well from 0 to a root."""
    if a + b + c <= 0:
        return 1.0
    return -2 * c / (b + math.sqrt(b * b - 4 * a * c))


def bomkc_bogd(X, y, kernels, *, budget, gamma, eta, lam, removal, clip, normalise="none", rng):
    """Every round all coefficients x (1 - eta lam); if d <= 1 append eta e, if full in place of one."""
    E = slots(X, y, kernels, normalise, budget)
    for t in range(len(y)):
        d, e = E.margins(t)
        E.discount(gamma, d <= 0)
        for i in range(E.m):
            E.scale(i, 1 - eta * lam)
            if d[i] > 1:
                continue
            if not E.full(i):
                E.append(i, t, eta * e[i])
            elif removal == "fifo":
                E.replace_oldest(i, t, eta * e[i])
            else:
                own = [math.sqrt(E.kappa(i, j, j)) for j in E.held[i]]
                norms = [E.length(a) * k for a, k in zip(E.a[i], own, strict=True)]
                p = {"uniform": [1 / budget] * budget, "nonuniform": removal_probabilities(norms)}[removal]
                s = draw(rng, p)
                E.a[i] = [a if j == s else a / (1 - p[j]) for j, a in enumerate(E.a[i])]
                if removal == "uniform":
                    E.a[i] = [np.clip(a, -eta * clip, eta * clip) for a in E.a[i]]
                E.replace(i, s, t, eta * e[i])
    return E.finish()


def removal_probabilities(norms):
    """p_j = 1 - s |a_j| sqrt(kappa_jj), s = (B - 1) / sum of the norms; negative ones 0, then sum 1."""
    B, total = len(norms), 0.0
    for n in norms:
        total += n
    if total == 0:
        return [1 / B] * B
    p = [max(1 - (B - 1) / total * n, 0.0) for n in norms]
    rest = 0.0
    for p_j in p:
        rest += p_j
    return [p_j / rest for p_j in p]


def draw(rng, p):
    """Index j with probability p_j: the first at which the running sum exceeds one uniform number."""
    u, running = rng.random(), 0.0
    for j, p_j in enumerate(p):
        running += p_j
        if u < running:
            return j
    return len(p) - 1


def bomkc_bpas(X, y, kernels, *, budget, gamma, C, normalise, pool_normalise="none", rng=None):
    """tau = min(C, loss / (||e||^2 kappa(x, x))); if full replace r by (x, b_r), b_r = a_r kappa(x_r, x) /
    kappa(x, x) + tau e, with the least 1/2 ||f_new - f||^2 + C loss of f_new. Without normalise every
    kappa(x, x) counts as 1. Losses up to 1e-9 are 0; coefficients stay within 1e100.

    f_new(x) = f(x) + tau e kappa(x, x), the same loss for every r, and (f_new - f) = b_r kappa(x, .) -
    a_r kappa(x_r, .) has the squared norm a_r^2 (kappa(x_r, x_r) - kappa(x_r, x)^2 / kappa(x, x)) +
    tau^2 kappa(x, x): r has the least a_r^2 (...), in which rounding does not choose between ties, and of
    several it is the one that arrived first.
    """
    E = slots(X, y, kernels, pool_normalise, budget)
    for t in range(len(y)):
        d, e = E.margins(t)
        E.discount(gamma, d <= 0)
        for i in range(E.m):
            loss = 1 - d[i]
            own = E.kappa(i, t, t) if normalise else 1.0
            if loss <= 1e-9 or own == 0:
                continue
            tau = min(C, loss / (E.sides * own))
            if not E.full(i):
                E.append(i, t, tau * e[i])
                continue
            k = [E.kappa(i, j, t) for j in E.held[i]]
            own_r = [E.kappa(i, j, j) if normalise else 1.0 for j in E.held[i]]
            costs = [passive_cost(a, k_r, o, own) for a, k_r, o in zip(E.a[i], k, own_r, strict=True)]
            costs = costs if E.sides == 1 else [c.sum() for c in costs]
            s = min(range(budget), key=lambda r, costs=costs, held=E.held[i]: (costs[r], held[r]))
            b = E.a[i][s] * k[s] / own + tau * e[i]
            E.replace(i, s, t, np.clip(b, -1e100, 1e100))
    return E.finish()


def passive_cost(a_r, k, own_r, own):
    """What of ||f_new - f||^2 depends on r."""
    return a_r * a_r * (own_r - k * k / own)


# ------------------------------------------------------------------ projectron
# Projectron, Projectron++ with a budget (Orabona, Keshet, Caputo 2009); Gram systems are solved exactly.

SPAN, ROUNDING = 1e-8, 1e-10  # an example is in the span; an output or coefficient is 0


def products(a, b):
    """The products of two arrays without rounding, as sums p + e of two of the same shape (Dekker 1971)."""
    p = a * b
    (a1, a2), (b1, b2) = (((c := 134217729.0 * x) - (c - x), x - (c - (c - x))) for x in (a, b))
    return p, ((a1 * b1 - p) + a1 * b2 + a2 * b1) + a2 * b2


def solve(K, inverse, k):
    """K^-1 k to the last places, whatever BLAS there is: refined by residuals without rounding.

    inverse: nearly K's. Each step leaves the share of the error that inverse K differs from 1, 1e-6 at most.
    Raises ArithmeticError where it is no inverse.
    """
    d = step = inverse @ k
    for _ in range(100):
        if not np.abs(step).max() > 1e-9 * np.abs(d).max():
            return d
        terms = np.concatenate(products(K, -d), axis=1).tolist()
        step = inverse @ [math.fsum([k_s, *row]) for k_s, row in zip(k, terms, strict=True)]
        d = d + step
    raise ArithmeticError("the Gram matrix has no inverse that could be refined")


class Spans(Slots):
    """Slots whose outputs count as 0 beside much larger terms, with projections on the stored vectors."""

    def __init__(self, *form):
        super().__init__(*form)
        self.gram = [np.zeros((0, 0)) for _ in range(self.m)]
        self.inverse = [None] * self.m

    def f(self, i, t):
        terms = [a * self.kappa(i, j, t) for a, j in zip(self.a[i], self.held[i], strict=True)]
        total = 0.0
        for term in terms:
            total += term
        return 0.0 if abs(total) <= ROUNDING * sum(map(abs, terms)) else total

    def append(self, i, t, a):
        column = [self.kappa(i, j, t) for j in [*self.held[i], t]]
        self.gram[i] = np.block([[self.gram[i], np.array([column[:-1]]).T], [np.array([column])]])
        self.inverse[i] = None
        super().append(i, t, a)

    def projection(self, i, t):
        """d = K^-1 k, k^T d, and kappa(x, x) - k^T d; exactly the stored vector itself where x is one."""
        held, own = self.held[i], self.kappa(i, t, t)
        k = [self.kappa(i, j, t) for j in held]
        for s, j in enumerate(held):
            if k[s] == own == self.kappa(i, j, j):
                return np.eye(len(held))[s], own, 0.0
        if not held:
            return np.zeros(0), 0.0, own
        K = self.gram[i]
        d = self.solved(i, K, np.array(k))
        norm2 = math.fsum(np.concatenate(products(np.array(k), d)))
        size = np.abs(d) * np.sqrt(np.diag(K))
        d = np.where(size <= ROUNDING * size.max(), 0.0, d)
        return d, norm2, own - norm2 if own - norm2 > SPAN * own else 0.0

    def solved(self, i, K, k):
        """K^-1 k."""
        if self.inverse[i] is None:
            scale = np.sqrt(np.outer(np.diag(K), np.diag(K)))  # vectors' sizes are no matter of condition
            self.inverse[i] = np.linalg.inv(K / scale) / scale
        return solve(K, self.inverse[i], k)

    def mistake(self, i, t, e):
        d, _, residual = self.projection(i, t)
        if not self.full(i) and residual > 0:
            self.append(i, t, e)
        else:
            self.move(i, e, d)

    def move(self, i, c, d):
        new = [a + c * d_s for a, d_s in zip(self.a[i], d, strict=True)]
        self.a[i] = [self.cut(b, a) for a, b in zip(self.a[i], new, strict=True)]

    def cut(self, b, a):
        return b if abs(b) > ROUNDING * abs(a) else 0.0


class ClassSpans(ClassSlots, Spans):
    """Scores that differ by rounding are the same, and coefficients that are rounding are 0."""

    exact = False

    def cut(self, b, a):
        return np.where(np.abs(b) > ROUNDING * np.abs(a), b, 0.0)


class Dictionary(Spans):
    """One kernel and as many vectors as there are: K^-1 grows by its block formula."""

    def __init__(self, X, y, kernels, normalise):
        super().__init__(X, y, kernels, normalise, len(y))
        self.inverse = [np.zeros((0, 0))]

    def append(self, i, t, a):
        k = np.array([self.kappa(i, j, t) for j in self.held[i]])
        beta, inverse = self.solved(i, self.gram[i], k), self.inverse[i]
        delta = self.kappa(i, t, t) - k @ beta
        super().append(i, t, a)
        corner = np.append(beta, -1.0)
        self.inverse[i] = np.pad(inverse, (0, 1)) + np.outer(corner, corner) / delta

    def solved(self, i, K, k):
        d = self.inverse[i] @ k
        return d + self.inverse[i] @ (k - K @ d)  # a step towards the last places


def spans(X, y, *form):
    """Slots with projections on what they store."""
    return (Spans if classes_of(y) is None else ClassSpans)(X, y, *form)


def bomkc_projectron(X, y, kernels, *, budget, gamma, normalise="none", rng=None):
    """On d <= 0 append e; if full (or in the span already) add e times its projection instead."""
    E = spans(X, y, kernels, normalise, budget)
    for t in range(len(y)):
        d, e = E.margins(t)
        E.discount(gamma, d <= 0)
        for i in range(E.m):
            if d[i] <= 0:
                E.mistake(i, t, e[i])
    return E.finish()


def bomkc_projectronpp(X, y, kernels, *, budget, gamma, normalise="none", rng=None):
    """Moreover, on 0 < d < 1 add e tau times the projection, tau = min(loss / ||projection||^2, 1), if
    tau (2 loss - tau ||projection||^2 - 2 U ||residual||) >= 0, U = sqrt((B + 1) / ln(B + 1)) / 4; squared
    norms are those of changes, so ||e||^2 of kappa's."""
    E = spans(X, y, kernels, normalise, budget)
    U = math.sqrt((budget + 1) / math.log(budget + 1)) / 4
    for t in range(len(y)):
        margins, e = E.margins(t)
        E.discount(gamma, margins <= 0)
        for i in range(E.m):
            loss = 1 - margins[i]
            if margins[i] <= 0:
                E.mistake(i, t, e[i])
            elif loss > 1e-9:
                d, size, residual = E.projection(i, t)
                size, residual = E.sides * size, E.sides * residual
                tau = min(loss / size, 1) if size > 0 else 0
                if tau * (2 * loss - tau * size - 2 * U * math.sqrt(residual)) >= 0:
                    E.move(i, e[i] * tau, d)
    return E.finish()


# ------------------------------------------------------------------ nogd
# NOGD (Lu, Hoi, Wang, Zhao, Liu 2016), Algorithm 3, with its features and linear weights as printed.


class Features(Spans):
    """Outputs far below their terms, the largest coefficient and a step are 0, from the map's making on."""

    step = 0.0

    def f(self, i, t):
        terms = [a * self.kappa(i, j, t) for a, j in zip(self.a[i], self.held[i], strict=True)]
        size = max([self.step, sum(map(abs, terms)), *map(abs, self.a[i])]) if self.full(i) else 0
        total = 0.0
        for term in terms:
            total += term
        return 0.0 if abs(total) <= 1e-10 * size else total


class ClassFeatures(ClassSpans):
    """The same of more classes."""

    step = 0.0

    def size(self, i, terms):
        if not self.full(i):
            return self.zero
        return np.maximum(super().size(i, terms), max(self.step, np.abs(self.a[i]).max()))


def bomkc_nogd(X, y, kernels, *, budget, gamma, eta, rank, normalise="none", rng=None):
    """Until B vectors: on d < 1 append eta e. Then K = V D V^T, its k = rank B largest eigenvalues;
    v = D^1/2 V^T a; f = v . z(x), z = D^-1/2 V^T k(x); on d < 1, v <- v + eta z e.

    Eigenvalues within 1e-6 of the k-th stay too; those below 1e-8 of the largest do not. Losses up to 1e-9
    are 0, and so is, with features, an output below 1e-10 of its terms a k, a = V D^-1/2 v, max |a| or eta.
    """
    E = (Features if classes_of(y) is None else ClassFeatures)(X, y, kernels, normalise, budget)
    E.step = eta
    features, v = [None] * E.m, [None] * E.m
    for t in range(len(y)):
        d, e = E.margins(t)
        E.discount(gamma, d <= 0)
        for i in range(E.m):
            if features[i] is not None:
                z_t = features[i] @ np.array([E.kappa(i, j, t) for j in E.held[i]])
                apart = np.abs(E.value(i, t) - z_t @ v[i])  # the same function
                assert (apart <= 1e-8 * np.maximum(eta, np.abs(E.a[i]).sum(axis=0))).all()
            if 1 - d[i] <= 1e-9:
                continue
            if features[i] is None:
                E.append(i, t, eta * e[i])
                if not E.full(i):
                    continue
                features[i], back = feature_map(E.gram[i], rank, budget)
                v[i] = back @ np.array(E.a[i])
            else:
                v[i] = v[i] + np.multiply.outer(z_t, eta * e[i])
            E.a[i] = list(features[i].T @ v[i])
    return E.finish()


def feature_map(gram, rank, budget):
    """D^-1/2 V' and D^1/2 V' of the largest eigenvalues D of the Gram matrix, and their vectors V."""
    D, V = np.linalg.eigh(gram)
    k = max(1, math.floor(rank * budget + 0.5))
    kept = (D[-k] * (1 - 1e-6) <= D) & (1e-8 * D[-1] <= D)
    root = np.sqrt(D[kept])[:, None]
    return V[:, kept].T / root, root * V[:, kept].T


# ------------------------------------------------------------------ spa
# BOMKC(SPA) (Lu, Hoi, Sahoo), Algorithm 1.


def bomkc_spa(
    X, y, kernels, *, alpha, beta, eta, gamma, delta, discount, predict, normalise, pool_normalise="none", rng
):
    """p_i = (1 - delta) w_i / max w + delta, rho_i = min(alpha, loss_i) / beta, loss_i = max(0, 1 - d_i).

    After the prediction, for each kernel in order: a uniform u < p_i is c_i = 1; only then another u < rho_i
    is Z_i = 1; then a step of min(eta / rho_i, loss_i / (||e||^2 kappa_i(x, x))); normalise false:
    kappa(x, x) counts as 1. Every weight is multiplied by gamma^loss_i in every round (discount 'zero_one':
    by gamma where d_i <= 0). Losses up to 1e-9 count as 0.
    predict 'current': sum_i w_i f_i; 'votes': sum_i w_i vote(f_i); 'averaged': sum_i w_i times the mean of
    f_i(x_t) over the classifiers of rounds 1 .. t.
    """
    E = rounds(X, y, kernels, pool_normalise)
    W = {"hinge": RealWeights, "zero_one": Weights}[discount](E.m)
    sums = 0.0
    for t in E:
        w, sums = W.w, sums + E.values() if predict == "averaged" else sums
        if predict == "votes":
            E.vote(W)
        else:
            E.mix(w, sums[..., t] / (t + 1) if predict == "averaged" else E.f)
        loss, steps = hinges(E.d), np.zeros(E.m)
        for i in range(E.m):
            own = E.own(i) if normalise else 1.0
            full = loss[i] / (E.sides * own) if own > 0 else math.inf
            rho = min(alpha, loss[i]) / beta
            if rng.random() < (1 - delta) * (w[i] / max(w)) + delta and rng.random() < rho:
                steps[i] = min(eta / rho, full)
        W.discount(gamma, {"hinge": loss, "zero_one": E.d <= 0}[discount])
        E.learn(steps)
    return E.result(W.w)
