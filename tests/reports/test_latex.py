"""Tables in LaTeX as a paper takes them; they are compiled where there is a TeX."""

import re
import shutil
import subprocess
from dataclasses import replace

import pytest
from support.reports_cells import YARDSTICKS, expected, frame, repetitions, setting

from omkl.reports.results_table import run_table
from omkl.reports.summary import summary_of
from omkl.reports.sweep_table import sweep_table
from omkl.reports.table import Table
from omkl.reports.table_cells import Column, Spread, TableRow

DD, SS = setting("omkc_dd"), setting("omkc_ss", beta=0.25)
NAMES = ("a_set of 50% & more", "b")


def about(names):
    how = {"command": "omkl run algo=omkc_dd data=a_set#1", "about_data": ("b: labels: no -> -1, yes -> +1",)}
    return expected((DD, SS), names, reps=5, yardsticks=YARDSTICKS[:1], **how)


ABOUT = about(NAMES)


MISTAKES = (DD, [100, 101, 120, 101, 101]), (SS, [50, 61, 42, 51, 51]), (YARDSTICKS[0], [370] * 5)


def cells_of(names):
    cells = (repetitions(one, own, name, n_sv_combined=7) for name in names for one, own in MISTAKES)
    return frame(*[cell for part in cells for cell in part])


CELLS = cells_of(NAMES)
MANY = tuple(f"data_set_{number}" for number in range(16))
TABLES = {
    "table": lambda: run_table(summary_of(CELLS, ABOUT), CELLS, ABOUT),
    "titled": lambda: replace(TABLES["table"](), title="Table 4: four learners", also=[TABLES["table"]()]),
    "longtable": lambda: run_table(summary_of(cells_of(MANY), more := about(MANY)), cells_of(MANY), more),
}

GRID = tuple(setting("omkc_ss", beta=beta, delta=delta) for delta in (0.01, 0.1) for beta in (0.3, 0.5, 0.8))
LINE = tuple(setting("omkc_dd", beta=beta) for beta in (0.3, 0.8))


def grid_of(settings=GRID):
    """The table of a sweep; the grid's third setting is the best, the sixth has run no cell."""
    counts = [
        [60, 61, 62, 61, 60],
        [50, 51, 52, 53, 50],
        [40, 42, 40, 41, 42],
        [41, 40, 42, 40, 42],
        [55] * 5,
    ]
    rows = [*zip(settings, counts, strict=False), *((one, [70, 72, 71, 70, 74]) for one in settings[6:])]
    cells = frame(*(cell for one, own in rows for cell in repetitions(one, own)))
    about = expected(settings, ("wdbc",), reps=5, yardsticks=())
    return sweep_table(summary_of(cells, about), cells, about)


TABLES["grid"] = grid_of


def test_a_sweep_over_two_numbers_is_a_grid_with_letters():
    text = grid_of().render("latex")
    grid = text.partition(r"\end{table}")[0]
    rate = [f"{count / 10:.2f}" for count in (60.8, 51.2, 41.0, 41.0, 55.0)]
    assert r"\resizebox" not in grid
    assert r"mistake \% over $\beta$ and $\delta$: means over 5 repetitions.}" in grid
    lines = grid.splitlines()
    begin = lines.index(r"\begin{tabular}{rrrr}")
    assert lines[begin + 2 : begin + 9] == [
        r"& \multicolumn{3}{c}{$\beta$} \\",
        r"\cmidrule(l){2-4}",
        r"$\delta$ & 0.3 & 0.5 & 0.8 \\",
        r"\midrule",
        rf"0.01 & {rate[0]} & {rate[1]} & \textbf{{{rate[2]}}} \\",
        rf"0.1 & \textbf{{{rate[3]}}} & {rate[4]} & -- \\",
        r"\bottomrule",
    ]
    assert text.count(r"\begin{table}") == 2  # and the best settings
    assert r"INCOMPLETE" in grid
    both = grid_of((*GRID, *LINE)).render("latex")
    assert both.count(r"\begin{table}") == 3  # the learner without delta has rows
    rows = both.split(r"\begin{table}")[2]
    assert rows.count("OMKC(D,D)") == 2
    assert "OMKC(S,S)" not in rows


def test_caption_label_note_and_comments():
    text = TABLES["table"]().render("latex")
    (caption,) = re.findall(r"\\caption\{(.*)\}", text)
    assert caption == (
        r"Online learners on a\_set of 50\% \& more and b: means and standard deviations over 5 repetitions."
    )
    assert r"\label{tab:a-set-of-50-more-b}" in text
    comments = [line for line in text.splitlines() if line.startswith("%")]
    assert "% omkl run algo=omkc_dd data=a_set#1" in comments
    assert "% b: labels: no -> -1, yes -> +1" in comments
    body = "\n".join(line for line in text.splitlines() if not line.startswith("%"))
    note = body[body.index(r"\end{tabular}") :]
    assert "mistakes of one pass" not in note  # which is a comment
    assert r"\textbf{Bold}: fewest mistakes" in note
    assert "labels" not in body
    assert re.search(r"\\begin\{tabular\}\{l\w*r@\{\\,\$\\pm\$\\,\}r", body)
    two = TABLES["titled"]().render("latex")
    assert r"\caption{Four learners: means and standard deviations over 5 repetitions.}" in two
    assert len(set(re.findall(r"\\label\{(.*?)\}", two))) == 2
    first = re.search(r"\\label\{(.*?)\}", two)[1]
    assert two.count(rf"Marks as in Table~\ref{{{first}}}.") == 1


def test_cells_are_escaped_and_every_line_of_a_comment_is_one():
    columns = [Column("data", "50% #SV", "left"), Column("mean", "mean")]
    rows = [TableRow(["a_set & 50% #1", Spread("1_2", "0.1")], "a_set")]
    about = "first line\nsecond & line"
    for records in ([], {}):  # a list, and results
        text = Table(columns, rows, about=[about], command="omkl run a#1\nmore", records=records).render(
            "latex"
        )
        assert r"a\_set \& 50\% \#1 & " in text
        assert r"1\_2" in text
        assert r"50\% \#SV & " in text
        assert "% first line\n% second & line\n" in text
        assert "% omkl run a#1\n% more\n" in text


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="there is no pdflatex on this machine")
@pytest.mark.parametrize("columns", ["onecolumn", "twocolumn"])
@pytest.mark.parametrize("kind", TABLES)
def test_it_compiles_within_the_column(tmp_path, kind, columns):
    text = TABLES[kind]().render("latex")
    if kind == "longtable":
        assert r"\begin{longtable}" in text
        if columns == "twocolumn":
            pytest.skip("longtable is for one column")
    document = [
        rf"\documentclass[{columns}]{{article}}",
        *(r"\usepackage{booktabs,graphicx,longtable}", r"\begin{document}"),
        *("Text.", text, r"\end{document}"),
    ]
    (tmp_path / "page.tex").write_text("\n".join(document), encoding="utf-8")
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "page.tex"]
    for _ in range(2):  # labels, and the widths of a longtable
        made = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, errors="replace")
    assert made.returncode == 0, made.stdout[-2000:]
    assert re.findall(r"(?:Overfull|LaTeX Warning: (?:Reference|Label)).*", made.stdout) == []
