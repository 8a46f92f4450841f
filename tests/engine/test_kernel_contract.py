"""Every kind of kernel against its plain formula, with extreme settings and on vectors of many sorts."""

import numpy as np
import pytest

from omkl.config.kernel_kinds import check_kernel
from omkl.engine.kernels import EITHER, KINDS, all_vanish, constants, falls, of_distance, reach, vanishes
from omkl.testing.kernel_check import check_sums, extreme_settings

USUAL = {"degree": 2, "coef0": 1.0}


def usual(kind):
    names = [name for name in KINDS[kind] if name not in EITHER.get(kind, [])[1:]]
    return check_kernel({"kind": kind, **{name: USUAL.get(name, 1.0) for name in names}})


def extreme(kind):
    """Settings of a kind; of a polynomial the largest overflow, and the check of data refuses such rows."""
    some = extreme_settings(usual(kind), check_kernel)
    return [one for one in some if max(one.get("degree", 1), one.get("scale", 1.0)) < 50]


@pytest.mark.parametrize("normalise", ["none", "cosine"])
@pytest.mark.parametrize("kind", KINDS)
def test_sums_of_every_kind_are_those_of_the_plain_formula(kind, normalise):
    some = extreme(kind)
    counts = check_sums(some, normalise)
    assert counts.outputs >= len(some) * 8 * 4 * 45
    assert counts.equal > 0


def test_all_kinds_in_one_pool():
    check_sums([kernel for kind in KINDS for kernel in extreme(kind)[:4]])


def test_what_falls_is_assumed_of_no_periodic_kernel():
    """It vanishes at the nearest and the farthest of three vectors, and not at the one between them."""
    form = (*constants({"kind": "periodic", "period": 1.0, "length": 0.02}), False)
    assert of_distance(form[0])
    assert not falls(form[0])
    square = [0.25, 1.0, 2.25]
    assert not vanishes(form, square[0])
    assert reach(form, 746.0) == float("inf")
    assert not all_vanish(form, 2.25, np.array(square), 3)
