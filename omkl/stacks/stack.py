"""A stack: learners that pass each part of a stream by themselves, and one that learns on what they say.

Of classes that is a member's margin: its score, and the log odds of a probability. Of more than two classes
it has one for each, its score or its log odds there. Of numbers it is the prediction and the log of its
standard deviation; members learn what the targets are above the mean of those before.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import chain
from typing import Any

import numpy as np

from omkl.config.learners import STACK, LearnerSpec
from omkl.engine.features import lift_rows
from omkl.engine.running_scale import targets_less_mean
from omkl.engine.stream import Stream, Trace
from omkl.errors import OmklError, UserError
from omkl.others.estimator import Estimator
from omkl.rounds.learner import Learner
from omkl.rounds.overflow import Growth
from omkl.rounds.scaling import Scaling
from omkl.rounds.scored import has_std, scored, variance_of
from omkl.stacks.shared_features import features_key, groups_of

LEAST = 1e-6  # of a probability, whose log odds are a margin: beyond it they are rounding
SURE = 0.01  # the same, of another package's, which may be sure of what is wrong
LARGEST = 1e100  # of a margin, whose squares are summed, and of a variance
OF_ERRORS = "online"  # the scaling of the rows that the scale of the errors of numbers follows
ROUNDS, MOST_ROUNDS = 256, 1024  # of a part: members begin anew with each, and share features in it


class Stack(Learner):
    """A learner whose members stand alone, each a Learner, or an Estimator of another package.

    scalings: for each member how its rows are scaled, a word or None    shared: the scaling of each of these,
    also of None where the rows may have gaps, and of OF_ERRORS where it is of numbers
    threads: how many members may pass a part at once (never changes a result)
    As of a Learner, one pass equals passes over its parts, in any cut.
    """

    def __init__(
        self,
        spec: LearnerSpec,
        params: dict,
        d: int,
        seed: int,
        members: Sequence[Any],
        scalings: Sequence[str | None],
        shared: Mapping[str | None, Scaling],
        threads: int = 1,
        **how: Any,
    ) -> None:
        self.members, self.scalings, self.shared = list(members), list(scalings), dict(shared)
        self._count = min(threads, len(self.members))
        keys = [
            isinstance(each, Learner) and features_key(each.spec, each.params, each.pool, word)
            for each, word in zip(self.members, scalings, strict=True)
        ]
        self._lifted_together = groups_of(keys)
        for i in chain(*self._lifted_together):
            self.members[i]._cut = MOST_ROUNDS  # it does not cut the rows that are lifted together
        super().__init__(spec, params, None, d, seed, **how)
        self._cut = max(self._cut, ROUNDS)
        raw = [member for member, word in zip(self.members, scalings, strict=True) if word is None]
        grows = {each for member in raw if isinstance(member, Learner) for each in member.growth}
        self.growth: Growth = tuple(sorted(grows)) if self.growth else ()

    @property
    def is_of_classes(self) -> bool:
        """Whether it tells classes apart; else it predicts numbers."""
        return self.spec.function == STACK

    def renew_locks(self) -> None:
        """Begin with locks that nobody holds, and with threads."""
        super().renew_locks()
        self._pool = ThreadPoolExecutor(self._count - 1) if self._count > 1 else None

    def _run_rounds(
        self, stream: Stream, trace: Trace, start: int, stop: int, learn: bool, first: int, rng: Any
    ) -> tuple[int, float]:
        """Do so in parts of which the members' frequencies stay as they are, and which share few features."""
        left = [each.widths.left for each in self.members if isinstance(each, Learner) and each.widths]
        ends = [start + each for each in left if each] if learn else []
        return super()._run_rounds(
            stream, trace, start, min(stop, start + MOST_ROUNDS, *ends), learn, first, rng
        )

    def _lift(self, streams: Sequence[Stream]) -> list[Any]:
        """Lift the rows once for all members whose frequencies are the same; return their Features.

        streams: of each member
        """
        lifting = []
        for group in self._lifted_together if streams[0].T > 1 else ():
            first = self.members[group[0]].state["F"]
            rows = np.empty((streams[0].T, *first.z.shape))
            lift_rows(first, streams[group[0]], rows)
            for i in group:
                state = self.members[i].state
                if np.array_equal(state["F"].V, first.V):
                    state["F"] = state["F"]._replace(V=first.V, rows=rows, lifted=np.array([len(rows)]))
                    lifting.append(state["F"])
        return lifting

    def _margins(self, rounds: Stream, learn: bool, first: int) -> tuple[Stream, np.ndarray, float]:
        began = time.thread_time()
        streams: dict[str | None, tuple[Stream, int]] = {None: (rounds, first)}
        for word, scaling in self.shared.items():
            number = int(scaling.seen[0]) if scaling.renews else first
            streams[word] = scaling.scaled(rounds, learn)[0], number
        own_rounds = rounds if self.is_of_classes else streams[OF_ERRORS][0]
        if not self.is_of_classes:
            y = targets_less_mean(rounds.y, self.state["target"], learn)
            y.flags.writeable = False
            streams = {word: (each._replace(y=y), number) for word, (each, number) in streams.items()}
        lifting = self._lift([streams[word][0] for word in self.scalings])
        seconds = time.thread_time() - began
        passes = [
            _pass_of(member, streams[word][0], learn, streams[word][1])
            for member, word in zip(self.members, self.scalings, strict=True)
        ]
        alone = rounds.T == 1 or not all(isinstance(member, Learner) for member in self.members)
        pool = None if alone else self._pool  # an estimator has the process's random numbers for itself
        passes = [_named(member, one) for member, one in zip(self.members, passes, strict=True)]
        traces = _all_of(passes, pool, self._count)
        seconds += sum(used for _, used in traces)
        began = time.thread_time()
        for F in lifting:
            F.lifted[0] = 0
        for scaling in self.shared.values() if learn else ():
            scaling.see(rounds)
        seconds += time.thread_time() - began
        said = self._margins_of_classes if self.is_of_classes else self._predictions
        return own_rounds, said([trace for trace, _ in traces], rounds.T), seconds

    def _margins_of_classes(self, traces: list[Trace], T: int) -> np.ndarray:
        """Return the margins (T, C, k) of the members, C = 1 for two classes."""
        margins = np.empty((T, self.classes if self.classes > 2 else 1, len(self.members)))
        least = np.zeros(len(self.members))
        for i, (member, trace) in enumerate(zip(self.members, traces, strict=True)):
            margins[:, :, i], least[i] = _answers_of(member, trace)
        if (probable := np.flatnonzero(least)).size:
            margins[:, :, probable] = _log_odds(margins[:, :, probable], least[probable])
        margins[np.isnan(margins)] = 0.0  # of features that overflow
        return np.clip(margins, -LARGEST, LARGEST, out=margins)

    def _predictions(self, traces: list[Trace], T: int) -> np.ndarray:
        """Return the members' predictions (T, 0, k) and the logs of their standard deviations (T, 1, k).

        The latter are NaN where a member tells none.
        """
        told = np.full((T, 2, len(self.members)), np.nan)
        for i, (member, trace) in enumerate(zip(self.members, traces, strict=True)):
            told[:, 0, i] = trace.score
            if isinstance(member, Learner) and has_std(member.spec):
                told[:, 1, i] = variance_of(member.spec, trace)
        told[:, 0][np.isnan(told[:, 0])] = 0.0  # of features that overflow, or of no answer
        told[:, 1] = 0.5 * np.log(np.clip(told[:, 1], 1.0 / LARGEST, LARGEST))
        return np.clip(told, -LARGEST, LARGEST, out=told)

    def check_spoke(self) -> None:
        """Raise OmklError for an estimator among the members, as its `check_spoke` does."""
        for member in self.members:
            if isinstance(member, Estimator):
                _named(member, member.check_spoke)()

    def add_features(self, d: int) -> None:
        """Go on with d features, at least as many as there are; the new ones were 0 so far.

        Raises UserError for a member of another package, which cannot.
        """
        with self.lock:
            for member in self.members:
                if not isinstance(member, Learner):
                    raise UserError(
                        f"{member.spec.label} cannot continue with more columns; give all in the first row"
                    )
            for member in self.members:
                member.add_features(d)
            for scaling in self.shared.values():
                scaling.add_features(d)
            super().add_features(d)

    @property
    def held(self) -> list[Any]:
        """What it holds in memory; other packages do not say what they hold."""
        own = [member.state for member in self.members if isinstance(member, Learner)]
        return [self.state, *own, *(scaling.arrays() for scaling in self.shared.values())]


