"""What a paper's page says of its numbers: the answer it begins with, the deviations, the rule of tuning."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from omkl.config.settings_text import word_text
from omkl.publications.claims import UNKNOWN, YES
from omkl.publications.compare import AGREES, DIFFERS
from omkl.publications.paper import FEW, Paper, Run, as_list, enumerated
from omkl.publications.tuned import older, tuned_runs, tuning_rule

RULE = (
    "Each learner has {trials} trials on each data set: its default, and settings from the ranges in its "
    "file in conf/algo (`search`). Widths of kernels are multiples of the median distance of the first 500 "
    "rows. A learner with a pool chooses among its usual one and {pools}. A learner with fewer possible "
    "settings has those.",
    "The trials race on {rungs} prefixes of the stream, each {eta} times as long as the one before, none "
    "shorter than {least} examples. The last is the whole stream. One trial in {eta} goes on to the next. "
    "The default runs on the last, too. Streams of at most {small} examples are not cut: all trials run on "
    "all of them.",
    "A trial is judged by its mean error over {permutations}, four on such streams. One that overflows is "
    "the worst.",
)
OTHER = "Other rules hold for {learners} on {data}: {changes}."
LONGEST = "A setting whose pass on the next prefix would take more than {longest:g} s does not go on."
APART = (
    "The tables are about permutations that no trial has seen. In time order there is one order only: there "
    "the trials see the first third of the stream, and the tables are about the rest."
)
SIZES = (
    "Budgets and numbers of random features are not searched: they are the defaults, or as said "
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


# -------------------------------------------------------------------- what a reader takes home


# So begin the titles of claims that are counted apart: of another reading, of other kernels, of ours.
APART_FROM = ("as printed", "with cosine-normalised kernels", "beyond the paper")
_COUNTS = ("no reason", "one reason", "two reasons", "three reasons", "four reasons", "five reasons")


def answer_of(paper: Paper, verdicts: Sequence[str], claims: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return a line on how much of a paper is reproduced, and the points of its ``answer``.

    verdicts: of the published values (compare)    claims: as their table holds them
    """
    parts: list[str] = []
    if verdicts:
        near, agreeing = len(verdicts) - verdicts.count(DIFFERS), verdicts.count(AGREES)
        parts.append(
            f"{near} of {len(verdicts)} published values (mistakes and #SV) lie within two published "
            f"standard deviations ({agreeing} agree by Welch's t-test, 5 %, not corrected)"
        )
    begins = [claim["text"].partition(": ")[0] for claim in claims]
    groups = [begin if begin in APART_FROM else "claims hold" for begin in begins]
    for name in ("claims hold", *APART_FROM):
        own = [claim["verdict"] for claim, group in zip(claims, groups, strict=True) if group == name]
        doubtful = f" ({own.count(UNKNOWN)} undecided)" if UNKNOWN in own else ""
        parts += [f"{own.count(YES)} of {len(own)} {name}{doubtful}"] if own else []
    lines = [f"{', '.join(parts)}."] if parts else []
    lines += [paper.instead] if paper.instead else []
    if verdicts and paper.answer:
        lines.append(f"The values further away have {_COUNTS[len(paper.answer)]}:")
    return [" ".join(lines), *paper.answer] if lines else list(paper.answer)


# -------------------------------------------------------------------- what is said of the numbers


def about_numbers(paper: Paper) -> tuple[str, list[str]] | None:
    """Return the title and the points of what a page says of its numbers, None where there is nothing.

    These are the deviations from its paper, or the rule by which its learners are tuned.
    """
    runs, points = tuned_runs(paper), list(paper.deviations)
    if not runs:
        return ("Deviations from the paper", points) if points else None
    texts = [*_rules(runs), APART, SIZES]
    by_rounds = _alike(runs, lambda run: run.words.get("rounds"))
    texts += [ROUNDS.format(data=_sets(own), rounds=rounds) for rounds, own in by_rounds]
    for (reps, seconds, fewest), own in _alike(runs, _reps):
        fewer = FEWER.format(seconds=seconds, fewest=fewest) if seconds and reps > fewest else ""
        texts.append(f"{REPS.format(reps=reps, data=_sets(own))}{fewer}.")
    if changed := [f"{learner} on {data}" for run in runs for data, learner in older(run)]:
        texts.append(OLDER.format(learners=", ".join(changed), paper=paper.name))
    return "The rule", [*dict.fromkeys(texts), *points]


def _rules(runs: list[Run]) -> list[str]:
    """Return the rule of most runs in sentences, and where others differ from it."""
    by_rule = [(vars(rule), own) for rule, own in _alike(runs, lambda run: tuning_rule(run)[0])]
    usual = max(by_rule, key=lambda pair: len(pair[1]))[0]
    passes = usual["passes"]
    values = usual | {
        "pools": enumerated(list(usual["pools"])),
        "permutations": "one permutation" if passes == 1 else f"{passes} permutations",
    }
    texts = [text.format(**values) for text in (RULE if usual["longest"] is None else (*RULE, LONGEST))]
    for rule, own in by_rule:
        changes = [word_text(key, value) for key, value in rule.items() if value != usual[key]]
        if changes:
            names = list(dict.fromkeys(name for run in own for name in as_list(run.words["algo"])))
            learners = enumerated(names) if len(names) <= FEW else f"{len(names)} learners"
            texts.append(OTHER.format(learners=learners, data=_sets(own), changes=", ".join(changes)))
    return texts


def _reps(run: Run) -> tuple[int, float | None, int]:
    cuts = tuning_rule(run)[1]
    return int(run.words.get("reps", 1)), cuts.seconds, cuts.fewest


def _alike(runs: Iterable[Run], value: Callable[[Run], Any]) -> list[tuple[Any, list[Run]]]:
    """Return the runs that share a value, those without one left out."""
    groups: dict[Any, list[Run]] = {}
    for run in runs:
        if value(run) is not None:
            groups.setdefault(value(run), []).append(run)
    return list(groups.items())


def _sets(runs: Iterable[Run]) -> str:
    return enumerated(list(dict.fromkeys(name for run in runs for name in run.data)))
