"""Rows that a learner scores and does not learn, and the variances that it tells."""

import threading

import numpy as np

from omkl.config.learners import LearnerSpec
from omkl.engine.stream import Stream, Trace, part
from omkl.rounds.learner import Learner

_of_thread = threading.local()  # a generator, which takes longer to make than to set


def has_std(spec: LearnerSpec) -> bool:
    """Whether a learner says how uncertain its predictions of numbers are."""
    return "variance" in spec.measures


def variance_of(spec: LearnerSpec, trace: Trace) -> np.ndarray | None:
    """Return the variances (T,) of a trace's targets, None of a learner that does not tell them."""
    return trace.further[:, spec.measures.index("variance")] if has_std(spec) else None


def scored(learner: Learner, stream: Stream) -> Trace:
    """Return the trace of rows that are scored, each as the next round of a pass would score it."""
    return learner.run(stream, learn=False)[0] if "rng" not in learner.names else _drawn(learner, stream)


def _drawn(learner: Learner, stream: Stream) -> Trace:
    """Return the trace of rows that each draw from the generator as it is now; it stays as it is."""
    if "rng" not in _of_thread.__dict__:
        _of_thread.rng = np.random.Generator(np.random.PCG64(0))
    rng = _of_thread.rng  # in place of the learner's, which so stays as it is
    with learner.lock:
        rng.bit_generator.state = before = learner.state["rng"].bit_generator.state
        trace = learner.run(stream, learn=False, rng=rng)[0]
        if rng.bit_generator.state != before:
            for t in range(1, stream.T):  # the first row was scored from that state
                rng.bit_generator.state = before
                one = learner.run(part(stream, t, t + 1), learn=False, rng=rng)[0]
                trace.score[t], trace.mistake[t] = one.score[0], one.mistake[0]
                trace.further[t] = one.further[0]
                if trace.predicted is not None:
                    trace.predicted[t] = one.predicted[0]
                    trace.class_scores[t : t + 1] = one.class_scores
    return trace
