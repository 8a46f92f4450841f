"""The tuner's own check: defaults with what other learners' races found, and rows that lose to them."""

import pytest
import yaml
from support import script

from omkl import conf
from omkl.cli import main
from omkl.config import learner_spec
from omkl.publications import Selection, read_paper
from omkl.publications.selection import tuned_plans
from omkl.publications.tuned import tuned_runs

tuner_check = script("tuner_check")

PAGE = """
title: A page
cite: by us
runs:
  first:
    words: {algo: [alma, lasvm, omkc_ss, egpc, arow], data: wdbc, reps: 5, rounds: 200, "yardsticks": []}
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


def test_defaults_get_the_widths_and_pools_that_others_found(page):
    paper, plans = page
    (run,) = tuned_runs(paper)
    made = tuner_check.borrowed(run, plans["first"], plans["first"].data[0])
    settings = [setting for plan in made for setting in plan.settings]
    widths = {s.learner: s.params["kernel"]["sigma"] for s in settings if "kernel" in s.params}
    assert widths == {"alma": "1 median", "lasvm": "0.0001 median"}
    pools = {(s.learner, s.pool["name"]) for s in settings if s.pool}
    assert pools == {("omkc_ss", "gauss13")}  # egpc takes Gaussian kernels alone
    assert all(s.params == learner_spec(s.learner).usual("classification") for s in settings if s.pool)
    assert "arow" not in {s.learner for s in settings}


def test_a_tuned_row_that_loses_to_a_default_is_listed(page, monkeypatch, capsys):
    paper, plans = page
    assert tuner_check.violations(paper, plans) == (0, [])  # nothing has run
    assert main(["tune", "mine", "-q", "-j", "1"]) == 0
    capsys.readouterr()
    monkeypatch.setattr("sys.argv", ["tuner_check", "mine", "-j", "1"])
    assert tuner_check.main() == 0
    count, found = tuner_check.violations(paper, plans)
    assert count == 3
    (own,) = [one for one in found if one.learner == "ALMA"]
    assert own.error > own.other
    assert own.p < 0.05
    assert "sigma=1 median" in own.what
    out = capsys.readouterr().out.splitlines()
    assert str(own) in out
    assert out[-1].startswith("3 comparisons, ")
