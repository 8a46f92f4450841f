"""Kernels of conf/kernel and of folders, sums, products and Gram matrices: what is right, what is said."""

import math

import numpy as np
import pytest
from hypothesis import given as given_by
from hypothesis import strategies as st

from omkl.config.kernel_kinds import check_kernel, check_kernels, is_one, kernel_kind, kernel_of_text, kinds
from omkl.config.parameters import kernels_text, value_text
from omkl.engine.kernels import EITHER, KINDS, constants
from omkl.errors import UserError
from omkl.paths import extended, kernel_file

CAUCHY = "def cauchy(product, norm2, other_norm2, sigma):\n    return 1.0 / (1.0 + product / sigma)\n"
YAML = 'sigma: {value: 1.0, domain: "(0, inf)", help: "width"}\nabout: {formula: "1 / (1 + x)"}\n'


@pytest.fixture
def mine(tmp_path):
    folder = tmp_path / "mine"
    for name, text in {"kernels/cauchy.py": CAUCHY, "conf/kernel/cauchy.yaml": YAML}.items():
        (folder / name).parent.mkdir(parents=True)
        (folder / name).write_text(text)
    with extended([folder]):
        yield folder


def test_every_kind_of_conf_has_a_function_and_a_formula():
    own = [name for name in kinds() if name != "precomputed"]
    assert len(own) > 15
    for name in own:
        assert kernel_kind(name).formula
        if name not in KINDS:
            assert kernel_file(name).is_file()
            assert check_kernel({"kind": name})["kind"] == name


@pytest.mark.parametrize(
    ("given", "canonical"),
    [
        ({"kind": "linear"}, {"kind": "linear"}),
        ({"sigma": 2, "kind": "gaussian"}, {"kind": "gaussian", "sigma": 2.0}),
        ({"kind": "gaussian", "gamma": 0.01}, {"kind": "gaussian", "gamma": 0.01}),
        (
            {"kind": "polynomial", "degree": 3},
            {"kind": "polynomial", "degree": 3, "scale": 1.0, "coef0": 0.0},
        ),
        ({"kind": "chi2"}, {"kind": "chi2", "gamma": 1.0}),
        ("chi2(gamma=2)", {"kind": "chi2", "gamma": 2.0}),
        ("ard(sigma=2, scales=[1, 3])", {"kind": "ard", "sigma": 2.0, "scales": [1.0, 3.0]}),
        ({"kind": "ard"}, {"kind": "ard", "sigma": 1.0, "scales": "auto"}),
    ],
)
def test_a_kernel_in_canonical_form(given, canonical):
    assert repr(check_kernel(given)) == repr(canonical)  # in this order, and of these types
    assert check_kernel(canonical) == canonical
    assert is_one(canonical)
    assert kernels_text([canonical])
    assert kernel_of_text(value_text(canonical)) == canonical


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({}, "a kernel needs a kind"),
        ({"kind": "gausian", "sigma": 1}, "did you mean 'gaussian'"),
        ({"kind": 3}, "unknown kernel kind 3"),
        ({"kind": "sum", "kernels": ["linear", "chi2"]}, "a sum of kernels is a function of your own"),
        ({"kind": "gaussian"}, "exactly one of sigma and gamma, got neither"),
        ({"kind": "gaussian", "sigma": 1, "gamma": 1}, "exactly one of sigma and gamma, got both"),
        ({"kind": "gaussian", "sigma": 0}, "sigma of a gaussian kernel must be a number ≥ 1e-150 and"),
        ({"kind": "gaussian", "sigma": -1}, "got -1"),
        ({"kind": "gaussian", "gamma": math.inf}, "got inf"),
        ({"kind": "gaussian", "sigma": 1e-170}, "number ≥ 1e-150 and ≤ 1e150, got 1e-170"),
        ({"kind": "gaussian", "sigma": 1e170}, "got 1e+170"),
        ({"kind": "gaussian", "sigma": [1, 2]}, "must be a number"),
        ({"kind": "laplacian", "sigma": 1e-309}, "got 1e-309"),
        ({"kind": "laplacian"}, "needs sigma"),
        ({"kind": "polynomial"}, "needs degree"),
        ({"kind": "polynomial", "degree": 0}, "whole number ≥ 1 and ≤ 1000, got 0"),
        ({"kind": "polynomial", "degree": 2.5}, "whole number"),
        ({"kind": "polynomial", "degree": 2, "coef": 1}, "did you mean 'coef0'"),
        ({"kind": "polynomial", "degree": 2, "coef0": -1}, "number ≥ 0, got -1"),
        ({"kind": "polynomial", "degree": 2, "scale": 0}, "number > 0, got 0"),
        ({"kind": "linear", "degree": 2}, "has no 'degree'"),
        ("linera", "must be a kernel such as"),
        ("kind:gaussian", "the shell expands them"),
        ({"kind": "chi3"}, "unknown kernel kind 'chi3' (did you mean 'chi2'?)"),
        ({"kind": "chi2", "gamma": 0}, "gamma of a chi2 kernel must be a number > 0, got 0"),
        ({"kind": "chi2", "sigma": 1}, "a chi2 kernel has no 'sigma'"),
        ({"kind": "ard", "scales": []}, "must be a list of numbers"),
        ({"kind": "precomputed"}, "needs file"),
        ({"kind": "precomputed", "file": "nosuch.npy"}, "there is no such file; looked for nosuch.npy"),
        ({"kind": "gaussian", "sigma": 1, "source": "0123"}, "kernels/gaussian.py has changed since"),
    ],
)
def test_a_wrong_kernel_is_refused(given, said):
    with pytest.raises(ValueError, match=r"kernel|sum|product|file|numbers") as error:
        check_kernel(given)
    assert said in str(error.value)


