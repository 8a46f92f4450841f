"""The tables as text: terminal, Markdown, LaTeX, JSON, CSV."""

import csv
import io
import json
import re
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pandas as pd
import pytest
from support.reports_cells import (
    COSINE,
    YARDSTICKS,
    cell,
    expected,
    frame,
    line_of,
    repetitions,
    report,
    setting,
    strict,
)

from omkl.errors import UserError
from omkl.reports.results_table import run_table
from omkl.reports.summary import summary_of
from omkl.reports.table import Table, csv_of, escape
from omkl.reports.table_cells import Column, TableRow

DD, SS, U = setting("omkc_dd"), setting("omkc_ss"), setting("omkc_u")
SPREAD_1 = frame(
    *repetitions(DD, [100, 101, 102, 101, 101]),
    *repetitions(SS, [50, 61, 42, 51, 51], n_sv_combined=3),
    *repetitions(YARDSTICKS[0], [370, 371, 372, 371, 371], m=0, n_sv_sum=0, n_sv_union=0, n_sv_combined=0),
    *repetitions(YARDSTICKS[1], [200, 210, 220, 210, 210]),
    *repetitions(YARDSTICKS[2], [150, 155, 150, 151, 151]),
)
EXPECTED = expected((DD, SS), reps=5)


def test_terminal_table():
    text = report(SPREAD_1, EXPECTED)
    assert line_of(text, "OMKC(D,D)").split() == [
        *("wdbc", "OMKC(D,D)", "10.10", "±", "0.07", "1010.0", "±", "7.1", "0.500")
    ]
    assert "*  5.10 ± 0.67" in line_of(text, "OMKC(S,S)")
    assert "*" not in line_of(text, "OMKC(D,D)") + line_of(text, "AROW")
    assert line_of(text, "majority").split() == ["majority", "37.10", "±", "0.07", "–", "0.500"]
    assert "5 repetitions" in text.splitlines()[0]
    assert max(map(len, text.split("\n\n")[1].splitlines())) <= 80
    for term in ("mistake %", "*", "#SV", "seconds"):
        assert re.search(rf"^{re.escape(term)} +\w", text, re.M), term
    assert "no test" not in text
    assert "INCOMPLETE" not in text
    assert text.endswith("\n")


def test_a_row_that_varies_more_may_be_worse_and_have_the_mark_and_the_legend_says_why():
    cells = frame(
        *repetitions(DD, [100, 101, 102, 101, 101]),
        *repetitions(SS, [101, 102, 103, 102, 103]),  # always a little worse
        *repetitions(U, [90, 120, 95, 118, 110]),  # worse on average, but not always
    )
    text = " ".join(report(cells, expected((DD, SS, U), reps=5, yardsticks=())).split())
    assert "* 10.10 ±" in text
    assert "~ 10.66 ±" in text
    assert "~ 10.22 ±" not in text
    assert "its mean may be above that of a row that varies less" in text
    without = frame(*repetitions(DD, [100, 101, 102, 101, 101]), *repetitions(U, [90, 120, 95, 118, 110]))
    assert "may be above" not in report(without, expected((DD, U), reps=5, yardsticks=()))


def test_plus_minus_signs_are_aligned():
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
        *("data", "pool", "learner", "settings", "mistake %", "#SV", "seconds")
    ]


def row_of(text: str, label: str) -> str:
    """Return the line of the table's body that names the learner, whatever the warnings name."""
    (line,) = [line for line in text.splitlines() if label in line and ("0.500" in line or " & " in line)]
    return line


def cells_of(line: str, fmt: str) -> list[str]:
    """Return the texts of a table's line, of LaTeX those that stand for nothing too."""
    if fmt == "table":
        return re.split(r"  +", line.strip())
    parts = line.strip("|").split("|") if fmt == "markdown" else line.removesuffix(r" \\").split("&")
    return [part.strip() for part in parts]


