"""Rows that a learner scores and does not learn, and the variances that it tells."""

import numpy as np

from omkl.config.learners import LearnerSpec
from omkl.engine.stream import Stream, Trace, part
from omkl.rounds.learner import Learner


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
    with learner.lock:
        generator = learner.state["rng"].bit_generator
        before = generator.state
        try:
            trace = learner.run(stream, learn=False)[0]
            if generator.state != before:
                for t in range(1, stream.T):  # the first row was scored from that state
                    generator.state = before
                    one = learner.run(part(stream, t, t + 1), learn=False)[0]
                    for array, own in zip(trace, one, strict=True):
                        if array is not None:
                            array[t : t + 1] = own
        finally:
            generator.state = before
    return trace
