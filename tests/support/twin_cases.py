"""Kernels, streams, options and comparisons for the tests of the naive twins."""

import numpy as np

LINEAR = {"kind": "linear"}
QUADRATIC = {"kind": "polynomial", "degree": 2, "scale": 1.0, "coef0": 0.0}
POOL = [
    *({"kind": "gaussian", "sigma": s} for s in (0.25, 0.5, 1.0, 2.0)),
    *({"kind": "polynomial", "degree": p, "scale": 1.0, "coef0": 0.0} for p in (1, 2, 3)),
    {"kind": "laplacian", "sigma": 1.5},
]


def stream(T=150, d=4, seed=0):
    """Two noisy classes with ten duplicated examples, every second one under the opposite label."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(T, d))
    y = np.where(X[:, 0] * X[:, 1] + 0.3 * rng.normal(size=T) > 0, 1.0, -1.0)
    X[-10:] = X[:10]
    y[-10:] = y[:10] * np.tile([1.0, -1.0], 5)
    return X, y


def same(a, b):
    """Same classifiers, round by round."""
    np.testing.assert_array_equal(a.mistakes, b.mistakes)
    np.testing.assert_array_equal(a.stored, b.stored)
    np.testing.assert_array_equal(a.coefficients, b.coefficients)
    np.testing.assert_array_equal(a.combined, b.combined)
    np.testing.assert_allclose(a.scores, b.scores, rtol=0, atol=1e-12)


GAUSSIAN = {"kind": "gaussian", "gamma": 0.01}
# Settings beside the defaults under which each learner is compared with its twin, on data of any kind.
OPTIONS = [
    ("omkc_ds", {"sampling": "sum"}),
    ("omkc_sd", {"sampling": "sum", "delta": 0.1}),
    ("omkc_sd", {"floor": "delta", "delta": 0.001, "beta": 0.99}),
    ("omkc_sd", {"variant": "published", "floor": "delta", "beta": 0.99}),
    ("omkc_ss", {"sampling": "sum", "floor": "delta", "beta": 0.5}),
    ("omkc_dd", {"beta": 0.01}),
    ("omkc_ddpa", {"C": 1.0}),
    ("omkc_dspa", {"C": 1.0, "beta": 0.5}),
    ("omkc_sdpa", {"C": 1.0, "delta": 0.2}),
    ("omkc_sspa", {"C": 0.3, "delta": 0.2}),
    ("omkc_fpl", {"eta": 0.2}),
    ("omkc_growing", {"first": 3, "every": 11, "beta": 0.5}),
    ("omklp_da2", {"gamma": 2.0}),
    ("omklp_mua", {"delta": 0.2}),
    ("omklo_da", {"R": 0.7}),
    ("omklo_sua", {"R": 0.7, "delta": 0.3, "eta": 0.5}),
    ("om2", {"p": 1.2, "aggressive": False}),
    ("bomkc_spa", {"normalise": True, "predict": "averaged"}),
    ("bomkc_spa", {"discount": "zero_one", "alpha": 0.5, "beta": 0.5}),
    ("bomkc_spa", {"predict": "votes"}),
    ("bomkc_spa", {"predict": "votes", "discount": "zero_one"}),
    ("perceptron_star", {"select": "hindsight"}),
    ("bomkc_rbp", {"budget": 20}),
    ("bomkc_forgetron", {"budget": 20}),
    ("bomkc_bogd", {"budget": 20}),
    ("bomkc_bogd", {"budget": 20, "removal": "uniform", "clip": 2.0}),
    ("bomkc_bogd", {"budget": 20, "removal": "nonuniform"}),
    ("bomkc_bpas", {"budget": 20}),
    ("bomkc_bpas", {"budget": 20, "normalise": True, "C": 0.5}),
    ("bomkc_projectron", {"budget": 7}),
    ("bomkc_projectronpp", {"budget": 7}),
    ("bomkc_nogd", {"budget": 12, "rank": 1.0}),
    ("bomkc_nogd", {"budget": 13, "rank": 0.2}),  # 2.6 eigenvalues: 3
    ("bomkc_nogd", {"budget": 12, "rank": 0.2}),  # 2.4: 2
    ("ahpatron", {"budget": 12, "eps": 0.2}),
    ("bomkc_ahpatron", {"budget": 12, "gamma": 0.9}),
    ("avp", {"U": 1.5, "eta": 0.4}),
    ("avp_ogs", {"U": 2.0, "c": 1.0, "kernel": GAUSSIAN}),
    ("iegp", {"drift": 0.001, "nu": 0.5, "tau": 0.1, "features": "iid", "D": 7}),
    ("vaw2", {"lam1": 0.5, "lam2": 0.1, "D": 9}),
    ("lasvm", {"C": 0.2, "kernel": GAUSSIAN}),
    ("krls_ald", {"nu": 0.1, "kernel": GAUSSIAN}),
    ("krls_t", {"lam": 0.9, "budget": 12, "kernel": GAUSSIAN}),
    ("krls_t", {"margin": 0.5, "budget": 12, "kernel": GAUSSIAN}),
    ("krls_t", {"margin": 0.2, "lam": 0.95, "budget": 20, "noise": 0.05}),
    ("krls_t_pool", {"lam": 0.9, "budget": 12, "share": 0.1}),
    ("omkl_gf", {"variant": "authors", "draws": 3, "D": 9, "features": "orthogonal"}),
    ("dualsgd", {"variant": "authors", "budget": 11, "k": 4, "D": 9}),
    ("dualsgd", {"loss": "hinge", "budget": 7, "k": 20, "D": 9, "kernel": GAUSSIAN}),
    ("arow", {"squares": True, "r": 0.5}),
    ("arow", {"squares": True, "full": False, "bias": False}),
    ("alma", {"alpha": 0.5, "C": 0.3}),
    ("alma", {"alpha": 1.0}),
    ("norma", {"tau": 30, "offset": True, "lam": 0.1}),
    ("norma", {"lam": 1, "rho": 0.1, "eta": 0.9}),  # its scale would underflow
    ("norma", {"step": "sqrt", "rho": 0, "eta": 3}),
    ("norma", {"lam": 1, "rho": 0.1, "eta": 0.5, "tau": 60}),
    ("norma_regression", {"loss": "eps", "tau": 60, "eta": 0.1}),
    ("norma_regression", {"loss": "eps", "nu": None, "step": "sqrt"}),
    ("norma_regression", {"loss": "huber", "eta": 0.1}),
    ("norma_regression", {"loss": "huber", "nu": None, "start": 0.4, "kernel": GAUSSIAN}),
    ("norma_novelty", {"nu": 0.2, "step": "constant", "eta": 0.05, "kernel": GAUSSIAN}),
    ("norma_novelty", {"nu": 0.1, "tau": 60, "kernel": {"kind": "gaussian", "sigma": 200.0}}),
    ("norma_growing", {"lam": 0.5, "eps": 0.3}),
    ("norma_growing", {"lam": 0.9, "eps": 0.45, "t0": None, "rho": 1.0}),
    ("norma_growing", {"lam": 0.1, "eps": 0.01, "t0": 100, "kernel": GAUSSIAN}),
    ("norma_logistic", {"tau": 60, "lam": 0.5, "offset": True}),
    ("norma_logistic", {"step": "sqrt", "eta": 3, "tau": 100, "kernel": GAUSSIAN}),
    ("norma_novelty", {"loss": "logistic", "nu": 0.1}),
    (
        "norma_novelty",
        {"loss": "logistic", "nu": 0.2, "eta": 0.05, "step": "constant", "tau": 50, "kernel": GAUSSIAN},
    ),
    ("stack", {"members": ["arow(r=10,scale=online)", "omkc_sspa(pool=gauss3)"]}),
    ("norma_nu", {"tau": 100, "offset": True, "nu": 0.5}),
    ("norma_nu", {"step": "sqrt", "eta": 1, "kernel": GAUSSIAN}),
    ("rff", {"loss": "hinge", "eta": 0.3, "features": "iid"}),
    ("raker", {"loss": "logistic", "features": "iid", "D": 7}),
    ("adaraker_authors", {"loss": "squared", "lam": 0.01}),
    ("raker", {"step": "sqrt", "eta": 1.0}),
    ("raker", {"loss": "squared", "lam": 0.01}),
    ("rff", {"loss": "squared", "eta": None}),
    ("okr", {"loss": "squared", "step": "sqrt"}),
    ("okr", {"loss": "squared", "eta": None, "step": "sqrt"}),
    ("okr", {"loss": "squared", "eta": None}),
    ("omkr", {"loss": "squared", "step": "sqrt", "eta": 1.0, "lam": 0.001}),
    ("adaraker", {"loss": "squared"}),
    ("adamkl", {"loss": "squared"}),
    ("adaraker", {"loss": "squared", "kept": True, "eta0": 1.0}),
    ("adamkl", {"loss": "squared", "kept": True, "eta0": 1.0, "levels": 4}),
    ("arow_features", {"full": False, "D": 6}),
    ("arow", {"full": False}),
    ("arow", {"bias": False, "r": 10.0}),
    ("arow", {"bias": False, "full": False, "r": 10.0}),
    ("omklp_da1", {"beta": None}),
    ("adaraker", {"loss": "logistic", "eta0": 1.0}),
    ("omkr", {"loss": "logistic"}),
    ("omkr", {"loss": "hinge", "lam": 0.0}),
    ("adamkl", {"loss": "hinge", "levels": 4}),
    ("okr", {"loss": "hinge", "eta": 1.0, "lam": 0.9}),  # its scale would underflow
]
