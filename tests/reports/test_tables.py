"""The tables as text: terminal, Markdown, LaTeX, JSON, CSV."""

import csv
import io
import json
import re
from dataclasses import replace

import pytest
from support.reports_cells import COSINE, YARDSTICKS, Setting, cell, expected, frame, repetitions, setting

from omkl.errors import UserError
from omkl.reports.grid import axes_of
from omkl.reports.latex import escape
from omkl.reports.report import best_settings, report, sweep_report
from omkl.reports.summary import summary_of

DD, SS = setting("omkc_dd"), setting("omkc_ss")
SPREAD_1 = frame(
    *repetitions(DD, [100, 101, 102]),
    *repetitions(SS, [50, 61, 42], n_sv_combined=3),
    *repetitions(YARDSTICKS[0], [370, 371, 372], m=0, n_sv_sum=0, n_sv_union=0, n_sv_combined=0),
    *repetitions(YARDSTICKS[1], [200, 210, 220]),
    *repetitions(YARDSTICKS[2], [150, 155, 150]),
)
EXPECTED = expected((DD, SS))


def line_of(text: str, label: str) -> str:
    (found,) = [line for line in text.splitlines() if re.search(rf"(^|\| | ){re.escape(label)} ", line)]
    return found


def test_terminal_table():
    text = report(SPREAD_1, EXPECTED)
    assert line_of(text, "OMKC(D,D)").split() == [
        *("wdbc", "OMKC(D,D)", "10.10", "±", "0.10", "1010.0", "±", "10.0", "202.0", "1010.0"),
        *("0.500", "3/3"),
    ]
    assert "*  5.10 ± 0.95" in line_of(text, "OMKC(S,S)")
    assert "*" not in line_of(text, "OMKC(D,D)") + line_of(text, "AROW")
    assert line_of(text, "majority").split() == [
        "majority",
        "37.10",
        "±",
        "0.10",
        "–",
        "–",
        "–",
        "0.500",
        "3/3",
    ]
    for term in ("mistake %", "*", "#SV", "union", "combined", "seconds", "yardsticks"):
        assert re.search(rf"^{re.escape(term)} +\w", text, re.M), term
    assert "INCOMPLETE" not in text
    assert text.endswith("\n")


def test_plus_minus_signs_stand_below_one_another():
    lines = [line for line in report(SPREAD_1, EXPECTED).splitlines() if line.count("±") == 2]
    assert len(lines) == 4
    assert len({tuple(m.start() for m in re.finditer("±", line)) for line in lines}) == 1


def test_a_short_rule_divides_learners_from_yardsticks_and_a_full_one_the_data_sets():
    cells = frame(*[cell(which, 0, 5, data) for data in ("wdbc", "sonar") for which in (DD, SS, *YARDSTICKS)])
    lines = report(cells, expected((DD, SS), ("wdbc", "sonar"), 1)).splitlines()
    rules = [number for number, line in enumerate(lines) if re.fullmatch(r"[- ]*-{3}[- ]*", line)]
    header = rules[0] - 1
    # header rule, 2 learners, short rule, 3 yardsticks, full rule, 2 learners, short rule, 3 yardsticks
    assert [rule - header for rule in rules] == [1, 4, 8, 11]
    assert [lines[rule].startswith(" ") for rule in rules] == [False, True, False, True]
    assert [line.split()[0] for line in lines if line.startswith(("wdbc ", "sonar "))] == ["wdbc", "sonar"]


def test_columns_without_content_are_left_out():
    head = next(line for line in report(SPREAD_1, EXPECTED).splitlines() if "learner" in line)
    assert "pool" not in head
    assert "settings" not in head
    both = expected((DD, setting("omkc_dd", COSINE, beta=0.5)), reps=1, yardsticks=())
    text = report(frame(*[cell(which, 0, 5) for which in both.settings]), both)
    head = next(line for line in text.splitlines() if "learner" in line)
    assert re.split(" {2,}", head) == [
        *("data", "pool", "learner", "settings", "mistake %", "#SV", "union", "seconds", "reps")
    ]


