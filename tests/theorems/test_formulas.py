"""Each bound against its theorem's formula, written out for any parameters and minimised over a list.

The batch solver is replaced by a few hundred functions of each kernel, of known norms and margins, so that a
minimum over f is one over a list. Tests of the solver are in test_theorems.py.
"""

import math
from itertools import product
from types import SimpleNamespace

import numpy as np
import pytest

from omkl.theorems.batch import Fit, Mixture
from omkl.theorems.case import VECTORS, Case
from omkl.theorems.mistakes import (
    bomkc_spa,
    omkc_dd,
    omkc_ds,
    omkc_sd,
    omklo_da,
    omklo_sua,
    omklp_da1,
    omklp_da2,
    omklp_mua,
    omklp_sua,
    perceptron,
    perceptron_u,
)
from omkl.theorems.norma import norma

T, LOG = 60, math.log


class Known:
    """In place of Batch: s f for a few f of each kernel and many s.

    squares (m,): largest kappa(x, x)    margin: about what y f(x) is
    """

    def __init__(self, squares, margin=0.5):
        rng = np.random.default_rng(1)
        self.T, self.m = T, len(squares)
        self.own = np.array([np.linspace(0.2, 1.0, T) * square for square in squares])
        self.fits = {}
        for i in range(-1, self.m):  # -1: the mean kernel
            each = [(rng.uniform(1.0, 4.0), rng.normal(margin + 0.1 * i, 0.4, T)) for _ in range(3)]
            scales = np.geomspace(0.02, 20.0, 400)
            self.fits[i] = [Fit(s * s * norm2, s * y_f, 0.0) for norm2, y_f in each for s in scales]

    def own_values(self, i):
        return self.own[i] if i >= 0 else self.own.mean(axis=0)

    def fit(self, i, lam):
        return min(self.fits[i], key=lambda f: lam * f.norm2 + 2.0 * f.loss)

    def mixed(self, lam):
        """Of one kernel: the best one."""
        i = min(range(self.m), key=lambda i: lam * self.fit(i, lam).norm2 + 2.0 * self.fit(i, lam).loss)
        f, u = self.fit(i, lam), np.eye(self.m)[i]
        return f, Mixture(u, np.empty(0), f.norm2 * u, 0.0)

    def least(self, i, formula):
        """The minimum over the functions f of kernel i of a formula of ||f||^2 and the sum of losses."""
        return min(formula(f.norm2, f.loss) for f in self.fits[i])

    def g(self, i):
        """min ||f||^2 + 2 sum loss, of the kernel divided by its largest value where that is above 1."""
        return self.least(i, lambda norm2, loss: max(1.0, self.own[i].max()) * norm2 + 2.0 * loss)

    def least_g(self):
        return min(self.g(i) for i in range(self.m))


@pytest.fixture(params=[(0.9, 1.0, 0.6), (1.5, 3.0, 2.0)], ids=["up to 1", "above 1"])
def known(request):
    return Known(request.param)


UNIT = Known((1.0, 1.0, 1.0))


def value_of(bounds, which=0):
    return bounds[which].value


# -------------------------------------------------------------------- perceptrons by Hedge


@pytest.mark.parametrize("beta", [0.3, 0.9])
def test_weighted_votes(known, beta):
    def hedge(g):
        return (LOG(1 / beta) * g + LOG(3)) / (1 - beta)

    run, g = Case(known), known.least_g()
    assert value_of(omkc_dd(run, beta)) == pytest.approx(2 * hedge(g))
    (ds,) = omkc_ds(run, beta, "max")
    assert (ds.value, ds.printed) == pytest.approx((3 * hedge(g), 2 * hedge(g)))
    (two,) = omkc_ds(Case(Known((0.9,))), beta, "max")  # of one kernel
    assert two.value == two.printed
    for delta in (0.2, 0.7):
        of_m, of_one = hedge(g) * 3 / delta, hedge(g) / delta  # of E sum_t q_t . z_t
        assert value_of(omkc_sd(run, beta, delta, "delta/m", "standard", "max")) == pytest.approx(2 * of_m)
        assert value_of(omkc_sd(run, beta, delta, "delta", "standard", "max")) == pytest.approx(2 * of_one)
        assert value_of(omklp_sua(run, beta, delta)) == pytest.approx(2 * of_m)
        assert value_of(omklp_mua(run, beta, delta)) == pytest.approx(2 * of_one)


