"""Data sets from arrays and data frames."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import omkl.data
from omkl.data import from_arrays
from omkl.errors import UserError


def test_arrays_of_any_kind_are_the_data_set_of_the_file():
    data = omkl.data.find("wdbc").load()
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
        assert made.classes == ("b", "m")
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


DAYS = pd.Series(pd.to_datetime(["2025-01-01", "2025-01-02"]))


@pytest.mark.parametrize(
    ("X", "y", "said"),
    [
        ([[1.0], [np.inf]], [0, 1], "row 1, column 0 is inf"),
        ([[1.0], [2.0]], [0, 1, 1], "3 labels for 2 rows"),
        ([[1.0], [2.0], [3.0]], [0, 0.5, 2], "3 different labels"),
        (
            pd.DataFrame([[1.0, 2.0], [2.0, 3.0]]).mul(1j),
            [0, 1],
            "column '0' holds lists, objects or complex numbers; in pandas",
        ),
        (DAYS.to_numpy()[:, None], [0, 1], r"not an array of numbers \(it holds datetime64"),
        (sp.csr_array([[1j], [2]]), [0, 1], "X holds complex numbers"),
        (np.array([[1 + 2j], [3.0]]), [0, 1], "X holds complex numbers"),
        (
            np.ma.masked_greater([[0.0, 9.0], [1.0, 0.5]], 5),
            [0, 1],
            "row 0, column 1 is masked; fill it in",
        ),
        ([[1.0], [2.0, 3.0]], [0, 1], "X is not an array of numbers"),
        (
            [["a"], [2.0]],
            [0, 1],
            "not an array of numbers .it holds <U32.; columns of a data frame may hold words",
        ),
        (np.empty((0, 2)), [], "must have rows and columns"),
    ],
)
def test_what_is_wrong_is_named(X, y, said):
    with pytest.raises(UserError, match=said):
        from_arrays(X, y)


def test_targets():
    assert from_arrays([[1.0], [2.0], [3.0]], [0.5, 2, 7], task="regression").y.tolist() == [0.5, 2.0, 7.0]


@pytest.mark.parametrize("task", ["classification", "regression"])
@pytest.mark.parametrize(
    "y",
    [
        [1.0, np.nan, 0.0],
        np.array([1.0, np.nan, 0.0], "f4"),
        [1, None, 0],
        ["yes", None, "no"],
        np.array(["yes", np.nan, "no"]),
        np.array(["yes", np.nan, "no"], object),
        pd.array([1, None, 0], "Int64"),
        pd.array([True, None, False], "boolean"),
        pd.Series(["yes", None, "no"]),
        pd.Series(["yes", None, "no"], dtype="string"),
        pd.Categorical(["yes", None, "no"]),
        np.ma.masked_equal([1, 7, 0], 7),
    ],
)
def test_a_missing_label_is_refused(task, y):
    with pytest.raises(
        UserError, match="arrays: the label of row 1 is missing; give it one, or leave the row"
    ):
        from_arrays(np.eye(3), y, task=task)


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_dates_and_complex_numbers_are_no_labels(task):
    for y in (DAYS, DAYS.diff(), list(DAYS), DAYS.to_numpy("M8[D]"), DAYS.astype(object)):
        with pytest.raises(UserError, match="the labels are dates, times or complex numbers; give numbers"):
            from_arrays(np.eye(2), y, task=task)
    with pytest.raises(UserError, match="the labels are dates, times or complex numbers"):
        from_arrays(np.eye(2), [1j, 2], task=task)
    assert from_arrays(np.eye(2), DAYS.astype(str)).classes == ("2025-01-01", "2025-01-02")


@pytest.mark.parametrize(
    ("y", "classes"),
    [
        ([1, "1.0", 0], ("0", "1")),
        (["None", "Mild", "Mild"], ("Mild", "None")),
        ([True, False, True], ("False", "True")),
        (pd.array([True, False, True], "boolean"), ("False", "True")),
        (["07", "7", "8"], ("7", "8")),
        (np.array([0, 1, 1], np.uint8), ("0", "1")),
        (np.array([b"a", b"b", b"b"]), ("a", "b")),
        (np.ma.array([0, 1, 1]), ("0", "1")),
    ],
)
def test_classes_of_labels_in_memory(y, classes):
    assert from_arrays(np.eye(3), y).classes == classes


def test_a_frame_of_any_number_types_and_an_unmasked_array():
    frame = pd.DataFrame({0: [True, False], 1: pd.array([1, 2], "Int64"), 2: np.array([0.5, 1], "f4")})
    assert from_arrays(frame, [0, 1]).values.tolist() == [1, 1, 0.5, 2, 1]
    assert from_arrays(np.ma.array([[1, 2], [3, 4]]), [0, 1]).values.tolist() == [1, 2, 3, 4]


@pytest.mark.parametrize(
    "X",
    [
        np.array([[1.0, 2.0], [3.0, np.nan]]),
        [[1.0, 2.0], [3.0, None]],
        pd.DataFrame({"0": [1, 3], "1": pd.array([2, None], "Int64")}),
        sp.csr_array([[1.0, 2.0], [3.0, np.nan]]),
    ],
)
def test_gaps_are_left_to_the_learner(X):
    made = from_arrays(X, [0, 1])
    assert made.indices.tolist() == [0, 1, 0, 1]
    assert np.array_equal(made.values, [1, 2, 3, np.nan], equal_nan=True)
    name = "'1'" if hasattr(X, "columns") else "column 2"
    said = f"missing values were filled: {name} (1) with the mean of earlier rows"
    assert any(note.startswith(said) for note in made.notes)
    assert made.content_hash == from_arrays(np.array([[1.0, 2.0], [3.0, np.nan]]), [0, 1]).content_hash
