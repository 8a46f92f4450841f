"""Kernels that are called by address: their sums, what they share with the engine's own, what goes wrong."""

import inspect

import numpy as np
import pytest
from reference.kernels import pool_rows
from support.engine_cases import assert_same, clouds, dataset, fresh_learner, matrix_of, one_pass, wdbc

from omkl.algorithms import function
from omkl.config import learner_spec, learner_specs
from omkl.config.kernel_kinds import check_kernel, kernel_kind, kernel_kinds
from omkl.engine.called_kernels import called_kernel
from omkl.engine.kernels import KINDS, make_pool
from omkl.engine.slot_values import kernel_matrix, self_values
from omkl.errors import OmklError, UserError
from omkl.passes import run_pass
from omkl.paths import extended
from omkl.testing.kernel_check import check_sums, extreme_settings, streams

CALLED = [kind.name for kind in kernel_kinds() if kind.name not in KINDS]
NORMALISED = ("tanimoto", "intersection")  # of products and of rows: normalising is the same code for all
GAUSSIANS = {
    "by_products": """
import math
def by_products(product, norm2, other_norm2, sigma):
    return math.exp(-(1.0 / (2.0 * sigma**2)) * max(norm2 + other_norm2 - 2.0 * product, 0.0))
""",
    "by_rows": """
import math
def by_rows(indices, values, other_indices, other_values, sigma):
    total, i, j = 0.0, 0, 0
    while i < indices.size or j < other_indices.size:
        if j == other_indices.size or (i < indices.size and indices[i] < other_indices[j]):
            u, i = values[i], i + 1
        elif i == indices.size or other_indices[j] < indices[i]:
            u, j = other_values[j], j + 1
        else:
            u, i, j = values[i] - other_values[j], i + 1, j + 1
        total += u * u
    return math.exp(-total / (2.0 * sigma**2))
""",
}
YAML = 'sigma: {value: 1.0, domain: "(0, inf)", help: width}\nabout: {formula: "a Gaussian"}\n'


@pytest.fixture
def folder(tmp_path):
    """A folder with two Gaussians, each a function in a file."""
    (tmp_path / "kernels").mkdir()
    (tmp_path / "conf" / "kernel").mkdir(parents=True)
    for name, text in GAUSSIANS.items():
        (tmp_path / "kernels" / f"{name}.py").write_text(text)
        (tmp_path / "conf" / "kernel" / f"{name}.yaml").write_text(YAML)
    with extended([tmp_path]):
        yield tmp_path


def usual(name, d):
    return check_kernel({"kind": name, **{own: list(1.0 + np.arange(d)) for own in kernel_kind(name).lists}})


@pytest.mark.parametrize(
    ("name", "normalise"),
    [
        (name, normalise)
        if normalise == "none" or name in NORMALISED
        else pytest.param(name, normalise, marks=pytest.mark.slow)
        for name in CALLED
        for normalise in ("none", "cosine")
    ],
)
def test_sums_are_the_plain_ones_to_the_bit(name, normalise):
    counts = check_sums(
        lambda d: list(extreme_settings(usual(name, d), check_kernel)), normalise, kernel_kind(name).negative
    )
    assert counts.equal == counts.outputs >= 8 * 4 * 45


def test_in_a_pool_with_others():
    chi2, gaussian = {"kind": "chi2", "gamma": 0.5}, {"kind": "gaussian", "sigma": 1.0}
    sigmoid = {"kind": "sigmoid", "scale": 1, "coef0": 0}
    kernels = [gaussian, sigmoid, {"kind": "polynomial", "degree": 2, "coef0": 1.0}, chi2]
    kernels += [{"kind": "laplacian", "sigma": 0.5}, {"kind": "intersection"}, {"kind": "linear"}]
    for normalise in ("none", "cosine"):
        check_sums(list(map(check_kernel, kernels)), normalise, negative=False)


@pytest.mark.parametrize("name", [*CALLED, "gaussian", "periodic", "polynomial"])
def test_a_matrix_of_values_and_those_of_vectors_with_themselves(name):
    import scipy.sparse as sp

    X = streams(negative=False)["random"][:20]
    parts = {"polynomial": {"degree": 2}, "gaussian": {"sigma": 1.0}, "periodic": {"period": 1.5}}
    one = check_kernel({"kind": name, **parts[name]}) if name in parts else usual(name, X.shape[1])
    pool, every, rows = make_pool([one]), np.arange(20), pool_rows(X, [one])
    K = kernel_matrix(pool, 0, sp.csr_matrix(X), every, every)
    np.testing.assert_allclose(K, [rows(t)[0] for t in range(20)], rtol=1e-11, atol=1e-15)
    np.testing.assert_allclose(self_values(pool, sp.csr_matrix(X))[0], np.diag(K), rtol=1e-11)


LEARNERS = [spec.name for spec in learner_specs().values() if spec.kernels != "none" and spec.pool == "any"]
OF_EACH_FAMILY = ("omkc_dd", "bomkc_spa", "bomkc_projectron", "norma", "perceptron")


