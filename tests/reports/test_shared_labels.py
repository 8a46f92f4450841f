"""Rows that would look alike show what tells them apart."""

import pandas as pd

import omkl
from omkl.reports.store_contents import _tell_apart

FRAME = pd.DataFrame({"a": [1.0, -1.0, 2.0, -2.0] * 5, "y": ["yes", "no"] * 10})
HOW = {"data": FRAME, "reps": 1, "yardsticks": [], "exec": "serial", "progress": False}


def rows_of(words, tmp_path):
    table = omkl.run(words, store=tmp_path, **HOW).table
    return list(zip(table["label"], table["settings"], strict=True))


def test_learners_of_one_label_show_their_settings(tmp_path):
    assert rows_of("algo=arow(r=1,label=mine),arow(r=7)", tmp_path) == [("mine", ""), ("AROW", "r=7")]
    two = rows_of("algo=arow(r=1,label=mine),arow(r=5,label=mine)", tmp_path)
    assert two == [("mine", "r=1"), ("mine", "r=5")]
    others = rows_of("algo=arow(r=1,label=mine),perceptron(label=mine)", tmp_path)
    assert [name for name, _ in others] == ["mine (AROW)", "mine (Perceptron)"]


def test_lines_of_the_store_that_look_alike_are_told_apart():
    row = {"algo": "a", "settings": "", "pool": "p", "data": "d", "order": "o", "revision": "1"}
    rows = [dict(row), dict(row), dict(row)]
    kinds = [{"params": {"r": 1}, "pool_spec": "x"}, {"params": {"r": 2}, "pool_spec": "x"}]
    _tell_apart(rows, [*kinds, {"params": {"r": 2}, "pool_spec": "y"}])
    assert [own["settings"] for own in rows] == ["r=1", "r=2", "r=2"]
    assert rows[0]["pool"] == "p"
    assert rows[1]["pool"] != rows[2]["pool"]
