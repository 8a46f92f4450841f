"""A data set as one object: here without being read, in a worker, and in a process that starts later."""

import json
import pickle
from collections import OrderedDict

import numpy as np
import pytest

from omkl import data
from omkl.cli import main
from omkl.config import plan
from omkl.data.own_data import Own
from omkl.data.preparation import Preparation
from omkl.data.ref import Parsed
from omkl.data.registered_data import Registered
from omkl.errors import OmklError, UserError
from omkl.runs.runner import run_plan

TABLE = "a,b,y\n" + "".join(f"{i},{i * i % 7},{'yes' if i % 3 else 'no'}\n" for i in range(30))


@pytest.fixture(autouse=True)
def folders(tmp_path, monkeypatch):
    monkeypatch.setenv("OMKL_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("OMKL_DATA", "")
    monkeypatch.setenv("OMKL_OFFLINE", "1")
    monkeypatch.setattr("omkl.data.ref._open", OrderedDict())
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my.csv").write_text(TABLE)


def table(**wanted):
    return data.find("my.csv", preparation=Preparation(missing="drop", **wanted))


def test_a_registered_set_answers_without_its_data():
    ref = data.find("a9a")
    assert isinstance(ref, Registered)
    assert (ref.name, ref.task, ref.T, ref.n_classes) == ("a9a", "classification", 48842, 2)
    assert ref.content_hash == data.registry.entry("a9a").content_hash
    with pytest.raises(UserError, match="data set a9a not found"):
        ref.load()


def test_a_file_is_read_once_and_when_it_is_first_needed():
    ref = table()
    assert isinstance(ref, Own)
    assert (ref.name, str(ref), ref.prepared) == ("my", "my.csv", "missing=drop")
    assert ref.load() is ref.load()
    assert (ref.T, ref.classes, ref.recipe.features) == (30, ("no", "yes"), ["a", "b"])
    assert data.find("wdbc").recipe is None


@pytest.mark.parametrize("make", [lambda: data.find("wdbc"), table])
def test_elsewhere_it_is_its_parsed_copy(make):
    ref = make()
    text = pickle.dumps(ref)
    assert len(text) < 1000
    again = pickle.loads(text)
    assert isinstance(again, Parsed)
    assert again.source == ref.copy
    assert (again.name, again.task, again.content_hash) == (ref.name, ref.task, ref.content_hash)
    assert np.array_equal(again.load().values, ref.load().values)


def test_without_a_cache_the_data_themselves_go_elsewhere(tmp_path):
    (tmp_path / "cache").write_text("a file where the folder should be")
    again = pickle.loads(pickle.dumps(table()))
    assert (again.copy, again.T) == (None, 30)


def test_another_copy_than_the_one_that_was_sent_is_noticed():
    ref, other = table(), data.find("wdbc")
    with pytest.raises(OmklError, match="my changed during the run"):
        Parsed("my", ref.task, "my", ref.content_hash, "", other.copy).load()
    with pytest.raises(OmklError, match="my: its data did not reach this worker"):
        Parsed("my", ref.task, "my", "0" * 64, "", None).load()


def test_a_process_that_starts_later_finds_it_again(tmp_path, monkeypatch):
    refs = table(positive="no"), data.find("wdbc")
    texts = [json.dumps(ref.to_json()) for ref in refs]
    assert all(ref.load() for ref in refs)
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    for ref, text in zip(refs, texts, strict=True):
        again = data.from_json(json.loads(text))
        assert (again.name, again.prepared, again.content_hash) == (ref.name, ref.prepared, ref.content_hash)
    with pytest.raises(UserError, match="mine: a job that starts later cannot find data in memory"):
        data.of_dataset(data.from_arrays([[0.0], [1.0]], [0, 1], name="mine")).to_json()


@pytest.mark.parametrize("jobs", [1, 2])
def test_data_in_memory_make_the_cells_of_a_file(tmp_path, jobs):
    rows = [line.split(",") for line in TABLE.splitlines()[1:]]
    X, y = np.array([row[:2] for row in rows], float), [row[2] for row in rows]
    own = data.of_dataset(data.from_arrays(X, y, name="my"), is_table=True)
    words = ["algo=omkc_ss", "yardsticks=[]", "reps=3", f"store={tmp_path / 'store'}"]
    first = run_plan(plan(words, data=[own]), jobs=jobs, progress=False)
    assert (first.ran, set(first.cells["data"])) == (3, {"my"})
    assert run_plan(plan([*words, "data=my.csv"]), progress=False).reused == 3
    text = pickle.dumps(own)
    assert len(text) < 1000  # each cell that is sent to a worker has it
    assert np.array_equal(pickle.loads(text).load().values, own.load().values)


def test_what_the_store_holds_needs_no_data(shared_data, tmp_path, monkeypatch, capsys):
    words = ["run", "algo=arow", "data=svmguide3", "yardsticks=[]", f"store={tmp_path / 'store'}"]
    monkeypatch.setenv("OMKL_DATA", str(shared_data))
    assert main([*words, "reps=2", "-q"]) == 0
    monkeypatch.setenv("OMKL_DATA", "")
    assert main([*words, "reps=2"]) == 0
    assert "· 2 repetitions ·" in capsys.readouterr().out
    assert main([*words, "reps=3"]) == 2
    assert "data set svmguide3 not found" in capsys.readouterr().err
