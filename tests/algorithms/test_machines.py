"""The same results on every processor: OpenBLAS has other code for each, which learners must not use."""

import os
import platform
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from support import ROOT, TESTS

from omkl.config import learner_names
from omkl.engine.eigen import eigh, orthonormal, times

FIGURES = """
import sys
sys.path[:0] = {path!r}
import numpy as np
from support.engine_cases import hash_of_arrays, fitting, state, traced, wdbc
import omkl.passes.one_pass
from omkl.config import learner_names, learner_spec, pool

data, seen = wdbc(), []
order = np.random.default_rng(4).permutation(data.T)[:200]
figures_of = omkl.passes.one_pass.figures_of
omkl.passes.one_pass.figures_of = lambda *all_: (seen.append(all_[:2]), figures_of(*all_))[1]
for name in learner_names():
    spec = learner_spec(name)
    given = fitting(spec, pool(spec.usual_pool or "paper16_cosine")) if spec.kernels == "pool" else None
    small = {{"budget": 12}} if "budget" in spec.defaults else {{}}
    omkl.passes.one_pass.run_pass(spec, {{**spec.defaults, **small}}, given, data, order, 20)
    learner, trace = seen.pop()
    print(name, hash_of_arrays(traced(trace) | state(learner)))
"""


def kernels_of_this_processor() -> list[str]:
    """Two of OpenBLAS's processors whose code runs here and adds in different orders."""
    flags = Path("/proc/cpuinfo").read_text(encoding="utf-8") if Path("/proc/cpuinfo").is_file() else ""
    return ["Nehalem", "SkylakeX" if "avx512vl" in flags else "Haswell" if "avx2" in flags else "Sandybridge"]


@pytest.mark.slow
@pytest.mark.skipif(platform.machine() not in ("x86_64", "AMD64"), reason="the names are of x86's processors")
def test_every_learner_gives_the_same_bits_whatever_the_processor():
    program = FIGURES.format(path=[str(TESTS), str(ROOT)])
    one, other = (
        subprocess.run(
            [sys.executable, "-c", program],
            env=os.environ | {"OPENBLAS_CORETYPE": kind},
            stdout=subprocess.PIPE,
            text=True,
            check=True,
        ).stdout.splitlines()
        for kind in kernels_of_this_processor()
    )
    assert [line.split()[0] for line in one] == learner_names()
    assert [line for line in one if line not in other] == []


def gram(n, seed=1):
    X = np.random.default_rng(seed).normal(size=(n, 3))
    return np.exp(-np.square(X[:, None] - X[None]).sum(-1) / 8)


@pytest.mark.parametrize(
    "K",
    [
        gram(1),
        gram(2),
        gram(40),
        1e200 * gram(7),
        1e-200 * gram(7),
        np.eye(6),
        np.zeros((3, 3)),
        np.ones((9, 9)),
        np.diag([3.0, -1.0, 2.0]),
        np.kron(np.eye(4), gram(3)),  # every eigenvalue four times
    ],
    ids=lambda K: f"{len(K)} {K[0, 0]:.0e}",
)
def test_eigenvectors(K):
    values, V = eigh(K.copy())
    size = max(np.abs(K).max(), 1e-300)
    np.testing.assert_allclose(V @ V.T, np.eye(len(K)), atol=1e-13)
    np.testing.assert_allclose((V.T * (values / size)) @ V, K / size, atol=1e-13)
    np.testing.assert_allclose(values / size, np.linalg.eigvalsh(K / size), atol=1e-13)
    assert (np.diff(values) >= 0).all()
    a = np.arange(1.0, len(K) + 1)
    np.testing.assert_allclose(times(K, a) / size, K @ a / size, rtol=1e-13, atol=1e-12)


@pytest.mark.parametrize(("n", "d"), [(1, 1), (1, 5), (5, 5), (20, 60), (60, 60)])
def test_orthonormal_rows_are_those_of_gram_and_schmidt(n, d):
    G = np.random.default_rng(2).normal(size=(n, d))
    Q = G.copy()
    orthonormal(Q)
    np.testing.assert_allclose(Q @ Q.T, np.eye(n), atol=1e-14)
    L = G @ Q.T  # lower triangular: row j is made of rows 0 .. j
    np.testing.assert_allclose(np.triu(L, 1), 0.0, atol=1e-12)
    assert (np.diag(L) > 0).all()
