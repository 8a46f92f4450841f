"""Domains of hyperparameters, canonical numbers, kernels."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from omkl import schema
from omkl.config.kernel_kinds import check_kernel, check_kernels, kernel_kind
from omkl.engine.kernels import EITHER, KINDS, constants
from omkl.schema import domain_check

FINITE = st.floats(allow_nan=False, allow_infinity=False)


@pytest.mark.parametrize(
    ("form", "good", "bad"),
    [
        ("(0, 1)", [0.5, 1e-300, 0.999], [0, 1, 0.0, 1.0, -1, math.nan, math.inf, True, "0.5", None, [0.5]]),
        ("[0, 1]", [0, 1, 0.5], [-1e-9, 1.0000001, False]),
        ("(0, inf)", [1e308, 1], [0, math.inf, -math.inf, 10**400]),
        ("int [1, inf)", [1, 2**62], [0, 1.0, 1.5, True, "1", 2**63, None]),
        ("int (-3, 3]", [-2, 3], [-3, 4]),
        ("int [1, inf) or null", [1, None], [0, "null"]),
        ("bool", [True, False], [0, 1, "true", None]),
        (["max", "sum"], ["max", "sum"], ["mx", 1, None, True, ["max"]]),
        ([1, 2], [1, 2], [True, 3, "1"]),
        ("text", ["x"], ["", 1, None]),
        ("names", ["x", ["x", "y"], [], None], [1, ["x", 1], [""], {}]),
    ],
)
def test_domains_accept_and_refuse(form, good, bad):
    check = domain_check(form)
    for value in good:
        check(value)
    for value in bad:
        with pytest.raises(ValueError, match="must be"):
            check(value)


@pytest.mark.parametrize(
    "form", ["0..1", "(0 1)", "float", "(a, b)", [], 3, None, {"a": 1}, "(0, 1) or none"]
)
def test_a_domain_that_cannot_be_read_is_refused(form):
    with pytest.raises(ValueError, match=r"domain|could not convert"):
        domain_check(form)


def test_an_int_becomes_a_float_where_the_domain_is_one_of_floats():
    assert repr(domain_check("(0, inf)")(3)) == "3.0"


@given(FINITE)
def test_canonical_moves_a_float_by_a_few_units_at_most_and_only_once(number):
    result = schema.canonical(number)
    assert abs(result - number) <= 4 * math.ulp(number)
    assert repr(schema.canonical(result)) == repr(result)
    assert math.copysign(1.0, result) == 1.0 or result < 0


@given(st.integers(-(10**6), 10**6), st.integers(-6, 6), st.integers(1, 12))
def test_canonical_removes_the_dust_of_decimal_arithmetic(digits, exponent, times):
    exact = float(f"{digits * times}e{exponent}")
    dusty = times * float(f"{digits}e{exponent}")
    assert schema.canonical(dusty) == exact


def test_canonical_keeps_irrational_widths():
    assert schema.canonical(0.30000000000000004) == 0.3
    for number in (2**-0.5, 2**0.5, 1 / 3, math.pi, 0.1234567890123456):
        assert schema.canonical(number) == number


@pytest.mark.parametrize(
    ("kernel", "expected"),
    [
        ({"kind": "linear"}, {"kind": "linear"}),
        ({"sigma": 2, "kind": "gaussian"}, {"kind": "gaussian", "sigma": 2.0}),
        ({"kind": "gaussian", "gamma": 0.01}, {"kind": "gaussian", "gamma": 0.01}),
        ({"kind": "laplacian", "sigma": 1}, {"kind": "laplacian", "sigma": 1.0}),
        (
            {"kind": "polynomial", "degree": 3},
            {"kind": "polynomial", "degree": 3, "scale": 1.0, "coef0": 0.0},
        ),
    ],
)
def test_kernels_in_canonical_form(kernel, expected):
    assert repr(check_kernel(kernel)) == repr(expected)


@pytest.mark.parametrize(
    ("kernel", "said"),
    [
        ({}, "a kernel needs a kind"),
        ({"kind": "gausian", "sigma": 1}, "did you mean 'gaussian'"),
        ({"kind": 3}, "unknown kernel kind 3"),
        ({"kind": "gaussian"}, "exactly one of sigma and gamma, got neither"),
        ({"kind": "gaussian", "sigma": 1, "gamma": 1}, "exactly one of sigma and gamma, got both"),
        (
            {"kind": "gaussian", "sigma": 0},
            "sigma of a gaussian kernel must be a number ≥ 1e-150 and",
        ),
        ({"kind": "gaussian", "sigma": -1}, "got -1"),
        ({"kind": "gaussian", "gamma": math.inf}, "got inf"),
        ({"kind": "gaussian", "sigma": 1e-170}, "number ≥ 1e-150 and ≤ 1e150, got 1e-170"),
        ({"kind": "gaussian", "sigma": 1e170}, "got 1e+170"),
        ({"kind": "laplacian", "sigma": 1e-309}, "got 1e-309"),
        ({"kind": "laplacian"}, "needs sigma"),
        ({"kind": "polynomial"}, "needs degree"),
        ({"kind": "polynomial", "degree": 0}, "whole number ≥ 1 and ≤ 1000, got 0"),
        ({"kind": "polynomial", "degree": 2.5}, "whole number"),
        ({"kind": "polynomial", "degree": 2, "coef": 1}, "did you mean 'coef0'"),
        ({"kind": "polynomial", "degree": 2, "coef0": -1}, "number ≥ 0, got -1"),
        ({"kind": "polynomial", "degree": 2, "scale": 0}, "number > 0, got 0"),
        ({"kind": "linear", "degree": 2}, "has no 'degree'"),
        ({"kind": "gaussian", "sigma": [1, 2]}, "must be a number"),
        ("linera", "must be a kernel such as"),
        ("kind:gaussian", "the shell expands them"),
    ],
)
def test_a_bad_kernel_is_refused(kernel, said):
    with pytest.raises(ValueError, match="kernel") as error:
        check_kernel(kernel)
    assert said in str(error.value)


PARTS = st.sampled_from(["sigma", "gamma", "degree", "scale", "coef0", "alpha"])


@given(st.sampled_from(sorted(KINDS)), st.dictionaries(PARTS, FINITE | st.integers(), max_size=3))
def test_an_accepted_kernel_has_a_usable_rate(kind, parameters):
    try:
        kernel = check_kernel({"kind": kind, **parameters})
    except ValueError:
        return
    assert 0.0 < constants(kernel)[1] < math.inf
    assert check_kernel(kernel) == kernel


def test_lists_in_a_pool_become_several_kernels():
    kernels = check_kernels(
        [{"kind": "gaussian", "sigma": [0.5, 1]}, {"kind": "polynomial", "degree": [1, 2], "coef0": [0, 1]}]
    )
    assert [k["sigma"] for k in kernels[:2]] == [0.5, 1.0]
    assert [(k["degree"], k["coef0"]) for k in kernels[2:]] == [(1, 0.0), (1, 1.0), (2, 0.0), (2, 1.0)]


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
