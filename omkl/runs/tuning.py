"""Good hyperparameters for each learner on each data set, under one rule that is the same for all.

The settings of a learner (its trials) race on growing prefixes of the stream, the rungs. Half of them are
drawn from all of the ranges, and run on the first. One in ``eta`` goes on to the next, which is ``eta`` times
as long, up to the whole stream. There the other half joins, a third at a time, drawn near the best so far:
what is best on a prefix, of size above all, need not be best on the stream. One in ``eta`` times ``eta`` of
all then runs on more permutations, with the given setting, in all sizes and scalings; the best of these runs
in all other sizes, too. Whether features and targets are scaled online is searched with the rest. Trials are
judged by their mean error over permutations of another base seed, which no table reports. Few rows would be
known from the trials in any order, so these see one half of them, and what is reported is the other half. In
file order there is one order only: trials see the first third of it, and what is reported is the rest.

With a limit of cost, a setting that takes more than so many times the time of `auto` on the same rounds
neither goes on nor wins. Most of a race's time would go to such settings, so all of them first run on a few
rows, where those far beyond the limit are left out.

All trials are cells of the store, so a race that was interrupted continues where it was.
"""

import math
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from omkl import conf, seeds
from omkl.config import Plan, Setting, learner_spec
from omkl.config.learners import kin_of
from omkl.config.parameters import Parameter, parameters, word_text
from omkl.config.words import parse_words
from omkl.data import DataRef
from omkl.data.orders import rounds_of
from omkl.errors import Overflow, UserError, counted
from omkl.runs.runner import run_plans
from omkl.runs.search import Space, Trial, draw, draw_near, space_of
from omkl.store.fields import CellMeasures, with_extra
from omkl.store.outcome import Outcome
from omkl.tasks import OF_PAPERS, TASK_ERROR, TASKS, Measure, for_task, judging_on

SHARE = 3  # in file order, one in three rounds is for the trials
SMALL_PASSES = 4  # at least, on few rows
TRIALS, MORE_TRIALS, MANY = 30, 60, 3  # where trials is null: of two numbers that are searched, of MANY
REFERENCE = "auto"  # the learner whose cost is the measure, and its kin for numbers
FIRST_LOOK = 200  # rows on which settings of a limited cost run first
_FAR = 3.0  # times the limit, which a setting may cost there: few rows show fixed costs, and noise
TIMES = 3  # so often trials are drawn near the best
PARENTS = 3  # near how many of them
_WORST = math.inf


