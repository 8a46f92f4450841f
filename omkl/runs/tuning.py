"""Good hyperparameters for each learner on each data set, under one rule that is the same for all.

The settings of a learner (its trials) race on growing prefixes of the stream, the rungs. All of them run on
the first. The best one in ``eta`` of them goes on to the next, which is ``eta`` times as long. The last is
the whole stream. The given setting, scaled in all ways, runs on the last rung, too. Whether features and
targets are scaled online is searched with the rest. Trials are judged by their mean error over permutations
of another base seed, which no table reports: one on the prefixes, several on the last rung. Few rows would be
known from the trials in any order, so these see one half of them, and what is reported is the other half. In
file order there is one order only: trials see the first third of it, and what is reported is the rest.

With a limit of cost, a setting that takes more than so many times the time of `auto` on the same rounds
neither goes on nor wins. Most of a race's time would go to such settings, so all of them first run on a few
rows, where those far beyond the limit are left out.

All trials are cells of the store, so a race that was interrupted continues where it was.
"""

import contextlib
import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from omkl import conf, seeds
from omkl.config import Plan, Setting, learner_spec
from omkl.config.kernel_kinds import check_kernel, kernel_pools, needs_stored_rows
from omkl.config.learners import LearnerSpec, kin_of
from omkl.config.parameters import SCALING, Form, Parameter, parameters, with_part, word_text
from omkl.config.words import parse_words
from omkl.data import DataRef
from omkl.data.orders import rounds_of
from omkl.errors import Overflow, UserError, counted
from omkl.runs.cells import expand
from omkl.runs.runner import Outcome, run_plans
from omkl.store.fields import CellMeasures, with_extra
from omkl.tasks import OF_PAPERS, TASK_ERROR, TASKS, Measure, for_task, judging_on

