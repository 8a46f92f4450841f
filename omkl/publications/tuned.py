"""Runs whose learners are tuned first: the rule is in conf/paper, what won in results/PAPER/tuned.yaml.

    tune: {passes: 2, longest: 30, seconds: 20, fewest: 3}

Keys are those of conf/tune.yaml, and two that cut the passes that are reported: they take at most ``seconds``
of each learner on each data set together, but there are at least ``fewest``; a learner with nothing to tune
runs all. The file of winners has for each
run, data set and learner the hyperparameters that differ from the run's, the passes that are reported,
and what tells whether the winner still counts.
"""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from omkl import conf, yaml_files
from omkl.config import Plan, Setting, learner_names, learner_spec, learner_specs, pool
from omkl.config.learners import LearnerSpec
from omkl.config.words import SCALES
from omkl.errors import UserError, counted, suggest
from omkl.files import write_text
from omkl.publications.paper import Paper, Run
from omkl.runs.search import axes, searched_scaling
from omkl.schema import as_dataclass

if TYPE_CHECKING:
    from omkl.data import DataRef
    from omkl.runs.tuning import Race, Rule, Tuned


@dataclass(frozen=True)
class Cuts:
    """How the passes that are reported are cut, so that they take no more than these seconds together."""

    seconds: Annotated[float | None, "(0, inf) or null"] = None
    fewest: Annotated[int, "[1, inf)"] = 1


@dataclass(frozen=True)
class TunedSetting:
    """What won for a learner on a data set; reps: passes to report, None for all.

    ranges: a hash of what was searched, None in old files    pool: its name, where it is not the usual one
    scaling: ``scale`` and ``target``, where they are not those of the run's words
    """

    params: dict[str, Annotated[Any, lambda value: value]]
    revision: int
    reps: int | None = None
    ranges: str | None = None
    pool: str | None = None
    scaling: dict[str, str] = field(default_factory=dict)


def settings_of(run: Run) -> dict[tuple[str, str], TunedSetting]:
    """Return the winners of a run by data set and learner; none where it is not tuned yet."""
    content, where = _winners(run.paper).get(run.name, {}), winners_file(run.paper)
    return {
        (data, learner): as_dataclass(TunedSetting, entry, where, f"{run.name}.{data}.{learner}.")
        for data, learners in content.items()
        for learner, entry in learners.items()
    }


def winners_file(paper: str) -> Path:
    """Return the file of a paper's winners: in results/PAPER beside the conf folder that has the paper."""
    return conf.file("paper", paper).parents[2] / "results" / paper / "tuned.yaml"


def _winners(paper: str) -> dict[str, Any]:
    path = winners_file(paper)
    if not path.is_file():
        return {}
    stat = path.stat()
    return _read(path, stat.st_mtime_ns, stat.st_size)


@lru_cache(4)
def _read(path: Path, *changed: int) -> dict[str, Any]:
    return yaml_files.read_yaml(path)


def split_tuned(run: Run, plan: Plan) -> tuple[list[Plan], list[tuple[str, str]]]:
    """Return the plans of a run's tuned learners, and the (data set, learner) pairs that are not tuned yet.

    plan: of the run's words. A learner of another revision than the race's must be tuned again. Where the
    rule has one trial, the given setting, there is no race.
    """
    from omkl.runs.tuning import parts

    won, specs = settings_of(run), learner_specs(dict.fromkeys(s.learner for s in plan.settings))
    rule, _ = tuning_rule(run)
    lacking: list[tuple[str, str]] = []
    groups: dict[tuple[str, int], list[Setting]] = {}
    refs = {ref.name: ref for ref in plan.data}
    for data, ref in refs.items():
        for setting in plan.settings:
            if not setting.fits(ref.task, ref.name):
                continue
            choice, spec = won.get((data, setting.learner)), specs[setting.learner]
            if rule.trials == 1:
                choice = TunedSetting({}, spec.revision)
            if choice is None or choice.revision != spec.revision:
                lacking.append((data, setting.learner))
                continue
            params = {name: spec.hyperparameters[name].check(value) for name, value in choice.params.items()}
            reps = min(choice.reps or plan.reps, plan.reps)
            tuned = replace(setting, params={**setting.params, **params})
            tuned = replace(tuned, pool=pool(choice.pool)) if choice.pool else tuned
            scaling = setting.scaling | choice.scaling
            tuned = replace(tuned, scaling={key: word for key, word in scaling.items() if word != "none"})
            groups.setdefault((data, reps), []).append(tuned)
    plans = []
    for (data, reps), settings in groups.items():
        _, rounds, order = parts(plan, refs[data], rule.small)
        held: dict[str, Any] = {"rounds": rounds, "order": order, "reps": reps}
        plans.append(replace(plan, data=(refs[data],), settings=tuple(settings), **held))
    return plans, lacking


