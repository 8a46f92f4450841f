"""omkl bench: rows, and what changed since an earlier run."""

import json

import pytest

from omkl.cli import main
from omkl.runs import bench

ROW = bench.timed_row("a pass", [2.0, 1.0, 3.0], 10, "pair")
MADE = {"rows": [ROW], "machine": {"host": "here", "cpu": "x"}}


@pytest.fixture
def measured(monkeypatch):
    monkeypatch.setattr(bench, "measure", lambda long: MADE)
    monkeypatch.setattr(bench, "measured_text", lambda measured: "")


@pytest.mark.parametrize(
    ("seconds", "ratio", "verdict"),
    [
        ([8.0, 7.0], "3.75", "slower"),
        ([0.1, 0.2], "0.07", "faster"),
        ([2.0, 2.5], "1.12", "within the noise"),
    ],
)
def test_a_ratio_counts_where_the_repetitions_do_not_overlap(seconds, ratio, verdict):
    new = {**MADE, "rows": [{**ROW, "seconds": seconds}, {**ROW, "name": "new"}]}
    text = bench.compared_text(bench.compared(MADE, new))
    line = next(line for line in text.splitlines() if line.startswith("a pass"))
    assert line.split()[2] == ratio
    assert line.endswith(f")  {verdict}")
    assert "! in one run only: new\n" in text
    assert "another machine" not in text


def test_counts_may_differ_and_another_machine_is_said():
    twice = {"rows": [{**ROW, "seconds": [4.0, 2.0, 6.0], "count": 20}], "machine": {"host": "there"}}
    compared = bench.compared(MADE, twice)
    assert compared["rows"][0]["ratio"] == 1.0
    assert "another machine" in bench.compared_text(compared)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[1]",
        "\xff",
        '{"rows": []}',
        '{"rows": [{"name": "a", "count": 1, "seconds": [0]}]}',
        "[" * 99999,
    ]
    + [
        json.dumps({"rows": [{**ROW, key: value}]})
        for key, value in (("count", 0), ("name", 1), ("seconds", 1))
    ],
)
def test_a_foreign_file_is_one_line(text, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(bench, "measure", None)  # never reached
    file = tmp_path / "old.json"
    file.write_bytes(text.encode("latin-1"))
    assert main(["bench", "--compare", str(file)]) == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert f"{file}: the file is not JSON of `omkl bench`" in err


def test_a_missing_file_is_one_line(tmp_path, capsys):
    assert main(["bench", "--compare", str(tmp_path / "none.json")]) == 2
    assert "cannot be read" in capsys.readouterr().err


def test_what_is_printed_can_be_compared(measured, tmp_path, capsys):
    assert main(["bench", "--format", "json"]) == 0
    file = tmp_path / "old.json"
    file.write_text(capsys.readouterr().out)
    assert main(["bench", "--compare", str(file)]) == 0
    assert "1.00  (0.33 to 3.00)  within the noise" in capsys.readouterr().out


def test_rows_without_data_are_skipped_with_the_reason(monkeypatch, tmp_path):
    monkeypatch.setenv("OMKL_DATA", "")
    monkeypatch.setenv("OMKL_OFFLINE", "1")
    monkeypatch.setenv("OMKL_CACHE", str(tmp_path))
    monkeypatch.setattr(bench, "REPEATS", 1)
    rows, skipped = bench.measure_rows(long=False)
    assert [row["name"] for row in rows][:2] == ["np.exp", "dgemm, d = 500"]
    assert set(skipped) == {"omkc_dd on german", "omkc_dd on madelon"}
    assert "OMKL_OFFLINE" in skipped["omkc_dd on german"]
    assert "ns per number" in bench.rows_text(rows)
