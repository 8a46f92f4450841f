"""docs/coverage.md, which the build makes: learners and theorems of the five papers, commands that run."""

import ast
import re
import shlex
import sys

import pytest
from support import ROOT

from omkl.cli.parser import build_parser
from omkl.config import learner_specs, plan
from omkl.publications.paper import find_item, read_paper
from omkl.theorems.evaluation import bound_function

sys.path.append(str(ROOT / "docs"))
from hooks import coverage

TEXT = coverage.page()
KIND = r"(?:Theorem|Lemma|Corollary|Proposition) \d+"
COMMANDS = sorted(set(re.findall(r"`(omkl [^`]+)`", TEXT)))


@pytest.mark.parametrize("text", COMMANDS)
def test_a_command_names_what_there_is(text):
    command, *words = shlex.split(text)[1:]
    assert command in {action.dest: action for action in build_parser()._actions}["command"].choices
    if command in ("table", "figure"):
        find_item(f"{command}s", words[0])
    elif command == "claims":
        assert read_paper(words[0]).claims
    else:
        own = plan(words)
        assert own.settings
        if command == "bounds":
            assert all(bound_function(learner_specs()[setting.learner]) for setting in own.settings)


def labels():
    """The theorems that the functions of omkl.theorems name: 'Hoi et al. (2013)' and 'Corollary 1', ..."""
    papers = [start for start, _ in coverage.PAPERS.values()]
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
                (paper for part in (named, every) for paper in papers if any(paper in text for text in part)),
                None,
            )
            for part in (part for text in named for part in text.split(";")):
                paper = next((paper for paper in papers if paper in part), own)
                found |= {(paper, name) for name in re.findall(KIND, part)}
    return found


def test_every_theorem_of_the_bounds_applies_to_a_committed_run():
    shown = {
        (start, name)
        for paper, (start, _) in coverage.PAPERS.items()
        for item, *_ in coverage.theorems(paper)
        for name in re.findall(KIND, item)
    }
    assert len(shown) > 20
    assert labels() == shown


def test_every_learner_and_item_of_the_five_papers_has_a_line():
    cited = re.compile(r"Kivinen|Jin, Hoi, Yang|Hoi et al|Lu, Hoi, Sahoo|Lu et al|Shen, Chen")
    for name, spec in learner_specs().items():
        assert not cited.search(spec.cite) or f"`omkl run algo={name}`" in TEXT
    for name in coverage.PAPERS:
        paper = read_paper(name)
        for kind, items in (("table", paper.tables), ("figure", paper.figures)):
            assert all(f"`omkl {kind} {item.name}`" in TEXT for item in items.values())
        assert all(f"data set {key} |" in TEXT for key in paper.unavailable)