def shared_scalings(spec: LearnerSpec, scalings: Sequence[str | None], gaps: bool | None) -> list[str | None]:
    """Return the different scalings of a stack's rows; None is one of them where rows may have gaps.

    scalings: of its members
    """
    words = scalings if spec.function == STACK else [*scalings, OF_ERRORS]
    return [word for word in dict.fromkeys(words) if word is not None or gaps is not None]


def _pass_of(member: Any, rounds: Stream, learn: bool, first: int) -> Callable[[], tuple[Trace, float]]:
    if not isinstance(member, Learner):
        return lambda: member.run(rounds, learn=learn)
    if rounds.T == 1 and (learn or "rng" not in member.names):
        return lambda: (member.row_of_a_stack(rounds, learn, first), 0.0)
    if learn:
        return lambda: member.run(rounds, first=first)
    return lambda: (scored(member, rounds), 0.0)


def _named(member: Any, one: Callable[[], Any]) -> Callable[[], Any]:
    """Return a member's pass whose error says which member it is of."""

    def named() -> Any:
        try:
            return one()
        except OmklError as error:
            raise type(error)(f"member {member.spec.name}: {error}") from error
        except Exception as error:  # of another package
            raise OmklError(f"member {member.spec.name}: {type(error).__name__}: {error}") from error

    return named


def _all_of(passes: list[Callable[[], Any]], pool: ThreadPoolExecutor | None, count: int) -> list[Any]:
    """Return what these functions do, in their order; this thread does its share."""
    if pool is None:
        return [one() for one in passes]
    waiting = list(enumerate(passes))
    done: list[Any] = [None] * len(passes)

    def work() -> None:
        while waiting:
            try:
                at, one = waiting.pop(0)
            except IndexError:  # another thread took it
                return
            done[at] = one()

    others = [pool.submit(work) for _ in range(count - 1)]
    work()
    for other in others:
        other.result()
    return done


def _answers_of(member: Any, trace: Trace) -> tuple[np.ndarray, float]:
    """Return what a member says in these rounds, (T, 1), or (T, C) of more than two classes.

    And 0 where these are margins; where they are probabilities, how far from 0 and 1 these are kept.
    """
    scores = trace.score[:, None] if trace.class_scores is None else trace.class_scores
    if isinstance(member, Learner):
        if not member.spec.probabilities:
            return scores, 0.0
        return 0.5 + scores if trace.class_scores is None else scores, LEAST
    shares = None if member.has_scores else member.probabilities(trace)
    if shares is None:
        return scores, 0.0
    return shares[:, 1:] if trace.class_scores is None else shares, SURE


def _log_odds(P: np.ndarray, least: Any) -> np.ndarray:
    """Return the log odds of probabilities that are kept so far from 0 and 1."""
    P = np.clip(P, least, 1.0 - least)
    return np.log(P / (1.0 - P))
