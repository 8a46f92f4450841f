"""An estimator of another package as a learner: in each round it predicts, then it learns.

It is an object of a call (see objects), or a YAML of a folder of OMKL_PATH names it, ``estimator:
module:Class``, which makes an object. The module is a file of that folder, or of an installed package; a
module of the folder may have a function in its place, which returns an object. How objects are asked is in
adapters.

A mistake is an answer that is not the class, and no answer; of a number it is no answer. The score is what
``decision_function`` gives, else the probability of the second class less that of the first, else the class
as +1 or -1, or the number predicted; of more than two classes it is the margin of the true one. Before the
first row has been learnt, and where there is no answer, it is 0.
"""

import math
import random
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np

from omkl.config.learners import LearnerSpec
from omkl.engine.stream import MOST_SCORES, UNRECORDED, Stream, Trace, make_trace
from omkl.errors import OmklError, show
from omkl.others.adapters import NOTHING, Saying, adapter
from omkl.others.making import make_estimator
from omkl.others.names import UNNAMED, Names
from omkl.rounds.scaling import Scaling
from omkl.rounds.units import in_units, nlpd_of

FEW = 10  # rows after which an estimator may still have nothing to predict
SETTLED = 30  # rows after which it has numbers: a Gaussian needs two rows of each class
ROUNDING = 1e-6  # how far below 0 a probability may be
DENSITY = ["nlpd", "variance"]  # what it reports of each round where its predictions have a variance


