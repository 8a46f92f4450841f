"""What a page holds: the numbers of the store, the commands of its rows, and nothing that could call out."""

import base64
import csv
import hashlib
import html
import re
import shlex

import pytest
from support.reports_cells import expected, frame, repetitions, setting
from support.stored_pages import HOSTILE, files_in, fill, fill_plan, hostile_file

from omkl.cli import main
from omkl.errors import UserError
from omkl.pages.documents import document, write_markdown
from omkl.pages.papers import paper_page
from omkl.pages.runs import run_page
from omkl.publications import Selection, read_paper
from omkl.publications.selection import plans_of
from omkl.reports.answer import answer_of
from omkl.reports.markdown import html_of
from omkl.reports.summary import summary_of
from omkl.runs import runner

WORDS = ["algo=omkc_dd,omkc_ss", "data=wdbc", "reps=2", "store=store"]
SWEEP = ["algo=omkc_dd,omkc_sd", "data=wdbc", "algo.beta=0.3,0.5,0.9", "algo.delta=0.01,0.1", "reps=2"]


@pytest.fixture(autouse=True)
def place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("OMKL_STORE", raising=False)
    monkeypatch.setattr(runner, "run_cells", lambda *_: pytest.fail("a report runs no cell"))
    return tmp_path


def written(words, capsys):
    """The text of the report that a command writes, and its messages."""
    assert main(["report", *words, "--out", "page.html"]) == 0
    with open("page.html", encoding="utf-8") as file:
        return file.read(), capsys.readouterr().err


def test_the_csv_is_that_of_the_command(capsys):
    fill(WORDS)
    files = files_in(written(WORDS, capsys)[0])
    assert main(["run", *WORDS, "--format", "csv"]) == 0
    assert files == {"results.csv": capsys.readouterr().out}


def test_a_sweep_has_its_grid_and_its_best_settings(capsys):
    fill(SWEEP)
    text, _ = written(SWEEP, capsys)
    assert main(["sweep", *SWEEP, "--format", "csv", "--out", "x.png"]) == 0
    files = files_in(text)
    assert files["results.csv"] == capsys.readouterr().out
    titles = re.findall("<h2>(.*?)</h2>", text)
    assert titles[0].startswith("Best setting per data set and learner")
    assert titles[1] == "Sweep"  # its heat map comes next
    (svg,) = re.findall('<figure[^>]* aria-label="sweep">(<svg.*?</svg>)', text, re.S)
    assert all(name in svg for name in ("OMKC(S,D)", "OMKC(D,D)"))
    assert files["best.csv"].count("\n") == 1 + 2 + 3  # two learners, three yardsticks


def test_a_page_is_small_and_its_curves_are_drawn_once(capsys):
    fill(SWEEP)
    text, _ = written(SWEEP, capsys)
    assert len(text) < 250_000
    assert text.count("<h2>Learning curves</h2>") == 1
    assert len(re.findall("<figure ", text)) == len(re.findall("<svg ", text)) == 2


def test_a_page_is_its_markdown(capsys, tmp_path):
    """What the file for a browser says is what the Markdown says, in this order: answer, tables, origin."""
    plan = fill(WORDS)
    page = run_page(plan, WORDS, "omkl report")
    text = document(page)
    markdown = write_markdown(page, tmp_path / "out", report=lambda _: None).read_text("utf-8")
    (answer,) = page.answer
    assert answer in markdown
    assert re.search(f'<div class="answer"><p>{re.escape(html.escape(answer))}</p>', text.replace("\n", ""))
    places = [
        text.index(part) for part in (answer, "<h2>Results", "<h2>Learning curves", "<details>", "Made with")
    ]
    assert places == sorted(places)
    run = "omkl run algo=omkc_dd,omkc_ss data=wdbc reps=2 store=store"
    for command in ("omkl report", run):
        assert command not in text[: text.index("<details>")]
        assert command in text[text.index("<details>") :]
    rows = [line for line in markdown.splitlines() if line.startswith("| ")]
    assert len(rows) == text.count("<tr>")
    assert "times may be inflated" not in text[: text.index("<details>")]


