"""Random Fourier features: z(x) with z(x).z(x') close to a kernel's value, for m kernels at once.

A frequency v is random with E cos(v.(x - x')) = kappa(x, x'); D of them give z(x) (2D,) = scale [sin v_1.x ..
sin v_D.x, cos v_1.x .. cos v_D.x] (Shen, Chen, Giannakis 2018, equation 9). Every round's z depends on its
example alone, by one order of additions: blocks and cuts change nothing.
"""

import math
from collections import namedtuple
from typing import Any

import numpy as np

from omkl.engine.classes import make_classes, margins
from omkl.engine.eigen import orthonormal
from omkl.engine.jit import compiled
from omkl.engine.lanes import fma, sincos
from omkl.engine.records import method
from omkl.engine.stores import Store
from omkl.engine.stream import row
from omkl.errors import UserError

_MOST_MULTIPLES = 1e15  # the mean of a Poisson number
_SINCOS_LIMIT = 1e5  # up to here sincos has the C library's accuracy


class Features(Store, namedtuple("Features", "V scale p z f n_sv_union n_sv_sum classes rows lifted")):
    """Random features of m kernels.

    V (d, m D)    the frequencies as columns, kernel after kernel
    scale         what every feature is multiplied by
    p (m D,)      scratch, v.x of all frequencies
    z (m, 2D)     the features of the last call of `lift`
    f (m,)        the margins of the last call of `outputs`
    n_sv_union, n_sv_sum (1,)   0: no vectors are stored
    classes       what the learner sees of more than two classes: classes.py; None for two
    rows (n, m, 2D), lifted (1,)   z of the first rounds of the stream, and of how many: members of a stack
                  whose frequencies are the same share them; 0 of a learner alone
    """


def make_features(
    kernels: list[dict],
    d: int,
    D: int,
    kind: str,
    rng: np.random.Generator,
    given: Any = None,
    classes: int | None = None,
) -> Features:
    """Return features of these kernels (mappings as in conf/pool) for examples (d,).

    kind: ``iid`` v ~ N(0, I / sigma^2), of other kernels than Gaussians as `_mixed` says; ``squared``
    v ~ N(0, I / sigma^4), a slip of DualSGD's authors; ``orthogonal`` rows of S Q / sigma, Q Haar-distributed
    orthonormal (d, d), S diagonal chi_d, as many such blocks as D needs (equation 12); ``authors`` what their
    code does: chi_1 for chi_d, sigma^2 times the rows where sigma divides them, and no factor D^-1/2.
    given (m, D, d): the frequencies to use in place of random ones. Raises UserError for another shape.
    classes: how many, where there are more than two.
    """
    m = len(kernels)
    if given is None:
        V = np.stack([_frequencies(kernel, d, D, kind, rng) for kernel in kernels])
    else:
        V = np.array(given, dtype=np.float64)
        if V.shape != (m, D, d):
            raise UserError(f"frequencies of shape {V.shape}; {m} kernels, D={D} and d={d} need {(m, D, d)}")
    return features_of(np.ascontiguousarray(V.reshape(m * D, d).T), m, kind, classes)


def features_of(V: np.ndarray, m: int, kind: str, classes: int | None = None) -> Features:
    """Return features of m kernels with these frequencies (d, m D), drawn as ``kind`` says."""
    D = V.shape[1] // m
    scale = 1.0 if kind == "authors" else 1.0 / math.sqrt(D)
    return Features(
        V,
        scale,
        np.zeros(m * D),
        np.zeros((m, 2 * D)),
        np.zeros(m),
        np.zeros(1, np.int64),
        np.zeros(1, np.int64),
        make_classes(m, classes),
        np.zeros((0, m, 2 * D)),
        np.zeros(1, np.int64),
    )