def test_one_repetition_shows_a_dash_for_the_deviation():
    text = report(frame(cell(DD, 0, 100)), expected((DD,), reps=1, yardsticks=()))
    assert "10.00 ± –" in text
    assert " 1000 ± –" in text  # a count of one repetition is whole
    assert "nan" not in text.lower()
    assert "t-test" not in text


@pytest.mark.parametrize("fmt", ["table", "markdown", "latex"])
def test_missing_repetitions_and_failures_are_told(fmt):
    failed = {
        "algo": "omkc_ss",
        "params": SS.params,
        "data": "wdbc",
        "rep": 2,
        "error": "Trace\nMemoryError: 3 GB",
    }
    cells = frame(*repetitions(DD, [1, 2, 3]), *repetitions(SS, [1, 2]))
    text = " ".join(report(cells, expected((DD, SS), yardsticks=(), failed=(failed,)), fmt).split())
    assert "! 2/3" in text
    assert "INCOMPLETE: OMKC(S,S) on wdbc 2 of 3." in text.replace("\\", "")
    assert "FAILED: 1 cell" in text
    assert "OMKC(S,S) on wdbc, repetition 2: MemoryError: 3 GB" in text


def test_times_of_different_machines_are_told():
    one, two = cell(DD, 0, 1), cell(DD, 1, 2, provenance={"cpu": "B", "versions": {"omkl": "0.2"}})
    text = " ".join(report(frame(one, two), expected((DD,), reps=2, yardsticks=())).split())
    assert "seconds were measured on different CPUs: A (1 cells), B (1 cells)" in text
    assert "different versions of omkl: 0.1 (1 cells), 0.2 (1 cells)" in text
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


@pytest.mark.parametrize(
    ("change", "warning"),
    [
        ({}, ""),
        ({"load": 5.9}, ""),
        ({"load": 6.1}, "1 of 2 cells ran under a load of 6.1 on 4 cores"),
        ({"jobs": 5}, "1 of 2 cells ran with 5 workers on 4 cores"),
        ({"cores": "many", "jobs": None, "load": "high", "versions": 3}, ""),  # edited by hand
    ],
)
def test_times_of_crowded_machines_are_doubted(change, warning):
    cells = frame(cell(DD, 0, 5, provenance=ORIGIN), cell(DD, 1, 5, provenance={**ORIGIN, **change}))
    text = " ".join(report(cells, expected((DD,), reps=2, yardsticks=())).split())
    assert ("seconds may be too long" in text) == bool(warning)
    assert warning in text


@pytest.mark.parametrize("fmt", ["table", "markdown", "latex", "json", "csv"])
def test_cells_of_an_older_revision_are_told_and_not_mixed(fmt, recwarn):
    text = report(frame(cell(DD, 0, 5)), expected((DD,), reps=1, stale={("omkc_dd", 1): 3}), fmt)
    if fmt == "csv":  # has no place of its own for notes
        text += " ".join(str(warning.message) for warning in recwarn)
    plain = " ".join(text.replace("\\", "").split())
    assert "3 cells of revision 1 of omkc_dd in the store are not used" in plain


def test_nothing_finished_is_a_table_of_dashes():
    text = report(frame(), EXPECTED)
    assert text.count("! 0/3") == 5
    assert "INCOMPLETE" in text


def test_unknown_format():
    with pytest.raises(UserError, match="did you mean 'markdown'"):
        report(SPREAD_1, EXPECTED, "markdwon")


# -------------------------------------------------------------------- JSON and CSV


def strict(text: str) -> dict:
    def refuse(name: str) -> None:
        raise AssertionError(f"{name} in JSON")

    return json.loads(text, parse_constant=refuse)