@pytest.mark.parametrize("fmt", ["table", "markdown", "latex"])
def test_one_repetition_has_no_deviation(fmt):
    text = report(frame(cell(DD, 0, 92)), expected((DD,), reps=1, yardsticks=()), fmt)
    # a count of one repetition is whole
    own = cells_of(row_of(text, "OMKC(D,D)"), fmt)
    assert own[:4] == ["wdbc", "OMKC(D,D)", "9.20", "920"]
    assert "±" not in text
    assert r"\pm" not in text
    assert "nan" not in text.lower()
    assert "t-test" not in text
    assert "no test" not in text  # there is nothing to compare it with


@pytest.mark.parametrize("fmt", ["table", "markdown", "latex"])
def test_one_repetition_beside_several_has_its_mean_alone(fmt):
    text = report(frame(*repetitions(DD, [100, 102]), cell(SS, 0, 92)), expected((DD, SS), reps=2), fmt)
    line = row_of(text, "OMKC(S,S)")
    if fmt == "latex":
        assert r"& \multicolumn{2}{r}{9.20} & \multicolumn{2}{r}{920.0}" in line
    else:
        assert cells_of(line, fmt)[fmt == "markdown" :][1:3] == ["9.20", "920.0"]


@pytest.mark.parametrize("fmt", ["table", "markdown", "latex"])
def test_below_five_permutations_one_line_says_that_there_is_no_test(fmt):
    cells = [*repetitions(DD, [100, 101, 102, 101]), *repetitions(SS, [101, 101, 102, 101])]
    text = report(frame(*cells), expected((DD, SS), reps=4, yardsticks=()), fmt)
    plain = " ".join(text.split())
    assert plain.count("no test") == 1
    assert "fewer than 5 permutations are too few to say which row is better" in plain
    for mark in ("*  ", "* 1", "**1", r"\textbf", "t-test", "fewest"):
        assert mark not in text
    cells += [cell(DD, 4, 100), cell(YARDSTICKS[0], 0, 300), *repetitions(U, [101, 101, 102, 101, 100])]
    text = report(frame(*cells), expected((DD, SS, U), reps=5, yardsticks=YARDSTICKS[:1]), fmt)
    best, near = {
        "table": ("* 10.", "~ 10."),
        "markdown": (" **10.", " *10."),
        "latex": (r"\textbf{10.", r"\textit{10."),
    }[fmt]
    rows = [row_of(text, label) for label in ("OMKC(D,D)", "OMKC(S,S)", "OMKC(U)")]
    assert [best in row for row in rows] == [True, False, False]
    assert [near in row for row in rows] == [False, False, True]
    plain = " ".join(text.split())
    assert plain.count("no test") == 1
    assert "fewest mistakes on the data set" in plain
    assert "not significantly worse (paired t-test" in plain


@pytest.mark.parametrize("fmt", ["table", "markdown", "latex"])
def test_missing_repetitions_and_failures_are_reported(fmt):
    failed = {
        "algo": "omkc_ss",
        "params": SS.params,
        "data": "wdbc",
        "rep": 2,
        "error": "Trace\nMemoryError: 3 GB",
    }
    cells = frame(*repetitions(DD, [1, 2, 3]), *repetitions(SS, [1, 2]))
    text = " ".join(report(cells, expected((DD, SS), yardsticks=(), failed=(failed,)), fmt).split())
    assert ("! 2/3" in text) is (fmt != "latex")  # where the note says it
    assert "INCOMPLETE: OMKC(S,S) on wdbc 2 of 3." in text.replace("\\", "")
    assert "FAILED: 1 cell" in text
    assert "OMKC(S,S) on wdbc, repetition 2: MemoryError: 3 GB" in text


@pytest.mark.parametrize("fmt", ["table", "markdown", "latex", "json", "csv"])
def test_cells_of_an_older_revision_are_reported_and_not_mixed(fmt, recwarn):
    about = expected((DD,), reps=1, stale={("omkc_dd", 1): 3}, store=Path("my store"))
    text = report(frame(cell(DD, 0, 5)), about, fmt)
    if fmt == "csv":  # has no place of its own for notes
        text += " ".join(str(warning.message) for warning in recwarn)
    plain = " ".join(text.replace("\\", "").split())
    assert "3 cells of revision 1 of omkc_dd in the store are not used: its results have changed" in plain
    assert "prune --old store='my store' --yes" in plain