def few(data, T=150):
    X = matrix_of(data)[:T]
    return dataset(X / np.abs(X).max(0), data.y[:T])


@pytest.mark.parametrize("own", GAUSSIANS)
@pytest.mark.parametrize(
    "name",
    [name if name in OF_EACH_FAMILY else pytest.param(name, marks=pytest.mark.slow) for name in LEARNERS],
)
def test_a_gaussian_of_a_folder_makes_the_mistakes_of_the_engine_s(name, own, folder):
    spec, data = learner_spec(name), few(wdbc())
    if "classification" not in spec.tasks:
        pytest.skip("not for classes")
    found = []
    for kind in ("gaussian", own):
        kernels = [check_kernel({"kind": kind, "sigma": sigma}) for sigma in (0.7, 2.0)]
        params = spec.usual("classification") | ({"kernel": kernels[0]} if spec.kernels == "own" else {})
        pool = {"normalise": "none", "kernels": kernels} if spec.kernels == "pool" else None
        found.append(run_pass(spec, params, pool, data, np.arange(data.T), 7))
    assert found[0]["mistakes"] == found[1]["mistakes"]
    assert found[0]["n_sv_per_kernel"] == found[1]["n_sv_per_kernel"]
    assert found[0]["curve"]["mistakes"] == found[1]["curve"]["mistakes"]


@pytest.mark.parametrize("name", ["omkc_dd", "bomkc_spa", "bomkc_projectron"])
def test_and_with_more_than_two_classes(name, folder):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 3))
    data = dataset(X, np.digitize(X[:, 0] + X[:, 1], [-0.5, 0.5]))
    found = []
    for kind in ("gaussian", "by_products", "by_rows"):
        given = {
            "normalise": "none",
            "kernels": [check_kernel({"kind": kind, "sigma": s}) for s in (0.5, 1.0)],
        }
        learner = fresh_learner(name, given, data.d, classes=3)
        from support.engine_cases import make_stream

        stream = make_stream(data.indptr, data.indices, data.values, data.y, np.arange(data.T), 3)
        found.append(learner.run(stream)[0])
    for other in found[1:]:
        np.testing.assert_array_equal(found[0].predicted, other.predicted)
        np.testing.assert_allclose(found[0].score, other.score, rtol=1e-9, atol=1e-9)


def test_no_learner_is_compiled_for_a_kernel(folder):
    data = clouds()
    one_pass("omkc_dd", data, {"normalise": "none", "kernels": [{"kind": "gaussian", "sigma": 1.0}]})
    compiled = function("omkc_dd")
    before = len(compiled.signatures)
    one_pass("omkc_dd", data, {"normalise": "none", "kernels": [check_kernel("by_rows")]})
    one_pass(
        "omkc_dd",
        data,
        {"normalise": "none", "kernels": [check_kernel("by_products"), check_kernel("tanimoto")]},
    )
    assert len(compiled.signatures) == before


def test_blocks_and_copies_change_no_bit(folder):
    data = clouds()
    given = {"normalise": "cosine", "kernels": [check_kernel("by_rows"), {"kind": "linear"}]}
    for name in ("omkc_dd", "bomkc_projectron"):
        traces = [one_pass(name, data, given, block=block)[1] for block in (1, 24, 128)]
        for other in traces[1:]:
            assert_same(
                traces[0]._asdict() | {"predicted": 0, "class_scores": 0},
                other._asdict() | {"predicted": 0, "class_scores": 0},
            )


# ------------------------------------------------------------------ Gram matrices


def test_a_gram_matrix_gives_the_results_of_its_kernel(tmp_path):
    import scipy.sparse as sp

    data = few(wdbc(), 300)
    gaussian = check_kernel({"kind": "gaussian", "sigma": 1.0})
    every, X = np.arange(data.T), sp.csr_matrix((data.values, data.indices, data.indptr), (data.T, data.d))
    np.save(tmp_path / "k.npy", kernel_matrix(make_pool([gaussian]), 0, X, every, every))
    given = check_kernel({"kind": "precomputed", "file": str(tmp_path / "k.npy")})
    order = np.random.default_rng(0).permutation(data.T)[:200]  # rows know their numbers, whatever the order
    for name in ("omkc_dd", "bomkc_projectron"):
        spec, found = learner_spec(name), []
        for kernel in (gaussian, given):
            pool = {"normalise": "none", "kernels": [kernel, {"kind": "laplacian", "sigma": 2.0}]}
            found.append(run_pass(spec, spec.usual("classification"), pool, data, order, 7))
        assert found[0]["curve"]["mistakes"] == found[1]["curve"]["mistakes"]
        assert found[0]["n_sv_per_kernel"] == found[1]["n_sv_per_kernel"]


