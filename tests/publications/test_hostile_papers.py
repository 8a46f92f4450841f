"""A mistake in conf/paper ends with one line that names file and key, and exit code 2."""

import copy
import shutil

import pytest
import yaml

from omkl.cli import main
from omkl.errors import UserError
from omkl.paths import conf_folder
from omkl.publications import claims, paper, paper_figures, paper_names, paper_tables, read_paper
from omkl.publications.claims import ClaimRows
from omkl.publications.compare import published_values


@pytest.fixture
def conf(tmp_path, monkeypatch):
    folder = shutil.copytree(conf_folder(), tmp_path / "conf")
    monkeypatch.setattr("omkl.conf.conf_folder", lambda: folder)
    return folder


def test_notes_are_markdown_beside_the_results(conf):
    notes = conf.parent / "results" / "omkl" / "notes.md"
    assert (read_paper("omkl").answer, read_paper("omkl").deviations) == ((), ())
    notes.parent.mkdir(parents=True)
    notes.write_text("# Notes\n\n## Answer\n\n* One\n  line.\n\n## Deviations\n\n1. First.\n2. Second.\n")
    assert (read_paper("omkl").answer, read_paper("omkl").deviations) == (
        ("One line.",),
        ("First.", "Second."),
    )
    notes.write_text("## Answers\n\n* One.\n")
    with pytest.raises(UserError, match=r"notes\.md: unknown heading 'Answers' \(did you mean 'Answer'\?\)"):
        read_paper("omkl")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"claims": True}, "claims: must be names, each with keys and values, got true"),
        ({"deviations": ["x"]}, "unknown key 'deviations'"),
        ({"runs": True}, "runs: must be names"),
        ({"tables": [1]}, "tables: must be names"),
        ({"figures": "x"}, "figures: must be names"),
        ({"unavailable": ["kdd08"]}, "unavailable: it must hold keys and values, got"),
        ({"unavailable": {"x": {"title": "t"}}}, "unavailable: x: 'how' is missing"),
        ({"title": None}, "'title' is missing"),
        ({"cite": 3}, "cite: must be text, got 3"),
        ({"published": 7}, "published: must be text, got 7"),
        ({"runs": {"x": {"words": 3}}}, "runs.x: words: must be keys and values, got 3"),
        ({"runs": {"x": {}}}, "runs.x: 'words' is missing"),
        ({"runs": {"x": {"words": {"data": "wdbc"}}}}, "runs.x.words: 'algo' is missing"),
        ({"runs": {"x": {"words": {"algo": 3}}}}, "runs.x.words: algo: must be a name or a list of names"),
        ({"runs": {"x": {"words": {"algo": "arow", "data": 3}}}}, "runs.x.words: data: must be a name"),
        ({"runs": {"x": {"words": {"algo": "arow", "reps": "ten"}}}}, "reps: must be a whole number"),
        ({"runs": {"x": {"words": {"algo": "arow"}, "per_data": 3}}}, "runs.x: per_data: must be names"),
        (
            {"runs": {"x": {"words": {"algo": "arow"}, "labels": [1]}}},
            "runs.x: labels: it must hold keys and values",
        ),
        ({"runs": {"x": {"words": {"algo": "arow"}, "extra": "no"}}}, "runs.x: extra: must be true or false"),
        (
            {"tables": {"1": {"title": "t", "kind": "results", "runs": 3}}},
            "tables.1: runs: must be a list",
        ),
        ({"tables": {"1": {"title": "t", "kind": 3}}}, "tables.1: kind: must be text, got 3"),
        (
            {"tables": {"1": {"title": "t", "kind": "results", "rank": True}}},
            "'rank' (did you mean 'ranks'?)",
        ),
        ({"unavailable": {"x": {"title": "t", "how": "h", "wy": None}}}, "unavailable: x: unknown key 'wy'"),
        ({"tables": {"1": {"title": "t", "kind": "sizes"}}}, "tables.1: 'data' is missing"),
        ({"tables": {"1": {"title": "t", "kind": "best", "by": "auk"}}}, "tables.1: by: no measure 'auk'"),
        (
            {"tables": {"1": {"title": "t", "kind": "best", "columns": ["f2"]}}},
            "tables.1: columns[1]: no measure 'f2'",
        ),
        ({"tables": {"1": {"title": "t", "kind": "sizes", "data": 3}}}, "data: must be a name or a list"),
        (
            {"tables": {"1": {"title": "t", "kind": "results", "notes": [3]}}},
            "tables.1: notes[1]: it must hold keys and values, got 3",
        ),
        ({"tables": {"1": {"title": "t", "kind": "results", "notes": [{}]}}}, "notes[1]: 'text' is missing"),
        ({"figures": {"1": {"title": "t", "kind": "curves"}}}, "figures.1: 'measure' is missing"),
        ({"claims": {"1": {"title": "t", "kind": "less"}}}, "claims.1: 'runs' is missing"),
        ({"claims": {"a": {"title": "t", "kind": "step", "runs": ["star"]}}}, "'label' is missing"),
    ],
)
def test_a_wrong_type_is_named(conf, capsys, change, message):
    path = conf / "paper" / "bomkl.yaml"
    content = yaml.safe_load(path.read_text("utf-8"))
    path.write_text(yaml.safe_dump(content | change, allow_unicode=True), "utf-8")
    for words in (["table", "bomkl/1"], ["list", "papers"]):
        assert main(words) == 2
        out, err = capsys.readouterr()
        assert not out
        assert err.count("\n") == 1
        assert f"{path}: " in err
        assert message in err


