"""Where `omkl tune` looks for hyperparameters: the entries of the files, and the settings drawn from them."""

import pytest

from omkl.config import domains, learner_spec, learner_specs
from omkl.config.parameters import Choices, Range, parse_search
from omkl.runs.tuning import axes, draw

POSITIVE = domains.domain_check("(0, inf)")
KERNEL = {"kind": "gaussian", "sigma": 1.0}


def only(written, domain="(0, inf)", default=1.0, tasks=("regression",)):
    return parse_search(written, domain, domains.domain_check(domain), default, tasks)


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
        ("log 0 1", "(0, inf)", "ascend, from above 0"),
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
            usual = spec.usual(task)
            drawn = draw(spec, usual, task, (), 5, 1)
            assert drawn[0] == usual
            assert len(drawn) == (5 if axes(spec, task) else 1), spec.name
            assert len({repr(params) for params in drawn}) == len(drawn)
            for params in drawn:
                assert params == {name: own.check(params[name]) for name, own in spec.hyperparameters.items()}
                spec.check_together(params)


def test_more_settings_begin_with_the_same_and_fixed_values_stay():
    spec = learner_spec("norma")
    usual = spec.usual("classification")
    few = draw(spec, usual, "classification", ["eta"], 4, 1)
    assert draw(spec, usual, "classification", ["eta"], 7, 1)[:4] == few
    assert {params["eta"] for params in few} == {usual["eta"]}
    assert draw(spec, usual, "classification", ["eta"], 4, 2)[1:] != few[1:]
    perceptron = learner_spec("perceptron")  # 14 kernels, its default among them
    assert len(draw(perceptron, perceptron.usual("classification"), "classification", (), 30, 1)) == 14