def older(run: Run) -> list[tuple[str, str]]:
    """Return the (data set, learner) pairs that were tuned in other ranges than those of conf/algo now."""
    won, fixed = settings_of(run), fixed_in(run)
    specs = learner_specs({learner for _, learner in won} & set(learner_names()))
    ranges_now = {name: {_ranges(spec, task, fixed) for task in spec.tasks} for name, spec in specs.items()}
    return [
        pair
        for pair, setting in won.items()
        if setting.ranges and setting.ranges not in ranges_now.get(pair[1], [setting.ranges])
    ]


def _ranges(spec: LearnerSpec, task: str, fixed: Iterable[str]) -> str:
    searched = [(axis.name, axis.part, str(axis.form)) for axis in axes(spec, task, fixed)]
    text = repr(searched + [(name,) for name in searched_scaling(spec, task, fixed)])
    return hashlib.sha256(text.encode()).hexdigest()[:8]


def fixed_in(run: Run) -> list[str]:
    """Return the hyperparameters that the words of a run set, which are not searched."""
    named = ["pool"] if any(key.partition(".")[0] == "pool" for key in run.words) else []
    named += [key for key in SCALES if key in run.words]
    return [key.removeprefix("algo.") for key in run.words if key.startswith("algo.")] + named


def tuned_runs(paper: Paper) -> list[Run]:
    """Return the runs of a paper whose learners are tuned first, each once."""
    items = [*paper.tables.values(), *paper.figures.values(), *paper.claims.values()]
    return list({run.name: run for item in items for run in item.runs if run.tune is not None}.values())


def tuning_rule(run: Run) -> "tuple[Rule, Cuts]":
    """Return a run's rule, and how its passes are cut. Raises UserError for a wrong key or value."""
    from omkl.runs.tuning import rule_from, rule_keys

    where, given = f"{conf.file('paper', run.paper)}: runs.{run.name}.tune", dict(run.tune or {})
    keys = [*rule_keys(), *(field.name for field in fields(Cuts))]
    for key in given.keys() - set(keys):
        raise UserError(f"{where}: unknown key '{key}'{suggest(key, keys)}")
    cuts = {field.name: given.pop(field.name) for field in fields(Cuts) if field.name in given}
    try:
        return rule_from(given), as_dataclass(Cuts, cuts, where)
    except UserError as error:
        raise UserError(f"{where}: {str(error).removeprefix(f'{where}: ')}") from None


@dataclass(frozen=True)
class SetToTune:
    """The races of a run on one data set, none where all has been tuned."""

    run: Run
    data: "DataRef"
    races: "list[Race]"
    cuts: Cuts


def tuning_steps(paper: Paper, plans: "Mapping[str, Plan]", again: bool = False) -> Iterator[SetToTune]:
    """Yield the runs on each data set, small ones first, learners of a folder last; plans: by a run's name.

    again: with the races of what has been tuned
    """
    from omkl.runs.tuning import races

    runs = {run.name: run for run in tuned_runs(paper)}
    work = [(bool(runs[name].folder), data.T, data.name, name) for name in plans for data in plans[name].data]
    for _, _, data_name, name in sorted(work):
        run, plan = runs[name], plans[name]
        data = next(ref for ref in plan.data if ref.name == data_name)
        rule, cuts = tuning_rule(run)
        lacking = split_tuned(run, replace(plan, data=(data,)))[1]
        again_here = again and rule.trials != 1
        todo = tuple(s for s in plan.settings if again_here or (data.name, s.learner) in lacking)
        yield SetToTune(
            run, data, races(replace(plan, data=(data,), settings=todo), rule, fixed_in(run)), cuts
        )


