"""With NUMBA_BOUNDSCHECK=1, an index beyond an array's end is an error in every kind of compiled function.

So the twins and contracts that CI runs that way can fail. Lanes are checked too (engine/lanes.py).
"""

import os

import numpy as np
import pytest
from support.engine_cases import case_stream, clouds, one_pass

from omkl.engine import budgeted, expansion
from omkl.engine.experts import discount
from omkl.engine.slot_values import least_slots

pytestmark = pytest.mark.skipif(os.environ.get("NUMBA_BOUNDSCHECK") != "1", reason="indices are not checked")


def test_a_compiled_function():
    with pytest.raises(IndexError):
        discount(np.ones(3), 0.5, np.zeros(2, bool))


def test_a_function_without_counted_references():
    cost, born = np.ones((2, 3)), np.zeros((4, 3), np.int64)
    found = np.zeros(3, np.int64), np.full(3, np.inf), np.zeros(3, np.int64)
    least_slots(cost, born, 0, 2, *found)
    with pytest.raises(IndexError):
        least_slots(cost, born, 0, 3, *found)


def test_a_function_called_by_address():
    data = clouds()
    B = one_pass("bomkc_rbp", data, "paper16")[0].state["B"]
    with pytest.raises(IndexError):
        budgeted.outputs(B, case_stream(data), data.T + 1000)  # far beyond the stream's end


def test_coefficients_for_more_kernels_than_there_are():
    data = clouds()
    E = one_pass("omkc_dd", data, "paper16")[0].state["E"]
    with pytest.raises(IndexError):
        expansion.add(E, case_stream(data), 0, np.ones(E.f.size + 1))
