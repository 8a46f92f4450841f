"""Domains of hyperparameters, and canonical numbers."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from omkl import schema
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