class Estimator:
    """An estimator with what `run_pass` uses of a Learner; one pass is all that it makes.

    spec: its LearnerSpec; params: its arguments; d: number of features; seed: its ``random_state`` or
    ``seed``, where it names none, and that of the generators of numpy and ``random``; task, classes: of the
    data, and their number; names: of the data; scaling: of its rows and targets. Raises UserError as
    `make_estimator` does.
    """

    m, weights, classifiers = 0, None, None

    def __init__(
        self,
        spec: LearnerSpec,
        params: Mapping[str, Any],
        d: int,
        seed: int,
        task: str,
        classes: int = 2,
        scaling: Scaling | None = None,
        names: Names = UNNAMED,
    ) -> None:
        self.scaling, self.d, self.classes = scaling, d, 0 if task == "regression" else classes
        self.name = f"{spec.name} ({spec.estimator})"
        self._generators = _seeded(seed)
        with self._own_generators():
            model = make_estimator(spec, params, seed, classes)
            self._asked = adapter(model, self.name, d, self.classes, spec.sparse, names)
        self.spec = spec if self.classes else replace(spec, measures=DENSITY)
        self._labels = self._asked.labels
        own = names.labels_of(self.classes) if self.classes else ()
        self._names = tuple(map(str, own))
        self._class_of = _class_of(own, self._labels)
        self._has_probabilities = self._learnt = False
        self.has_scores = False  # of a decision function
        self._rounds = self._silent = 0  # those after the first row was learnt, those without an answer

    @np.errstate(all="ignore")  # what divides by 0 in a package's first rounds is its own
    def run(self, stream: Stream, learn: bool = True, on_part: Any = None) -> tuple[Trace, float]:
        """Run the rounds of a stream; learn=False only scores them. Returns the trace, and CPU seconds.

        on_part: called with the number of rounds done, at most 100 times. Raises OmklError for answers that
        are no class, or no number.
        """
        given, units, part = stream, None, -(-stream.T // 100)
        trace = self._trace(stream)
        began = time.thread_time()
        if self.scaling is not None:
            stream, units = self.scaling.scaled(given, learn)
        seconds = time.thread_time() - began
        numbers = (stream.y if stream.label is None else stream.label).tolist()
        if self.classes == 2:
            numbers = [int(y > 0) for y in numbers]
        began = time.thread_time()
        t, asked = 0, self._asked
        with self._own_generators():
            while t < stream.T:
                stop = min(stream.T, t + asked.unchanged(learn))
                rows = asked.rows(stream, t, stop)
                said = asked.said(rows) if self._learnt else [NOTHING] * (stop - t)
                for at, saying in enumerate(said, t):
                    (self._note_class if self.classes else self._note_number)(trace, at, numbers[at], saying)
                if learn:
                    asked.learn(
                        rows, [self._labels[y] for y in numbers[t:stop]] if self.classes else numbers[t:stop]
                    )
                    self._learnt = True
                if on_part is not None:
                    for done in range(t // part + 1, stop // part + 1):
                        on_part(done * part)
                t = stop
        if learn and self.scaling is not None:
            self.scaling.see(given)
        seconds += time.thread_time() - began
        if not self.classes:
            has_variance = trace.further[:, 1] >= 0.0
            error = (stream.y - trace.score)[has_variance]
            trace.further[has_variance, 0] = nlpd_of(error, trace.further[has_variance, 1])
        if units is not None:
            in_units(trace, units, given.y, self.spec)
        return trace, seconds

    def check_spoke(self) -> None:
        """Raise OmklError for one that was never fitted, or has answered nothing in some rounds."""
        if why := self._asked.why_unfitted():
            raise OmklError(f"{self.name} {why}")
        if FEW < self._rounds == self._silent:
            raise OmklError(f"{self.name} predicts nothing in any round; it must return a prediction")

    def probabilities(self, trace: Trace) -> np.ndarray | None:
        """Return the probabilities (T, C) of a trace's rounds; None of an estimator without."""
        return trace.further if self._has_probabilities and trace.further.shape[1] else None

    def _trace(self, stream: Stream) -> Trace:
        many = self.classes if stream.label is not None else 0
        if not self.classes:
            trace = make_trace(stream.T, len(DENSITY))
            trace.further[:] = UNRECORDED
            return trace
        trace = make_trace(stream.T, self.classes if stream.T * self.classes <= MOST_SCORES else 0, many)
        trace.further[:] = 1.0 / self.classes
        return trace

    def _note_class(self, trace: Trace, t: int, y: int, saying: Saying) -> None:
        c, scores, P = self._class(saying.answer), saying.scores, saying.probabilities
        self.has_scores |= scores is not None
        for numbers, kind in ((scores, "score"), (P, "probability")):
            if self._rounds > SETTLED and numbers is not None and np.isnan(numbers).any():
                raise OmklError(f"{self.name} returns NaN as a {kind} (row {self._rounds} after the first)")
        if P is not None:
            if P.min() < -ROUNDING:
                raise OmklError(f"{self.name} returns {show(float(P.min()))} as a probability")
            P = np.maximum(P, 0.0)
            P = P / P.sum() if np.isfinite(P).all() and P.sum() > 0.0 else None  # such as 0 / 0 of few rows
            self._has_probabilities |= P is not None
        if P is not None and trace.further.shape[1]:
            trace.further[t] = P
        trace.mistake[t] = c != y
        scores = P if scores is None or c is None else scores
        if scores is None:
            scores = np.zeros(self.classes)
            if c is not None:
                scores[c] = 1.0
        if self.classes == 2:
            trace.score[t] = scores[1] - scores[0] if np.ndim(scores) else scores
            return
        trace.predicted[t] = int(y == 0) if c is None else c
        trace.score[t] = scores[y] - np.delete(scores, y).max()
        if t < len(trace.class_scores):
            trace.class_scores[t] = scores

    def _class(self, answer: Any) -> int | None:
        """Return the number of the class that an answer names, None of no answer."""
        self._rounds += self._learnt
        if answer is None:
            self._silent += self._learnt
            return None
        try:
            return self._class_of[answer]
        except (KeyError, TypeError):
            as_told = tuple(map(str, self._labels))
            told = "" if as_told == self._names else f" (it is told {', '.join(as_told)})"
            raise OmklError(
                f"{self.name} answers {show(answer)}, which is no class: {', '.join(self._names)}{told}"
            ) from None

    def _note_number(self, trace: Trace, t: int, y: float, saying: Saying) -> None:
        self._rounds += self._learnt
        self._silent += self._learnt and saying.answer is None
        try:
            trace.score[t] = 0.0 if saying.answer is None else float(saying.answer)
        except (TypeError, ValueError):
            raise OmklError(f"{self.name} answers {show(saying.answer)}, which is no number") from None
        if not math.isfinite(trace.score[t]):
            raise OmklError(
                f"{self.name} answers {trace.score[t]}, which is not finite (row {self._rounds} after the "
                "first)"
            )
        trace.mistake[t] = saying.answer is None
        if saying.variance is not None and 0.0 < saying.variance < math.inf:  # with 0 there is no density
            trace.further[t, 1] = saying.variance

    @contextmanager
    def _own_generators(self) -> Iterator[None]:
        """Give the global generators of numpy and ``random`` the state of this pass, then their own again."""
        before = _generators()
        _set_generators(self._generators)
        try:
            yield
        finally:
            self._generators = _generators()
            _set_generators(before)


def _class_of(own: Sequence[Any], told: Sequence[Any]) -> dict[Any, int]:
    """Return the number of the class that an answer means.

    It is what the estimator is told, or the class as the data call it (own), also as its text, or, of two
    classes, -1 or 1: unless that is what it is told of another class.
    """
    signs = {-1: 0, 1: 1} if len(own) == 2 and not {-1, 0, 1} & {*own} else {}
    others = [{str(label): c for c, label in enumerate(own)}, {label: c for c, label in enumerate(own)}]
    of_told = {label: c for c, label in enumerate(told)}
    meant = dict(signs)
    for each in others:
        if all(of_told.get(label, c) == c for label, c in each.items()):
            meant |= each
    return meant | of_told


def _generators() -> tuple[Any, Any]:
    return random.getstate(), np.random.get_state()  # noqa: NPY002  # which packages draw from


def _set_generators(states: tuple[Any, Any]) -> None:
    random.setstate(states[0])
    np.random.set_state(states[1])  # noqa: NPY002


def _seeded(seed: int) -> tuple[Any, Any]:
    return random.Random(seed).getstate(), np.random.RandomState(seed % 2**32).get_state()
