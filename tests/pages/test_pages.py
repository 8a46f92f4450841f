"""What a page holds: the numbers of the store, the commands of its rows, and nothing that could call out."""

import base64
import csv
import hashlib
import html
import re
import shlex

import pytest
from support.reports_cells import expected, frame, repetitions, setting
from support.stored_pages import HOSTILE, fill, fill_plan, hostile_file, payload

from omkl.cli import main
from omkl.config import plan as make_plan
from omkl.errors import UserError
from omkl.pages.documents import Page, Section, document, write_markdown
from omkl.pages.page_tables import with_details
from omkl.pages.papers import paper_page
from omkl.pages.runs import run_page
from omkl.publications import Selection, read_paper
from omkl.publications.selection import plans_of
from omkl.reports.results_table import run_table
from omkl.reports.rows import identity, rows_of
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
    page = payload(written(WORDS, capsys)[0])
    assert main(["run", *WORDS, "--format", "csv"]) == 0
    (table,) = [table for table in page.values() if table["file"] == "results.csv"]
    assert table["csv"] == capsys.readouterr().out


def test_a_sweep_has_its_grid_and_its_best_settings(capsys):
    fill(SWEEP)
    text, _ = written(SWEEP, capsys)
    page = payload(text)
    assert main(["sweep", *SWEEP, "--format", "csv", "--out", "x.png"]) == 0
    files = {table["file"]: table["csv"] for table in page.values()}
    assert files["results.csv"] == capsys.readouterr().out
    titles = re.findall("<h2>(.*?)</h2>", text)
    assert titles[0] == "Sweep"  # its heat map comes first
    (svg,) = re.findall('aria-label="Sweep">(<svg.*?</svg>)', text, re.S)
    names = [name for data in ["wdbc"] for name in (f"{data} · OMKC(S,D)", f"{data} · OMKC(D,D)")]
    assert [name in svg or name.split(" · ")[1] in svg for name in names] == [True] * len(names)
    assert "frame: the best; ring: fewest mistakes; yardsticks: " in text
    assert files["best.csv"].count("\n") == 1 + 2 + 3  # two learners, three yardsticks


def test_a_page_is_small_and_its_curves_are_drawn_once(capsys):
    fill(SWEEP)
    text, _ = written(SWEEP, capsys)
    assert len(text) < 250_000
    assert text.count('aria-label="Learning curves"') == 1
    assert len(re.findall("<figure ", text)) == len(re.findall("<svg ", text)) == 2


def test_a_row_gives_the_command_that_makes_it(capsys):
    shared = ["data=wdbc,drift", "reps=2", "seed=7", "algo.beta=0.7", "store=store", "pool.normalise=cosine"]
    shared.append("pool.kernels=[{kind:gaussian,sigma:[1,2]},{kind:linear}]")
    fill(["algo=omkc_sd", "yardsticks=[]", *shared])  # whose size is to be matched
    words = [
        "algo=omkc_sd,bomkc_rbp,okr",
        "algo.budget={match:omkc_sd,beta:0.7}",
        "algo.kernel={kind:gaussian,sigma:3}",
        *shared,
    ]
    plan = fill(words)
    settings = (*plan.settings, *plan.yardsticks)
    wanted = {
        identity(own.learner, own.params, own.pool) for own in settings if own.fits("classification", "wdbc")
    }
    page = payload(written(words, capsys)[0])
    (table,) = [table for table in page.values() if table["file"] == "results.csv"]
    commands = [dict(about)["command"] for about in table["about"]]
    made = []
    for command in commands:
        start, verb, *rest = shlex.split(command)
        again = make_plan(rest)
        (setting,) = again.settings
        assert (start, verb, again.reps, again.seed, again.yardsticks) == ("omkl", "run", 2, 7, ())
        made.append((str(again.data[0]), identity(setting.learner, setting.params, setting.pool)))
    assert len(set(made)) == 2 * 6  # three learners and three yardsticks on two data sets
    assert {setting for _, setting in made} <= wanted


