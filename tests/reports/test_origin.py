"""Where a table's cells come from: code, machines, load, and the warnings about mixed or doubtful ones."""

import csv
import io

import pytest
from support.reports_cells import cell, expected, frame, report, setting, strict

from omkl.pages.page_tables import provenance

DD = setting("omkc_dd")


def test_times_of_different_machines_are_reported():
    one, two = cell(DD, 0, 1), cell(DD, 1, 2, provenance={"cpu": "B", "versions": {"omkl": "0.2"}})
    text = " ".join(report(frame(one, two), expected((DD,), reps=2, yardsticks=())).split())
    assert "seconds were measured on different CPUs: A (1 cell), B (1 cell)" in text
    assert "different versions of omkl: 0.1 (1 cell), 0.2 (1 cell)" in text
    assert "CPU" not in report(frame(one), expected((DD,), reps=1, yardsticks=()))


ORIGIN = {
    "versions": {"omkl": "0.1", "numpy": "2.0"},
    "commit": "a1b2" * 10,
    "dirty": False,
    "host": "my_vm",
    "cpu": "A",
    "cores": 4,
    "backend": "loky",
    "jobs": 4,
    "load": 5.0,
}


@pytest.mark.parametrize("fmt", ["table", "markdown", "latex"])
def test_every_table_says_what_made_its_cells(fmt):
    here = [cell(DD, rep, 5, provenance={**ORIGIN, "load": 0.5 + rep}) for rep in range(3)]
    text = " ".join(report(frame(*here), expected((DD,), yardsticks=()), fmt).replace("\\", "").split())
    for part in (
        "omkl 0.1, numpy 2.0, commit a1b2a1b2a1b2",
        "my_vm (A, 4 cores)",
        "workers 4",
        "load 0.5 to 2.5",
    ):
        assert part in text
    assert "too long" not in text
    there = {**ORIGIN, "host": "other", "dirty": True, "versions": {"omkl": "0.1", "numpy": "2.1"}}
    cells = frame(*here[:2], cell(DD, 2, 5, provenance=there))
    text = " ".join(report(cells, expected((DD,), yardsticks=()), fmt).replace("\\", "").split())
    for part in (
        "numpy 2.0; omkl 0.1, numpy 2.1",
        "a1b2a1b2a1b2; commit a1b2a1b2a1b2 with changes",
        "; other (A",
    ):
        assert part in text


def test_rows_of_csv_and_json_say_it_too():
    cells = frame(cell(DD, 0, 5, provenance=ORIGIN), cell(DD, 1, 5, provenance=None))
    rows = strict(report(cells, expected((DD,), reps=2, yardsticks=()), "json"))["summary"]
    assert (rows[0]["commit"], rows[0]["load_max"]) == ("commit a1b2a1b2a1b2", 5.0)
    (row,) = csv.DictReader(io.StringIO(report(cells, expected((DD,), reps=2, yardsticks=()), "csv")))
    assert (row["machines"], row["versions"]) == ("my_vm (A, 4 cores)", "omkl 0.1, numpy 2.0")


def test_a_page_says_from_when_to_when_its_cells_were_made():
    times = ("2026-01-02T10:00:30", "2026-01-02T09:59:59", "2026-01-03T00:00:00")
    cells = frame(*(cell(DD, rep, 5, provenance={**ORIGIN, "time": time}) for rep, time in enumerate(times)))
    (row,) = provenance(cells).records
    assert (row["from (UTC)"], row["to (UTC)"]) == ("2026-01-02 09:59", "2026-01-03 00:00")


@pytest.mark.parametrize(
    ("change", "warning"),
    [
        ({}, ""),
        ({"load": 5.9}, ""),
        ({"load": 6.1}, "1 of 2 cells ran while the load was 6.1 on 4 cores"),
        ({"jobs": 5}, "1 of 2 cells ran with 5 workers on 4 cores"),
        ({"cores": "many", "jobs": None, "load": "high", "versions": 3}, ""),  # edited by hand
    ],
)
def test_times_of_crowded_machines_are_doubted(change, warning):
    cells = frame(cell(DD, 0, 5, provenance=ORIGIN), cell(DD, 1, 5, provenance={**ORIGIN, **change}))
    text = " ".join(report(cells, expected((DD,), reps=2, yardsticks=())).split())
    assert ("times may be inflated" in text) == bool(warning)
    assert warning in text