def test_names_are_text_and_nothing_runs_or_is_fetched(place):
    plan = fill(WORDS, [hostile_file(place)])
    text = document(run_page(plan, WORDS, f"omkl report {HOSTILE}"))
    assert "<script" not in text
    assert "<img" not in text
    assert "onerror=alert(1)" not in text.replace("&lt;img src=x onerror=alert(1)&gt;", "")
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', text)[1]
    (style,) = re.findall(r"<style>(.*?)</style>", text, re.S)
    allowed = re.search(r"style-src ([^;]*);", policy)[1]
    assert allowed == f"'sha256-{base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()}'"
    assert "default-src 'none'" in policy
    assert not re.search(r"""(src|href)=["'](?!#|data:)""", text)
    assert text == document(run_page(plan, WORDS, f"omkl report {HOSTILE}"))


def test_a_link_or_picture_that_is_no_file_of_the_page_is_its_text():
    text = html_of("[a](http://x.y/z) ![b](http://x.y/z.png) <b>c</b> [d](d.csv)", {"d.csv": "data:,1"})
    assert text == '<p><a>a</a> b &lt;b&gt;c&lt;/b&gt; <a href="data:,1" download="d.csv">d</a></p>\n'


def test_a_file_of_the_users_is_described_as_registered_ones_are(place, capsys):
    (place / "my.libsvm").write_text("1 1:1\n1 1:2\n-1 1:3\n1 2:1\n")
    words = ["algo=arow", "data=wdbc,my.libsvm", "reps=1", "yardsticks=[]", "store=store"]
    fill(words)
    text = written(words, capsys)[0].partition("<strong>Data sets</strong>")[2].partition("</table>")[0]
    rows = [re.findall("<td[^>]*>(.*?)</td>", row) for row in text.split("<tr>")[2:]]
    assert [(row[0], row[3], row[5], row[6]) for row in rows] == [
        ("wdbc", "30", "2", "37.3"),
        ("my", "2", "2", "75.0"),
    ]


def test_what_is_missing_is_said_on_top(capsys):
    fill(WORDS, reps=1)
    text, said = written(WORDS, capsys)
    top = text[: text.index("<section")]
    assert '<div class="warnings"><ul>' in top
    assert "INCOMPLETE: OMKC(D,D) on wdbc 1 of 2" in top
    assert f"<code>omkl run {shlex.join(WORDS)}</code> runs the missing ones" in top
    assert "INCOMPLETE" in said
    assert text.count("<strong>! 1/2</strong>") >= 5


# ------------------------------------------------------------------ the answer


def rows_of_sets(*sets):
    """The summary of two learners and a yardstick on data sets, each with its five counts of mistakes."""
    own, yardstick = (setting("omkc_dd"), setting("omkc_ss")), setting("arow", pool=None)
    cells = []
    for data, *counts in sets:
        for learner, mistakes in zip((*own, yardstick), counts, strict=True):
            cells += repetitions(learner, [mistakes + at % 2 for at in range(5)], data=data)
    about = expected(own, tuple(data for data, *_ in sets), 5, yardsticks=(yardstick,))
    return summary_of(frame(*cells), about)


@pytest.mark.parametrize(
    ("sets", "said"),
    [
        (
            [("wdbc", 100, 150, 200)],
            "OMKC(D,D) has the fewest mistakes on wdbc (mistake % 10.04); all others are significantly worse",
        ),
        ([("wdbc", 100, 100, 200)], "OMKC(D,D) and OMKC(S,S) have the fewest mistakes on wdbc"),
        (
            [("wdbc", 100, 150, 50)],
            "AROW (yardstick) has the fewest mistakes on wdbc (mistake % 5.04); the best learner is "
            "OMKC(D,D) (10.04); all others",
        ),
        (
            [("wdbc", 100, 150, 200), ("german", 150, 100, 200), ("diabetes", 100, 150, 200)],
            "OMKC(D,D) has the fewest mistakes on 2 of 3 data sets, OMKC(S,S) on 1; all others are "
            "significantly worse",
        ),
        (
            [("wdbc", 100, 150, 50), ("german", 150, 100, 200)],
            "AROW (yardstick) has the fewest mistakes on 1 of 2 data sets, OMKC(S,S) on 1 (the best learner "
            "there is OMKC(D,D) on 1); all",
        ),
    ],
)
def test_a_comparison_is_answered_in_one_sentence(sets, said):
    answer = answer_of(rows_of_sets(*sets))
    assert answer.startswith(said)
    assert answer.endswith(".")


