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
    "file in conf/algo (`search`); widths of kernels are multiples of the median distance of the first 500 "
    "rows; a learner with a pool chooses among its usual one and {pools}. Whether features are scaled online "
    "is searched with the rest, for numbers the targets too; budgets and numbers of random features are not.",
    "The trials race on {rungs} prefixes of the stream, each {eta} times as long as the one before, none "
    "shorter than {least} examples, the last the whole stream: one trial in {eta} goes on, and the default "
    "runs on the last, too. On streams of at most {small} examples all trials run on all of them.{longest}",
    "A trial is judged by its mean error over {permutations} that no table shows, four on such streams. In "
    "time order the trials see the first third of the stream, and the tables are about the rest.",
)
LONGEST = " A setting whose pass would take more than {longest:g} s does not go on."
ROUNDS = "the first {rounds} examples of each permutation are run"
REPS = "{reps} passes are reported"
FEWER = " (fewer, but at least {fewest}, where together they take a tuned learner more than {seconds:g} s)"
EXCEPTIONS = "The exceptions are at the end of the page."
OTHER = "Other rules hold for {learners} on {data}: {changes}."
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


def rule_of(paper: Paper) -> tuple[list[str], list[str]]:
    """Return the rule by which a page's learners are tuned, in a few points, and the exceptions from it."""
    runs = tuned_runs(paper)
    by_rule = [(vars(rule), own) for rule, own in _alike(runs, lambda run: tuning_rule(run)[0])]
    usual = max(by_rule, key=lambda pair: len(pair[1]))[0]
    passes, longest = usual["passes"], usual["longest"]
    values = usual | {
        "pools": enumerated(list(usual["pools"])),
        "permutations": "one permutation" if passes == 1 else f"{passes} permutations",
        "longest": "" if longest is None else LONGEST.format(longest=longest),
    }
    points, exceptions = [text.format(**values) for text in RULE], []
    for rule, own in by_rule:
        changes = [word_text(key, value) for key, value in rule.items() if value != usual[key]]
        if changes:
            names = list(dict.fromkeys(name for run in own for name in as_list(run.words["algo"])))
            learners = enumerated(names) if len(names) <= FEW else f"{len(names)} learners"
            exceptions.append(OTHER.format(learners=learners, data=_sets(own), changes=", ".join(changes)))
    cuts = []
    for text, groups in ((ROUNDS, _alike(runs, _rounds)), (REPS, _alike(runs, _reps))):
        groups.sort(key=lambda pair: -len(pair[1]))
        for place, (values, own) in enumerate(groups):
            said = text.format(**values)
            if text == REPS and values["seconds"] and values["reps"] > values["fewest"]:
                said += FEWER.format(**values)
            if place:
                exceptions.append(f"{said[:1].upper()}{said[1:]} on {_sets(own)}.")
            else:
                cuts.append(said)
    if changed := [f"{learner} on {data}" for run in runs for data, learner in older(run)]:
        exceptions.append(OLDER.format(learners=", ".join(changed), paper=paper.name))
    exceptions = [*dict.fromkeys(exceptions), *paper.deviations]
    said = ", and ".join(cuts)
    points.append(f"{said[:1].upper()}{said[1:]}.")
    return points + [EXCEPTIONS] * bool(exceptions), exceptions


def _rounds(run: Run) -> dict[str, Any] | None:
    return {"rounds": run.words["rounds"]} if "rounds" in run.words else None


def _reps(run: Run) -> dict[str, Any]:
    cuts = tuning_rule(run)[1]
    return {"reps": int(run.words.get("reps", 1)), "seconds": cuts.seconds, "fewest": cuts.fewest}


def _alike(runs: Iterable[Run], value: Callable[[Run], Any]) -> list[tuple[Any, list[Run]]]:
    """Return the runs that share a value, those without one left out."""
    groups: list[tuple[Any, list[Run]]] = []
    for run in runs:
        if (own := value(run)) is None:
            continue
        same = next((members for known, members in groups if known == own), None)
        if same is None:
            groups.append((own, [run]))
        else:
            same.append(run)
    return groups


def _sets(runs: Iterable[Run]) -> str:
    return enumerated(list(dict.fromkeys(name for run in runs for name in run.data)))
