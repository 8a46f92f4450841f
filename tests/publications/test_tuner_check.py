"""The tuner's own check: random settings against what a race chose."""

import pytest
import yaml
from support import script

from omkl import conf
from omkl.cli import main
from omkl.config import learner_spec
from omkl.publications import Selection, read_paper
from omkl.publications.selection import tuned_plans

tuner_check = script("tuner_check")

PAGE = """
title: A page
cite: by us
runs:
  first:
    words: {algo: [alma, lasvm, omkc_ss, egpc, arow], data: wdbc, reps: 5, "yardsticks": []}
    tune: {trials: 2, passes: 1}
tables:
  "1": {title: "Mistakes on {data}", kind: best, runs: [first]}
"""


@pytest.fixture
def page(tmp_path, monkeypatch):
    """A page whose races are given: LaSVM's found a good width, ALMA's a bad one."""
    folder = tmp_path / "conf"
    for group in ("algo", "data", "pool", "paper", "exec", "kernel"):
        (folder / group).mkdir(parents=True)
    real = conf.conf_folder()
    for path in [*real.glob("*.yaml"), *real.glob("*/*.yaml")]:
        if path.parent.name != "paper":
            target = folder / path.relative_to(real)
            target.parent.mkdir(exist_ok=True)
            target.write_text(path.read_text())
    (folder / "paper" / "mine.yaml").write_text(PAGE)
    (tmp_path / "results" / "mine").mkdir(parents=True)
    kernel = {"kind": "gaussian"}
    won = {
        "alma": {"params": {"kernel": {**kernel, "sigma": "0.0001 median"}}},
        "lasvm": {"params": {"kernel": {**kernel, "sigma": "1 median"}}},
        "omkc_ss": {"params": {}, "pool": "paper16_cosine"},
        "egpc": {"params": {}},
        "arow": {"params": {}},
    }
    known = {name: {**own, "revision": learner_spec(name).revision} for name, own in won.items()}
    (tmp_path / "results" / "mine" / "tuned.yaml").write_text(yaml.safe_dump({"first": {"wdbc": known}}))
    monkeypatch.setattr("omkl.conf.conf_folder", lambda: folder)
    monkeypatch.setenv("OMKL_STORE", str(tmp_path / "store"))
    paper = read_paper("mine")
    return paper, tuned_plans(paper, Selection())


@pytest.mark.parametrize(
    ("tuned", "least", "better"),
    [(10.0, 9.6, False), (10.0, 9.4, True), (-0.8, -0.82, False), (-0.8, -0.85, True)],
)
def test_a_find_errs_less_by_more_than_five_percent(tuned, least, better):
    assert tuner_check.Found(None, tuned, least, "").is_better is better


def test_random_settings_find_what_a_given_winner_misses(page, monkeypatch, capsys):
    paper, plans = page
    assert main(["tune", "mine", "-q", "-j", "1"]) == 0
    capsys.readouterr()
    made = {pair.race.first.learner: pair for pair in tuner_check.pairs(paper, plans, 8, 1)}
    assert set(made) == {"alma", "lasvm", "omkc_ss", "egpc", "arow"}
    for pair in made.values():
        assert len(pair.others.settings) == 8
        assert pair.others.rounds == pair.tuned.rounds == "0:284"  # the half that trials see
        assert (pair.others.reps, pair.tuned.reps) == (4, 4)
    alma, lasvm = (tuner_check.look(made[name], jobs=1) for name in ("alma", "lasvm"))
    assert alma.is_better
    assert "sigma=" in alma.text
    assert lasvm.tuned < alma.tuned
    monkeypatch.setattr("sys.argv", ["tuner_check", "mine", "--pairs", "5", "--settings", "8", "-j", "1"])
    assert tuner_check.main() == 0
    out = capsys.readouterr().out.splitlines()
    assert str(alma) in out
    assert out[-1].startswith("5 pairs, ")
