"""The tuner's own check: do random settings find what a race missed?

Of pairs of a learner and a data set of a page, drawn at random, settings from the ranges of the race run on
its last passes, where its winner was chosen. One that costs no more than the rule allows, and errs less than
the winner by more than 5 % there, is a find: the race missed it.

    python scripts/tuner_check.py today             twenty pairs, 100 settings each
"""

import argparse
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from omkl.config import Plan
from omkl.config.parameters import params_text
from omkl.errors import OmklError, counted
from omkl.publications import Selection, read_paper
from omkl.publications.paper import Paper
from omkl.publications.selection import tuned_plans
from omkl.publications.tuned import fixed_in, split_tuned, tuned_runs, tuning_rule
from omkl.runs.runner import run_plans
from omkl.runs.search import draw
from omkl.runs.tuning import Race, races
from omkl.store.fields import CellMeasures, with_extra

NEAR = 0.05  # of the tuned error


@dataclass(frozen=True)
class Pair:
    """A learner on a data set: its race, the plans of the winner, of random settings, and of the cost."""

    race: Race
    tuned: Plan
    others: Plan
    reference: Plan | None

    @property
    def plans(self) -> list[Plan]:
        """All of them."""
        return [plan for plan in (self.tuned, self.others, self.reference) if plan]


@dataclass(frozen=True)
class Found:
    """What random settings reached: the winner's error, the least of an affordable one, and its text."""

    pair: Pair
    tuned: float
    least: float
    text: str

    @property
    def is_better(self) -> bool:
        """Whether it errs less than the tuned one by more than NEAR. Errors by AUC are negative."""
        return self.least < self.tuned - NEAR * abs(self.tuned)

    def __str__(self) -> str:
        place = f"{self.pair.race.first.spec.label} on {self.pair.race.held.data[0].name}"
        return f"{place}: {self.tuned:.4g} tuned, {self.least:.4g} at random with {self.text}"


def pairs(paper: Paper, plans: Mapping[str, Plan], settings: int, seed: int) -> Iterator[Pair]:
    """Yield the pairs of a page in random order; plans: by a run's name. Rivals of a folder are no pairs."""
    runs = {run.name: run for run in tuned_runs(paper) if not run.folder and run.name in plans}
    every = [
        (run, plans[name], data, setting)
        for name, run in runs.items()
        if tuning_rule(run)[0].trials != 1
        for data in plans[name].data
        for setting in plans[name].settings
        if setting.fits(data.task, data.name)
    ]
    for at in np.random.default_rng(seed).permutation(len(every)).tolist():
        run, plan, data, setting = every[at]
        own = replace(plan, data=(data,), settings=(setting,), yardsticks=())
        tuned, rule = split_tuned(run, own)[0], tuning_rule(run)[0]
        (race,) = races(own, rule, fixed_in(run))
        drawn = draw(race.space, settings + len(race.space.given), seed)
        others = tuple(trial.setting for trial in drawn if trial.point is not None)
        if tuned and others:
            last, winner = race.rungs[-1], tuned[0].settings
            reference = replace(last, settings=(race.reference,)) if race.reference else None
            yield Pair(race, replace(last, settings=winner), replace(last, settings=others), reference)


def look(pair: Pair, **how: Any) -> Found:
    """Run a pair, and return what random settings reached; how: of ``run_plans``."""
    outcome = run_plans(pair.plans, trials=True, **how)
    if outcome.interrupted:
        raise KeyboardInterrupt
    cells = with_extra(outcome.cells)
    values = pair.race.measure.sign * CellMeasures(cells).unscaled(pair.race.measure.name)
    seconds, place = cells["seconds"].to_numpy(), {key: at for at, key in enumerate(cells["key"])}
    reached: list[list[tuple[float, float, Any]]] = []
    for rows in outcome.planned:
        found = [(row.setting, [place[key] for key in row.keys if key in place]) for row in rows]
        reached.append([(values[at].mean(), seconds[at].mean(), own) for own, at in found if at])
    (tuned, cost, own), *_ = reached[0]
    limit = np.inf
    if pair.reference and pair.race.rule.cost:
        limit = max(cost, pair.race.rule.cost * reached[-1][0][1])
    affordable = [one for one in reached[1] if one[1] <= limit]
    least, _, best = min(affordable, key=lambda one: one[0], default=(tuned, cost, own))
    text = params_text(best.spec.unusual(best.params, pair.race.held.data[0].task) | best.scaling)
    return Found(pair, float(tuned), float(least), text)


def main() -> int:
    """Run the check of a page, print what it finds, and return the exit code."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False
    )
    parser.add_argument("page", help="such as today")
    parser.add_argument("--pairs", type=int, default=20, help="of a learner and a data set")
    parser.add_argument("--settings", type=int, default=100, help="of each pair")
    parser.add_argument("-j", "--jobs", type=int, help="worker processes (default: one per core)")
    parser.add_argument("words", nargs="*", metavar="KEY=VALUE", help="such as store=DIR")
    args = parser.parse_intermixed_args()  # words after options, too
    found: list[Found] = []
    try:
        paper = read_paper(args.page)
        plans = tuned_plans(paper, Selection(words=tuple(args.words)))
        for pair in pairs(paper, plans, args.settings, seed=1):
            if len(found) == args.pairs:
                break
            found.append(look(pair, jobs=args.jobs))
            print(found[-1], flush=True)
    except OmklError as error:
        print(f"tuner_check: {error}", file=sys.stderr)
        return error.exit_code
    better = sum(own.is_better for own in found)
    print(f"{counted(len(found), 'pair')}, {better} where a random setting errs less by more than {NEAR:.0%}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
