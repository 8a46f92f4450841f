"""docs/coverage.md: what it names exists, and nothing that exists is called missing."""

import ast
import re
import shlex

import pytest
from support import ROOT

import omkl
from omkl.cli.parser import build_parser
from omkl.config import learner_specs, plan
from omkl.data import registry
from omkl.publications.paper import find_item, read_paper
from omkl.theorems.evaluation import function_of

TEXT = (ROOT / "docs/coverage.md").read_text(encoding="utf-8")
PAPERS = (
    "Kivinen et al. (2004)",
    "Jin et al. (2010)",
    "Hoi et al. (2013)",
    "Lu et al.",
    "Shen et al. (2018)",
)
MISSING = "not in omkl"
KIND = r"(?:Theorem|Lemma|Corollary|Proposition) \d+"
SPECS = learner_specs()


def lines():
    """Item, what it is, command, page and test of each line, with the paper that `omkl bounds` names."""
    sections = re.split(r"^## .*$", TEXT, flags=re.M)[1:]
    assert len(sections) == len(PAPERS)
    for paper, section in zip(PAPERS, sections, strict=True):
        for line in section.split("\n"):
            cells = [cell.strip() for cell in line.strip().strip("|").split(" | ")]
            if line.startswith("| ") and cells[0] != "item":
                assert len(cells) == 5, line
                yield paper, cells


LINES = list(lines())
COMMANDS = sorted(
    {text for _, cells in LINES for text in re.findall("`([^`]+)`", cells[2]) if text.startswith("omkl ")}
)


@pytest.mark.parametrize("text", COMMANDS)
def test_a_command_names_what_there_is(text):
    words = shlex.split(text)[1:]
    actions = {action.dest: action for action in build_parser()._actions}
    assert words[0] in actions["command"].choices
    if words[0] == "data":
        assert all(map(registry.is_name, words[2:]))
    if words[0] in ("table", "figure"):
        find_item(f"{words[0]}s", words[1])
    if words[0] == "claims":
        assert read_paper(words[1]).claims


@pytest.mark.parametrize("text", [text for text in COMMANDS if text.startswith("omkl run ")])
def test_a_run_can_be_planned(text):
    assert plan(shlex.split(text)[2:]).settings


WITH_BOUNDS = [text for text in COMMANDS if text.startswith("omkl bounds ")]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "data_name"),
    [(text, (re.findall(r"data=(adaraker\w+|ionosphere)", text) or ["wdbc"])[0]) for text in WITH_BOUNDS],
)
def test_a_theorem_applies_to_the_run_that_its_line_names(text, data_name, request, tmp_path):
    if data_name != "wdbc":  # nor generated
        request.getfixturevalue("shared_data")
    words = text.removeprefix("omkl bounds ") + " reps=1" + " data=wdbc" * ("data=" not in text)
    made = omkl.bounds(words, store=str(tmp_path), rows=100, jobs=1, progress=False).report_table().records
    applied = [row["theorem"] for row in made if row["bound"] is not None]
    for _, cells in LINES:
        for item in re.findall(rf"{KIND}(?:, second form)?", cells[0] if f"`{text}`" in cells[2] else ""):
            assert any(re.search(rf"{item}\b", theorem) for theorem in applied), item
    assert applied


def test_every_line_has_a_command_or_says_that_it_is_missing():
    for _, (item, _, command, page, test) in LINES:
        assert command.startswith("`omkl ") or command in (MISSING, "only the test"), item
        assert command == MISSING or "`" in test or "](" in page, item
        for path, name in re.findall(r"`(tests/[\w./]+)(?:::(\w+))?`", test):
            assert (ROOT / path).exists(), (item, path)
            assert not name or f"def {name}(" in (ROOT / path).read_text(encoding="utf-8"), (item, name)


def labels():
    """The theorems that the functions of omkl.theorems name: 'Hoi et al. (2013), Corollary 1', ..."""
    found = set()
    for path in (ROOT / "omkl/theorems").glob("*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        docs = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
        texts = {
            owner: [
                node.value
                for node in ast.walk(owner)
                if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docs
            ]
            for owner in tree.body
        }
        every = [text for own in texts.values() for text in own]
        for named in texts.values():
            own = next(
                (paper for part in (named, every) for paper in PAPERS if any(paper in text for text in part)),
                None,
            )
            for part in (part for text in named for part in text.split(";")):
                paper = next((paper for paper in PAPERS if paper in part), own)
                found |= {(paper, name) for name in re.findall(KIND, part)}
    return found


def test_every_theorem_of_the_bounds_has_a_line_and_none_of_them_is_called_missing():
    have = {(paper, re.match(r"\w+ \d+", cells[0])[0]) for paper, cells in LINES if "omkl bounds" in cells[2]}
    assert labels() <= have
    for paper, cells in LINES:
        for name in re.findall(KIND, cells[0]):
            plain = cells[0] == name
            assert not (plain and cells[2] == MISSING and (paper, name) in labels()), cells[0]


def test_a_learner_whose_bounds_are_named_has_a_theorem():
    for _, cells in LINES:
        for names in re.findall(r"omkl bounds algo=([\w,]+)", cells[2]):
            for name in names.split(","):
                assert function_of(SPECS[name]) is not None, name


def test_every_learner_of_the_five_papers_has_a_line():
    named = set(re.findall(r"\w+", " ".join(cells[2] for _, cells in LINES)))
    cited = re.compile(r"Kivinen|Jin, Hoi|Jin et al|Hoi et al|Lu, Hoi, Sahoo|Shen, Chen")
    assert {name for name, spec in SPECS.items() if cited.search(spec.cite)} <= named
