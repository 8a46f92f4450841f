"""What a page says of its numbers: deviations from its paper, or the rule by which its learners are tuned."""

from collections.abc import Mapping
from typing import Any

from omkl.papers.paper import Paper, Run
from omkl.papers.tuned import rule_of, tuned_runs

RULE = (
    "Each learner has {trials} trials on each data set: its default, and settings from the ranges in its "
    "file in conf/algo (`search`). A learner with fewer possible settings has those.",
    "The trials race on {rungs} prefixes of the stream, each {eta} times as long as the one before, none "
    "shorter than {least} examples. The last is the whole stream. One trial in {eta} goes on to the next. "
    "The default always runs on the last.",
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
REPS = (
    "{reps} passes are reported on {data}; fewer where together they would take a learner more than "
    "{seconds:g} s, but at least {fewest}. The column reps says how many."
)


def about_numbers(paper: Paper) -> tuple[str, list[str]] | None:
    """Return the title and the points of what a page says of its numbers, None where there is nothing."""
    runs, points = tuned_runs(paper), list(paper.deviations)
    if not runs:
        return ("Deviations from the paper", points) if points else None
    texts: list[str] = []
    for rule, _ in map(rule_of, runs):
        own = RULE if rule.longest is None else (*RULE, LONGEST)
        texts += [text.format(**vars(rule)) for text in own]
    texts += [APART, SIZES]
    for run in runs:
        texts += _cut(run, rule_of(run)[1])
    return "The rule", [*dict.fromkeys(texts), *points]


def _cut(run: Run, cuts: Mapping[str, Any]) -> list[str]:
    """Return what is cut of the passes that are reported."""
    data = " and ".join(part for part in (", ".join(run.data[:-1]), *run.data[-1:]) if part)
    texts = [ROUNDS.format(data=data, rounds=run.words["rounds"])] if "rounds" in run.words else []
    if cuts["seconds"] is not None:
        texts.append(REPS.format(data=data, reps=run.words.get("reps", 1), **cuts))
    return texts
