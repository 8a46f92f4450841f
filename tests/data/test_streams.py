"""The streams made from a seed: their changes, their realisations, and the cells that run on them."""

import numpy as np
import pytest

from omkl import data
from omkl.config import plan
from omkl.data import registry, streams
from omkl.passes.cell import run_cell
from omkl.runs.cells import expand
from omkl.theorems.known_streams import known_targets

BOTH = pytest.mark.parametrize("name", ["drift", "switch"])
NUMBERS = pytest.mark.parametrize("name", streams.NUMBERS)
ALL = pytest.mark.parametrize("name", streams.EVERY)


@ALL
def test_the_registered_content_is_seed_1_and_needs_no_file(name, monkeypatch):
    monkeypatch.setenv("OMKL_DATA", "")
    loaded = data.find(name).load()
    rows = streams.realised(name, 1)[0]
    assert loaded.content_hash == registry.entry(name).content_hash == data.registered(name).verify()
    np.testing.assert_array_equal(loaded.values, rows.values)
    assert data.registered(name).state == "generated"
    assert not data.registered(name).is_downloadable


@BOTH
def test_a_repetition_in_file_order_streams_its_own_realisation(name):
    base = data.find(name).load()
    assert data.realisation(base, 0) is base
    third, again = data.realisation(base, 2), data.realisation(base, 2)
    np.testing.assert_array_equal(third.values, again.values)
    np.testing.assert_array_equal(third.values, streams.realised(name, 3)[0].values)
    assert third.content_hash not in (base.content_hash, data.realisation(base, 1).content_hash)
    assert (third.T, third.d, third.name, third.task) == (base.T, base.d, base.name, base.task)
    kernel = "algo.kernel={kind: gaussian, sigma: 0.5}"
    cells = expand(plan(["algo=perceptron", kernel, f"data={name}", "order=file", "reps=2", "yardsticks=[]"]))
    first, second = (run_cell(cell)["mistakes"] for cell in cells)
    assert 0 < first != second > 0
    assert len({cell.key for cell in cells}) == 2


@BOTH
def test_means_move_as_often_as_the_paper_says(name, monkeypatch):
    """Between two changes the means are one array, from which all examples are drawn."""
    drawn, examples = [], streams._examples
    monkeypatch.setattr(
        streams, "_examples", lambda rng, means: drawn.append((means, examples(rng, means))) or drawn[-1][1]
    )
    rows = streams.realised.__wrapped__(name, 5)[0]
    assert len(rows.labels) == streams.ROUNDS
    distinct = list(dict.fromkeys(means.tobytes() for means, _ in drawn))
    assert len(distinct) == streams.ROUNDS // streams.EVERY[name]
    steps = np.abs(np.diff([np.frombuffer(means) for means in distinct], axis=0))
    assert np.abs([np.frombuffer(means) for means in distinct]).max() <= streams.SIDE
    if name == "drift":
        assert 0 < np.median(steps) < streams.STEP
    else:
        assert np.median(steps) > 5 * streams.STEP


def test_the_bayes_rule_is_sure_of_every_example():
    rng = np.random.default_rng(0)
    means = np.array([[[-1.0, 0.0]] * 3, [[1.0, 0.0]] * 3])
    x, y = streams._examples(rng, means)
    # one Gaussian each: the log odds are x . (difference of the means) / variance = 8 x_1
    assert (y * 8 * x[:, 0] >= streams.LEAST_LOG_ODDS).all()
    assert set(y) == {-1.0, 1.0}


@NUMBERS
def test_targets_of_numbers_are_known_up_to_the_noise(name):
    examples, known = streams.realised(name, 3)
    noise = examples.labels - known
    assert np.abs(noise).max() <= streams.MOST_NOISE + 1e-6
    assert np.std(noise) == pytest.approx(streams.NOISE, rel=0.1)
    assert abs(noise.mean()) < 0.002
    assert examples.labels.min() >= 0.0
    assert examples.labels.max() <= 1.0
    assert np.std(known) > 2 * np.std(noise)
    assert np.square(examples.values.reshape(-1, 2)).sum(axis=1).max() <= 1.0
    with pytest.raises(ValueError, match="read-only"):
        known[0] = 0.0


@NUMBERS
def test_targets_of_numbers_change_as_often_as_they_are_to(name, monkeypatch):
    drawn, target = [], streams._target
    monkeypatch.setattr(streams, "_target", lambda bumps, X: drawn.append(bumps) or target(bumps, X))
    streams.realised.__wrapped__(name, 5)
    assert len(drawn) == streams.ROUNDS // streams.EVERY[name]
    assert min(bumps.min() for bumps in drawn) >= 0.0
    assert max(bumps.max() for bumps in drawn) <= 1.0
    steps = np.abs(np.diff(drawn, axis=0))
    assert 0 < np.median(steps) < 0.05 if name == "drift_numbers" else np.median(steps) > 0.1
    one = streams._target(np.array([[0.5, 0.5, 1.0]]), np.zeros((2, 2)))
    assert one == pytest.approx(streams.HIGH)


@NUMBERS
def test_known_targets_are_those_of_the_realisation_that_is_streamed(name):
    ref = data.registered(name)
    for rep in (0, 2):
        rows = data.realisation(data.find(name).load(), rep)
        known = known_targets(ref, "file", rep)
        assert np.abs(rows.y - known).max() <= streams.MOST_NOISE + 1e-6
    first = known_targets(ref, "permuted", 2)
    assert np.abs(data.find(name).load().y - first).max() <= streams.MOST_NOISE + 1e-6
    assert known_targets(data.registered("drift"), "file", 0) is None
    assert known_targets(data.registered("wdbc"), "permuted", 0) is None