SHARE = 3  # in file order, one in three rounds is for the trials
SMALL_PASSES = 4  # at least, on few rows
TRIALS, MORE_TRIALS, MANY = 30, 60, 3  # where trials is null: of two numbers that are searched, of MANY
REFERENCE = "auto"  # the learner whose cost is the measure, and its kin for numbers
FIRST_LOOK = 200  # rows on which settings of a limited cost run first
_FAR = 3.0  # times the limit, which a setting may cost there: few rows show fixed costs, and noise
_ATTEMPTS = 40  # points drawn for each setting: two may round to one, or break a rule of the learner
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
    return parameters(conf.read("", "tune"), conf.file("", "tune"))


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

    trials: the settings, first the given one, scaled in all ways    rungs: plans of all trials, one per
    prefix    lengths: of the prefixes    looks: how many of the rungs, the first, judge costs alone
    held: the plan of the given setting on what is reported    space: where the trials are from
    reference: the learner that costs are compared with, None without
    """

    trials: tuple[Setting, ...]
    rungs: tuple[Plan, ...]
    lengths: tuple[int, ...]
    looks: int
    held: Plan
    rule: Rule
    space: "Space"
    reference: Setting | None = None

    @property
    def measure(self) -> Measure:
        """The measure by which trials are judged."""
        task = self.held.data[0].task
        return judging_on(self.rule.by, [task]) if self.rule.by else {**TASK_ERROR, **OF_PAPERS}[task]

    def plan(self, rung: int, places: Collection[int]) -> Plan:
        """Return the plan of some trials, by place, on a rung."""
        return replace(self.rungs[rung], settings=tuple(self.trials[place] for place in sorted(places)))

    def references(self, rung: int) -> list[Plan]:
        """Return the plan of the reference on a rung, none without one."""
        return [replace(self.rungs[rung], settings=(self.reference,))] if self.reference else []


@dataclass(frozen=True)
class Tuned:
    """The end of a race.

    place: of the best trial, None where every one failed    error: its mean on the last rung that ran
    rung: that rung, from 0    pass_seconds: of its pass there    failed: how many trials failed
    seconds: of the learner in all passes of the race
    """

    race: Race
    place: int | None
    error: float
    rung: int
    pass_seconds: float
    failed: int
    seconds: float

    @property
    def data(self) -> DataRef:
        """The data set of the race."""
        return self.race.held.data[0]

    @property
    def task(self) -> str:
        """The task of the data."""
        return self.data.task

    @property
    def trials(self) -> int:
        """How many settings raced."""
        return len(self.race.trials)

    @property
    def setting(self) -> Setting:
        """The best setting, the given one where every trial failed."""
        return self.race.trials[self.place or 0]

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
        lengths = (*looks, *compared)
        reference = reference_on(data.task) if rule.cost else None
        for setting in plan.settings:
            if not setting.fits(data.task, data.name):
                continue
            learner_spec(setting.learner).check_data(setting.params, data.task, data.word)
            given = replace(setting, params=for_task(setting.params, data.task))
            space = space_of(given, data.task, data.T, fixed, rule)
            trials = draw(space, rule, plan.seed)
            spec = given.spec
            alike = plan.order == "file" and plan.reps_of(spec, data) == 1 and not spec.stochastic
            plan_of_data = replace(plan, data=(data,), yardsticks=(), swept=())
            seed, order_of_trials = seeds.tuning_seed(plan.seed), "permuted" if order == "authors" else order
            base = replace(plan_of_data, settings=trials, seed=seed, order=order_of_trials)
            rungs = tuple(
                replace(
                    base,
                    rounds=f"{start}:{start + n}",
                    reps=1 if alike or at + 1 < len(lengths) else rule.passes_on(stop - start),
                )
                for at, n in enumerate(lengths)
            )
            reported = replace(plan_of_data, settings=trials[:1], rounds=validation, order=order)
            every.append(Race(trials, rungs, lengths, len(looks), reported, rule, space, reference))
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
    plans = [replace(race.held, settings=race.trials[:reported]) for race in chosen]
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
    """How far a race is: the rung, the trials on it by place, and the scores of each rung before."""

    def __init__(self, race: Race) -> None:
        self.race, self.rung = race, 0
        self.places: list[int] = list(range(len(race.trials)))
        if len(race.trials) == 1:  # nothing to choose
            self.rung = len(race.rungs) - 1
        self.scores: list[dict[int, Score]] = []
        self.most = _WORST  # seconds of a pass on the last rung that ran

    @property
    def plan(self) -> Plan:
        return self.race.plan(self.rung, self.places)

    def advance(self, scores: dict[int, Score], reference: float | None = None) -> None:
        """Choose the trials that run next; scores: of those that ran; reference: its seconds of a pass."""
        self.scores.append(scores)
        if reference is not None and self.race.rule.cost:
            self.most = self.race.rule.cost * reference
        last = self.rung + 1 == len(self.race.rungs)
        self.places = [] if last else self._going_on()
        self.rung += bool(self.places)

    def _going_on(self) -> list[int]:
        """Return the places of the trials that go on to the next rung."""
        race, rung, scores = self.race, len(self.scores), self.scores[-1]
        given = range(min(len(race.space.given), len(race.trials)))
        if rung <= race.looks:
            best = [place for place in self._affordable(_FAR) if scores[place].error != _WORST] or [*given]
        else:
            able = [place for place in self._affordable() if self._able(place, rung - 1, rung)]
            count = max(1, len(race.trials) // race.rule.eta ** (rung - race.looks))
            best = sorted(able, key=lambda place: (scores[place].error, place))[:count]
        if rung + 1 == len(race.rungs):
            for place in given:
                seen = max(at for at, of_trial in enumerate(self.scores) if place in of_trial)
                best += [place] if self._able(place, seen, rung) else []
        return sorted(set(best))

    def _affordable(self, times: float = 1.0) -> list[int]:
        """Return the places of the last rung's trials that cost at most so many times the limit."""
        return [place for place, score in self.scores[-1].items() if score.seconds <= times * self.most]

    def _able(self, place: int, seen: int, rung: int) -> bool:
        """Whether a trial that did so on the rung ``seen`` may run on a later one."""
        score, longest = self.scores[seen][place], self.race.rule.longest or _WORST
        ahead = self.race.lengths[rung] / self.race.lengths[seen]
        growth = ahead if seen < self.race.looks else ahead**2  # quadratic at most; few rows show fixed costs
        return score.error != _WORST and score.seconds * growth <= longest

    def end(self) -> Tuned:
        """Return the best trial of the last rung."""
        last = self.scores[-1]
        able = [place for place in self._affordable() if last[place].error < _WORST]
        place = min(able or last, key=lambda place: (last[place].error, place))
        best = last[place]
        failed = {at for scores in self.scores for at, score in scores.items() if score.error == _WORST}
        first = self.rung + 1 - len(self.scores)
        seconds = sum(
            score.seconds * self.race.rungs[first + at].reps
            for at, scores in enumerate(self.scores)
            for score in scores.values()
        )
        found = place if best.error < _WORST else None
        return Tuned(self.race, found, best.error, self.rung, best.seconds, len(failed), seconds)