def test_nothing_finished_is_a_table_of_dashes():
    text = report(frame(), EXPECTED)
    assert text.count("! 0/5") == 5
    assert "INCOMPLETE" in text


def test_unknown_format():
    with pytest.raises(UserError, match="did you mean 'markdown'"):
        report(SPREAD_1, EXPECTED, "markdwon")


# -------------------------------------------------------------------- JSON and CSV


def test_json_is_strict_and_complete():
    cells = frame(cell(DD, 0, 100, weights=[float("nan"), 1.0]), cell(YARDSTICKS[0], 0, 200))
    parsed = strict(report(cells, expected((DD,), reps=1, yardsticks=YARDSTICKS[:1]), "json"))
    assert list(parsed) == ["summary", "cells", "notes"]
    row, yardstick = parsed["summary"]
    assert row["mistake_pct_mean"] == 10.0
    assert row["mistake_pct_std"] is None
    assert (row["T"], row["params"], row["marked"], yardstick["pool"]) == (1000, {"beta": 0.8}, False, None)
    line = parsed["cells"][0]
    assert line["weights"] == [None, 1.0]
    wanted = (
        "algo data rep seed T mistakes mistake_rate n_sv_sum n_sv_union n_sv_combined n_sv_per_kernel seconds"
    )
    assert set(wanted.split()) <= set(line)
    assert parsed["cells"][1]["pool"] is None


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
    assert "**5.10 ± 0.67**" in line_of(text, "OMKC(S,S)")
    assert "AROW (yardstick)" in text
    assert text.startswith("`omkl run algo=x data=wdbc`")


def test_markdown_escapes_names():
    odd = expected((DD,), ("a|b*c_d",), 1, yardsticks=())
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
    for rule in (r"\toprule", r"\midrule", r"\cmidrule(l){2-6}", r"\bottomrule"):
        assert body.count(rule) == 1
    columns = 2 + 2 * 2
    rows = [line for line in body.splitlines() if line.endswith(r"\\")]
    assert len(rows) == 1 + 5
    for line in rows:
        wide = line.count(r"\multicolumn{2}")
        assert unescaped(line, "&") + 1 + wide == columns
    assert r"\textbf{5.10} & 0.67" in body
    assert "% bold: fewest mistakes on the data set" in text.splitlines()
    assert "seconds" not in text
    assert "% omkl run data=my_data#1 algo=50%&{x}^~\\" in text.splitlines()
    (caption,) = re.findall(r"\\caption\{(.*)\}", body)
    assert caption == "Online learners on wdbc: means and standard deviations over 5 repetitions."
    assert body.count(r"\label{tab:wdbc}") == 1


@pytest.mark.parametrize(("sets", "environment"), [(8, "table"), (9, "longtable")])
def test_a_table_longer_than_a_page_is_a_longtable(sets, environment):
    names = tuple(f"set{number}" for number in range(sets))
    text = report(frame(), expected((DD, SS), names), "latex")  # 5 lines per set
    lines = text.splitlines()
    assert (
        lines[0] == rf"% needs \usepackage{{booktabs,graphicx{',longtable' * (environment == 'longtable')}}}"
    )
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


# -------------------------------------------------------------------- HTML


@pytest.mark.parametrize(("sets", "more", "gone"), [(1, 1, []), (1, 2, []), (2, 2, ["seconds"])])
def test_a_notebook_shows_six_columns_and_says_what_it_left_out(sets, more, gone):
    names = ("wdbc", "german")[:sets]
    cells = frame(*(own for name in names for own in repetitions(DD, [100, 101, 102], data=name)))
    about = expected((DD,), names, yardsticks=())
    table = run_table(summary_of(cells, about), cells, about)
    swept = [replace(table.columns[0], name=f"algo.{at}", header=str(at)) for at in range(more)]
    rows = [replace(row, cells=[*row.cells, *["0.5"] * more]) for row in table.rows]
    table = replace(table, columns=[*table.columns, *swept], rows=rows)
    narrow = table.narrowed()
    shown = [own.name for own in narrow.columns]
    assert len(shown) == 6 == len(narrow.rows[0].cells)
    assert ("data" in shown, "seconds" in shown) == (more == 1 or sets == 2, not gone)
    left = [text for term, text in narrow.terms if term == "not shown"]
    assert left == [f"{name}: to_html() shows all columns" for name in gone]


