"""A stack: learners that pass each part of a stream by themselves, and one that learns on their margins.

A member's margin is its score, and the log odds of a probability. Of more than two classes it has one for
each, its score or its log odds there.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from omkl.config import members_of
from omkl.config.learners import LearnerSpec, check_classes
from omkl.engine.stream import Stream, Trace
from omkl.errors import OmklError, UserError
from omkl.passes.learner import Learner, Threads
from omkl.passes.model import scored
from omkl.passes.overflow import Growth
from omkl.passes.scaling import Scaling
from omkl.passes.third_party import Estimator

LEAST = 1e-6  # of a probability, whose log odds are a margin: beyond it they are rounding
SURE = 0.01  # the same, of another package's, which may be sure of what is wrong
LARGEST = 1e100  # of a margin, whose squares are summed
ROUNDS = 256  # of a part, at least: members begin anew with each


class Stack(Learner):
    """A learner whose members stand alone, each a Learner, or an Estimator of another package.

    scalings: for each member how its rows are scaled, a word or None    shared: the scaling of each of these,
    also of None where the rows may have gaps
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
        super().__init__(spec, params, None, d, seed, **how)
        self._cut = max(self._cut, ROUNDS)
        raw = [member for member, word in zip(self.members, scalings, strict=True) if word is None]
        grows = {each for member in raw if isinstance(member, Learner) for each in member.growth}
        self.growth: Growth = tuple(sorted(grows)) if self.growth else ()

    def renew_locks(self) -> None:
        """Begin with locks that nobody holds, and with threads."""
        super().renew_locks()
        self._pool = ThreadPoolExecutor(self._count - 1) if self._count > 1 else None

    def _margins(self, rounds: Stream, learn: bool, first: int) -> tuple[np.ndarray, float]:
        streams: dict[str | None, tuple[Stream, int]] = {None: (rounds, first)}
        began = time.thread_time()
        for word, scaling in self.shared.items():
            number = int(scaling.seen[0]) if scaling.renews else first
            streams[word] = scaling.scaled(rounds, learn)[0], number
        seconds = time.thread_time() - began
        passes = [
            _pass_of(member, streams[word][0], learn, streams[word][1])
            for member, word in zip(self.members, self.scalings, strict=True)
        ]
        alone = rounds.T == 1 or not all(isinstance(member, Learner) for member in self.members)
        pool = None if alone else self._pool  # an estimator has the process's random numbers for itself
        margins = np.empty((rounds.T, self.classes if self.classes > 2 else 1, len(self.members)))
        least = np.zeros(len(self.members))
        passes = [_named(member, one) for member, one in zip(self.members, passes, strict=True)]
        for i, (trace, used) in enumerate(_all_of(passes, pool, self._count)):
            margins[:, :, i], least[i] = _answers_of(self.members[i], trace)
            seconds += used
        began = time.thread_time()
        for scaling in self.shared.values() if learn else ():
            scaling.see(rounds)
        seconds += time.thread_time() - began
        if (probable := np.flatnonzero(least)).size:
            margins[:, :, probable] = _log_odds(margins[:, :, probable], least[probable])
        margins[np.isnan(margins)] = 0.0  # of features that overflow
        return np.clip(margins, -LARGEST, LARGEST, out=margins), seconds

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


def shared_scalings(scalings: Sequence[str | None], gaps: bool | None) -> list[str | None]:
    """Return the different scalings of a stack's members; None is one of them where rows may have gaps."""
    return [word for word in dict.fromkeys(scalings) if word is not None or gaps is not None]


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


def new_learner(
    spec: LearnerSpec,
    params: dict,
    pool: dict | None,
    d: int,
    seed: int,
    *,
    block: int | None = None,
    rounds: int | None = None,
    classes: int = 2,
    threads: int | Threads = 1,
    scaling: Scaling | None = None,
) -> Learner:
    """Return a learner of omkl that has learnt nothing, with its members where it is a stack.

    As of a Learner. A member draws its random numbers from a seed that the stack's own draws. Gaps are filled
    for each member as its scaling does, unless all rows are scaled before.
    """
    if not spec.is_stack:
        how: Any = {"classes": classes, "threads": threads, "scaling": scaling}
        return Learner(spec, params, pool, d, seed, block, rounds, **how)
    settings = members_of(spec, spec.checked(params), d, classes)
    seeds = np.random.default_rng(seed).integers(2**63, size=len(settings)).tolist()
    members: list[Any] = []
    for setting, own_seed in zip(settings, seeds, strict=True):
        check_classes(setting.spec, "these rows", classes)
        if setting.spec.estimator:
            own = setting.spec, setting.params, d, own_seed
            members.append(Estimator(*own, "classification", classes))
        else:
            kernels = setting.kernel_pool
            own_how: Any = {"block": block, "rounds": rounds, "classes": classes}
            members.append(Learner(setting.spec, setting.params, kernels, d, own_seed, **own_how))
    scalings = [setting.scaling.get("scale") for setting in settings]
    gaps = None
    if scaling is not None and scaling.scale is None:
        gaps, scaling = scaling.gaps, scaling.without_gaps()
    shared = {word: Scaling(d, word, gaps=gaps) for word in shared_scalings(scalings, gaps)}
    how = {"block": block, "rounds": rounds, "classes": classes, "scaling": scaling}
    count = threads.count if isinstance(threads, Threads) else threads
    return Stack(spec, params, d, seed, members, scalings, shared, count, **how)
