"""Threads that use a learner while another one teaches it see it between two calls; a child answers."""

import copy
import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
import threading
from contextlib import contextmanager

import numpy as np
import pytest

from omkl.config import pool
from omkl.engine.expansion import BLOCK
from omkl.rounds import learner
from omkl.sklearn import BomkcRbpClassifier, OmkcDdClassifier, OmkcSsClassifier

PART, LONGEST = BLOCK, 60.0  # rounds of a part of the pass below; seconds
rng = np.random.default_rng(0)
X = rng.normal(size=(3 * PART, 3))
y = (X[:, 0] * X[:, 1] > 0).astype(int)
can_fork = pytest.mark.skipif(not hasattr(os, "register_at_fork"), reason="this system has no fork")
several_threads = pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")


class Held:
    """A thread that learns, and stops inside a part of its pass until the others have had their chance."""

    def __init__(self, estimator, monkeypatch):
        self.inside, self.go = threading.Event(), threading.Event()
        own = learner.ctrl_c_later
        self.thread = threading.Thread(target=lambda: estimator.partial_fit(X, y))

        @contextmanager
        def held():
            with own():
                yield
                if threading.current_thread() is self.thread:
                    self.inside.set()
                    self.go.wait(0.2)  # whoever does not wait for the lock comes now

        monkeypatch.setattr(learner, "ctrl_c_later", held)

    def __enter__(self):
        self.thread.start()
        assert self.inside.wait(LONGEST)
        return self

    def __exit__(self, *error):
        self.go.set()
        self.thread.join(LONGEST)
        assert not self.thread.is_alive()


@pytest.fixture(params=[OmkcDdClassifier, OmkcSsClassifier, BomkcRbpClassifier])
def begun(request):
    """An estimator that has learnt 64 rows: without a budget, drawing kernels, and with a budget."""
    return request.param(random_state=0).partial_fit(X[:PART], y[:PART])


def saved(estimator, path):
    estimator.to_file(path)
    return type(estimator).from_file(path)


@pytest.mark.parametrize(
    "copied",
    [saved, lambda own, _: pickle.loads(pickle.dumps(own)), lambda own, _: copy.deepcopy(own)],
    ids=["to_file", "pickle", "deepcopy"],
)
def test_a_copy_made_while_a_thread_learns_is_of_the_whole_call(begun, copied, tmp_path, monkeypatch):
    with Held(begun, monkeypatch):
        other = copied(begun, tmp_path / "model")
    assert other._progress.rounds == PART + len(X)
    assert (other.support_ >= 0).all()
    assert other.mistakes_ == begun.mistakes_
    np.testing.assert_array_equal(other.support_, begun.support_)
    np.testing.assert_array_equal(other.decision_function(X[:20]), begun.decision_function(X[:20]))


def test_what_is_read_while_a_thread_learns_is_of_the_whole_call(begun, monkeypatch):
    names = ("support_", "n_support_", "dual_coef_", "kernel_weights_", "curve_")
    with Held(begun, monkeypatch):
        read = {name: copy.deepcopy(getattr(begun, name)) for name in names}
        vectors = begun.support_vectors_
    assert (read["support_"] >= 0).all()
    rows = np.concatenate([X[:PART], X])
    np.testing.assert_array_equal(rows[read["support_"]], vectors.toarray())
    for name in names[:-1]:
        np.testing.assert_array_equal(read[name], getattr(begun, name))
    assert read["curve_"]["t"][-1] == len(rows)


def test_a_shallow_copy_has_a_learner_of_its_own(begun):
    other = copy.copy(begun)
    before = begun.decision_function(X[:20])
    other.partial_fit(X, y)
    np.testing.assert_array_equal(begun.decision_function(X[:20]), before)


@pytest.mark.slow
def test_files_written_beside_learning_are_whole(tmp_path):
    model = BomkcRbpClassifier(pool="gauss3", budget=30, random_state=0).partial_fit(X, y)
    done = threading.Event()

    def learn():
        while not done.is_set():
            model.partial_fit(X, y)

    thread = threading.Thread(target=learn)
    thread.start()
    try:
        for _ in range(60):
            other = saved(model, tmp_path / "model.omkl")
            assert (other.support_ >= 0).all()
            assert other._progress.rounds % len(X) == 0
    finally:
        done.set()
        thread.join(LONGEST)


# ------------------------------------------------------------------ forks


def answer(estimator):
    """What a child finds: how much was learnt, what is stored, and what is predicted."""
    return estimator._progress.rounds, estimator.support_, estimator.decision_function(X[:20])


def in_child(ask):
    """Return what a function returns in a forked child, which has ten seconds."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        signal.alarm(10)
        try:
            with open(writing, "wb") as file:
                pickle.dump(ask(), file)
        finally:
            os._exit(0)
    os.close(writing)
    with open(reading, "rb") as file:
        content = file.read()
    os.waitpid(child, 0)
    assert content, "the child hung, or failed"
    return pickle.loads(content)


@can_fork
@several_threads
def test_a_pool_of_children_forked_while_a_thread_learns_answers(monkeypatch):
    begun = OmkcDdClassifier(random_state=0).partial_fit(X[:PART], y[:PART])
    with Held(begun, monkeypatch), multiprocessing.get_context("fork").Pool(2) as children:
        assert children.apply_async(begun.predict, (X[:4],)).get(10).shape == (4,)
    assert begun._progress.rounds == PART + len(X)


@can_fork
@several_threads
def test_a_child_has_threads_of_its_own_for_blocks(monkeypatch):
    """An idle parent's, too: a pool of threads is copied without its threads."""
    import omkl.data
    from omkl.testing.cases import case_stream, fresh_learner

    monkeypatch.setattr(learner, "WORTH", 1)
    data = omkl.data.from_arrays(X, y)
    made = fresh_learner("omkc_dd", pool("gauss3"), 3)
    shared = learner.Learner(made.spec, made.params, made.pool, 3, 1, threads=2)
    shared.run(case_stream(data))
    made.run(case_stream(data))
    expected = made.run(case_stream(data))[0].score
    np.testing.assert_array_equal(in_child(lambda: shared.run(case_stream(data))[0].score), expected)


def test_a_part_is_a_hundredth_of_the_pass_in_whole_blocks(monkeypatch):
    begun = BomkcRbpClassifier(pool="gauss3", budget=20, random_state=0).partial_fit(X, y)
    parts, own = [], learner.Learner._run_part

    def noted(self, rounds, *rest):
        parts.append(rounds.stream.T)
        return own(self, rounds, *rest)

    monkeypatch.setattr(learner.Learner, "_run_part", noted)
    begun.partial_fit(np.tile(X, (60, 1)), np.tile(y, 60))
    assert sum(parts) == 60 * len(X)
    assert set(parts[:-1]) == {2 * PART}


@pytest.mark.slow
@pytest.mark.parametrize(
    "home",
    [
        "from omkl.passes import Learner",
        "import omkl.testing.contracts\nfrom omkl.passes.learner import Learner",
    ],
)
def test_a_learner_of_a_fresh_process_can_be_copied(home):
    """Whatever else has been imported there."""
    code = f"""
import copy
{home}
from omkl.config import learner_spec
spec = learner_spec("arow")
copy.deepcopy(Learner(spec, spec.usual("classification"), None, 4, 0))
"""
    subprocess.run([sys.executable, "-c", code], check=True)
