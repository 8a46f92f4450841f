"""Learners on random features (Shen, Chen, Giannakis 2018), one plain step after the other."""

import math

import numpy as np
from threadpoolctl import threadpool_limits

from .classes import Notes, best, class_votes, classes_of
from .expansion import Expansions
from .losses import loss_of, slope_of
from .norma import rate
from .weights import Weights


def frequencies(kernels, d, D, features, rng):
    """V (D, d) of each Gaussian: iid N(0, 1 / sigma^2), or blocks S Q / sigma with chi_d lengths S, Q made
    orthonormal by Gram and Schmidt (twice, for rounding). `authors`: chi_1, sigma^2 in place of 1 / sigma."""
    found = []
    for k in kernels:
        sigma2 = k["sigma"] ** 2 if "sigma" in k else 1 / (2 * k["gamma"])
        if features == "iid":
            found.append(rng.standard_normal((D, d)) / math.sqrt(sigma2))
            continue
        Q = []
        while len(Q) < D:
            G = rng.standard_normal((d, min(d, D - len(Q)))).T
            block = []
            for g in G:
                for _ in range(2):
                    for q in block:
                        g = g - (g @ q) * q
                block.append(g / math.sqrt(g @ g))
            Q += block
        S = np.sqrt(rng.chisquare(1 if features == "authors" else d, D))
        factor = sigma2 if features == "authors" else 1 / math.sqrt(sigma2)
        found.append(np.array([factor * s * q for s, q in zip(S, Q, strict=True)]))
    return found


def lifted(V, x, scale=True):
    """z(x) = D^-1/2 [sin Vx, cos Vx] for each kernel."""
    z = [np.concatenate([np.sin(v @ x), np.cos(v @ x)]) for v in V]
    return [own / math.sqrt(len(V[0])) for own in z] if scale else z


def descended(theta, z, eta, lam, slope):
    """theta - eta (slope z + lam theta)."""
    return theta - eta * (slope * z + lam * theta)


def hedged(w, eta, losses):
    """w_i exp(-eta loss_i), of sum 1."""
    w = [w_i * math.exp(-eta * (loss - min(losses))) for w_i, loss in zip(w, losses, strict=True)]
    return [max(w_i / sum(w), 2.3e-308) for w_i in w]


class Linear(Expansions):
    """theta_i z_i(x) of every kernel; slopes are the losses' in f."""

    def __init__(self, X, y, kernels, D, features, rng):
        super().__init__(None, 0, len(y))
        self.X, self.y, self.V = X, y, frequencies(kernels, X.shape[1], D, features, rng)
        self.theta = [np.zeros(2 * D) for _ in kernels]

    def predict(self, t):
        """f of every kernel, and which err."""
        self.t, self.z = t, lifted(self.V, self.X[t])
        self.f = [theta @ z for theta, z in zip(self.theta, self.z, strict=True)]
        return [self.y[t] * f <= 0 for f in self.f]

    def mix(self, w):
        self.record(sum(w_i * f for w_i, f in zip(w, self.f, strict=True)), self.y[self.t], [])

    def vote(self, W):
        self.record(W.vote(self.f, np.ones(len(self.f), dtype=bool)), self.y[self.t], [])

    def losses(self, loss):
        return [loss_of(loss, self.y[self.t], f) for f in self.f]

    def slope(self, i, loss):
        return slope_of(loss, self.y[self.t], self.f[i])

    def descend(self, eta, lam, loss):
        """theta - eta (slope z + lam theta)."""
        for i, z in enumerate(self.z):
            moved = np.multiply.outer(self.slope(i, loss), z)
            self.theta[i] = self.theta[i] - eta * (moved + lam * self.theta[i])


class ClassLinear(Linear):
    """theta_i (C, 2D); losses are of the margins, whose slope is 1 at the class and -1 at its rival."""

    def __init__(self, X, y, kernels, D, features, rng):
        super().__init__(X, y, kernels, D, features, rng)
        self.C, self.notes = classes_of(y), Notes()
        self.theta = [np.zeros((self.C, 2 * D)) for _ in kernels]

    def predict(self, t):
        super().predict(t)
        self.r = [best(s, without=self.y[t]) for s in self.f]
        self.d = [s[self.y[t]] - s[r] for s, r in zip(self.f, self.r, strict=True)]
        return [d <= 0 for d in self.d]

    def record(self, totals, y, used):
        self.notes.record(totals, y)

    def vote(self, W):
        self.notes.record(class_votes(W, [best(s) for s in self.f], self.C), self.y[self.t])

    def losses(self, loss):
        return [loss_of(loss, 1.0, d) for d in self.d]

    def slope(self, i, loss):
        slopes = np.zeros(self.C)
        slopes[self.y[self.t]] = slope_of(loss, 1.0, self.d[i])
        slopes[self.r[i]] = -slopes[self.y[self.t]]
        return slopes

    def result(self, weights=None):
        return self.notes.result(weights)


