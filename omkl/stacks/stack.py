"""A stack: learners that pass each part of a stream by themselves, and one that learns on what they say.

Of classes that is a member's margin: its score, and the log odds of a probability. Of more than two classes
it has one for each, its score or its log odds there. Of numbers it is the prediction and the log of its
standard deviation; members learn what the targets are above the mean of those before.
"""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from itertools import chain
from typing import Any, TypeVar

import numpy as np

from omkl.config.learners import STACK, LearnerSpec
from omkl.engine.features import lift_rows
from omkl.engine.running_scale import targets_less_mean
from omkl.engine.stream import Trace
from omkl.errors import OmklError, UserError
from omkl.others.estimator import Estimator
from omkl.rounds.learner import Learner
from omkl.rounds.overflow import Growth
from omkl.rounds.scaling import Scaling
from omkl.rounds.scored import has_std, scored, variance_of
from omkl.rounds.steps import Rounds, Step, Stepping
from omkl.stacks.shared_features import features_key, groups_of
from omkl.state.resource import Arrays

LEAST = 1e-6  # of a probability, whose log odds are a margin: beyond it they are rounding
SURE = 0.01  # the same, of another package's, which may be sure of what is wrong
LARGEST = 1e100  # of a margin, whose squares are summed, and of a variance
OF_ERRORS = "online"  # the scaling of the rows that the scale of the errors of numbers follows
T = TypeVar("T")
ROUNDS, MOST_ROUNDS = 256, 1024  # of a part: members begin anew with each, and share features in it


