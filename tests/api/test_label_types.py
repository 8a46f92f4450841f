"""A fitted model keeps the type of the labels: whatever holds them, and after it was saved and loaded."""

import numpy as np
import pandas as pd
import pytest

import omkl

rng = np.random.default_rng(0)
X = pd.DataFrame(rng.normal(size=(60, 3)), columns=list("abc"))
FIRST = X.a > 0

LABELS = {
    "bool": (pd.Series(FIRST), [False, True]),
    "boolean": (pd.Series(FIRST).astype("boolean"), [False, True]),
    "bools as objects": (pd.Series(FIRST).astype(object), [False, True]),
    "halves": (pd.Series(np.where(FIRST, 1.5, 2.0)), [1.5, 2.0]),
    "whole floats": (pd.Series(np.where(FIRST, 1.0, 2.0)), [1.0, 2.0]),
    "float32": (pd.Series(np.where(FIRST, 0.1, 2.0).astype(np.float32)), [float(np.float32(0.1)), 2.0]),
    "ints": (pd.Series(np.where(FIRST, 9, 10)), [9, 10]),
    "large ints": (pd.Series(np.where(FIRST, 2**53 + 1, 2**53)), [2**53, 2**53 + 1]),
    "numeric words": (pd.Series(np.where(FIRST, "9", "10")), ["10", "9"]),
    "words of floats": (pd.Series(np.where(FIRST, "1.0", "2.0")), ["1.0", "2.0"]),
    "words of truth": (pd.Series(np.where(FIRST, "true", "false")), ["false", "true"]),
    "words": (pd.Series(np.where(FIRST, "yes", "no")), ["no", "yes"]),
    "category of words": (pd.Series(np.where(FIRST, "9", "10")).astype("category"), ["10", "9"]),
    "category of ints": (pd.Series(np.where(FIRST, 9, 10)).astype("category"), [9, 10]),
    "category of bools": (pd.Series(FIRST).astype("category"), [False, True]),
    "Int64": (pd.Series(np.where(FIRST, 9, 10)).astype("Int64"), [9, 10]),
    "arrow ints": (pd.Series(np.where(FIRST, 9, 10)).astype("int64[pyarrow]"), [9, 10]),
    "arrow bools": (pd.Series(FIRST).astype("bool[pyarrow]"), [False, True]),
    "arrow words": (pd.Series(np.where(FIRST, "9", "10")).astype("string[pyarrow]"), ["10", "9"]),
    "three floats": (pd.Series(np.where(FIRST, 0.5, np.where(X.b > 0, 1.5, 2.5))), [0.5, 1.5, 2.5]),
}


def _same_types(predicted, expected):
    assert {type(value) for value in predicted.tolist()} <= {type(value) for value in expected}
    assert set(predicted.tolist()) <= set(expected)


@pytest.mark.parametrize("source", ["pandas", "polars", "numpy"])
@pytest.mark.parametrize("given", ["column", "y="])
@pytest.mark.parametrize("kind", LABELS)
def test_a_model_keeps_the_type_of_its_labels(kind, given, source, tmp_path):
    labels, expected = LABELS[kind]
    rows, y = X, labels
    if source == "polars":
        polars = pytest.importorskip("polars")
        if kind == "bools as objects":
            pytest.skip("polars has no such column")
        whole = polars.from_pandas(X.assign(label=labels))
        rows, y = whole.drop("label"), whole["label"]
        data = whole
    elif source == "numpy":
        if given == "column":
            pytest.skip("an array has no columns")
        rows, y = X.to_numpy(), np.asarray(labels)
    else:
        data = X.assign(label=labels)
    model = omkl.fit("arow", data, label="label") if given == "column" else omkl.fit("arow", rows, y=y)
    predicted = model.predict(rows)
    _same_types(predicted, expected)
    assert (predicted == np.asarray(labels.tolist())).mean() > 0.8
    assert omkl.load_model(model.save(tmp_path / "m.omkl")).predict(rows).tolist() == predicted.tolist()
    again = model.update(rows, y=y).predict(rows)
    _same_types(again, expected)


@pytest.mark.parametrize("kind", ["bool", "whole floats", "ints", "numeric words", "words of truth"])
def test_a_model_of_an_estimator_s_file_keeps_them(kind, tmp_path):
    from omkl.sklearn import ArowClassifier

    labels, _ = LABELS[kind]
    own = ArowClassifier().fit(X.to_numpy(), labels.to_numpy())
    own.to_file(tmp_path / "m.omkl")
    predicted = omkl.load_model(tmp_path / "m.omkl").predict(X.to_numpy())
    assert predicted.tolist() == own.predict(X.to_numpy()).tolist()
    back = ArowClassifier.from_file(omkl.fit("arow", X.to_numpy(), y=labels).save(tmp_path / "n.omkl"))
    _same_types(back.predict(X.to_numpy()), labels.tolist())


@pytest.mark.parametrize("kind", ["bool", "numeric words", "halves", "ints"])
@pytest.mark.parametrize("form", ["csv", "parquet", "npz"])
def test_labels_of_a_file_are_those_that_pandas_reads(form, kind, tmp_path):
    labels = LABELS[kind][0]
    rows, path = X.assign(label=labels), tmp_path / f"rows.{form}"
    if form == "npz":
        y = np.asarray(labels.tolist())
        np.savez(path, X=X.to_numpy(), y=y)
    elif form == "csv":
        rows.to_csv(path, index=False)
        y = pd.read_csv(path).label.to_numpy()
    else:
        rows.to_parquet(path)
        y = labels.to_numpy()
    for _ in range(2):  # the second time from the parsed copy
        predicted = omkl.fit("arow", path).predict(path)
        _same_types(predicted, y.tolist())
        assert (predicted == y).mean() > 0.8


def test_the_positive_class_keeps_its_type_beside_the_others():
    labels = LABELS["three floats"][0]
    predicted = omkl.fit("arow", X.assign(label=labels), label="label", positive=0.5).predict(X)
    assert set(predicted.tolist()) == {0.5, "other"}
