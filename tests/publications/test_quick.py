"""`--quick`: which data sets of a paper's tables, figures and claims it takes."""

import pytest

from omkl.publications import Selection, find_item, paper_names, read_paper
from omkl.publications.claims import check_claims
from omkl.publications.selection import plans_of
from omkl.publications.tuned import tuned_runs


def test_quick_takes_small_sets_and_two_repetitions():
    from omkl.data import registry

    paper, item = find_item("tables", "omkc/3")
    work = plans_of(paper, [item], Selection(quick=True))
    assert all(part.plan.reps == 2 for part in work.parts)
    assert len(work.data) > 5
    assert max(registry.entry(name).T for name in work.data) <= 1500


@pytest.mark.parametrize(
    ("name", "lacking", "data"),
    [
        ("bomkl/1", (), {"a9a"}),  # figure 1 is on a9a alone
        ("bomkl/ranks", ("magic04",), {"susy_30k"}),
        ("omkc/4", ("sonar_scale",), None),  # a small set that is not there has its reason in the table
        ("norma/2", (), {"drift", "switch"}),  # the smallest are of one size
        ("norma/streams_omkc", ("weather", "elec2", "spam_corpus"), {"spam_corpus"}),
    ],
)
def test_quick_stays_on_the_sets_of_the_figure(monkeypatch, name, lacking, data):
    state = property(lambda ref: "missing" if ref.name in lacking else "file")
    monkeypatch.setattr("omkl.data.registered_data.Registered.state", state)
    monkeypatch.setattr(
        "omkl.publications.selection._reason", lambda name, _: "gone" if name in lacking else ""
    )
    paper, item = find_item("figures", name)
    work = plans_of(paper, [item], Selection(quick=True, learners=("omkc_ss",)))
    if data is not None:
        assert set(work.data) == data
    assert set(work.data) <= {name for run in item.runs for name in run.data}
    assert {name for _, name in work.missing} == set(lacking) & set(work.data)


def _untuned_with_claims():
    """Papers with claims that need no folder; a page of tuned learners reads their data."""
    papers = [read_paper(name) for name in paper_names()]
    return [
        paper.name
        for paper in papers
        if not tuned_runs(paper) and any(not claim.lacking for claim in paper.claims.values())
    ]


@pytest.mark.parametrize("name", _untuned_with_claims())
def test_quick_checks_a_claim_on_the_sets_that_it_ran(name, monkeypatch):
    monkeypatch.setattr("omkl.publications.selection._reason", lambda *_: "")
    monkeypatch.setattr("omkl.data.registered_data.Registered.state", "file")
    paper, quick = read_paper(name), Selection(quick=True)

    def cells(items):
        parts = plans_of(paper, items, quick).parts
        return {(part.run.name, ref.name) for part in parts for ref in part.plan.data}

    ran = cells(paper.claims.values())
    assert ran == set().union(*(cells([claim]) for claim in paper.claims.values()))


def test_quick_says_that_two_repetitions_are_too_few(tmp_path):
    """With as many repetitions as a test needs a claim has a verdict again."""
    paper = read_paper("norma")
    words = (f"store={tmp_path}", "exec=serial")
    for reps, few in ((2, True), (5, False)):
        made = check_claims(paper, Selection(reps=reps, data=("switch",), words=words), progress=False)
        decided = [row["verdict"] for row in made.table.records if row["of"]]
        assert decided
        assert (set(decided) == {"too few to say"}) is few