def linear(X, y, *form):
    return (Linear if classes_of(y) is None else ClassLinear)(X, y, *form)


def rff(X, y, kernels, *, D, features, eta, lam, loss, normalise="none", rng):
    """One kernel, step eta or 1 / sqrt(T)."""
    E = linear(X, y, kernels, D, features, rng)
    for t in range(len(y)):
        E.predict(t)
        E.mix([1.0])
        E.descend(1 / math.sqrt(len(y)) if eta is None else eta, lam, loss)
    return E.result()


def raker(X, y, kernels, *, D, features, eta, step, lam, loss, normalise="none", rng):
    """Algorithm 1: predict by the weights; (14); (16), both with step eta or eta / sqrt(t)."""
    E, w = linear(X, y, kernels, D, features, rng), [1 / len(kernels)] * len(kernels)
    for t in range(len(y)):
        E.predict(t)
        E.mix(w)
        w = hedged(w, rate(eta, step, t), E.losses(loss))
        E.descend(rate(eta, step, t), lam, loss)
    return E.result(np.array(w))


def bomkc_fogd(X, y, kernels, *, D, features, gamma, eta, normalise="none", rng):
    """FOGD: where d < 1 a step of eta along z. Weights by gamma where d <= 0, a vote of signs."""
    E, W = linear(X, y, kernels, D, features, rng), Weights(len(kernels))
    for t in range(len(y)):
        z = E.predict(t)
        E.vote(W)
        W.discount(gamma, z)
        E.descend(eta, 0.0, "hinge")
    return E.result(W.w)


class Raker:
    """One Raker with step eta: the black box of AdaRaker."""

    def __init__(self, m, D, eta, lam, loss):
        self.theta, self.w = [np.zeros(2 * D) for _ in range(m)], [1 / m] * m
        self.eta, self.lam, self.loss = eta, lam, loss

    def predict(self, z):
        self.f = [theta @ own for theta, own in zip(self.theta, z, strict=True)]
        return sum(w * f for w, f in zip(self.w, self.f, strict=True))

    def update(self, z, y):
        self.w = hedged(self.w, self.eta, [loss_of(self.loss, y, f) for f in self.f])
        for i, f in enumerate(self.f):
            slope = slope_of(self.loss, y, f)
            self.theta[i] = descended(self.theta[i], z[i], self.eta, self.lam, slope)


def adaraker(X, y, kernels, *, D, features, eta0, lam, loss, kept, normalise="none", rng):
    """Algorithm 2 with h (exp(+eta r)); the intervals of length 2^j are [n 2^j, (n + 1) 2^j - 1], n >= 1.

    kept: an interval continues with the instance of the one before it, whose vote is set to eta at once
    """
    V, E = frequencies(kernels, X.shape[1], D, features, rng), Expansions(None, 0, len(y))
    instances, log_h = {}, {}
    for t in range(1, len(y) + 1):
        z, target = lifted(V, X[t - 1]), y[t - 1]
        for j in range(t.bit_length()):
            if t % 2**j == 0:
                if j not in instances or not kept:
                    instances[j] = Raker(len(kernels), D, min(0.5, eta0 / math.sqrt(2**j)), lam, loss)
                log_h[j] = math.log(instances[j].eta) if kept else None  # no vote in its first round
        f = {j: instance.predict(z) for j, instance in instances.items()}
        voting = {j: h for j, h in log_h.items() if h is not None}
        vote = {j: math.exp(h - max(voting.values())) for j, h in voting.items()}
        score = sum(v * f[j] for j, v in vote.items()) / sum(vote.values()) if vote else 0.0
        E.record(score, target, [])
        for j, instance in instances.items():
            r = loss_of(loss, target, score) - loss_of(loss, target, f[j])
            log_h[j] = math.log(instance.eta) if log_h[j] is None else log_h[j] + instance.eta * r
            instance.update(z, target)
    return E.result()


def adaraker_authors(X, y, kernels, *, D, lam, loss, eta, normalise="none", rng):
    """What the authors' code does, on squared errors or on classes."""
    rules = authors if loss == "squared" else authors_on_classes
    return rules(kernels, X, y, D, lam, eta, rng)