def test_json_is_strict_and_complete():
    cells = frame(cell(DD, 0, 100, weights=[float("nan"), 1.0]), cell(YARDSTICKS[0], 0, 200))
    found = strict(report(cells, expected((DD,), reps=1, yardsticks=YARDSTICKS[:1]), "json"))
    assert list(found) == ["summary", "cells", "notes"]
    row, yardstick = found["summary"]
    assert row["mistake_pct_mean"] == 10.0
    assert row["mistake_pct_std"] is None
    assert (row["T"], row["params"], row["marked"], yardstick["pool"]) == (1000, {"beta": 0.8}, True, None)
    line = found["cells"][0]
    assert line["weights"] == [None, 1.0]
    wanted = (
        "algo data rep seed T mistakes mistake_rate n_sv_sum n_sv_union n_sv_combined n_sv_per_kernel seconds"
    )
    assert set(wanted.split()) <= set(line)
    assert found["cells"][1]["pool"] is None


def test_json_without_cells():
    assert strict(report(frame(), expected((), yardsticks=()), "json")) == {
        "summary": [],
        "cells": [],
        "notes": [],
    }


def test_csv_has_full_precision():
    rows = list(csv.DictReader(io.StringIO(report(SPREAD_1, EXPECTED, "csv"))))
    assert len(rows) == 5
    assert float(rows[1]["mistake_pct_mean"]) == pytest.approx(5.1, abs=1e-12)
    assert json.loads(rows[0]["params"]) == {"beta": 0.8}
    assert [row["is_yardstick"] for row in rows] == ["False"] * 2 + ["True"] * 3


# -------------------------------------------------------------------- Markdown and LaTeX


def test_markdown():
    text = report(SPREAD_1, EXPECTED, "markdown")
    table = [line for line in text.splitlines() if line.startswith("|")]
    assert len(table) == 2 + 5
    assert {line.count("|") for line in table} == {table[0].count("|")}
    assert "**5.10 ± 0.95**" in line_of(text, "OMKC(S,S)")
    assert "AROW (yardstick)" in text
    assert text.startswith("`omkl run algo=x data=wdbc`")


def test_markdown_escapes_names():
    odd = replace(EXPECTED, settings=(DD,), yardsticks=(), data=(), reps=1)
    text = report(frame(cell(DD, 0, 5, "a|b*c_d")), odd, "markdown")
    assert r"a\|b\*c\_d" in text


def unescaped(text: str, sign: str) -> int:
    return len(re.findall(rf"(?<!\\){re.escape(sign)}", text))


def test_latex_is_balanced_and_escaped():
    odd = replace(EXPECTED, command="omkl run data=my_data#1 algo=50%&{x}^~\\")
    text = report(SPREAD_1, odd, "latex")
    body = "\n".join(line for line in text.splitlines() if not line.startswith("%"))
    assert unescaped(body, "{") == unescaped(body, "}")
    assert unescaped(body, "$") % 2 == 0
    assert not any(unescaped(body, sign) for sign in "%#_")
    assert "±" not in body
    assert re.findall(r"\\begin\{(\w+)\}", body) == re.findall(r"\\end\{(\w+)\}", body)[::-1]
    for rule in (r"\toprule", r"\midrule", r"\cmidrule(l){2-10}", r"\bottomrule"):
        assert body.count(rule) == 1
    columns = 2 + 2 * 2 + 4
    rows = [line for line in body.splitlines() if line.endswith(r"\\")]
    assert len(rows) == 1 + 5
    for line in rows:
        wide = line.count(r"\multicolumn{2}")
        assert unescaped(line, "&") + 1 + wide == columns
    assert r"\textbf{5.10} & \textbf{0.95}" in body
    assert r"\texttt{omkl run data=my\_data\#1 algo=50\%\&\{x\}\textasciicircum{}\textasciitilde{}" in body


@pytest.mark.parametrize(("sets", "environment"), [(8, "table"), (9, "longtable")])
def test_a_table_longer_than_a_page_is_a_longtable(sets, environment):
    names = tuple(f"set{number}" for number in range(sets))
    text = report(frame(), expected((DD, SS), names), "latex")  # 5 lines per set
    lines = text.splitlines()
    assert lines[0] == rf"% needs \usepackage{{booktabs{',longtable' * (environment == 'longtable')}}}"
    assert rf"\begin{{{environment}}}" in text
    body = [line for line in lines if re.match(r"(set\d| &)", line)]
    assert len(body) == 5 * sets
    if environment == "table":
        assert text.count(r"\toprule") == 1
        assert not any(line.endswith("*") for line in lines)
        return
    assert r"\begin{table}" not in text
    marks = [line for line in lines if re.fullmatch(r"\\end\w*(head|foot)", line)]
    assert marks == [r"\endfirsthead", r"\endhead", r"\endfoot", r"\endlastfoot"]
    assert text.count(r"\toprule") == 2
    assert lines.index(body[0]) > lines.index(r"\endlastfoot")
    # a page may end after a data set, not inside
    assert [line.endswith(r" \\*") for line in body] == [True, True, True, True, False] * sets