def planned(paper: Paper, plans: "Mapping[str, Plan]") -> list[Plan]:
    """Return the plans that a page takes: of races, and of what is reported."""
    from omkl.runs.tuning import assumed

    pending: list[Plan] = []
    for step in tuning_steps(paper, plans):
        pending += _held(step, plans) + assumed(step.races)
    return pending


def tune_page(
    paper: Paper,
    plans: "Mapping[str, Plan]",
    again: bool = False,
    report: Callable[[str], None] = print,
    **how: Any,
) -> tuple[bool, list[dict[str, Any]]]:
    """Run the races of a page and what it reports, data set by data set.

    again: as of `tuning_steps`    report: gets a line after the races of each    how: of ``run_plans``
    Return whether Ctrl-C ended it, and the lines of cells that failed.
    """
    from omkl.runs.runner import run_plans

    broken: list[dict[str, Any]] = []
    try:
        for step in tuning_steps(paper, plans, again):
            if step.races:
                ends = tune_step(step, fresh=again, **how)
                seconds = sum(end.seconds for end in ends)
                report(
                    f"{step.data}, {step.run.name}: {counted(len(ends), 'learner')} tuned, "
                    f"{seconds:.0f} s of passes"
                )
            outcome = run_plans(_held(step, plans), **how)
            broken += outcome.failed
            if outcome.interrupted:
                return True, broken
    except KeyboardInterrupt:
        return True, broken
    return False, broken


def _held(step: SetToTune, plans: "Mapping[str, Plan]") -> list[Plan]:
    """Return the plans of what is reported of a step."""
    return split_tuned(step.run, replace(plans[step.run.name], data=(step.data,)))[0]


def tune_step(step: SetToTune, **how: Any) -> "list[Tuned]":
    """Run the races of a step and keep the winners; how: of ``run_plans``."""
    from omkl.runs.tuning import run_races

    ends, _ = run_races(step.races, **how)
    _keep(step, ends)
    return ends


def _keep(step: SetToTune, ends: "list[Tuned]") -> None:
    paper = step.run.paper
    content = {run: dict(sets) for run, sets in _winners(paper).items()}
    choices = content.setdefault(step.run.name, {})
    learners = dict(choices.get(step.data.name, {}))
    for end in ends:
        first, best = end.race.first.params, end.setting.params
        pool, usual = (setting.pool and setting.pool["name"] for setting in (end.setting, end.race.first))
        spec, task = learner_spec(end.setting.learner), step.data.task
        scaling = {name: end.setting.scaling.get(name, "none") for name in SCALES}
        usual_scaling = {name: end.race.first.scaling.get(name, "none") for name in SCALES}
        other = {name: word for name, word in scaling.items() if word != usual_scaling[name]}
        learners[end.setting.learner] = (
            {
                "params": {name: value for name, value in best.items() if first[name] != value},
                "reps": _reps(end, step.cuts),
                "revision": spec.revision,
                "ranges": _ranges(spec, task, fixed_in(step.run)),
            }
            | ({"pool": pool} if pool != usual else {})
            | ({"scaling": other} if other else {})
        )
    choices[step.data.name] = learners
    head = f"# The winners of the races of conf/paper/{paper}.yaml, written by `omkl tune {paper}`.\n"
    write_text(winners_file(paper), head + yaml_files.yaml_text(content, width=1000))


def _reps(end: "Tuned", cuts: Cuts) -> int:
    """Return how many passes of the winner are reported: no more than its seconds allow, if it was tuned."""
    most, seconds = end.race.held.reps, cuts.seconds
    if seconds is None or end.pass_seconds <= 0 or end.trials == 1:
        return most
    return min(most, max(cuts.fewest, int(seconds / end.pass_seconds)))