adaraker_authors.near = 1e-6  # errors are divided by their differences, which may be of the size of rounding


def authors(kernels, X, y, D, lam, beta, rng):
    """Learners k = 1.. of which only the votes start again."""
    T, m = len(y), len(kernels)
    V, E = frequencies(kernels, X.shape[1], D, "authors", rng), Expansions(None, 0, T)
    created = math.floor(math.log2(T)) + 1
    vote = np.ones(created)
    weight, theta = np.full((created, m), 1 / m), np.zeros((created, m, 2 * D))
    for t in range(1, T + 1):
        z, target = lifted(V, X[t - 1], scale=False), y[t - 1]
        n = 1 if t <= 2 else math.floor(math.log2(t - 1)) + 1
        F, error = np.zeros(created), np.zeros(n)
        for k in range(1, n + 1):
            eta = min(0.05, 0.1 / math.sqrt(2**k))
            if (t - 1) % 2 ** (k - 1) == 0:
                vote[k - 1] = eta
            f = np.array([theta[k - 1, i] @ z[i] for i in range(m)])
            F[k - 1] = f @ weight[k - 1] / weight[k - 1].sum()
            error[k - 1] = (target - F[k - 1]) ** 2
            weight[k - 1] = weight[k - 1] * beta ** rescaled((target - f) ** 2, 1e-12) + 1e-12
            if weight[k - 1].max() > 1e10:
                weight[k - 1] /= weight[k - 1].sum()
            for i in range(m):
                step = (eta / 10) * 2 * (target - f[i]) * z[i]
                theta[k - 1, i] = (1 - eta * lam / 10) * theta[k - 1, i] + step
        E.record(vote @ F / vote.sum(), target, [])
        vote[:n] = vote[:n] * eta ** rescaled(error, 1e-10) + 1e-10
        vote /= vote.sum()
    return E.result()


def authors_on_classes(kernels, X, y, D, lam, beta, rng):
    """Their rules on labels +1 and -1: logistic loss, steps 1 / sqrt(2^k), judged by the sign."""
    T, m = len(y), len(kernels)
    V, E = frequencies(kernels, X.shape[1], D, "authors", rng), Expansions(None, 0, T)
    created = math.floor(math.log2(T)) + 1
    vote = [1.0] * created
    weight, theta = [[1 / m] * m for _ in range(created)], np.zeros((created, m, 2 * D))
    for t in range(1, T + 1):
        z, target = lifted(V, X[t - 1], scale=False), y[t - 1]
        n = 1 if t <= 2 else math.floor(math.log2(t - 1)) + 1
        F, wrong = [0.0] * created, []
        for k in range(n):
            eta = min(0.5, 1 / math.sqrt(2 ** (k + 1)))
            if (t - 1) % 2**k == 0:
                vote[k] = eta
            f = [theta[k, i] @ z[i] for i in range(m)]
            share = [w / sum(weight[k]) for w in weight[k]]
            F[k] = sum(w * f_i for w, f_i in zip(share, f, strict=True))
            wrong.append(1 if target * F[k] < 0 else 0)
            for i in range(m):
                weight[k][i] = share[i] * (beta if target * f[i] < 0 else 1) + 0.0001
                gradient = -target / (1 + math.exp(min(target * f[i], 700))) * z[i]
                theta[k, i] = (1 - eta * lam) * theta[k, i] - eta * gradient
        E.record(sum(v * f for v, f in zip(vote, F, strict=True)) / sum(vote), target, [])
        ratio = rescaled(wrong, 1e-10)
        vote = [v * eta**r + 1e-10 for v, r in zip(vote, ratio, strict=False)] + vote[n:]
        vote = [v / sum(vote) for v in vote]
    return E.result()


def rescaled(errors, least):
    """To [-1, 1]; 1 where they do not differ."""
    middle, half = (max(errors) + min(errors)) / 2, (max(errors) - min(errors)) / 2
    errors = np.asarray(errors)
    return (errors - middle + least) / (half + least)


def ridge_features(X, y, kernels, *, D, features, lam, normalise="none", rng):
    """theta = (lam I + sum z z')^-1 sum y z, solved in every round."""
    V, E = frequencies(kernels, X.shape[1], D, features, rng), Expansions(None, 0, len(y))
    A, b = lam * np.eye(2 * D), np.zeros(2 * D)
    with threadpool_limits(1):  # threads for matrices this small wait for one another
        for t in range(len(y)):
            (z,) = lifted(V, X[t])
            E.record(np.linalg.solve(A, b) @ z, y[t], [])
            A, b = A + np.outer(z, z), b + y[t] * z
    return E.result()