@pytest.mark.parametrize(("beta", "delta"), [(0.3, 0.2), (0.9, 0.7)])
def test_expected_updates(known, beta, delta):
    """(1 - delta) E sum q . z + delta T of Algorithm 3; what each algorithm draws beside q is its own."""
    run, m = Case(known), 3
    once = (LOG(1 / beta) * known.least_g() + LOG(m)) / (1 - beta)
    sua = omklp_sua(run, beta, delta)[1]
    assert (sua.counts, sua.printed) == (VECTORS, None)
    assert sua.value == pytest.approx((1 - delta) * once * m / delta + delta * T)
    mua = omklp_mua(run, beta, delta)[1]
    assert mua.printed == pytest.approx((1 - delta) * once / delta + delta * m * T)
    assert mua.value - mua.printed == pytest.approx(m - (1 - delta) - delta * m)  # round 1, in which p = 1
    drawn = omkc_sd(run, beta, delta, "delta/m", "standard", "sum")[1]
    assert drawn.value == pytest.approx(sua.value)
    drawn = omkc_sd(run, beta, delta, "delta/m", "standard", "max")[1]
    assert drawn.printed == pytest.approx(sua.value)
    assert drawn.value - delta * T == pytest.approx(m * (sua.value - delta * T))
    floored = omkc_sd(run, beta, delta, "delta", "standard", "max")[1]
    assert floored.value == pytest.approx(m * (1 - delta) * once / delta + delta * m * T)


def test_the_beta_of_hindsight(known):
    g, m = known.least_g(), 3
    printed = 2 * (g + LOG(m) + 2 * math.sqrt(g * LOG(m)))
    best = math.sqrt(g) / (math.sqrt(g) + math.sqrt(LOG(m)))
    for beta in (best, 0.98 * best):
        bound = omkc_dd(Case(known), beta)[1]
        assert bound.value == pytest.approx(printed)
        assert omkc_dd(Case(known), beta)[0].value <= printed * (1 + 1e-9)
        assert f"{best:.4g}" in bound.notes[-1]
    assert omkc_dd(Case(known), 0.05)[1].value is None
    # by the mistakes of the best kernel it holds in a wider range than by g
    assert omkc_dd(Case(known, n_sv=([9, 3, 20], [5, 8, 4])), 0.05)[1].value == pytest.approx(printed)
    assert omkc_dd(Case(known, n_sv=([900, 300, 200],)), 0.05)[1].value is None


@pytest.mark.parametrize("square", [0.8, 1.0, 1.5])
@pytest.mark.parametrize(("beta", "gamma"), [(0.8, 0.3), (0.5, 2.0)])
def test_degrees_of_misclassification(square, beta, gamma):
    """sum nu <= g / 2 up to X^2 = 1, above it (1/2 + gamma) g of the kernel divided by X^2."""
    one = Known((square,))
    nu = one.g(0) * (0.5 if square <= 1 else 0.5 + gamma)
    top = 0.5 + gamma
    # Hedge with losses nu / top in [0, 1] and discount beta^top
    hedge = (nu / top * LOG(1 / beta**top) + 0.0) / (1 - beta**top)
    assert value_of(omklp_da2(Case(one), beta, gamma)) == pytest.approx(4 * top * hedge)


def test_degrees_of_several_kernels_take_the_least_of_theirs():
    mixed = Known((0.8, 1.5))
    nu = min(mixed.g(0) / 2, mixed.g(1) * 1.5)
    value = 4 * 1.5 * (nu / 1.5 * LOG(1 / 0.8**1.5) + LOG(2)) / (1 - 0.8**1.5)
    assert value_of(omklp_da2(Case(mixed), 0.8, 1.0)) == pytest.approx(value)


@pytest.mark.parametrize("g", [6.9, 7.5, 8.2, 40.0])
def test_doubling_as_printed_and_as_proved(g):
    three, m = Known((1.0, 1.0, 1.0)), 3
    three.fits = {i: [Fit(g + i, np.full(T, 2.0), 0.0)] for i in range(m)}
    (bound,) = omklp_da1(Case(three), None)
    share = 2 / (math.sqrt(2) - 1)
    printed = 2 * (g + (1 + math.ceil(math.log2(g))) * LOG(m) + share * math.sqrt(g * LOG(m)))
    segments = next(s for s in range(1, 100) if 2**s > g + 1)
    proved = g + sum(LOG(m) + 2 * math.sqrt(LOG(m)) * 2 ** (k / 2) for k in range(segments))
    assert bound.printed == pytest.approx(printed)
    assert bound.value == pytest.approx(2 * proved)