def test_an_unknown_quantifier(conf, capsys):
    path = conf / "paper" / "omkc.yaml"
    content = yaml.safe_load(path.read_text("utf-8"))
    next(iter(content["claims"].values()))["sets"] = "mots"
    path.write_text(yaml.safe_dump(content, allow_unicode=True), "utf-8")
    assert main(["claims", "omkc"]) == 2
    assert (
        "sets: must be one of all, nearly all, most, some, K of N, at most K of N, got 'mots' (did you mean"
        in capsys.readouterr().err
    )


@pytest.mark.slow
@pytest.mark.parametrize("name", paper_names())
def test_any_part_may_be_of_any_type(conf, name, monkeypatch):
    """Each key at the first levels, replaced: it is read, or refused in one line that names the file."""
    path = conf / "paper" / f"{name}.yaml"
    content = yaml.safe_load(path.read_text("utf-8"))
    monkeypatch.setattr("omkl.conf.read", lambda group, name: changed)
    places = [(a,) for a in content]
    places += [(a, b) for a in content if isinstance(content[a], dict) for b in content[a]]
    places += [(a, b, c) for a, b in [p for p in places if len(p) == 2] if isinstance(content[a][b], dict)
               for c in content[a][b]]  # fmt: skip
    refused = []
    for *way, last in places:
        for value in (3, True, None, "x", [1], ["x"], {"x": 1}, {"x": {"y": 1}}, [], {}):
            changed = copy.deepcopy(content)
            inner = changed
            for key in way:
                inner = inner[key]
            inner[last] = value
            try:
                read_paper(name)
            except UserError as error:
                refused.append(str(error))
    assert len(refused) > len(places)
    assert all(text.startswith(f"{path}: ") and "\n" not in text for text in refused)


def test_every_kind_of_the_schema_has_its_function():
    assert paper.KINDS["claims"].keys() == {*claims.KINDS, *claims.ACROSS}
    assert paper.KINDS["tables"].keys() == {
        *paper_tables.KINDS,
        *(own.__name__ for own in (paper_tables.sizes, paper_tables.digest)),
    }
    assert paper.KINDS["figures"].keys() == paper_figures.KINDS.keys()


@pytest.mark.parametrize(
    ("kind", "options", "message"),
    [
        ("less", {"left": "A", "right": "A", "measure": "mistaken"}, "measure: unknown measure 'mistaken'"),
        (
            "trend",
            {"label": "A", "key": "bta", "measure": "seconds", "direction": "up"},
            "did you mean 'beta'",
        ),
        (
            "trend",
            {"label": "A", "key": "beta", "measure": "x", "direction": "up"},
            "measure: unknown measure 'x'",
        ),
        (
            "step",
            {"label": "A", "key": "beta", "measure": "seconds", "start": 7, "end": 1},
            "start: beta = 7",
        ),
    ],
)
def test_a_claim_about_a_measure_or_value_that_does_not_exist(kind, options, message):
    record = {"mistake_pct_mean": 1.0, "seconds_mean": 2.0}
    records = {"A": [record | {"params": {"beta": value}} for value in (0.5, 1)]}
    rows = ClaimRows("d", "classification", records, None, None)
    with pytest.raises(UserError, match=message):
        claims.KINDS[kind](rows, options)


def test_unknown_published_numbers():
    with pytest.raises(UserError, match=r"published: 'bomk': there is no .*bomk\.csv \(did you mean 'bomkl'"):
        published_values("bomk")