def test_a_gram_matrix_of_other_rows_is_refused(tmp_path):
    data, path = clouds(), str(tmp_path / "k.npy")
    np.save(path, np.eye(7))
    spec = learner_spec("omkc_dd")
    pool = {"normalise": "none", "kernels": [check_kernel({"kind": "precomputed", "file": path})]}
    with pytest.raises(UserError, match=f"Gram matrix of 7 rows, but the data have {data.T}"):
        run_pass(spec, spec.usual("classification"), pool, data, np.arange(data.T), 7)
    np.save(path, np.ones((3, 4)))
    with pytest.raises(UserError, match="n x n numbers, this is 3 x 4"):
        make_pool(pool["kernels"])


# ------------------------------------------------------------------ what is wrong with a kernel or its data


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "def by_rows(x, z, sigma): return 1.0",
            "by_rows must begin with product, norm2, other_norm2 or indices",
        ),
        ("def other(product, norm2, other_norm2, sigma): return 1.0", "has no function by_rows"),
        (
            "def by_rows(product, norm2, other_norm2, width): return 1.0",
            "by_rows takes width, which conf/kernel",
        ),
        ("import nosuch", "cannot be imported: ModuleNotFoundError"),
        (
            "def by_rows(product, norm2, other_norm2, sigma): return nosuch(sigma)",
            "by_rows cannot be compiled",
        ),
    ],
)
def test_a_function_that_does_not_fit(folder, text, said):
    (folder / "kernels" / "by_rows.py").write_text(text + "\n")
    with pytest.raises(UserError) as error:
        called_kernel(check_kernel("by_rows"), False)
    assert str(folder / "kernels" / "by_rows.py") in str(error.value)
    assert said in str(error.value)


def test_what_a_function_raises_ends_the_pass(folder):
    text = "def by_rows(product, norm2, other_norm2, sigma): return 1.0 / (norm2 - norm2)\n"
    (folder / "kernels" / "by_rows.py").write_text(text)
    with pytest.raises(ZeroDivisionError):
        one_pass("omkc_dd", clouds(), {"normalise": "none", "kernels": [check_kernel("by_rows")]})


def test_features_that_a_kernel_is_not_for():
    spec, data = learner_spec("omkc_dd"), clouds()
    pool = {"normalise": "none", "kernels": [check_kernel("chi2")]}
    with pytest.raises(UserError, match="chi2 kernel is for features that are not negative, but one is -"):
        run_pass(spec, spec.usual("classification"), pool, data, np.arange(data.T), 7)


def test_scales_are_set_from_the_ranges_of_the_data():
    spec, data = learner_spec("omkc_dd"), few(wdbc())
    X = matrix_of(data)
    given = {"kind": "ard", "sigma": 1.0, "scales": (X.max(0) - X.min(0)).tolist()}
    found = [
        run_pass(
            spec,
            spec.usual("classification"),
            {"normalise": "none", "kernels": [own]},
            data,
            np.arange(data.T),
            7,
        )
        for own in (given, check_kernel("ard"))
    ]
    assert found[0]["curve"] == found[1]["curve"]
    with pytest.raises(UserError, match="scales=auto of an ard kernel is set from a whole data set"):
        fresh_learner("omkc_dd", {"normalise": "none", "kernels": [check_kernel("ard")]}, data.d)
    with pytest.raises(UserError, match="an ard kernel has 2 numbers in scales, but the data have 30"):
        fresh_learner(
            "omkc_dd", {"normalise": "none", "kernels": [check_kernel("ard(scales=[1, 2])")]}, data.d
        )


def test_the_signature_of_every_kernel_fits_its_conf():
    from omkl.engine.called_kernels import arguments_of, function_of

    for name in CALLED:
        _, names = arguments_of(function_of(name), "")
        assert names == list(kernel_kind(name).parameters)
        assert inspect.getdoc(function_of(name))


@pytest.mark.parametrize("cosine", [False, True])
@pytest.mark.parametrize(("value", "said"), [("math.nan", "nan"), ("math.inf", "inf"), ("-math.inf", "-inf")])
def test_a_value_that_is_no_number_fails_with_the_kernel_and_the_round(folder, cosine, value, said):
    """Whatever the learner: comparisons would swallow it."""
    text = GAUSSIANS["by_products"].replace("return", f"return {value} if 4.0 in (norm2, other_norm2) else")
    (folder / "kernels" / "by_products.py").write_text(text)
    data = clouds(T=40)
    data.values[data.indptr[29] : data.indptr[30]] = [2.0] + [0.0] * (data.indptr[30] - data.indptr[29] - 1)
    kernels = [{"kind": "gaussian", "sigma": 1.0}, {"kind": "by_products", "sigma": 1.0}]
    pool = {"normalise": "cosine" if cosine else "none", "kernels": kernels}
    for name in ("omkc_dd", "omkc_ss", "bomkc_rbp", "auto"):
        spec = learner_spec(name)
        if spec.kernels == "pool":
            with pytest.raises(
                OmklError, match=rf"^the kernel by_products gives {said} in round 30: the values"
            ):
                run_pass(spec, spec.usual("classification"), pool, data, np.arange(data.T), 1)