def further_frequencies(
    kernels: list[dict], F: Features, d: int, kind: str, rng: np.random.Generator
) -> np.ndarray:
    """Return frequencies (d - d_F, m D) for columns beyond the d_F that these features were drawn for.

    Raises UserError for other kernels than Gaussians, whose frequencies of two columns are not independent.
    """
    if others := {kernel["kind"] for kernel in kernels} - {"gaussian"}:
        raise UserError(
            f"random features of {', '.join(sorted(others))} kernels cannot go on with new columns: give all "
            "columns from the beginning, or choose a Gaussian"
        )
    more, D = d - len(F.V), F.z.shape[1] // 2
    V = np.stack([_frequencies(kernel, more, D, kind, rng) for kernel in kernels])
    return np.ascontiguousarray(V.reshape(len(kernels) * D, more).T)


def _frequencies(kernel: dict, d: int, D: int, kind: str, rng: np.random.Generator) -> np.ndarray:
    """V (D, d) of one kernel."""
    if kernel["kind"] != "gaussian":
        return _mixed(kernel, d, D, kind, rng)
    sigma2 = kernel["sigma"] ** 2 if "sigma" in kernel else 1.0 / (2.0 * kernel["gamma"])
    if kind == "squared":
        return rng.standard_normal((D, d)) / sigma2
    if kind == "iid" or d == 0:  # without features there is nothing to make orthogonal
        return rng.standard_normal((D, d)) / math.sqrt(sigma2)
    rows = []
    for start in range(0, D, d):
        # the first rows of a Haar matrix: as many Gaussian vectors, made orthonormal
        rows.append(np.ascontiguousarray(rng.standard_normal((d, min(d, D - start))).T))
        orthonormal(rows[-1])
    S = np.sqrt(rng.chisquare(d if kind == "orthogonal" else 1, D))
    factor = 1.0 / math.sqrt(sigma2) if kind == "orthogonal" else sigma2
    return factor * S[:, None] * np.concatenate(rows)


def _mixed(kernel: dict, d: int, D: int, kind: str, rng: np.random.Generator) -> np.ndarray:
    """V (D, d) of a kernel whose spectrum is a mixture of Gaussians', or one of whole multiples.

    laplacian, matern32    Student's t with 1 and 3 degrees of freedom, divided by sigma
    rational_quadratic     N(0, t I / sigma^2), t ~ Gamma(alpha, 1 / alpha)
    ard                    N(0, 1 / (sigma scales_j)^2) of each feature
    periodic_each          2 pi k / period of each feature, k the difference of two Poisson numbers of mean
                           1 / (2 length^2): exp((cos u - 1) / length^2) is its characteristic function
    """
    if kernel["kind"] == "periodic_each":
        mean = 0.5 / kernel["length"] ** 2
        if not mean < _MOST_MULTIPLES:
            raise UserError(
                f"a periodic_each kernel of length {kernel['length']:g} is too narrow for features"
            )
        return 2.0 * math.pi / kernel["period"] * (rng.poisson(mean, (D, d)) - rng.poisson(mean, (D, d)))
    unit = _frequencies({"kind": "gaussian", "sigma": 1.0}, d, D, kind, rng) / kernel["sigma"]
    if kernel["kind"] == "ard":
        return unit / np.asarray(kernel["scales"])
    if kernel["kind"] == "rational_quadratic":
        factor = np.sqrt(rng.gamma(kernel["alpha"], 1.0 / kernel["alpha"], D))
    else:
        freedom = {"laplacian": 1, "matern32": 3}[kernel["kind"]]
        factor = np.sqrt(freedom / rng.chisquare(freedom, D))
    return factor[:, None] * unit


