"""The measures of a pass on rows that it did not learn."""

import numpy as np

from omkl.engine.stream import Stream
from omkl.others.estimator import Estimator
from omkl.passes.averaged import averaged_hypothesis
from omkl.passes.calibration import Calibration, said_in
from omkl.passes.confusion import confusion_counts
from omkl.passes.said import are_noted, true_and_predicted
from omkl.passes.scores import Intervals, Values, of_classes, of_numbers, probabilities_of, sums_of
from omkl.rounds.learner import Learner
from omkl.rounds.overflow import check_error_sums, check_scores
from omkl.rounds.scored import scored
from omkl.store.fields import hits_of, of_counts


def on_test_rows(
    learner: Learner | Estimator,
    learnt: Stream,
    test: Stream,
    task: str,
    classes: int,
    delay: int = 1,
    calibration: Calibration | None = None,
) -> Values:
    """Return the measures of the last hypothesis on test rows, and of the averaged one, where it is known.

    learner: a Learner, or an Estimator of another package, after it has learnt a whole stream, whose labels
    came in batches of ``delay`` rounds
    calibration: what makes probabilities or intervals of the last hypothesis' scores, None for nothing
    Keys: test_NAME and averaged_NAME for rate (the share of mistakes) or, of a regression, rmse, and for
    each measure of a pass that has a value there. Raises Overflow where predictions do.
    """
    found = {"test": learner}
    if isinstance(learner, Learner) and (other := averaged_hypothesis(learner, learnt, delay)) is not None:
        found["averaged"] = other
    return {
        f"{kind}_{name}": value
        for kind, hypothesis in found.items()
        for name, value in _measured(
            hypothesis, test, task, classes, calibration if kind == "test" else None
        ).items()
    }


def _measured(
    learner: Learner | Estimator, test: Stream, task: str, classes: int, calibration: Calibration | None
) -> Values:
    """Return the measures on rows of which nothing is learnt, those of an order left out."""
    trace = scored(learner, test) if isinstance(learner, Learner) else learner.run(test, learn=False)[0]
    check_scores(trace.score, what="held-out row")
    if task == "classification":
        P = probabilities_of(learner, test, trace)
        if calibration is not None and are_noted(test, trace):
            P = calibration.told(said_in(learner.spec, task, test, trace))
        values, rounds = of_classes(test, trace, P)
        del values["kappa_temporal"]
        values["rate"] = float(np.count_nonzero(trace.mistake) / test.T)
        hits = hits_of(confusion_counts(*true_and_predicted(test, trace), classes))
        counts = np.frombuffer(hits or b"", "<i8").reshape(1, 3, -1)
        values |= {name.removesuffix("_pct"): float(rates[0]) for name, rates in of_counts(counts).items()}
    else:
        with np.errstate(over="ignore"):
            squares = np.square(trace.score - test.y)
        check_error_sums(np.cumsum(squares))
        told = dict(zip(learner.spec.measures, trace.further.T, strict=True))
        told.pop("degrees", None)
        variance, intervals = told.pop("variance", None), None
        if calibration is not None:
            half = calibration.told(said_in(learner.spec, task, test, trace))
            intervals = Intervals(half, calibration.level)
        values, rounds = of_numbers(test.y, trace.score, variance, None, intervals)
        rounds |= told
        values["rmse"] = float(np.sqrt(squares.mean()))
    for name, of_measure in rounds.items():
        if (sums := sums_of(of_measure)) is not None:
            values[name] = float(sums[-1]) / test.T
    return {name: value for name, value in values.items() if np.isfinite(value)}
