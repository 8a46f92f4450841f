"""Data sets from arrays and data frames."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import omkl.data
from omkl.data import from_arrays
from omkl.errors import UserError


def test_arrays_of_any_kind_are_the_data_set_of_the_file():
    data = omkl.data.load("wdbc")
    X = sp.csr_array((data.values, data.indices, data.indptr), shape=(data.T, data.d))
    dense = X.toarray()
    columns = [f"f{i}" for i in range(data.d)]
    for rows in (
        X,
        sp.csc_matrix(X),
        sp.coo_array(X),
        dense,
        np.asfortranarray(dense),
        pd.DataFrame(dense, columns=columns),
    ):
        made = from_arrays(rows, np.where(data.y > 0, "m", "b"))
        assert made.content_hash == data.content_hash
        assert made.notes == ("labels: b -> -1, m -> +1",)
    assert repr(made) == f"Dataset('arrays', T=569, d=30, classification, sha256 {data.content_hash[:12]})"


def test_a_polars_frame():
    polars = pytest.importorskip("polars")
    made = from_arrays(polars.DataFrame({"a": [1.0, 0.0], "b": [2, 3]}), [True, False])
    assert (made.values.tolist(), made.y.tolist()) == ([1.0, 2.0, 3.0], [1.0, -1.0])


def test_the_arrays_given_stay_as_they_are():
    X = sp.csr_array(np.array([[0.0, 1.0], [2.0, 0.0]]))
    X.data[0] = 0.0
    before = X.data.copy()
    from_arrays(X, [0, 1])
    np.testing.assert_array_equal(X.data, before)


@pytest.mark.parametrize(
    ("X", "y", "said"),
    [
        ([[1.0], [np.nan]], [0, 1], "row 1, column 0 is nan"),
        (pd.DataFrame({"a": [1, 2], "b": ["x", "y"]}), [0, 1], "'b' holds values that are not numbers"),
        ([[1.0], [2.0]], [0, 1, 1], "3 labels for 2 rows"),
        ([[1.0], [2.0], [3.0]], [0, 0.5, 2], "3 different labels"),
        (np.empty((0, 2)), [], "must have rows and columns"),
    ],
)
def test_what_is_wrong_is_named(X, y, said):
    with pytest.raises(UserError, match=said):
        from_arrays(X, y)


def test_targets():
    assert from_arrays([[1.0], [2.0], [3.0]], [0.5, 2, 7], task="regression").y.tolist() == [0.5, 2.0, 7.0]