def _scores(states: list[_State], outcome: Outcome) -> Iterator[tuple[dict[int, Score], float | None]]:
    """Yield the score of each trial of each state, by place, and the reference's seconds of a pass.

    A trial that lacks a pass has failed.
    """
    cells = with_extra(outcome.cells)
    of_cells, places = CellMeasures(cells), {key: at for at, key in enumerate(cells["key"])}
    seconds_of = cells["seconds"].to_numpy()
    for state in states:
        keys: dict[str, list[str]] = {}
        for cell in expand(state.plan):
            keys.setdefault(repr(cell.planned), []).append(cell.key)
        measure = state.race.measure
        costs, scores = measure.sign * of_cells.unscaled(measure.name), {}
        for place in state.places:
            wanted = keys[repr(state.race.trials[place].stored)]
            there = [places[key] for key in wanted if key in places]
            error = float(costs[there].mean()) if len(there) == len(wanted) else _WORST
            seconds = float(seconds_of[there].mean()) if there else 0.0
            scores[place] = Score(error, seconds)
        passes = [cell.key for plan in state.race.references(state.rung) for cell in expand(plan)]
        finished = [places[key] for key in passes if key in places]
        yield scores, float(seconds_of[finished].mean()) if finished else None


# ------------------------------------------------------------------ the settings that race


class Axis(NamedTuple):
    """What is searched: a hyperparameter, or a part of the kernel that it is ("" for all of it)."""

    name: str
    part: str
    form: Form


def axes(spec: LearnerSpec, task: str, fixed: Iterable[str] = ()) -> list[Axis]:
    """Return what is searched of a learner on data of a task.

    fixed: hyperparameters that are not, ``beta`` of all learners or ``omkc_dd.beta`` of one
    """
    kept = set(fixed)
    return [
        Axis(name, part, form)
        for name, parameter in spec.hyperparameters.items()
        if parameter.search and not {name, f"{spec.name}.{name}"} & kept
        for part, form in parameter.search.get(task, {}).items()
    ]


def pools_to_try(setting: Setting, rule: Rule, fixed: Iterable[str] = ()) -> list[dict[str, Any]]:
    """Return the pools among which a learner chooses, its own first; none where it has no choice.

    fixed: as of `axes`, with ``pool`` where one was given
    """
    if setting.pool is None or {"pool", f"{setting.learner}.pool"} & set(fixed):
        return []
    spec, pools = learner_spec(setting.learner), [setting.pool]
    for pool in kernel_pools(rule.pools):
        with contextlib.suppress(UserError):  # a pool that is not for the learner
            spec.check_pool(pool)
            pools.append(pool)
    distinct = list({pool["name"]: pool for pool in pools}.values())
    return distinct if len(distinct) > 1 else []


def searched_scaling(spec: LearnerSpec, task: str, fixed: Iterable[str] = ()) -> list[str]:
    """Return which of ``scale`` and ``target`` are searched for a learner: none or online.

    fixed: as of `axes`, with these words where they were given
    """
    matters = {"scale": spec.sees_scale, "target": task == "regression" and not spec.equivariant}
    given = {*fixed, *spec.hyperparameters}
    return [
        name for name, decides in matters.items() if decides and not {name, f"{spec.name}.{name}"} & given
    ]