# -------------------------------------------------------------------- one function of several kernels


def within(f, R):
    """Shrunk to ||f|| <= R: (norm2, sum of losses)."""
    s = min(1.0, R / math.sqrt(f.norm2))
    return s * s * f.norm2, float(np.maximum(0.0, 1.0 - s * f.margins).sum())


@pytest.mark.parametrize(("beta", "R"), [(0.8, 0.4), (0.8, 1.5), (0.3, 0.6), (0.9, 3.0)])
def test_within_a_ball(beta, R):
    best = min(norm2 + 2 * loss for i in range(3) for f in UNIT.fits[i] for norm2, loss in [within(f, R)])
    value = (best + 2 * LOG(3) / LOG(1 / beta)) / (1 - R * R * LOG(1 / beta))
    single, mixed = omklo_da(Case(UNIT), beta, R)
    assert single.value == pytest.approx(value, rel=0.02)
    assert single.objective == pytest.approx(best, rel=0.02)
    assert mixed.value == pytest.approx(single.value, rel=1e-9)
    assert mixed.mixture == tuple(float(i == single.kernel) for i in range(3))


@pytest.mark.parametrize("R", [0.5, 2.0])
@pytest.mark.parametrize("eta", [None, 1e-4, 0.002, 0.1])
def test_within_a_ball_by_one_kernel_a_round(R, eta):
    beta, delta, m, far = 0.3, 0.9, 3, Known((1.0, 1.0, 1.0), margin=3.0)
    best = min(loss for i in range(3) for f in far.fits[i] for _, loss in [within(f, R)])
    a = R * R / 2 + LOG(m) / LOG(1 / beta)
    b = LOG(1 / beta) * (R * m / delta) ** 2 / 2 + m / (2 * delta)
    step = eta or math.sqrt(a / b)
    value = best + a / step + step * b * T
    if step * b < 1:  # M <= best + a / eta + eta b M
        value = min(value, (best + a / step) / (1 - step * b))
    bound = value_of(omklo_sua(Case(far), beta, R, delta, eta))
    assert value * (1 - 1e-12) <= bound <= 1.02 * value


# -------------------------------------------------------------------- NORMA


def margins(square, lam, rho, eta, errors):
    """(45) of the paper over g = mu g~ and mu: (L_mu(g) + ||g||^2 (1 / 2 eta' + T lam / 4)) / (mu - ...)."""
    prime = eta / (1 - eta * lam)
    least = prime * square / 2
    best = math.inf
    for f, mu in product(Known((square,)).fits[0][::2], np.geomspace(least + rho + 1e-3, 50.0, 150)):
        mine = mu - (rho if errors else 0.0) - least
        rhs = mu * f.loss + mu * mu * f.norm2 * (1 / (2 * prime) + T * lam / 4)
        best = min(best, rhs / mine)
    return best


@pytest.mark.parametrize("square", [1.0, 1.5])
@pytest.mark.parametrize(
    ("lam", "rho", "eta"), [(0.0, 0.5, 0.4), (0.3, 0.5, 0.4), (0.05, 0.0, 1.2), (1.0, 1.0, 0.5)]
)
def test_norma_with_a_constant_step(square, lam, rho, eta):
    vectors, mistakes = norma(Case(Known((square,))), lam, rho, eta, "constant", None, False)
    assert (vectors.counts, mistakes.counts) == (VECTORS, "mistakes")
    for bound, errors in ((vectors, True), (mistakes, False)):  # four steps towards the minimum
        least = margins(square, lam, rho, eta, errors)
        assert 0.98 * least <= bound.value <= 1.07 * least


@pytest.mark.parametrize(("tau", "factor"), [(None, 2), (T, 2), (50, 10)])
def test_norma_with_a_falling_step(tau, factor):
    lam, rho, eta, one = 0.9, 0.6, 0.7, Known((1.5,))
    U2 = 1.5 / lam**2
    a = 2 * lam * U2 * (factor * eta * lam + 1 / (eta * lam))
    # T R_reg[rho g~] = sum (rho - y rho g~)+ + T lam / 2 ||rho g~||^2
    risk = one.least(0, lambda norm2, loss: rho * loss + T * lam / 2 * rho * rho * norm2)
    value = (risk + a * math.sqrt(T) + U2 / (2 * eta)) / rho
    assert value_of(norma(Case(one), lam, rho, eta, "sqrt", tau, False)) == pytest.approx(value)