class Members(Step):
    """The step of a stack that lets its members pass these rounds, and says what they say in them.

    members: each a Learner, or an Estimator of another package    scalings: for each how its rows are scaled,
    a word or None    shared: the scaling of each of these, also of None where the rows may have gaps, and of
    OF_ERRORS where the stack is of numbers    threads: how many members may pass at once (never changes a
    result)
    """

    def __init__(
        self,
        members: Sequence[Learner | Estimator],
        scalings: Sequence[str | None],
        shared: Mapping[str | None, Scaling],
        threads: int,
    ) -> None:
        self.members, self.scalings, self.shared = list(members), list(scalings), dict(shared)
        self._count = min(threads, len(self.members))
        self.learners = [member for member in self.members if isinstance(member, Learner)]
        keys = [
            isinstance(each, Learner) and features_key(each.spec, each.params, each.pool, word)
            for each, word in zip(self.members, scalings, strict=True)
        ]
        groups = [[self.members[i] for i in group] for group in groups_of(keys)]
        self._lifted_together = [[each for each in group if isinstance(each, Learner)] for group in groups]
        for member in chain(*self._lifted_together):
            member._cut = MOST_ROUNDS  # it does not cut the rows that are lifted together

    def renew_threads(self) -> None:
        """Begin with threads of this process."""
        self._pool = ThreadPoolExecutor(self._count - 1) if self._count > 1 else None

    def growth(self) -> Growth:
        """Return how the kernel values of members grow whose rows are not scaled."""
        raw = [member for member, word in zip(self.members, self.scalings, strict=True) if word is None]
        grows = {each for member in raw if isinstance(member, Learner) for each in member.growth}
        return tuple(sorted(grows))

    def most(self, learn: bool) -> int:
        """Return how many rounds the members' frequencies stay as they are in, and share few features."""
        return min([MOST_ROUNDS, *(member.most(learn) for member in self.learners)])

    def before(self, learner: Stepping, rounds: Rounds) -> Rounds:
        """Let the members pass these rounds; return the rounds as the stack reads them, with the margins."""
        of_word: dict[str | None, Rounds] = {None: rounds}
        for word, scaling in self.shared.items():
            of_word[word] = scaling.before(learner, rounds)
        of_stack = rounds if _is_of_classes(learner.spec) else of_word[OF_ERRORS]
        if not _is_of_classes(learner.spec):
            y = targets_less_mean(rounds.stream.y, learner.state["target"], rounds.learn)
            y.flags.writeable = False
            of_word = {
                word: each._replace(stream=each.stream._replace(y=y)) for word, each in of_word.items()
            }
        of_members = [of_word[word] for word in self.scalings]
        with self._lifted(of_members):
            traces, seconds = self._traces(of_members)
        for scaling in self.shared.values() if rounds.learn else ():
            scaling.see(rounds.stream)
        said = _margins if _is_of_classes(learner.spec) else _predictions
        margins = said(self.members, traces, learner.classes)
        return of_stack._replace(first=rounds.first, margins=margins, seconds=seconds)

    def _traces(self, of_members: Sequence[Rounds]) -> tuple[list[Trace], float]:
        """Let each member pass its rounds; return their traces, and their seconds less those of this thread.

        To call a member is none of its seconds, so that these may be below 0.
        """
        passes = [
            partial(_passed, member, rounds) for member, rounds in zip(self.members, of_members, strict=True)
        ]
        alone = of_members[0].stream.T == 1 or len(self.learners) < len(self.members)
        pool = None if alone else self._pool  # an estimator has the process's random numbers for itself
        began = time.thread_time()
        traces, seconds = zip(*_all_of(passes, pool, self._count), strict=True)
        return list(traces), sum(seconds) - (time.thread_time() - began)

    @contextmanager
    def _lifted(self, of_members: Sequence[Rounds]) -> Iterator[None]:
        """Lift the rows once for all members whose frequencies are the same, until the end."""
        lifting = []
        of_learner = {id(member): rounds for member, rounds in zip(self.members, of_members, strict=True)}
        for group in self._lifted_together if of_members[0].stream.T > 1 else ():
            first = group[0].state["F"]
            rows = np.empty((of_members[0].stream.T, *first.z.shape))
            lift_rows(first, of_learner[id(group[0])].stream, rows)
            for member in group:
                F = member.state["F"]
                if np.array_equal(F.V, first.V):
                    F = member.state["F"] = F._replace(V=first.V, rows=rows, lifted=np.array([len(rows)]))
                    lifting.append(F)
        try:
            yield
        finally:
            for F in lifting:
                F.lifted[0] = 0

    def add_features(self, d: int) -> None:
        """Go on with d features, the members and what scales their rows."""
        for member in self.learners:
            member.add_features(d)
        for scaling in self.shared.values():
            scaling.add_features(d)


class Stack(Learner):
    """A learner of what its members say.

    As of a Learner, one pass equals passes over its parts, in any cut.
    """

    def __init__(
        self,
        spec: LearnerSpec,
        params: dict,
        d: int,
        seed: int,
        members: Members,
        *,
        block: int | None = None,
        rounds: int | None = None,
        classes: int = 2,
        saved: Arrays | None = None,
        steps: Sequence[Step] = (),
    ) -> None:
        self.of_members, self.members, self.shared = members, members.members, members.shared
        super().__init__(
            spec, params, None, d, seed, block, rounds, classes=classes, saved=saved, steps=[*steps, members]
        )
        self._cut = max(self._cut, ROUNDS)
        self.growth = members.growth() if self.growth else ()

    def renew_locks(self) -> None:
        """Begin with locks that nobody holds, and with threads."""
        super().renew_locks()
        self.of_members.renew_threads()

    def check_spoke(self) -> None:
        """Raise OmklError for an estimator among the members, as its `check_spoke` does."""
        for member in self.members:
            if isinstance(member, Estimator):
                with _named(member):
                    member.check_spoke()

    def add_features(self, d: int) -> None:
        """Go on with d features, at least as many as there are; the new ones were 0 so far.

        Raises UserError for a member of another package, which cannot.
        """
        for member in self.members:
            if isinstance(member, Estimator):
                raise UserError(
                    f"{member.spec.label} cannot continue with more columns; give all in the first row"
                )
        super().add_features(d)

    @property
    def held(self) -> list[Any]:
        """What it holds in memory; other packages do not say what they hold."""
        own = [member.state for member in self.of_members.learners]
        return [self.state, *own, *(scaling.arrays() for scaling in self.shared.values())]


