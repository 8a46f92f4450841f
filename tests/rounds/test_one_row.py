"""Row by row, every learner does to the last bit what one pass does; and so does what is kept beside it."""

import numpy as np
import pytest

from omkl.config import learner_names, learner_spec
from omkl.engine.stream import make_trace
from omkl.errors import Overflow
from omkl.rounds.record import Progress
from omkl.rounds.scaling import Scaling
from omkl.testing.cases import MIXED, assert_same, case_stream, clouds, fresh_learner, state, ties, traced

NAMES = [name for name in learner_names() if not learner_spec(name).estimator]


def rows_of(stream):
    for t in range(stream.T):
        own = slice(*stream.indptr[stream.order[t] :][:2])
        yield stream.indices[own], stream.values[own], stream.y[t]


@pytest.mark.parametrize("scale", [None, "online"])
@pytest.mark.parametrize("name", NAMES)
def test_every_learner_row_by_row(name, scale):
    data = (ties if scale else clouds)(60)
    stream, rounds = case_stream(data, np.arange(60)[::-1]), 60
    one, many = (fresh_learner(name, MIXED, data.d, rounds=rounds) for _ in range(2))
    if scale:
        one.steps.insert(0, Scaling(data.d, scale))
        many.steps.insert(0, Scaling(data.d, scale))
    progress, records = Progress(one.spec.tasks[0]), Progress(one.spec.tasks[0])
    trace, _ = one.run(stream._replace(order=stream.order), progress=progress)
    for t, (indices, values, y) in enumerate(rows_of(stream)):
        own, made = many.run_row(indices, values, y, progress=records)
        assert_same(traced(made), {key: each[t : t + 1] for key, each in traced(trace).items()}, f"in {t}")
        assert own.T == 1
    assert records.to_json() == progress.to_json()
    assert_same(state(one), state(many))


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_a_record_of_single_rows_is_that_of_parts(task):
    rng = np.random.default_rng(0)
    whole, single, y = Progress(task), Progress(task), rng.normal(size=1000)
    trace = make_trace(1000)
    trace.score[:], trace.mistake[:] = rng.normal(size=1000), rng.random(1000) < 0.3
    whole.add(trace, y)
    for score, mistake, target in zip(trace.score, trace.mistake, y, strict=True):
        single.add_row(float(score), bool(mistake), target)
    assert single.to_json() == whole.to_json()
    with pytest.raises(Overflow):
        single.add_row(np.nan, True, 0.0)


def test_rows_of_many_lengths_are_not_kept_for_ever():
    learner = fresh_learner("arow", None, 200)
    for n in range(200):
        learner.run_row(np.arange(n), np.ones(n), 1.0)
    assert len(learner._rows) <= 64