def test_perceptrons(known):
    for bounds, i in ((perceptron(Case(known)), 0), (perceptron_u(Case(known)), -1)):
        square = known.own_values(i).max()

        def tuned(norm2, K, square=square):
            C = square * norm2 / 4
            return K + 2 * C + 2 * math.sqrt(C * (K + C))

        assert value_of(bounds) == pytest.approx(known.least(i, tuned), rel=0.02)


# -------------------------------------------------------------------- SPA


@pytest.mark.parametrize(
    ("alpha", "beta", "eta"), [(1.0, 3.0, 0.1), (0.5, 0.7, 2.0), (2.0, 30.0, 0.01), (0.3, 3.0, 0.1)]
)
def test_spa(alpha, beta, eta):
    unit = Known((1.0, 1.0, 1.0))
    unit.own[:] = 1.0
    gamma, delta, m = 0.9, 0.3, 3
    lemma, lemma_set, first, first_set, second, second_set = bomkc_spa(
        Case(unit), alpha, beta, eta, gamma, delta, "hinge", "current"
    )
    assert "one kernel" in lemma.notes[0]
    assert lemma.value is lemma_set.value is None
    extra = eta * beta * T / min(alpha, math.sqrt(beta * eta))
    regrets = [unit.least(i, lambda norm2, loss: loss + norm2 / (2 * eta)) + extra for i in range(3)]
    step = min(1.0, max(eta * beta / alpha, math.sqrt(eta * beta)))
    L = 1 + math.sqrt((2 * step - step**2) * T)
    mu = (1 - gamma) * L / (1 - gamma**L)

    def total(loss):
        return mu * (LOG(1 / gamma) * loss + LOG(m)) / (1 - gamma)

    printed = min(unit.least(i, lambda norm2, loss: loss + norm2 / (2 * eta * delta)) for i in range(3))
    assert first.value == pytest.approx(total(min(regrets) / delta))
    assert first.printed == pytest.approx(total(printed + extra / delta))
    assert second.value == pytest.approx(sum(min(alpha * T / beta, regret / beta) for regret in regrets))
    assert second.counts == second_set.counts == VECTORS
    if alpha > math.sqrt(beta * eta):
        assert first_set.value is second_set.value is None
        return
    # U with eta = U sqrt(alpha / (2 beta T)), for which alpha^3 <= beta U^2 / (2 T)
    U = eta / math.sqrt(alpha / (2 * beta * T))
    assert alpha**3 <= beta * U**2 / (2 * T) * (1 + 1e-12)
    rest = U * math.sqrt(2 * beta * T / alpha)
    losses = [min(within(f, U)[1] for f in unit.fits[i]) for i in range(3)]
    assert first_set.value == pytest.approx(total((min(losses) + rest) / delta), rel=0.02)
    assert first_set.printed == pytest.approx(total(min(losses) + rest / delta), rel=0.02)
    vectors = sum(min(alpha * T / beta, (loss + rest) / beta) for loss in losses)
    assert second_set.value == pytest.approx(vectors, rel=0.02)


def test_spa_of_one_kernel():
    alone = Known((1.0,))
    alone.own[:] = 1.0
    runs = tuple(SimpleNamespace(hinge_loss=loss) for loss in (50.0, 40.0))
    lemma, untuned = bomkc_spa(Case(alone, runs=runs), 1.0, 3.0, 0.1, 0.9, 0.3, "hinge", "current")[:2]
    assert untuned.value is None  # alpha > sqrt(beta eta)
    f = min(alone.fits[0], key=lambda f: f.loss + f.norm2 / 0.2)
    assert lemma.value == pytest.approx(f.norm2 / 0.2 + 0.1 * 3 * T / math.sqrt(0.3))
    assert lemma.observed == pytest.approx((50.0 - f.loss, 40.0 - f.loss))
    assert lemma.counts == "regret"
    tuned = bomkc_spa(Case(alone, runs=runs), 0.3, 3.0, 0.1, 0.9, 0.3, "hinge", "current")[1]
    U = 0.1 * math.sqrt(2 * 3 * T / 0.3)
    loss = min(within(f, U)[1] for f in alone.fits[0])
    assert tuned.value == pytest.approx(U * math.sqrt(2 * 3 * T / 0.3))
    assert tuned.observed == pytest.approx((50.0 - loss, 40.0 - loss), rel=0.02)