def _is_of_classes(spec: LearnerSpec) -> bool:
    """Whether a stack tells classes apart; else it predicts numbers."""
    return spec.function == STACK


def shared_scalings(spec: LearnerSpec, scalings: Sequence[str | None], gaps: bool | None) -> list[str | None]:
    """Return the different scalings of a stack's rows; None is one of them where rows may have gaps.

    scalings: of its members
    """
    words = scalings if _is_of_classes(spec) else [*scalings, OF_ERRORS]
    return [word for word in dict.fromkeys(words) if word is not None or gaps is not None]


def _passed(member: Learner | Estimator, rounds: Rounds) -> tuple[Trace, float]:
    """Let a member pass rounds, and return its trace and seconds; an error says which member it is of."""
    stream, _, learn, *_ = rounds
    with _named(member):
        if isinstance(member, Estimator):
            return member.run(stream, learn)
        if stream.T == 1 and (learn or "rng" not in member.names):
            return member.run_round(stream, learn, first=rounds.first), 0.0
        return member.run(stream, first=rounds.first) if learn else (scored(member, stream), 0.0)


@contextmanager
def _named(member: Learner | Estimator) -> Iterator[None]:
    """Let an error say which member it is of."""
    try:
        yield
    except OmklError as error:
        raise type(error)(f"member {member.spec.name}: {error}") from error
    except Exception as error:  # of another package
        raise OmklError(f"member {member.spec.name}: {type(error).__name__}: {error}") from error


def _all_of(passes: Sequence[Callable[[], T]], pool: ThreadPoolExecutor | None, count: int) -> list[T]:
    """Return what these functions do, in their order; this thread does its share."""
    if pool is None:
        return [one() for one in passes]
    waiting = list(enumerate(passes))
    done: dict[int, T] = {}

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
    return [done[at] for at in range(len(passes))]


def _margins(members: Sequence[Learner | Estimator], traces: Sequence[Trace], classes: int) -> np.ndarray:
    """Return the margins (T, C, k) of the members, C = 1 for two classes."""
    margins = np.empty((traces[0].score.size, classes if classes > 2 else 1, len(members)))
    least = np.zeros(len(members))
    for i, (member, trace) in enumerate(zip(members, traces, strict=True)):
        margins[:, :, i], least[i] = _answers_of(member, trace)
    if (probable := np.flatnonzero(least)).size:
        margins[:, :, probable] = _log_odds(margins[:, :, probable], least[probable])
    margins[np.isnan(margins)] = 0.0  # of features that overflow
    return np.clip(margins, -LARGEST, LARGEST, out=margins)


def _predictions(members: Sequence[Learner | Estimator], traces: Sequence[Trace], _: int) -> np.ndarray:
    """Return (T, 2, k): the members' predictions, and the logs of their standard deviations.

    The latter are NaN where a member tells none.
    """
    told = np.full((traces[0].score.size, 2, len(members)), np.nan)
    for i, (member, trace) in enumerate(zip(members, traces, strict=True)):
        told[:, 0, i] = trace.score
        if isinstance(member, Learner) and has_std(member.spec):
            told[:, 1, i] = variance_of(member.spec, trace)
    told[:, 0][np.isnan(told[:, 0])] = 0.0  # of features that overflow, or of no answer
    told[:, 1] = 0.5 * np.log(np.clip(told[:, 1], 1.0 / LARGEST, LARGEST))
    return np.clip(told, -LARGEST, LARGEST, out=told)


def _answers_of(member: Learner | Estimator, trace: Trace) -> tuple[np.ndarray, float]:
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
