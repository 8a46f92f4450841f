"""Data of regression and novelty detection: the registered sets, their preparation, users' files."""

import csv
from types import SimpleNamespace

import numpy as np
import pytest

from omkl import data
from omkl.config import plan
from omkl.data import registry
from omkl.data.reading.numbered import undense
from omkl.errors import UserError
from omkl.runs.cells import expand

OTHERS = [  # sets of files; the generated ones are in no manifest
    name
    for name in registry.registered_names()
    if (own := registry.entry(name)).task != "classification" and any(form.files for form in own.forms)
]


def dense(loaded):
    return undense(SimpleNamespace(**vars(loaded) | {"labels": loaded.y}))


@pytest.mark.parametrize(("ours", "most"), [("energy", 2e-15), ("air", 0.0)])
def test_raw_files_are_prepared_as_the_authors_did(shared_data, monkeypatch, ours, most):
    monkeypatch.setenv("OMKL_DATA", str(shared_data))
    mine = data.find(ours).load()
    with np.load(shared_data / f"adaraker_{ours}.npz") as theirs:
        assert np.abs(dense(mine) - theirs["X"]).max() <= most
        assert np.abs(mine.y - theirs["y"].ravel()).max() <= most


@pytest.mark.parametrize("name", [*OTHERS, "adaraker_har"])
def test_shared_set_loads_as_registered(shared_data, monkeypatch, name):
    monkeypatch.setenv("OMKL_DATA", str(shared_data))
    item, loaded = registry.entry(name), data.find(name).load()
    assert (loaded.T, loaded.d, loaded.nnz, loaded.task) == (item.T, item.d, item.nnz, item.task)
    assert loaded.content_hash == item.content_hash
    with open(shared_data / "MANIFEST_regression.csv", encoding="utf-8", newline="") as file:
        rows = {row["file"]: row for row in csv.DictReader(file)}
    row = rows[data.registered(name).paths()[0].name]
    if not row["name"].endswith("_raw"):
        assert (loaded.T, loaded.d) == (int(row["rows"]), int(row["features"]))
    if item.task == "regression":
        assert loaded.y.min() >= 0
        assert loaded.y.max() <= 1 + 1e-15
    else:
        assert name == "adaraker_har" or set(loaded.y) == set(range(10))


@pytest.fixture
def targets(tmp_path, monkeypatch):
    """A user's file whose last column holds real numbers."""
    monkeypatch.setenv("OMKL_CACHE", str(tmp_path / "cache"))
    path = tmp_path / "mine.csv"
    path.write_text("a,b,y\n1,2,0.5\n2,0,-1.25\n3,1,2\n")
    return str(path)


def test_a_file_with_targets_says_what_it_needs_and_loads_with_it(targets):
    with pytest.raises(UserError, match=r"different labels .*; task=regression takes them as targets"):
        data.find(targets).load()
    loaded = data.find(targets, task="regression").load()
    assert (loaded.task, loaded.y.tolist()) == ("regression", [0.5, -1.25, 2.0])
    assert data.find(targets, task="regression").load().path == loaded.path


def test_words_are_no_targets(tmp_path, monkeypatch):
    monkeypatch.setenv("OMKL_CACHE", str(tmp_path / "cache"))
    (tmp_path / "mine.csv").write_text("a,b,y\n1.5,2,low\n2,0,high\n")
    with pytest.raises(
        UserError, match=r"mine\.csv: row 1: column 'y' holds 'low', which is not a number; correct"
    ):
        data.find(str(tmp_path / "mine.csv"), task="regression").load()


def test_the_same_file_as_classes_and_as_targets_are_two_data_sets(tmp_path, monkeypatch):
    monkeypatch.setenv("OMKL_CACHE", str(tmp_path / "cache"))
    (tmp_path / "mine.csv").write_text("a,b,y\n1,2,-1\n2,0,1\n")
    both = [
        data.find(str(tmp_path / "mine.csv"), task=task).load() for task in ("classification", "regression")
    ]
    assert [loaded.task for loaded in both] == ["classification", "regression"]
    assert both[0].content_hash == both[1].content_hash
    words = [f"data={tmp_path / 'mine.csv'}", "yardsticks=[]", "reps=1"]
    (classes,), (numbers,) = (
        expand(plan([*words, *more])) for more in (["algo=arow"], ["algo=last_value", "task=regression"])
    )
    assert (classes.setting["task"], numbers.setting["task"]) == ("classification", "regression")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            ["algo=omkc_dd", "data=adaraker_air"],
            "omkc_dd is for classification, data=adaraker_air for regression",
        ),
        (["algo=last_value", "data=wdbc"], "last_value is for regression, data=wdbc for classification"),
        (["algo=last_value", "data=usps_test"], "last_value is for regression, data=usps_test for novelty"),
    ],
)
def test_a_learner_that_does_not_fit_the_data_is_refused(shared_data, monkeypatch, words, said):
    monkeypatch.setenv("OMKL_DATA", str(shared_data))
    with pytest.raises(UserError, match=said):
        expand(plan(words))


def test_only_files_take_a_task():
    with pytest.raises(UserError, match=r"task=regression: data=wdbc is registered for classification"):
        plan(["data=wdbc", "task=regression"])