def test_latex_escape():
    assert escape("a_b & 50% #1 {x} $y$ ~^\\") == (
        r"a\_b \& 50\% \#1 \{x\} \$y\$ \textasciitilde{}\textasciicircum{}\textbackslash{}"
    )


# -------------------------------------------------------------------- sweeps

GRID = tuple(setting("omkc_ss", beta=b, delta=d) for b in (0.5, 0.8) for d in (0.01, 0.1))
SWEEP = expected((DD, *GRID), reps=2, swept=("algo.beta", "algo.delta"), yardsticks=YARDSTICKS[:1])
SWEEP_CELLS = frame(
    *repetitions(DD, [50, 52]),
    *[line for n, which in enumerate(GRID) for line in repetitions(which, [40 - 10 * (n == 2), 44])],
    *repetitions(YARDSTICKS[0], [300, 310]),
)


def test_a_sweep_has_a_column_per_swept_number_and_a_table_of_the_best():
    text, files = sweep_report(SWEEP_CELLS, SWEEP)
    assert files == []
    long, best = text.split("best setting per data set and learner")
    assert "beta    delta" in long
    assert long.count("OMKC(S,S)") == 4
    assert best.count("OMKC(S,S)") == 1
    assert line_of(best, "OMKC(S,S)").split()[:3] == ["OMKC(S,S)", "0.8", "0.01"]
    assert line_of(long, "OMKC(D,D)").split()[2:4] == ["0.8", "–"]


def test_best_settings_break_ties_by_support_vectors():
    cells = frame(
        *repetitions(GRID[0], [10, 10], n_sv_sum=90),
        *repetitions(GRID[1], [10, 10], n_sv_sum=80),
        *repetitions(GRID[2], [11, 11], n_sv_sum=1),
    )
    (best,) = best_settings(summary_of(cells, expected(GRID[:3], reps=2, yardsticks=()))).to_dict("records")
    assert best["params"] == GRID[1].params


def test_the_best_of_a_learner_does_not_hide_the_yardstick_of_that_name():
    own = tuple(Setting("perceptron", {"kernel": {"kind": "gaussian", "sigma": s}}) for s in (1.0, 2.0))
    cells = frame(cell(own[0], 0, 9), cell(own[1], 0, 8), cell(YARDSTICKS[1], 0, 5))
    best = best_settings(summary_of(cells, expected(own, reps=1, yardsticks=YARDSTICKS[1:2])))
    assert best["mistakes_mean"].tolist() == [8.0, 5.0]
    assert best["is_yardstick"].tolist() == [False, True]


def test_sweep_json_and_csv():
    found = strict(sweep_report(SWEEP_CELLS, SWEEP, "json")[0])
    assert list(found) == ["summary", "best", "cells", "notes"]
    assert [row["params"].get("delta") for row in found["best"]] == [None, 0.01, None]
    rows = list(csv.DictReader(io.StringIO(sweep_report(SWEEP_CELLS, SWEEP, "csv")[0])))
    assert [row["algo.delta"] for row in rows] == ["", "0.01", "0.1", "0.01", "0.1", ""]


def test_axes_are_the_swept_numbers_the_longest_first():
    three = (*GRID, setting("omkc_ss", beta=0.5, delta=0.5, sampling="sum"))
    table = summary_of(frame(*[cell(which, 0, 5) for which in three]), expected(three, reps=1))
    assert axes_of(table) == {"delta": [0.01, 0.1, 0.5], "beta": [0.5, 0.8]}
    assert list(axes_of(table)) == ["delta", "beta"]
