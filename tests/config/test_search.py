"""Where `omkl tune` looks for hyperparameters: the entries of the files, and the settings drawn from them."""

from dataclasses import replace

import pytest

from omkl.config import Setting, learner_spec, learner_specs
from omkl.config.kernel_kinds import pool as pool_named
from omkl.config.parameters import Choices, Range, parse_search
from omkl.runs.search import axes, pools_to_try, scalings_to_try, space_of
from omkl.runs.search import draw as draw_of
from omkl.runs.tuning import rule_from
from omkl.schema import domain_check

POSITIVE = domain_check("(0, inf)")
KERNEL = {"kind": "gaussian", "sigma": 1.0}


def only(written, domain="(0, inf)", default=1.0, tasks=("regression",), name=""):
    return parse_search(written, domain, domain_check(domain), default, tasks, name)


def setting(spec, task="classification"):
    pool = pool_named(spec.usual_pool or "paper16") if spec.kernels == "pool" else None
    return Setting(spec.name, spec.usual(task), pool)


def rule(trials):
    return rule_from({"trials": trials})


POOLS = rule_from({}).pools


def draw(first, task, fixed, count, seed):
    space = space_of(first, task, 10**6, fixed, POOLS)
    return [trial.setting for trial in draw_of(space, count, seed)]


def test_a_range_is_even_in_its_logarithm_and_ends_at_its_ends():
    form = only("log 1e-3 10")["regression"][""]
    assert [form.at(share) for share in (0, 0.25, 0.5, 1)] == [0.001, 0.01, 0.1, 10]
    assert Range(0.1, 0.9, log=False, whole=False).at(0.5) == 0.5
    whole = only("log 1 1000", "int [1, inf)", 1)["regression"][""]
    assert [whole.at(share) for share in (0, 0.5, 1)] == [1, 32, 1000]
    assert type(whole.at(0.5)) is int


def test_choices_kernels_and_tasks():
    assert only(["hinge", "logistic"], ["hinge", "logistic", "squared"], "hinge")["regression"][
        ""
    ] == Choices(("hinge", "logistic"))
    kernels = only([{"kind": "linear"}, {**KERNEL, "sigma": [1, 2]}], "kernel", KERNEL)["regression"][""]
    assert [kernels.at(share)["kind"] for share in (0, 0.4, 0.99)] == ["linear", "gaussian", "gaussian"]
    part = only({"sigma": "log 0.5 2"}, "kernel", KERNEL)["regression"]
    assert list(part) == ["sigma"]
    by_task = only({"classification": [1, 2]}, tasks=("regression", "classification"))
    assert by_task == {"regression": {}, "classification": {"": Choices((1, 2))}}


@pytest.mark.parametrize(
    ("written", "domain", "says"),
    [
        ("log 0 1", "(0, inf)", "ascend and be above 0"),
        ("median 0 1", "(0, inf)", "ascend and be above 0"),
        ("median 1 2", "(0, inf)", "is for the width of a kernel"),
        ({"sigma": "median 1e-200 1"}, "kernel", "sigma of a gaussian kernel"),
        ("log 2 1", "(0, inf)", "ascend"),
        ("linear 0 1", "(0, 1)", "must be a number > 0"),
        ("log 0.1 5", "(0, 1]", "got 5"),
        ("log a b", "(0, inf)", "is not 'log LOW HIGH'"),
        ("0.1 5", "(0, inf)", "is not 'log LOW HIGH'"),
        ("log 1 inf", "(0, inf)", "is not 'log LOW HIGH'"),
        ([0.1, -1], "(0, inf)", "got -1"),
        ([], "(0, inf)", "is not 'log LOW HIGH'"),
        ({"gamma": "log 0.1 1"}, "kernel", "has no gamma"),
        ({"sigma": "log 1e-200 1"}, "kernel", "sigma of a gaussian kernel"),
        ({"novelty": [1]}, "(0, inf)", "not for novelty"),
    ],
)
def test_faulty_entries_are_refused_when_the_file_is_read(written, domain, says):
    with pytest.raises(ValueError, match="search: ") as error:
        only(written, domain, KERNEL if domain == "kernel" else 1.0)
    assert says in str(error.value)


def test_every_learner_draws_settings_that_it_allows():
    for spec in learner_specs().values():
        for task in spec.tasks:
            first = setting(spec, task)
            drawn = draw(first, task, (), 5, 1)
            assert drawn[0] == first
            pools = len(pools_to_try(first, POOLS)) or 1
            scalings = len(scalings_to_try(first, task))
            assert len(drawn) == (5 if axes(spec, task) else min(5, pools * scalings)), spec.name
            assert len({one.identity for one in drawn}) == len(drawn)
            for one in drawn:
                own = spec.hyperparameters.items()
                assert one.params == {name: known.check(one.params[name]) for name, known in own}
                spec.check_together(one.params)
                if one.pool:
                    spec.check_pool(one.pool)


def test_more_settings_begin_with_the_same_and_fixed_values_stay():
    first, task = setting(learner_spec("norma")), "classification"
    few = draw(first, task, ["eta"], 4, 1)
    assert draw(first, task, ["eta"], 7, 1)[:4] == few
    assert {one.params["eta"] for one in few} == {first.params["eta"]}
    assert draw(first, task, ["eta"], 4, 2)[1:] != few[1:]
    perceptron = setting(learner_spec("perceptron"))  # 14 kernels, its default among them
    assert len(draw(perceptron, task, ["scale"], 30, 1)) == 14
    assert len(draw(perceptron, task, (), 60, 1)) == 42


def test_a_learner_chooses_among_pools_that_it_can_use_unless_one_is_given():
    def names(learner, fixed, trials=9):
        drawn = draw(setting(learner_spec(learner)), "classification", fixed, trials, 1)
        return {one.pool["name"] for one in drawn}

    assert names("omkc_dd", (), 30) == {"paper16", "paper16_cosine", "gauss13"}
    assert names("omkc_dd", ["pool"]) == names("omkc_dd", ["omkc_dd.pool"]) == {"paper16"}
    assert names("raker", (), 30) == {"gauss3", "gauss13"}  # Gaussian kernels alone
    assert pools_to_try(setting(learner_spec("raker")), ()) == []


def test_widths_are_searched_in_medians():
    first = setting(learner_spec("alma"))
    drawn = draw(first, "classification", ["scale"], 30, 1)[1:]
    words = [one.params["kernel"]["sigma"] for one in drawn]
    multiples = [float(word.removesuffix(" median")) for word in words]
    assert 0.0625 <= min(multiples) < 0.3 < 2 < max(multiples) <= 8
    okr = draw(setting(learner_spec("okr"), "regression"), "regression", ["scale", "target"], 5, 1)[1:]
    assert all(one.params["kernel"].keys() == {"kind", "sigma"} for one in okr)  # its default has a gamma
    width = only({"gamma": "median 0.5 2"}, "kernel", {"kind": "gaussian", "gamma": 1.0})["regression"][
        "gamma"
    ]
    assert [width.at(share) for share in (0, 0.5, 1)] == ["0.5 median", "1 median", "2 median"]
    assert str(width) == ": widths 0.5 to 2 times the median distance"


def test_a_small_stream_is_not_cut_and_has_more_permutations():
    own = replace(rule(9), small=2000, passes=3, eta=3, rungs=3, least=500)
    assert own.lengths(1500) == [1500]
    assert own.lengths(9000) == [1000, 3000, 9000]
    assert (own.passes_on(1500), own.passes_on(9000)) == (4, 3)