@dataclass(frozen=True)
class Rule:
    """How settings race: the keys of conf/tune.yaml, which says what each means."""

    trials: int | None
    eta: int
    rungs: int
    passes: int
    least: int
    longest: float | None
    cost: float | None
    small: int
    pools: tuple[str, ...]
    by: str | None

    def trials_of(self, dimensions: int) -> int:
        """Return how many trials there are where so many numbers are searched."""
        return self.trials or (MORE_TRIALS if dimensions >= MANY else TRIALS)

    def drawn_first(self, space: Space) -> int:
        """Return how many are drawn before any ran: the given setting in all sizes and scalings, and more."""
        count = self.trials_of(space.dimensions)
        return min(count, max(-(-count // 2), len(space.given) + 1))

    def passes_on(self, rounds: int) -> int:
        """Return on how many permutations the last rung judges, of a stream of this many rounds."""
        return self.passes if rounds > self.small else max(self.passes, SMALL_PASSES)

    def lengths(self, rounds: int) -> list[int]:
        """Return the length of each rung of a stream of this many rounds."""
        if rounds <= self.small:
            return [rounds]
        shares = [-(-rounds // self.eta**left) for left in range(self.rungs - 1, -1, -1)]
        return list(dict.fromkeys(max(share, min(self.least, rounds)) for share in shares))

    def looks(self, rounds: int) -> list[int]:
        """Return the length of the rung that judges costs alone, if there is a limit and rounds enough."""
        return [FIRST_LOOK] if self.cost and rounds > FIRST_LOOK else []


def rule_keys() -> dict[str, Parameter]:
    """Return the keys of a rule, from conf/tune.yaml."""
    return parameters(conf.tune_keys(), conf.file("", "tune"))


def rule_from(values: Mapping[str, Any]) -> Rule:
    """Return the rule of these values, the others as in conf/tune.yaml. Raises UserError that names a key."""
    return rule_of([word_text(key, value) for key, value in values.items()])[0]


def rule_of(words: list[str]) -> tuple[Rule, list[str]]:
    """Return the rule that the words of a command give, and the words that are about something else.

    Raises UserError for a value that is not right.
    """
    keys = rule_keys()
    of_rule = [word for word in words if word.partition("=")[0] in keys]
    values = {key: parameter.value for key, parameter in keys.items()}
    for key, override in parse_words(of_rule).items():
        if keys[key].domain == "names":
            values[key] = keys[key].check(list(override.values))
            continue
        if len(override.values) != 1:
            raise UserError(f"{override.text}: {key} takes one value, got {len(override.values)}")
        values[key] = override.checked(keys[key].check)[0]
    values["pools"] = tuple(conf.known_option("pool", name, "kernel pool") for name in values["pools"])
    return Rule(**values), [word for word in words if word not in of_rule]


# ------------------------------------------------------------------ races


@dataclass(frozen=True)
class Race:
    """The trials of one learner on one data set.

    trials: those that run first, of which the given setting, in all sizes and scalings, is the first
    seed: of the others    rungs: plans without settings    lengths: of their prefixes
    looks: how many of the rungs, the first, judge costs alone    whole: the first rung on the whole stream
    held: the plan of the given setting on what is reported    space: where the trials are from
    reference: the learner that costs are compared with, None without
    """

    trials: tuple[Trial, ...]
    seed: int
    rungs: tuple[Plan, ...]
    lengths: tuple[int, ...]
    looks: int
    whole: int
    held: Plan
    rule: Rule
    space: Space
    reference: Setting | None = None

    @property
    def measure(self) -> Measure:
        """The measure by which trials are judged."""
        task = self.held.data[0].task
        return judging_on(self.rule.by, [task]) if self.rule.by else {**TASK_ERROR, **OF_PAPERS}[task]

    @property
    def first(self) -> Setting:
        """The given setting."""
        return self.space.first

    def references(self, rung: int) -> list[Plan]:
        """Return the plan of the reference on a rung, none without one."""
        return [replace(self.rungs[rung], settings=(self.reference,))] if self.reference else []


@dataclass(frozen=True)
class Tuned:
    """The end of a race.

    setting: the best one, the given one where every trial failed    error: its mean on the last rung that
    ran, infinite where every trial failed    rung: that rung, from 0    pass_seconds: of its pass there
    trials, failed: how many raced, and failed    seconds: of the learner in all passes of the race
    """

    race: Race
    setting: Setting
    error: float
    rung: int
    pass_seconds: float
    trials: int
    failed: int
    seconds: float

    @property
    def found(self) -> bool:
        """Whether any trial did not fail."""
        return self.error < _WORST

    @property
    def data(self) -> DataRef:
        """The data set of the race."""
        return self.race.held.data[0]

    @property
    def task(self) -> str:
        """The task of the data."""
        return self.data.task

    def held(self, *settings: Setting, **changes: Any) -> Plan:
        """Return the plan of these settings (default: the best) on what is reported, with these changes."""
        return replace(self.race.held, settings=settings or (self.setting,), **changes)


def parts(plan: Plan, data: DataRef, small: int) -> tuple[tuple[int, int], str, str]:
    """Return the first round of the trials and the one after their last, the rounds that are reported, and
    the order of both.

    small: the largest number of rows of which trials see one half
    """
    start, stop = rounds_of(plan.rounds, data.T, data.word) or (0, data.T)
    if plan.order == "permuted" and (start, stop) == (0, data.T) and 2 <= data.T <= small:
        return (0, data.T // 2), f"{data.T // 2}:{data.T}", "halves"
    if plan.order != "file":
        return (start, stop), f"{start}:{stop}", plan.order
    first = start + (stop - start) // SHARE
    if first == start:
        raise UserError(f"data={data}: {counted(stop - start, 'round')} are too few for tuning in file order")
    return (start, first), f"{first}:{stop}", plan.order


def races(plan: Plan, rule: Rule, fixed: Collection[str] = ()) -> list[Race]:
    """Return the races of a plan, data set by data set; each of its settings is the first trial of one.

    fixed: hyperparameters that keep their values, as of `axes`. Raises UserError for data that cannot be
    read, are not for a learner, or of a task in which no learner is better than another.
    """
    if plan.test is not None or (rule.by and judging_on(rule.by, TASKS).held_out):
        raise UserError(
            "omkl tune judges by the rounds of its passes, without test=; run its best settings with it, as "
            "in `omkl run settings=best.yaml test=0.2`"
        )
    every = []
    for data in plan.data:
        if data.task == "novelty":
            raise UserError(
                f"data={data} is for novelty detection: there is no error by which settings could be chosen"
            )
        if rule.by:
            judging_on(rule.by, [data.task])
        (start, stop), validation, order = parts(plan, data, rule.small)
        looks, compared = rule.looks(stop - start), rule.lengths(stop - start)
        whole = len(looks) + len(compared) - 1
        reference = reference_on(data.task) if rule.cost else None
        for setting in plan.settings:
            if not setting.fits(data.task, data.name):
                continue
            learner_spec(setting.learner).check_data(setting.params, data.task, data.word)
            given = replace(setting, params=for_task(setting.params, data.task))
            space = space_of(given, data.task, data.T, fixed, rule.pools)
            trials = draw(space, rule.drawn_first(space), plan.seed)
            spec = given.spec
            alike = plan.order == "file" and plan.reps_of(spec, data) == 1 and not spec.stochastic
            plan_of_data = replace(plan, data=(data,), yardsticks=(), swept=())
            seed, order_of_trials = seeds.tuning_seed(plan.seed), "permuted" if order == "authors" else order
            base = replace(plan_of_data, settings=(), seed=seed, order=order_of_trials)
            passes = 1 if alike else rule.passes_on(stop - start)
            lengths = (*looks, *compared, *([stop - start] if passes > 1 and len(compared) > 1 else []))
            rungs = [replace(base, rounds=f"{start}:{start + n}", reps=1) for n in lengths]
            rungs[-1] = replace(rungs[-1], reps=passes)
            reported = replace(plan_of_data, settings=(given,), rounds=validation, order=order)
            every.append(
                Race(
                    trials,
                    plan.seed,
                    tuple(rungs),
                    lengths,
                    len(looks),
                    whole,
                    reported,
                    rule,
                    space,
                    reference,
                )
            )
    return every


def reference_on(task: str) -> Setting:
    """Return the setting whose cost is the measure, on data of this task."""
    spec = learner_spec(kin_of(REFERENCE, task) or REFERENCE)
    return Setting(spec.name, for_task(spec.defaults, task), None)


def run_races(chosen: list[Race], **how: Any) -> tuple[list[Tuned], list[dict[str, Any]]]:
    """Run races together, rung after rung; return their ends in order, and the lines of cells that failed
    otherwise than by overflow.

    how: jobs, fresh ... of ``run_plans``. Raises KeyboardInterrupt on Ctrl-C: the same races continue then.
    """
    states = [_State(race) for race in chosen]
    broken: dict[str, dict[str, Any]] = {}
    while active := [state for state in states if state.places]:
        plans = [plan for state in active for plan in (state.plan, *state.race.references(state.rung))]
        outcome = run_plans(plans, trials=True, **how)
        if outcome.interrupted:
            raise KeyboardInterrupt
        broken |= {
            line["key"]: line for line in outcome.failed if not line["error"].startswith(Overflow.__name__)
        }
        for state, (scores, seconds) in zip(active, _scores(active, outcome), strict=True):
            state.advance(scores, seconds)
    return [state.end() for state in states], list(broken.values())


def assumed(chosen: list[Race], reported: int = 1) -> list[Plan]:
    """Return the plans of races in which the first trials always win, and what is reported of each then."""
    plans = [
        replace(race.held, settings=tuple(trial.setting for trial in race.trials[:reported]))
        for race in chosen
    ]
    for state in map(_State, chosen):
        while state.places:
            plans += [state.plan, *state.race.references(state.rung)]
            state.advance({place: Score(float(place), 0.0) for place in state.places})
    return plans


class Score(NamedTuple):
    """A trial on a rung: its mean error (infinite where it failed), and the seconds of a pass.

    Of a measure of which more is better, the error is that less.
    """

    error: float
    seconds: float


class _State:
    """How far a race is: its trials, the rung, the trials on it by place, and the scores of each rung."""

    def __init__(self, race: Race) -> None:
        self.race, self.trials = race, list(race.trials)
        self.rung = 0 if len(self.trials) > 1 else len(race.rungs) - 1  # of one there is nothing to choose
        self.places: list[int] = list(range(len(self.trials)))
        self.scores: dict[int, dict[int, Score]] = {}
        self.drawn = 0  # how often trials were drawn near the best
        self.most: dict[int, float] = {}  # seconds that a pass may take, on each rung

    @property
    def plan(self) -> Plan:
        """The plan of the trials that run now."""
        settings = tuple(self.trials[place].setting for place in sorted(self.places))
        return replace(self.race.rungs[self.rung], settings=settings)

    def advance(self, scores: dict[int, Score], reference: float | None = None) -> None:
        """Choose the trials that run next; scores: of those that ran; reference: its seconds of a pass."""
        self.scores[self.rung] = self.scores.get(self.rung, {}) | scores
        if reference is not None and self.race.rule.cost:
            self.most[self.rung] = self.race.rule.cost * reference
        if self.rung == self.race.whole and (near := self._near_the_best()):
            self.rung = 0 if self.race.looks else self.race.whole
            self.places = [len(self.trials) + at for at in range(len(near))]
            self.trials += near
            return
        if self.rung + 1 == len(self.race.rungs) and (sized := self._best_in_other_sizes()):
            self.places = [len(self.trials) + at for at in range(len(sized))]
            self.trials += sized
            return
        after = self._after()
        self.places = self._going_on(after) if after < len(self.race.rungs) else []
        self.rung = after if self.places else self.rung

    def _near_the_best(self) -> list[Trial]:
        """Return the trials that run next on the whole stream; none where all did."""
        race, self.drawn = self.race, self.drawn + 1
        left = race.rule.trials_of(race.space.dimensions) - len(self.trials)
        if left <= 0 or self.drawn > TIMES:
            return []
        compared = [rung for rung in sorted(self.scores, reverse=True) if rung >= race.looks]
        best = [place for rung in compared for place in self._best(rung)]
        points = [self.trials[place].point for place in dict.fromkeys(best)]
        parents = [point for point in points if point is not None][:PARENTS]
        seed = seeds.derive("search near", race.seed, race.first.learner, self.drawn)
        return draw_near(parents, self.trials, race.space, -(-left // (TIMES + 1 - self.drawn)), seed)

    def _best_in_other_sizes(self) -> list[Trial]:
        """Return what runs at the end of a race, on the last rung: its best in sizes that it has not had."""
        if len(self.trials) == 1:
            return []
        known = {trial.setting.identity for trial in self.trials}
        sizes = [
            own
            for place in self._best(self.rung)[:1]
            for own in self.race.space.in_other_sizes(self.trials[place].setting)
        ]
        return [Trial(own, None) for own in sizes if own.identity not in known]

    def _after(self) -> int:
        """Return the next rung: what is drawn near the best goes from the look at its cost to the stream."""
        return self.race.whole if self.rung < self.race.looks and self.drawn else self.rung + 1

    def _going_on(self, after: int) -> list[int]:
        """Return the places of the trials that go on to a later rung."""
        race, scores = self.race, self.scores[self.rung]
        given = range(min(len(race.space.given), len(self.trials)))
        if self.rung < race.looks:
            affordable = self._affordable(self.rung, _FAR).intersection(self.places)
            best = [place for place in affordable if scores[place].error != _WORST] or [*given]
        else:
            able = [place for place in self._best(self.rung) if self._able(place, self.rung, after)]
            share = race.rule.eta ** (after - race.looks if after <= race.whole else 2)
            best = able[: max(1, len(self.trials) // share)]
        if after + 1 == len(race.rungs):
            for place in given:
                seen = max(at for at, of_trial in self.scores.items() if place in of_trial)
                best += [place] if self._able(place, seen, after) else []
        return sorted(set(best))

    def _affordable(self, rung: int, times: float = 1.0) -> set[int]:
        """Return the places of a rung's trials that cost at most so many times the limit."""
        most = times * self.most.get(rung, _WORST)
        return {place for place, score in self.scores[rung].items() if score.seconds <= most}

    def _best(self, rung: int) -> list[int]:
        """Return the places of a rung's trials that may win, the best first."""
        scores = self.scores[rung]
        able = [place for place in self._affordable(rung) if scores[place].error < _WORST]
        return sorted(able, key=lambda place: (scores[place].error, place))

    def _able(self, place: int, seen: int, rung: int) -> bool:
        """Whether a trial that did so on the rung ``seen`` may run on a later one."""
        score, longest = self.scores[seen][place], self.race.rule.longest or _WORST
        ahead = self.race.lengths[rung] / self.race.lengths[seen]
        growth = ahead if seen < self.race.looks else ahead**2  # quadratic at most; few rows show fixed costs
        return score.error != _WORST and score.seconds * growth <= longest

    def end(self) -> Tuned:
        """Return the best trial of the last rung."""
        last = self.scores[self.rung]
        place = (self._best(self.rung) or sorted(last, key=lambda place: (last[place].error, place)))[0]
        best = last[place]
        failed = {
            at for scores in self.scores.values() for at, score in scores.items() if score.error == _WORST
        }
        seconds = sum(
            score.seconds * self.race.rungs[rung].reps
            for rung, scores in self.scores.items()
            for score in scores.values()
        )
        setting = self.trials[place].setting if best.error < _WORST else self.race.first
        return Tuned(
            self.race, setting, best.error, self.rung, best.seconds, len(self.trials), len(failed), seconds
        )


def _scores(states: list[_State], outcome: Outcome) -> Iterator[tuple[dict[int, Score], float | None]]:
    """Yield the score of each trial of each state, by place, and the reference's seconds of a pass.

    A trial that lacks a pass has failed. outcome: of the plans of all states, each with its references
    """
    cells = with_extra(outcome.cells)
    of_cells, place_of = CellMeasures(cells), {key: at for at, key in enumerate(cells["key"])}
    seconds_of, planned = cells["seconds"].to_numpy(), iter(outcome.planned)
    for state in states:
        keys = {row.setting.identity: row.keys for row in next(planned)}
        measure = state.race.measure
        costs, scores = measure.sign * of_cells.unscaled(measure.name), {}
        for place in state.places:
            wanted = keys[state.trials[place].setting.identity]
            there = [place_of[key] for key in wanted if key in place_of]
            error = float(costs[there].mean()) if len(there) == len(wanted) else _WORST
            seconds = float(seconds_of[there].mean()) if there else 0.0
            scores[place] = Score(error, seconds)
        passes = [key for _ in state.race.references(state.rung) for row in next(planned) for key in row.keys]
        finished = [place_of[key] for key in passes if key in place_of]
        yield scores, float(seconds_of[finished].mean()) if finished else None