def test_names_are_text_and_scripts_are_allowed_by_their_hashes_only(place):
    plan = fill(WORDS, [hostile_file(place)])
    text = document(run_page(plan, WORDS, f"omkl report {HOSTILE}"))
    scripts = re.findall(r"<script>(.*?)</script>", text, re.S)
    assert len(scripts) == 1
    assert "<img" not in text
    assert "alert(" not in text.replace("&lt;script&gt;alert(", "").replace("onerror=alert(1)&gt;", "")
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', text)[1]
    styles = re.findall(r"<style>(.*?)</style>", text, re.S)
    assert len(styles) == 1
    for part, own in (("script", scripts[0]), ("style", styles[0])):
        allowed = re.search(rf"{part}-src ([^;]*);", policy)[1]
        assert allowed == f"'sha256-{base64.b64encode(hashlib.sha256(own.encode()).digest()).decode()}'"
    assert "default-src 'none'" in policy
    assert not re.search(r"""(src|href)=["'](?!#|data:,)""", text.replace("img src=x", ""))
    assert text == document(run_page(plan, WORDS, f"omkl report {HOSTILE}"))


def test_a_file_of_the_users_is_described_as_registered_ones_are(place, capsys):
    (place / "my.libsvm").write_text("1 1:1\n1 1:2\n-1 1:3\n1 2:1\n")
    words = ["algo=arow", "data=wdbc,my.libsvm", "reps=1", "yardsticks=[]", "store=store"]
    fill(words)
    tables = payload(written(words, capsys)[0]).values()
    (sets,) = [table["csv"] for table in tables if table["file"] == "data-sets.csv"]
    rows = list(csv.DictReader(sets.splitlines()))
    assert [row["positive %"] for row in rows] == ["37.3", "75.0"]
    assert [(row["d"], row["classes"]) for row in rows] == [("30", "2"), ("2", "2")]


def test_what_is_missing_is_said_on_top(capsys):
    fill(WORDS, reps=1)
    text, said = written(WORDS, capsys)
    top = text[: text.index("<section")]
    assert "INCOMPLETE: OMKC(D,D) on wdbc 1 of 2" in top
    assert f"`omkl run {shlex.join(WORDS)}` runs the missing ones" in top
    assert '<div class="warnings" role="note"><strong>Warnings</strong><ul><li>INCOMPLETE' in text
    assert '<div class="warnings mild"' not in text  # their times are not doubtful
    assert "INCOMPLETE" in said
    assert text.count('class="incomplete') + text.count(" incomplete") >= 5


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
    files = [table["file"] for table in payload(text).values()]
    assert files[: len(paper.tables)] == [f"omkc-table-{number}.csv" for number in paper.tables]
    assert {"omkc-claims.csv", "data-sets.csv", "made-with.csv"} <= set(files)
    drawn = re.findall(r"</figcaption><p class=\"command\"><code>(omkl figure omkc/[^<]*)</code>", text)
    numbers = [item.number for item in paper.figures.values() if item.kind != "ranks"]  # these need more sets
    assert len(drawn) == len(numbers)
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
        assert f"<h2>{section.title}</h2>" in text
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


def test_rows_without_a_cell_are_one_line(capsys):
    fill(["algo=omkc_dd", "data=wdbc", "reps=2", "yardsticks=[]", "store=store"])
    text, _ = written(WORDS, capsys)
    (said,) = re.findall(r"<p class=\"text\">(4 rows without[^<]*)</p>", text)
    assert said.startswith("4 rows without a finished cell: OMKC(S,S) on wdbc, ")
    assert text.partition("</table>")[0].count("data-row=") == 1


@pytest.mark.parametrize("reps", [1, 4, 5])
def test_a_table_without_a_test_has_no_mark_and_says_so_below(reps):
    dd, ss = [100, 101, 102, 101, 100], [150, 160, 155, 150, 152]
    own = setting("omkc_dd"), setting("omkc_ss")
    cells = frame(*repetitions(own[0], dd[:reps]), *repetitions(own[1], ss[:reps]))
    about = expected(own, ("wdbc",), reps, yardsticks=())
    table = with_details(
        run_table(summary_of(cells, about), cells, about), "t", rows_of(cells, about), cells, {}
    )
    text = document(Page("p", "a page", [Section("Results", [table])]))
    assert [row.marked for row in table.rows] == [reps == 5, False]
    assert text.count("<b>* 10.08</b>") == (reps == 5)
    assert text.count("No test: fewer than 5 permutations are too few to say") == (reps < 5)
    assert "±" not in text.partition("<tbody>")[2] or reps > 1
