"""A learner and its naive twin on one stream: both passes, and their comparison round by round."""

import math

import numpy as np
from numba import vectorize
from reference import TWINS, kernels

import omkl.learner.one_pass
from omkl import seeds
from omkl.config import learner_spec, pool

from .engine_cases import dense, fitting, slots_of, stored

SEED = 20
# Learners whose coefficients solve linear systems, as exact as these are well conditioned.
SOLVED = {"bomkc_projectron", "bomkc_projectronpp", "bomkc_nogd"}
SOLVED |= {"ahpatron", "bomkc_ahpatron", "avp_ogs", "krls_ald"}
# AdaRaker's authors divide errors by their differences, which may be of the size of rounding; the first steps
# of OMKL-GF, of size 1 and 1 / sqrt(2), multiply the rounding of features of narrow kernels.
ROUGH = {"adaraker_authors", "omkl_gf"}
# Learners that are slow in plain steps meet every set and pool with less to compute.
SMALL = {name: {"budget": 20} for name in SOLVED - {"avp_ogs", "krls_ald"}}
SMALL |= {name: {"D": 6} for name in ("iegp", "vaw2", "omkl_gf")}


@vectorize(["float64(float64)"])
def libm_exp(x):
    """exp of the C library: numpy's own differs from it in the last place, and from machine to machine."""
    return math.exp(x)


class Rows:
    """pool_rows of the twins, computed once for a stream and pool instead of once for each learner."""

    def __init__(self):
        self.key, self.values, self.plain = None, None, kernels.pool_rows

    def __call__(self, X, given, normalise="none"):
        key = (X.tobytes(), str(given), normalise)
        if len(given) == 1:
            return self.plain(X, given, normalise)
        if key != self.key:
            one = self.plain(X, given, normalise)
            self.key, self.values = key, [one(t) for t in range(len(X))]
        return self.values.__getitem__


@vectorize(["float64(float64, float64)"])
def libm_power(x, y):
    """pow of the C library."""
    return math.pow(x, y)


class NumpyWithLibm:
    """numpy, but for exp and power."""

    exp, power = staticmethod(libm_exp), staticmethod(libm_power)

    def __getattr__(self, name):
        return getattr(np, name)


ROWS_ONCE = Rows()


def both(name, data, order, pool_name, monkeypatch, **over):
    """(figures of run_pass, the learner, its trace, the twin's Result, the pool) on one stream and seed."""
    spec = learner_spec(name)
    params = {**spec.usual(data.task), **over}
    given = fitting(spec, pool(pool_name)) if spec.kernels == "pool" else None
    seen = []
    figures_of = omkl.learner.one_pass._figures
    monkeypatch.setattr(
        omkl.learner.one_pass, "_figures", lambda *all_: (seen.append(all_[:2]), figures_of(*all_))[1]
    )
    figures = omkl.learner.one_pass.run_pass(spec, params, given, data, order, SEED)
    (learner, trace) = seen[0]

    hyper = {k: v for k, v in params.items() if k not in ("kernel", "prefix")}
    if hyper.get("select") == "hindsight":  # drawn as choose_kernels does; the twin counts in arrivals
        apart = np.random.default_rng(seeds.derive("apart", data.content_hash)).permutation(data.T)
        hyper["separate"] = np.argsort(order)[apart]
    normal = "pool_normalise" if "normalise" in hyper else "normalise"
    result = TWINS[name](
        dense(data)[order],
        data.y[order],
        [params["kernel"]] if spec.kernels == "own" else given["kernels"] if given else [],
        **{normal: given["normalise"] if given else "none"},
        rng=np.random.default_rng(seeds.learner_seed(SEED, learner_spec(name).draws_as or name)),
        **hyper,
    )
    return figures, learner, trace, result, given