@method(Features)
@compiled
def lift(F, stream, t):
    """z (m, 2D) of round t's example. The array is reused by the next call."""
    if t < F.lifted[0]:
        return F.rows[t]
    _project(F, stream, t)
    p, D = F.p, F.z.shape[1] // 2
    for i in range(F.z.shape[0]):
        angle, sines, cosines = p[i * D : (i + 1) * D], F.z[i, :D], F.z[i, D:]
        for j in range(D):
            sines[j], cosines[j] = sincos(angle[j])
        for j in range(D):
            if not abs(angle[j]) < _SINCOS_LIMIT:
                sines[j], cosines[j] = math.sin(angle[j]), math.cos(angle[j])
        for j in range(D):
            sines[j] *= F.scale
            cosines[j] *= F.scale
    return F.z


@compiled
def lift_rows(F, stream, rows):
    """rows (T, m, 2D) <- the features of all rounds."""
    for t in range(stream.T):
        rows[t] = F.lift(stream, t)


@compiled
def _project(F, stream, t):
    """p <- V' x_t: one chain of fused multiply-adds over the non-zeros in their order, four a pass."""
    start, stop = row(stream, t)
    p = F.p
    p[:] = 0.0
    k = start
    while k + 4 <= stop:
        a, b = F.V[stream.indices[k]], F.V[stream.indices[k + 1]]
        c, e = F.V[stream.indices[k + 2]], F.V[stream.indices[k + 3]]
        w, x = stream.values[k], stream.values[k + 1]
        y, z = stream.values[k + 2], stream.values[k + 3]
        for j in range(p.size):
            p[j] = fma(z, e[j], fma(y, c[j], fma(x, b[j], fma(w, a[j], p[j]))))
        k += 4
    while k < stop:
        a, w = F.V[stream.indices[k]], stream.values[k]
        for j in range(p.size):
            p[j] = fma(w, a[j], p[j])
        k += 1


@compiled
def linear_outputs(theta, z):
    """f (m,): theta_i . z_i for theta, z (m, 2D), four partial sums each."""
    f = np.empty(theta.shape[0])
    for i in range(f.size):
        a, b = theta[i], z[i]
        s0, s1, s2, s3 = 0.0, 0.0, 0.0, 0.0
        j = 0
        while j + 4 <= a.size:
            s0, s1 = fma(a[j], b[j], s0), fma(a[j + 1], b[j + 1], s1)
            s2, s3 = fma(a[j + 2], b[j + 2], s2), fma(a[j + 3], b[j + 3], s3)
            j += 4
        while j < a.size:
            s0 = fma(a[j], b[j], s0)
            j += 1
        f[i] = (s0 + s1) + (s2 + s3)
    return f


@method(Features)
@compiled
def outputs(F, theta, z, stream, t):
    """f (m,): theta_i . z_i of theta (1, m, 2D); with more than two classes margins of theta (C, m, 2D)."""
    if F.classes is None:
        return linear_outputs(theta[0], z)
    for c in range(len(theta)):
        F.classes.scores[:, c] = linear_outputs(theta[c], z)
    margins(F.classes, stream.label[t], F.f)
    return F.f


@method(Features)
@compiled
def descend(F, theta, z, eta, lam, slope):
    """theta_i <- (1 - eta lam) theta_i - eta slope_i z_i for theta (1, m, 2D), z (m, 2D), slope (m,).

    With more than two classes, theta (C, m, 2D), so for theta_y, and against the slope for each rival.
    """
    if F.classes is None:
        gradient_step(theta[0], z, eta, lam, slope)
        return
    for c in range(len(theta)):
        one = (F.classes.label[0] == c) * slope - (F.classes.rival == c) * slope
        if lam != 0.0 or one.any():
            gradient_step(theta[c], z, eta, lam, one)


@compiled
def gradient_step(theta, z, eta, lam, slope):
    """theta_i <- (1 - eta lam) theta_i - eta slope_i z_i for theta, z (m, 2D), slope (m,)."""
    keep = 1.0 - eta * lam
    for i in range(slope.size):
        a, b, step = theta[i], z[i], -eta * slope[i]
        for j in range(a.size):
            a[j] = fma(step, b[j], keep * a[j])
