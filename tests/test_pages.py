"""The README and the pages of docs: commands, numbers, links, and the pages made at build time."""

import csv
import io
import re
import sys
from pathlib import Path

import pytest
import yaml
from support import ROOT, script

from omkl.cli.parser import build_parser
from omkl.config import learner_specs, plan
from omkl.data import registry
from omkl.pages.papers import APART_FROM, paper_answer
from omkl.publications import paper_tables, read_paper
from omkl.reports.table import VERDICTS
from omkl.runs.tuning import rule_of

sys.path.append(str(ROOT / "docs"))
from hooks import checks, learners, references

check_readme = script("check_readme")
PAGES = {path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8") for path in check_readme.pages()}
README = PAGES["README.md"]
COMMANDS = [
    pytest.param(command, id=f"{page}:{command.number}: {command.text}")
    for page, text in PAGES.items()
    for command in check_readme.commands(text)
    if command.words[0] == "omkl"
]
RESULTS = {path.stem: path.read_text(encoding="utf-8") for path in (ROOT / "results").glob("*.md")}


# ------------------------------------------------------------------ what they say


def test_the_readme_is_short():
    assert len(README.split()) < 500


def test_the_pages_show_every_command():
    shown = [command.values[0].words for command in COMMANDS]
    hidden = {"completion"}
    actions = {action.dest: action for action in build_parser()._actions}
    assert {words[1] for words in shown} >= set(actions["command"].choices) - hidden
    assert {word for words in shown for word in words if word.startswith("--")} >= {
        "--format",
        "--fresh",
        "--out",
    }


FOLDERS = ("mylearners", "mykernels")  # of worked examples
MADE = ("gram.npy", "sites.npz", "loans.csv", "visits.csv", "others.csv")  # by their pages


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_of_a_page_is_valid(command, tmp_path, monkeypatch):
    """Parsed and planned, not run: scripts/check_readme.py runs them."""
    if (
        command.mark in ("example", "exit")
        or "--help" in command.words
        or any(name in command.text for name in MADE)
        or any(folder in command.text for folder in FOLDERS)
    ):
        pytest.skip("needs a file that its page makes, is a mistake, or help")
    monkeypatch.chdir(tmp_path)
    Path("my.libsvm").write_text("1 1:1\n0 1:2\n", encoding="utf-8")
    Path("targets.csv").write_text("1,0.5\n0,0.2\n", encoding="utf-8")
    Path("best.yaml").write_text("settings: [arow]", encoding="utf-8")
    words = command.words[1:]
    if ">" in words:
        words = words[: words.index(">")]
    parser = build_parser()
    args, settings = parser.parse_known_args(words)
    assert not [word for word in settings if word.startswith("-")]
    if args.command in ("run", "sweep", "figure", "report"):  # which take a word themselves
        settings = [word for word in settings if not word.startswith("by=")]
    if args.command == "show" and not any("=" in word for word in settings):
        assert len(settings) == 1  # a saved model
    elif args.command in ("run", "sweep", "figure", "report", "bounds", "show", "status", "fit", "compile"):
        assert plan(settings, sweep=args.command in ("sweep", "figure", "report")).reps > 0
    elif args.command == "tune":
        assert plan(rule_of(settings)[1], sweep=True).reps > 0
    elif args.command == "results":
        assert args.action in ("list", "export", "merge", "prune")
    elif args.command == "data":
        assert all(registry.is_name(word) for word in settings)
    elif args.command in ("table", "claims"):
        assert all(re.match("(data|reps|algo)=", word) for word in settings)
    else:
        assert settings == []


def test_the_pages_name_files_variables_and_targets_that_exist():
    used = set()
    for path in (ROOT / "omkl").rglob("*.py"):
        used |= set(re.findall(r'"(OMKL_[A-Z_]+)"', path.read_text(encoding="utf-8")))
    assert set(re.findall(r"^\| `(OMKL_[A-Z_]+)`", PAGES["docs/commands.md"], re.M)) == used
    targets = set(re.findall(r"^([a-z]+):.*## ", (ROOT / "Makefile").read_text(), re.M))
    for page, text in PAGES.items():
        for name in re.findall(r"`((?:scripts|conf|tests|omkl|docs)/[\w./]+)`", text):
            assert (ROOT / name).exists(), (page, name)
        assert set(re.findall(r"(?:`|^)make (\w+)", text, re.M)) <= {*targets, "alone"}, page
        assert not re.search(r"(?<![\w.])/(home|root|tmp|work|Users)/", text), (page, "someone's own path")


def test_links_between_the_pages_have_their_files():
    """Where they are read as files, without what a build makes; Sphinx checks them on the site."""
    texts = PAGES | {
        path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8")
        for path in [*ROOT.glob("*.md"), *ROOT.glob("results/*.md")]
    }
    for page, text in texts.items():
        for target in re.findall(r"\]\((?!https?:|#)([^)#\s]+)", text):
            path = ((ROOT / page).parent / target).resolve()
            assert path.is_file(), (page, target)
            built = {path.relative_to(ROOT).as_posix(), path.parent.relative_to(ROOT).as_posix()}
            assert not built & set(check_readme.made()), (page, target, "exists after `make docs` alone")


def test_the_files_of_the_worked_examples_are_where_they_belong():
    files = {
        name: file
        for text in PAGES.values()
        for name, file in check_readme.example_files(text).items()
        if not name.startswith(FOLDERS)
    }
    assert {Path(name).parent.as_posix() for name in files} == {"conf/pool", "conf/data", "data"}
    for name, content in files.items():
        assert not (ROOT / name).exists(), f"{name} exists by now: the page needs another example"
        if name.endswith(".py"):
            compile(content, name, "exec")


def test_the_file_to_copy_for_a_ci_runs_what_its_page_explains():
    file = (ROOT / "docs/examples/smoke.yml").read_text(encoding="utf-8")
    steps = yaml.safe_load(file)["jobs"]["smoke"]["steps"]
    [code] = [step["run"] for step in steps if step.get("shell") == "python"]
    assert code in PAGES["docs/commands.md"]
    compile(code, "smoke.yml", "exec")


# ------------------------------------------------------------------ numbers


def test_the_page_that_says_what_to_take_is_what_the_tables_say():
    """`python scripts/choose.py` makes docs/choose.md of results/today."""
    assert PAGES["docs/choose.md"] == script("choose").page()


def _claims_of(paper: str) -> dict[str, dict[str, str]]:
    with open(ROOT / f"results/{paper}/claims.csv", newline="", encoding="utf-8") as file:
        return {row["claim"]: row for row in csv.DictReader(file)}


def test_the_readme_has_the_counts_of_the_page_of_auto():
    """The mild count, by tests of difference, that of untuned rivals, and the strict one, of being near."""
    claims = _claims_of("auto")
    mild, untuned, strict = (claims[name] for name in ("best_all", "best_default_all", "near_all"))
    assert mild["of"] == untuned["of"] == strict["of"]
    assert (
        f"On {mild['holds on']} of {mild['of']} held-out data sets the best rival, tuned or not, is not "
        f"significantly better than the untuned `auto` (untuned: on {untuned['holds on']}); on "
        f"{strict['holds on']} its error is shown to be within 5 % of the least"
    ) in PAGES["README.md"]


@pytest.mark.parametrize("paper", ["bomkl", "omkc", "adaraker", "norma", "auto", "today"])
def test_the_first_line_of_a_page_counts_the_claims_of_its_csv(paper):
    claims = [{"text": row["text"], "verdict": row["verdict"]} for row in _claims_of(paper).values()]
    line = paper_answer(read_paper(paper), [], claims)[0].partition(".")[0]
    assert line[:1].isdigit()
    assert f"{line}." in RESULTS[paper].partition("\n## ")[0]


def test_the_readme_s_counts_of_omkc_are_those_of_its_claims():
    claims = _claims_of("omkc")
    holds = {name for name, row in claims.items() if row["verdict"] == "holds"}
    only_stored = [name for name in holds if f"{name}_cosine" in claims.keys() - holds]
    with open(ROOT / "results/omkc/table-3.csv", newline="", encoding="utf-8") as file:
        worst = max(float(row["mistake_pct_mean"]) for row in csv.DictReader(file) if row["label"] == "OM-2")
    beside = f"only beside an OM-2 that errs on up to {worst:.0f} % of the rows"
    assert f", {len(only_stored)} of these {beside};" in PAGES["README.md"]
    cosine = [name for name in claims if name.endswith("_cosine")]
    assert (
        f"; {len(holds.intersection(cosine))} of {len(cosine)} with cosine-normalised" in PAGES["README.md"]
    )


def test_the_readme_s_counts_of_adaraker_and_bomkl_are_those_of_their_pages():
    printed = [row for row in _claims_of("adaraker").values() if row["text"].startswith("as printed")]
    holds = sum(row["verdict"] == "holds" for row in printed)
    assert f"; {holds} of {len(printed)} as printed" in PAGES["README.md"]
    agree = re.findall(r"By Welch's t-test \(5 %, not corrected\) (\d+) of these", RESULTS["bomkl"])
    assert f"(by Welch's test {sum(map(int, agree))})" in PAGES["README.md"]


def test_the_signs_of_a_published_value_are_defined_in_the_same_words_everywhere():
    [legend] = [text for term, text in paper_tables._PUBLISHED if term == VERDICTS]
    assert legend in PAGES["docs/numbers.md"].replace("`", "")


def test_the_counts_of_what_is_reproduced_are_those_of_the_results():
    counts = re.findall(
        r"^(\d+) of (\d+) published values \(mistakes and #SV of the paper's rows", RESULTS["bomkl"], re.M
    )
    values = f"{sum(int(one) for one, _ in counts)} of {sum(int(of) for _, of in counts)} published values"
    for page in ("README.md", "docs/papers.md"):
        assert values in PAGES[page]
        for paper in ("bomkl", "omkc", "adaraker", "norma"):
            row = next(line for line in PAGES[page].splitlines() if f"results/{paper}.md" in line)
            assert _claims(paper) in row, (page, paper)


def test_the_speed_in_the_readme_is_that_of_the_table():
    table = (ROOT / "results" / "bomkl" / "table-1.csv").read_text(encoding="utf-8")
    rows = [
        row
        for row in csv.DictReader(io.StringIO(table))
        if (row["data"], row["label"]) == ("a9a", "OMKC(D,D)")
    ]
    assert f"[{float(rows[0]['seconds_mean']):.1f} s](results/bomkl.md)" in PAGES["README.md"]
    assert f"prints {float(rows[0]['seconds_published']):,.1f} s" in PAGES["README.md"]


def _claims(paper: str) -> str:
    """How many of the claims that the paper makes hold, as the pages write it."""
    text = (ROOT / "results" / paper / "claims.csv").read_text(encoding="utf-8")
    said = [line for line in csv.DictReader(io.StringIO(text)) if not line["text"].startswith(APART_FROM)]
    holds = sum(line["verdict"] == "holds" for line in said)
    return f"{holds} of {len(said)} claims"


# ------------------------------------------------------------------ pages made at build time


def test_every_learner_has_a_page_with_what_its_yaml_says():
    made = dict(learners.pages())
    for name, spec in learner_specs().items():
        text = made[f"learners/{name}.md"]
        assert text.startswith(f"# {name}\n")
        assert f"In tables: {spec.label}" in text
        assert spec.summary.split()[0] in text
        assert spec.cite[1:] in text
        for parameter in spec.hyperparameters:
            assert f"| `algo.{parameter}` |" in text
        assert f"def {spec.function}(" in text
        assert "ALGORITHMS.md" not in text
        assert f"`{name}`" in made["learners/index.md"]
    assert "From [bomkl](../papers/bomkl.md)" in made["learners/bomkc_spa.md"]
    assert "| german | BOMKC(SPA) | 30.25 ± 0.35 | 30.19 ± 0.29 |" in re.sub(
        r" pool=paper16[^|]*\|", "", made["learners/bomkc_spa.md"].replace("\N{NO-BREAK SPACE}", " ")
    )


def test_a_citation_finds_its_references():
    shown = [
        entry["title"] for entry in references.cited("Hoi et al. (2013), section 5.1; Lu et al., section 4.3")
    ]
    assert shown == ["Online multiple kernel classification", "Budget online multiple kernel learning"]
    assert references.cited("persistence") == []
    without = {spec.cite for spec in learner_specs().values() if not references.cited(spec.cite)}
    assert {text.partition(";")[0] for text in without} == {
        "persistence",
        "the constant answer",
        "recursive least squares",
    }
    for key, entry in references.references().items():
        assert {"authors", "title", "where"} <= entry.keys(), key
        assert re.fullmatch(r"10\.\d{4,}/\S+", entry.get("doi", "10.1000/x")), key


def test_a_wrong_link_of_the_site_is_seen(tmp_path):
    (tmp_path / "a.html").write_text(
        '<a href="b.html#here">b</a><p id="top"><a href="#top">up</a><img src="x.png">'
    )
    (tmp_path / "b.html").write_text('<h1 id="there"></h1><script src="https://example.org/x.js"></script>')
    assert checks.faults(tmp_path) == [
        "a.html: b.html#here has no such anchor",
        "a.html: x.png has no file",
        "b.html: loads https://example.org/x.js from the network",
    ]
    (tmp_path / "x.png").touch()
    (tmp_path / "b.html").write_text('<h1 id="here"></h1><a href="https://example.org">elsewhere</a>')
    assert checks.faults(tmp_path) == []


# ------------------------------------------------------------------ scripts/check_readme.py


def test_check_readme_reads_blocks_and_comments():
    text = (
        "```console\n$ omkl list algos\nalgo  label\n...\n$ ls\nx\n```\n"
        "```bash\nomkl run data=wdbc 'algo.kernel={kind:linear}' > a.json  # long  why\nmake run\n```\n"
        "```python\nprint(1)\n```\n```yaml conf/pool/mine.yaml\nlabel: x\n```\n```\nomkl no\n```\n"
    )
    first, second, third = check_readme.commands(text)
    assert (first.number, first.text, first.printed) == (2, "omkl list algos", ["algo  label", "..."])
    assert second.words == ["omkl", "run", "data=wdbc", "algo.kernel={kind:linear}", ">", "a.json"]
    assert (second.mark, second.exit_code) == ("long", 0)
    assert third.text == "python -c 'print(1)'"
    assert check_readme.example_files(text) == {"conf/pool/mine.yaml": "label: x\n"}
    with pytest.raises(ValueError, match="line 1"):
        check_readme.commands("```bash\nomkl list algos\n")


def test_check_readme_sees_other_figures_but_not_other_seconds():
    command = check_readme.Command(1, "omkl run", ["omkl", "run"], "", ["wdbc  10.85 ± 0.78  <0.001  20/20"])
    assert not list(check_readme.differences(command, "x\nwdbc    10.85 ± 0.78   0.012   20/20\n"))
    assert list(check_readme.differences(command, "wdbc  10.86 ± 0.78  <0.001  20/20\n"))


@pytest.mark.parametrize(("words", "code"), [(["echo", "omkl"], 0), (["false"], 1), (["exit", "3"], 3)])
def test_check_readme_reports_a_command_that_fails(words, code):
    wrong = check_readme.run(check_readme.Command(1, " ".join(words), words, ""))
    assert wrong.startswith(f"exit code {code}") if code else wrong == ""
    assert check_readme.run(check_readme.Command(1, " ".join(words), words, f"exit {code}")) == ""