def test_lists_of_lists_are_several_kernels():
    pool = [
        {"kind": "gaussian", "sigma": [0.5, 1]},
        {"kind": "polynomial", "degree": [1, 2], "coef0": [0, 1]},
    ]
    kernels = check_kernels(pool)
    assert [one["sigma"] for one in kernels[:2]] == [0.5, 1.0]
    assert [(one["degree"], one["coef0"]) for one in kernels[2:]] == [(1, 0.0), (1, 1.0), (2, 0.0), (2, 1.0)]
    pool = [{"kind": "ard", "scales": [[1, 2], [3, 4]], "sigma": [1, 2]}, {"kind": "ard", "scales": [1, 2]}]
    assert [one["scales"] for one in check_kernels(pool)] == [[1, 2], [1, 2], [3, 4], [3, 4], [1, 2]]


def test_a_kernel_of_a_folder_has_the_hash_of_its_source(mine):
    one = check_kernel("cauchy(sigma=2)")
    assert one == {"kind": "cauchy", "sigma": 2.0, "source": one["source"]}
    assert value_text(one) == "cauchy(sigma=2)"
    assert check_kernel(one) == one
    (mine / "kernels" / "cauchy.py").write_text(CAUCHY.replace("1.0 +", "2.0 +"))
    assert check_kernel("cauchy(sigma=2)")["source"] != one["source"]
    with pytest.raises(ValueError, match=r"kernels/cauchy.py has changed since"):
        check_kernel(one)


def test_a_gram_matrix_has_the_hash_of_its_file(tmp_path):
    np.save(tmp_path / "k.npy", np.eye(3))
    one = check_kernel({"kind": "precomputed", "file": str(tmp_path / "k.npy")})
    np.save(tmp_path / "k.npy", 2 * np.eye(3))
    assert check_kernel({"kind": "precomputed", "file": str(tmp_path / "k.npy")})["source"] != one["source"]


@pytest.mark.parametrize(
    ("file", "said"),
    [
        ("sigma: {value: 1.0, domain: '(0, inf)', help: x}\n", "'about' is missing"),
        ("about: {}\n", "'about.formula' is missing"),
        ("kind: {value: 1.0, domain: '(0, inf)', help: x}\nabout: {formula: x}\n", "cannot be named 'kind'"),
        ("sigma: {value: -1.0, domain: '(0, inf)', help: x}\nabout: {formula: x}\n", "must be a number > 0"),
    ],
)
def test_a_faulty_file_is_named(mine, file, said):
    path = mine / "conf" / "kernel" / "cauchy.yaml"
    path.write_text(file)
    with pytest.raises(UserError) as error:
        check_kernel("cauchy")
    assert str(path) in str(error.value)
    assert said in str(error.value)


def test_a_name_of_omkl_s_is_taken(mine):
    (mine / "conf" / "kernel" / "linear.yaml").write_text(YAML)
    with pytest.raises(UserError, match="the kind 'linear' is one of omkl's"):
        kinds()


PARTS = st.sampled_from(["sigma", "gamma", "degree", "scale", "coef0", "alpha"])


@given_by(
    st.sampled_from(sorted(KINDS)),
    st.dictionaries(PARTS, st.floats(allow_nan=False, allow_infinity=False) | st.integers(), max_size=3),
)
def test_an_accepted_kernel_has_a_usable_rate(kind, parameters):
    try:
        kernel = check_kernel({"kind": kind, **parameters})
    except ValueError:
        return
    assert 0.0 < constants(kernel)[1] < math.inf
    assert check_kernel(kernel) == kernel


@pytest.mark.parametrize("value", [[], {}, "x", None, [{"kind": "gaussian", "sigma": []}], [["linear"]]])
def test_a_bad_list_of_kernels_is_refused(value):
    with pytest.raises(ValueError, match=r"list|kernel 1"):
        check_kernels(value)


def test_kinds_of_the_engine_are_read_without_importing_it():
    found = {name: kernel_kind(name) for name in KINDS}
    assert {kind: list(own.parameters) for kind, own in found.items()} == {
        k: list(v) for k, v in KINDS.items()
    }
    assert {kind: own.either for kind, own in found.items() if own.either} == EITHER