def test_what_is_level_with_the_best_is_named_and_one_repetition_is_not_tested():
    own = setting("omkc_dd"), setting("omkc_ss")
    for reps, said in (
        (5, "; not significantly worse (paired t-test, 5 %): OMKC(S,S)."),
        (3, "; the differences are not tested."),
    ):
        counts = zip([100, 104, 101, 105, 99], [104, 100, 106, 99, 101], strict=True)
        pairs = list(counts)[:reps]
        cells = frame(*(one for at in (0, 1) for one in repetitions(own[at], [pair[at] for pair in pairs])))
        assert answer_of(summary_of(cells, expected(own, ("wdbc",), reps, yardsticks=()))).endswith(said)
    alone = frame(*repetitions(own[0], [100, 101]))
    assert answer_of(summary_of(alone, expected(own[:1], ("wdbc",), 2, yardsticks=()))) == ""


@pytest.mark.slow
def test_a_paper_has_its_tables_figures_claims_and_deviations_however_little_is_stored(tmp_path):
    paper, selection = read_paper("omkc"), Selection(reps=1, data=("wdbc",), words=("store=store",))
    items = [*paper.tables.values(), *paper.figures.values(), *paper.claims.values()]
    plans = plans_of(paper, [item for item in items if item.kind != "sizes"], selection).plans

    def page_of(plans):
        for plan in plans:
            fill_plan(plan)
        return paper_page(paper, selection, "omkl report omkc")

    with pytest.raises(UserError, match="holds none of the cells of omkc; `omkl table omkc/3 reps=1"):
        page_of([])
    without = [plan for plan in plans if "omkc_dd" not in {setting.learner for setting in plan.settings}]
    little = document(page_of(without[:1]))
    assert "INCOMPLETE" in little[: little.index("<section")]
    assert "undecided" in little
    assert "Not shown: no cell of OMKC(D,D) has finished" in little
    page = page_of(plans)
    text = document(page)
    assert list(files_in(text)) == [*(f"table-{number}.csv" for number in paper.tables), "claims.csv"]
    numbers = [item.number for item in paper.figures.values() if item.kind != "ranks"]  # these need more sets
    assert text.count("<figure ") == text.count("<code>omkl figure omkc/") == len(numbers)
    assert "INCOMPLETE" not in text

    said: list[str] = []
    markdown = write_markdown(page, tmp_path, "`make tables`", said.append).read_text("utf-8")
    assert said == [
        *(str(tmp_path / "omkc" / f"table-{number}") for number in paper.tables),
        *(str(tmp_path / "omkc" / f"figure-{number}") for number in numbers),
        str(tmp_path / "omkc" / "claims"),
        str(tmp_path / "omkc.md"),
    ]
    for section in page.sections:  # the same, written twice
        kind = "strong" if section.origin else "h2"
        assert f"<{kind}>{section.title}</{kind}>" in text
        assert (f"**{section.title}**" if section.origin else f"## {section.title}") in markdown
    assert markdown.count("Not drawn: ranks need at least 2 data sets") == 2
    for number in numbers:
        assert (tmp_path / "omkc" / f"figure-{number}.png").stat().st_size > 5000
        assert f"(omkc/figure-{number}.png)" in markdown
    top, closed = markdown.split("<details><summary>where the numbers come from")
    assert re.match(rf"# {paper.title}\n\n{re.escape(paper.cite)}\n\n\d+ of 31 claims hold", top)
    assert page.answer[0] in html.unescape(text)
    for command in ("`omkl table omkc/3 reps=1 data=wdbc", "`omkl run ", "commit abc"):
        assert command in closed
        assert command not in top
    rows = csv.DictReader((tmp_path / "omkc" / "table-3.csv").read_text("utf-8").splitlines())
    assert {row["label"] for row in rows} >= {"OMKC(D,D)", "OM-2", "AROW", "Majority class"}
    assert {path.suffix for path in (tmp_path / "omkc").iterdir()} == {".csv", ".tex", ".png", ".pdf"}


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "name what to report"),
        (["bomlk"], "no such paper (did you mean 'bomkl'?)"),
        (["bomkl", "omkc"], "one paper at a time"),
        (["--quick", "algo=arow", "data=wdbc"], "--quick is for a paper's report"),
        (["algo=arow", "data=wdbc"], "holds none of the"),
    ],
)
def test_mistakes_end_with_one_line(words, said, capsys):
    assert main(["report", *words]) == 2
    out, err = capsys.readouterr()
    assert said in err
    assert (out, err.count("\n")) == ("", 1)


def test_a_file_with_another_ending(capsys):
    fill(WORDS)
    assert main(["report", *WORDS, "--out", "page.png"]) == 2
    assert "must end in .html" in capsys.readouterr().err
