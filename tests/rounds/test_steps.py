"""A step of one's own stands around a learner's rounds, in any cut and row by row."""

import numpy as np
import pytest

from omkl.engine.stream import part
from omkl.rounds.record import Progress
from omkl.rounds.scaling import Scaling
from omkl.rounds.steps import Step
from omkl.testing.cases import case_stream, clouds, fresh_learner


class Factor(Step):
    """Rows times a factor; scores are divided by it, and the rows that were learnt are counted."""

    def __init__(self, factor):
        self.factor, self.learnt, self.calls = factor, 0, []

    def most(self, learn):
        return 7

    def before(self, learner, rounds):
        self.calls.append("before")
        values = rounds.stream.values * self.factor
        values.flags.writeable = False
        return rounds._replace(stream=rounds.stream._replace(values=values))

    def after(self, learner, rounds, trace):
        self.calls.append("after")
        trace.score[:] /= self.factor
        self.learnt += rounds.learn * rounds.stream.T


def learner_with(*steps, name="arow"):
    learner = fresh_learner(name, "gauss3", 5)
    learner.steps = list(steps)
    return learner


@pytest.mark.parametrize("name", ["arow", "omkc_dd"])
def test_it_equals_the_learner_of_other_rows_in_any_cut_and_row_by_row(name):
    data = clouds(60, d=5)
    stream = case_stream(data)
    other = stream._replace(values=stream.values * 4.0)
    other.values.flags.writeable = False
    expected = fresh_learner(name, "gauss3", 5).run(other)[0].score / 4.0
    step = Factor(4.0)
    assert np.array_equal(learner_with(step, name=name).run(stream)[0].score, expected)
    assert step.learnt == 60
    assert step.calls == ["before", "after"] * 9  # seven rounds at most
    cut, rows = learner_with(Factor(4.0), name=name), learner_with(Factor(4.0), name=name)
    scores = [cut.run(part(stream, a, b))[0].score for a, b in ((0, 1), (1, 40), (40, 60))]
    assert np.array_equal(np.concatenate(scores), expected)
    for t in range(60):
        own = slice(*stream.indptr[t : t + 2])
        row = stream.indices[own], stream.values[own], stream.y[t]
        assert rows.run_row(*row, learn=False)[1].score[0] == expected[t]
        assert rows.run_row(*row)[1].score[0] == expected[t]
    assert rows.steps[0].learnt == 60


def test_steps_are_left_in_the_reverse_order():
    calls = []

    class Named(Step):
        def __init__(self, name):
            self.name = name

        def before(self, learner, rounds):
            calls.append(f"before {self.name}")
            return rounds

        def after(self, learner, rounds, trace):
            calls.append(f"after {self.name}")

    learner_with(Named("a"), Named("b")).run(case_stream(clouds(5)), learn=False)
    assert calls == ["before a", "before b", "after b", "after a"]


def test_what_is_first_in_the_list_is_nearest_to_the_stream():
    data = clouds(60, d=5)
    stream, scaling, step = case_stream(data), Scaling(5, "online"), Factor(4.0)
    trace, _ = learner_with(scaling, step).run(stream, progress=(progress := Progress("classification")))
    rows = Scaling(5, "online").scaled(stream, True)[0]
    expected = learner_with(step).run(rows)[0].score
    assert np.array_equal(trace.score, expected)
    assert scaling.seen[0] == progress.rounds == 60