def test_html_is_the_markdown_well_formed_and_without_markup_of_names():
    table = run_table(summary_of(SPREAD_1, EXPECTED), SPREAD_1, EXPECTED)
    own = replace(table, rows=[replace(row, cells=["<b>&", *row.cells[1:]]) for row in table.rows])
    text = replace(own, title="a <title>", findings=["one", "two"], command="").html()
    tree = ElementTree.fromstring(text)
    assert "<script" not in text
    body = [["".join(cell.itertext()) for cell in row] for row in tree.iter("tr")][1:]
    assert body[0][0] == "<b>&"
    assert [cell.text for row in tree.iter("tr") for cell in row.iter("strong")] == ["5.10 ± 0.67"]
    assert table._repr_html_() == table.html()
    kinds = [cell.get("class") for cell in next(tree.iter("tr"))]
    assert kinds == [None, "name", *["number"] * (len(kinds) - 2)]
    assert "a <title>" in "".join(tree.itertext())
    assert [part.text for part in tree.iter("p")][-2:] == ["one", "two"]


def test_markdown_escapes_what_is_no_markup_above_and_below_the_table():
    odd = "a|b *c* <img> [d](e) `run x|y`"
    escaped = r"a\|b \*c\* \<img> \[d](e) `run x|y`"
    table = Table.of([{"a": odd, odd: 1}], title=odd, shared=odd, about=[odd], warnings=[odd], findings=[odd])
    lines = table.render("markdown").splitlines()
    cell = escaped.replace("`run x|y`", r"'run x\|y'")
    assert lines[0] == escaped
    assert lines[2] == f"**{escaped}**"
    assert lines[6].split(" | ")[0].strip("| ") == cell
    assert lines[-5:] == [f"* {escaped}", "", f"* **{escaped}**", "", escaped]
    tree = ElementTree.fromstring(table.html())
    assert "".join(tree.find(".//td").itertext()) == odd.replace("`", "'")


def test_a_table_is_its_text():
    table = run_table(summary_of(SPREAD_1, EXPECTED), SPREAD_1, EXPECTED)
    assert str(table) == table.render() == report(SPREAD_1, EXPECTED)


ODD_NAMES = ["two\nlines", "a\ttab", "red\x1b[31m", "right\u202eto left", "\u2067isolated", "mark\u200f"]


@pytest.mark.parametrize("name", ODD_NAMES, ids=ascii)
@pytest.mark.parametrize("fmt", ["table", "markdown", "latex", "html"])
def test_a_name_stays_on_its_line_and_in_its_column(fmt, name):
    columns = [Column("data", "data", "left"), Column("learner", "learner", "left")]
    rows = [TableRow([own, "second"], own) for own in ("first", name)]
    text = Table(columns, rows, records=[]).render(fmt)
    assert name not in text
    assert not re.search("[\x1b\u202e\u2067\u200f]", text)
    if fmt == "table":
        lines = text.splitlines()[2:4]
        assert len({line.index("second") for line in lines}) == 1


@pytest.mark.parametrize("name", ["=1+1", "+cmd", "-x", "@SUM(A1)", "\t=1"])
def test_no_cell_of_csv_is_a_formula(name):
    frame = pd.DataFrame({"data": [name, "plain"], "mean": [-1.5, 2.0], "label": ["-1", "+1"]})
    for made in (csv_of(frame), csv_of(frame.to_dict("records"))):
        first, second = csv.DictReader(io.StringIO(made, newline=""))
        assert first == {"data": f"'{name}", "mean": "-1.5", "label": "-1"}
        assert second["label"] == "+1"  # numbers stay numbers
    assert csv_of(pd.DataFrame({name: [1]})).startswith(("'", "\"'"))