def assert_equal(name, data, order, figures, learner, trace, result, given):
    """Same mistakes, counts and stored vectors in every round; weights and scores to 1e-9."""
    differ = trace.mistake != result.mistakes
    if "regression" in learner_spec(name).tasks:  # a score of 0 is one of rounding: no ties are counted here
        differ &= np.abs(result.scores) > 1e-9 * np.abs(result.scores).max()
    np.testing.assert_array_equal(np.flatnonzero(differ), [], "rounds that differ")
    assert figures["mistakes"] == trace.mistake.sum()
    near = 1e-6 if name in ROUGH else 1e-9
    np.testing.assert_allclose(trace.score, result.scores, rtol=near, atol=near * np.abs(result.scores).max())
    if result.weights is not None and figures["weights"] is not None:
        rtol = 1e-4 if name in ROUGH else 1e-9
        np.testing.assert_allclose(figures["weights"], result.weights, rtol=rtol, atol=1e-300)
    else:
        assert figures["weights"] is None
    if learner.classifiers is None:
        return
    assert figures["n_sv_union"] == len(result.stored)
    stores_all = "regression" in learner_spec(name).tasks  # and rounding decides which coefficients are 0
    if not stores_all:
        assert figures["n_sv_per_kernel"] == result.n_sv_per_kernel.tolist()
        assert figures["n_sv_sum"] == result.n_sv_per_kernel.sum()
        np.testing.assert_array_equal(trace.n_sv_combined, result.combined)
    if "B" in learner.state:
        B, scale = learner.state["B"], learner.state.get("scale", np.ones(1))
        if name in SOLVED:
            assert_same_functions(data, order, B, result, learner.pool)
        else:
            assert_same_slots(data, order, B, scale, result)
        return
    kept, rows = stored(learner), order[result.stored]
    np.testing.assert_array_equal(kept["indptr"], np.append(0, np.cumsum(np.diff(data.indptr)[rows])))
    at = np.concatenate([np.arange(data.indptr[r], data.indptr[r + 1]) for r in rows]).astype(int)
    np.testing.assert_array_equal(kept["indices"], data.indices[at])
    np.testing.assert_array_equal(kept["values"], data.values[at])
    shared = len(result.coefficients) == 1  # the mean kernel's perceptron: one list for all kernels
    coefficients = np.broadcast_to(result.coefficients, kept["A"].shape) if shared else result.coefficients
    # a step 1 - y f of a cubic kernel has the rounding error of f, a sum of terms up to 1e7
    scale = learner.state.get("scale", np.ones(len(kept["A"])))[:, None]
    np.testing.assert_allclose(kept["A"] * scale, coefficients, rtol=1e-5, atol=1e-9)
    if not stores_all:
        np.testing.assert_array_equal(kept["A"] * scale != 0, coefficients != 0)


def assert_same_slots(data, order, B, scale, result):
    """Every kernel of a Budget holds the twin's vectors with the twin's coefficients, in whatever slots."""
    for i, coefficients in enumerate(result.coefficients):
        its = []
        for j in np.flatnonzero(coefficients):
            part = slice(*data.indptr[order[result.stored[j]] :][:2])
            its.append((data.indices[part].tolist(), data.values[part].tolist(), coefficients[j]))
        mine = [kept for kept in slots_of(B, i) if kept[2]]
        assert [kept[:2] for kept in mine] == [kept[:2] for kept in sorted(its)]
        np.testing.assert_allclose(
            [kept[2] * scale[0] for kept in mine], [kept[2] for kept in sorted(its)], rtol=1e-5, atol=1e-9
        )


def assert_same_functions(data, order, B, result, given):
    """Every kernel of a Budget holds the twin's vectors, and is the same function of every example.

    Coefficients that solve a linear system are as exact as it is well conditioned, and nearly dependent
    vectors share one value in many ways; outputs are exact. Theirs are 0 up to 1e-10 of their terms, or of
    the largest coefficient.
    """
    rows = kernels.pool_rows(dense(data)[order], given["kernels"], given["normalise"])
    K = np.array([rows(t) for t in result.stored])  # (n, m, T)
    place = {}
    for j, t in enumerate(result.stored):
        part = slice(*data.indptr[order[t] :][:2])
        place.setdefault((tuple(data.indices[part]), tuple(data.values[part])), j)
    for i, coefficients in enumerate(result.coefficients):
        mine = np.zeros(len(coefficients))
        for indices, values, a in slots_of(B, i):
            mine[place[tuple(indices), tuple(values)]] += a
        terms = (np.abs(mine) + np.abs(coefficients)) @ np.abs(K[:, i])
        largest = np.abs(coefficients).max(initial=0)
        assert (np.abs((mine - coefficients) @ K[:, i]) <= 1e-9 * terms + 1e-10 * largest).all()