def scalings_to_try(first: Setting, task: str, fixed: Iterable[str] = ()) -> list[dict[str, Any]]:
    """Return the ways to scale the streams of a learner among which it chooses, that of its setting first."""
    scalings = [first.scaling]
    for name in searched_scaling(first.spec, task, fixed):
        if name != "scale" or not needs_stored_rows(first.kernels):
            scalings += [_toggled(scaling, name) for scaling in scalings]
    return scalings


def _toggled(scaling: dict[str, Any], name: str) -> dict[str, Any]:
    """Return a scaling that is online where this one is not, and the other way round."""
    toggled = {**scaling, name: "online"}
    return {key: toggled[key] for key in SCALING if key in toggled and not (key == name and name in scaling)}


@dataclass(frozen=True)
class Space:
    """Where the settings of a learner on a data set are looked for: a unit cube of axes, scalings and pools.

    first: the setting that gives all else    scalings: of its streams, its own first    rows: of the data,
    more of which no learner stores
    """

    first: Setting
    rows: int
    axes: tuple[Axis, ...]
    pools: tuple[dict[str, Any], ...]
    scalings: tuple[dict[str, Any], ...]

    @property
    def dimensions(self) -> int:
        """How many numbers a point has."""
        return len(self.axes) + bool(self.pools) + (len(self.scalings) > 1)

    @property
    def given(self) -> list[Setting]:
        """The first setting, scaled in all ways."""
        return [replace(self.first, scaling=scaling) for scaling in self.scalings]

    def at(self, point: list[float]) -> Setting | None:
        """Return the setting at a point of the cube, None where the learner does not allow it."""
        params, rest = dict(self.first.params), list(point[len(self.axes) :])
        scaling = _share(self.scalings, rest.pop() if len(self.scalings) > 1 else 0.0)
        for axis, share in zip(self.axes, point, strict=False):
            value, param = axis.form.at(share), params[axis.name]
            params[axis.name] = check_kernel(with_part(param, axis.part, value)) if axis.part else value
        spec = self.first.spec
        if spec.budget and type(params[spec.budget]) is int and params[spec.budget] > self.rows:
            return None
        try:
            spec.check_together(params)
        except UserError:
            return None
        pool = _share(self.pools, rest.pop()) if self.pools else self.first.pool
        return replace(self.first, params=params, pool=pool, scaling=scaling)


def _share(choices: Sequence[Any], share: float) -> Any:
    """Return the choice at a place of the unit interval, which they share evenly."""
    return choices[min(int(share * len(choices)), len(choices) - 1)]


def space_of(first: Setting, task: str, rows: int, fixed: Collection[str], rule: Rule) -> Space:
    """Return where the settings of a learner are looked for, on so many rows of this task."""
    pools, scalings = pools_to_try(first, rule, fixed), scalings_to_try(first, task, fixed)
    return Space(first, rows, tuple(axes(first.spec, task, fixed)), tuple(pools), tuple(scalings))


def draw(space: Space, rule: Rule, seed: int) -> tuple[Setting, ...]:
    """Return distinct settings that race on a data set: the given one, scaled in all ways, then points.

    They are fewer than the rule's trials where the space has no more. The points are those of a scrambled
    Halton sequence, so that more trials begin with those of fewer. seed: of the scrambling
    """
    import numpy as np
    from scipy.stats.qmc import Halton  # a second to import

    drawn = {setting.identity: setting for setting in space.given}
    count = rule.trials_of(space.dimensions)
    if space.dimensions:
        rng = np.random.default_rng(seeds.derive("search", seed, space.first.learner))
        sequence = Halton(space.dimensions, scramble=True, seed=rng)
        for _ in range(count * _ATTEMPTS):
            if len(drawn) >= count:
                break
            if setting := space.at(sequence.random(1)[0].tolist()):
                drawn.setdefault(setting.identity, setting)
    return tuple(drawn.values())[:count]
