"""scripts/long_stream.py: a long stream in parts, and the figure of its growth."""

import json
import sys

import numpy as np
import pytest
from support import script

from omkl.config import learner_spec, pool
from omkl.data import from_arrays
from omkl.passes import run_pass

long_stream = script("long_stream")


def run(monkeypatch, *words):
    monkeypatch.setattr(sys, "argv", ["long_stream.py", *map(str, words)])
    return long_stream.main()


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_parts_count_as_one_pass_does(monkeypatch, capsys, tmp_path):
    T, out = 600, tmp_path / "lines.jsonl"
    assert run(monkeypatch, "--rounds", T, "--out", out) == 0
    assert capsys.readouterr().out == out.read_text()
    lines = [json.loads(line) for line in out.read_text().splitlines()]
    assert [line["rounds"] for line in lines] == list(range(60, 601, 60))
    spec = learner_spec("omkc_dd")
    data = from_arrays(*long_stream.generated(T))
    whole = run_pass(spec, spec.defaults, pool("paper16"), data, np.arange(T), 0)
    for name in ("mistakes", "mistake_rate", "n_sv_sum", "n_sv_union", "pairs"):
        assert lines[-1][name] == whole[name]
    for name in ("cpu_s", "wall_s"):
        assert [line[name] for line in lines] == sorted(line[name] for line in lines)
    assert all(10 < line["memory_mib"] < 1.1 * line["peak_mib"] for line in lines)


def test_the_best_rule_errs_on_a_fifth_and_a_short_stream_begins_a_long_one():
    X, y = long_stream.generated(20_000)
    sides = X[:, :8] @ np.arange(8, 0, -1.0)  # the direction in which the classes' means differ
    assert abs(np.mean(np.sign(sides) != y) - 0.2) < 0.01
    assert all(np.array_equal(a[:50], b) for a, b in zip((X, y), long_stream.generated(50), strict=True))


def test_a_table_may_begin_with_its_labels_as_susys_does(tmp_path):
    file = tmp_path / "SUSY.csv"
    file.write_text("".join(f"{row % 2},{row}.5,0.25\n" for row in range(20)))
    stream, d = long_stream.read(str(file), 12, label="1")
    assert (stream.T, d, set(stream.y)) == (12, 2, {-1.0, 1.0})


def test_lines_of_an_earlier_run_are_drawn_with_their_slopes(monkeypatch, tmp_path):
    lines = [{"rounds": 10**k, "cpu_s": 3.0 * 10 ** (2 * k), "learner_mib": 10**k} for k in (1, 2, 3)]
    earlier, picture = tmp_path / "lines.jsonl", tmp_path / "growth.svg"
    earlier.write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert run(monkeypatch, "--lines", earlier, "--figure", picture) == 0
    assert {"slope 2.00", "slope 1.00"} <= set(picture.read_text().replace("<", ">").split(">"))


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--rounds", "5"], "the stream has 5 rounds; at least 10 are needed"),
        (["--algo", "arow"], "--algo arow: it stores no vectors"),
        (["--data", "no/such.csv"], "no/such.csv"),
    ],
)
def test_what_cannot_be_measured_is_refused(monkeypatch, capsys, words, message):
    assert run(monkeypatch, "--rounds", 50, *words) == 2
    assert message in capsys.readouterr().err
