"""What a page says of its numbers: deviations from its paper, or the rule by which its learners are tuned."""

from collections.abc import Callable, Iterable
from typing import Any

from omkl.papers.paper import Paper, Run, enumerated
from omkl.papers.tuned import older, rule_of, tuned_runs

RULE = (
    "Each learner has {trials} trials on each data set: its default, and settings from the ranges in its "
    "file in conf/algo (`search`). A learner with fewer possible settings has those.",
    "The trials race on {rungs} prefixes of the stream, each {eta} times as long as the one before, none "
    "shorter than {least} examples. The last is the whole stream. One trial in {eta} goes on to the next. "
    "The default runs on the last, too.",
    "A trial is judged by its mean error over {passes} permutations. One that overflows is the worst.",
)
LONGEST = "A setting whose pass on the next prefix would take more than {longest:g} s does not go on."
APART = (
    "The tables are about permutations that no trial has seen. In time order there is one order only: there "
    "the trials see the first third of the stream, and the tables are about the rest."
)
SIZES = (
    "Budgets, numbers of random features and pools are not searched: they are the defaults, or as said "
    "below. More of them would nearly always be better, and slower."
)
ROUNDS = "Of {data} only the first {rounds} examples of each permutation are run, where there are more."
REPS = "{reps} passes are reported on {data}"
FEWER = (
    "; fewer where together they would take a learner more than {seconds:g} s, but at least {fewest}. The "
    "column reps says how many"
)
OLDER = (
    "The ranges of these learners in conf/algo have changed since they were tuned: {learners}. "
    "`omkl tune {paper} --fresh` tunes all again."
)


def about_numbers(paper: Paper) -> tuple[str, list[str]] | None:
    """Return the title and the points of what a page says of its numbers, None where there is nothing."""
    runs, points = tuned_runs(paper), list(paper.deviations)
    if not runs:
        return ("Deviations from the paper", points) if points else None
    texts: list[str] = []
    for rule, _ in map(rule_of, runs):
        forms = RULE if rule.longest is None else (*RULE, LONGEST)
        texts += [text.format(**vars(rule)) for text in forms]
    texts += [APART, SIZES]
    by_rounds = _alike(runs, lambda run: run.words.get("rounds"))
    texts += [ROUNDS.format(data=_sets(own), rounds=rounds) for rounds, own in by_rounds]
    for (reps, seconds, fewest), own in _alike(runs, _reps):
        fewer = FEWER.format(seconds=seconds, fewest=fewest) if seconds and reps > fewest else ""
        texts.append(f"{REPS.format(reps=reps, data=_sets(own))}{fewer}.")
    if changed := [f"{learner} on {data}" for run in runs for data, learner in older(run)]:
        texts.append(OLDER.format(learners=", ".join(changed), paper=paper.name))
    return "The rule", [*dict.fromkeys(texts), *points]


def _reps(run: Run) -> tuple[int, float | None, int]:
    cuts = rule_of(run)[1]
    return int(run.words.get("reps", 1)), cuts["seconds"], cuts["fewest"]


def _alike(runs: Iterable[Run], value: Callable[[Run], Any]) -> list[tuple[Any, list[Run]]]:
    """Return the runs that share a value, those without one left out."""
    groups: dict[Any, list[Run]] = {}
    for run in runs:
        if value(run) is not None:
            groups.setdefault(value(run), []).append(run)
    return list(groups.items())


def _sets(runs: Iterable[Run]) -> str:
    return enumerated(list(dict.fromkeys(name for run in runs for name in run.data)))
