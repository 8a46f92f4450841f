"""Tables in LaTeX as a paper takes them; they are compiled where there is a TeX."""

import re
import shutil
import subprocess
from dataclasses import replace

import pytest
from support.reports_cells import YARDSTICKS, expected, frame, repetitions, setting

from omkl.reports.results_table import run_table
from omkl.reports.summary import summary_of
from omkl.reports.table import Table
from omkl.reports.table_cells import Column, Spread, TableRow

DD, SS = setting("omkc_dd"), setting("omkc_ss", beta=0.25)
ABOUT = replace(
    expected((DD, SS), ("a_set of 50% & more", "b"), reps=5, yardsticks=YARDSTICKS[:1]),
    command="omkl run algo=omkc_dd data=a_set#1",
    about_data=("b: labels: no -> -1, yes -> +1",),
)


MISTAKES = (DD, [100, 101, 120, 101, 101]), (SS, [50, 61, 42, 51, 51]), (YARDSTICKS[0], [370] * 5)


def cells_of(names):
    cells = (repetitions(one, own, name, n_sv_combined=7) for name in names for one, own in MISTAKES)
    return frame(*[cell for part in cells for cell in part])


CELLS = cells_of(ABOUT.data)
MANY = tuple(f"data_set_{number}" for number in range(16))
TABLES = {
    "table": lambda: run_table(summary_of(CELLS, ABOUT), CELLS, ABOUT),
    "titled": lambda: replace(TABLES["table"](), title="Table 4: four learners", also=[TABLES["table"]()]),
    "longtable": lambda: run_table(
        summary_of(cells_of(MANY), more := replace(ABOUT, data=MANY)), cells_of(MANY), more
    ),
}


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
