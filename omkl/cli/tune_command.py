"""`omkl tune`: the best hyperparameters of each learner on each data set, and what they are worth."""

from argparse import Namespace
from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from omkl.cli.dry_run import dry_run
from omkl.cli.messages import FAILED, INTERRUPTED, OK, emit, say, say_failed, say_written
from omkl.errors import UserError

if TYPE_CHECKING:
    from omkl.config import Plan
    from omkl.publications import Paper


def tune(args: Namespace, words: list[str]) -> int:
    """Find good hyperparameters for each learner on each data set, and compare them with the defaults."""
    from omkl.experiments.call import Call
    from omkl.experiments.tune import Study
    from omkl.publications import paper_names

    if words and words[0] in paper_names():
        return _page(args, words[0], words[1:])
    if args.data:
        raise UserError("--data is for a page such as today; without a page, write data=german")
    study = Study.of(Call(words, typed=args.line))
    if args.dry_run:
        return dry_run(study.plans, args)
    made = study.run(jobs=args.jobs, fresh=args.fresh, progress=not args.quiet)
    if made.ends or not made.interrupted:
        emit(made.render(args.format))
    if args.out and made.settings:
        say_written([made.save(args.out)])
    return _end(made.interrupted, made.failed)


def _end(interrupted: bool, broken: Iterable[dict[str, Any]]) -> int:
    """Say how races and runs ended, and return the exit code."""
    if interrupted:
        say("interrupted; run the same command again to continue")
        return INTERRUPTED
    if broken := list(broken):
        say_failed(broken)
    return FAILED if broken else OK


def _page(args: Namespace, name: str, words: list[str]) -> int:
    """Tune what a page of conf/paper says is to be tuned, and run what it reports, data set by data set."""
    from omkl.publications import Selection, read_paper
    from omkl.publications.selection import tuned_plans
    from omkl.publications.tuned import split_tuned, steps
    from omkl.publications.tuned import tune_step as race
    from omkl.runs.runner import run_plans

    paper = read_paper(name)
    plans = tuned_plans(paper, Selection(data=args.data, words=tuple(words), dry=args.dry_run))
    if not plans:
        raise UserError(
            f"{name}: no run of conf/paper/{name}.yaml has tune: ..., or none of its data sets is available"
        )
    if args.dry_run:
        return dry_run(_left(paper, plans), args)
    how = {"jobs": args.jobs, "progress": not args.quiet}
    broken: list[dict[str, Any]] = []
    try:
        for step in steps(paper, plans, args.fresh):
            if step.races:
                ends = race(step, fresh=args.fresh, **how)
                seconds = sum(end.seconds for end in ends)
                emit(f"{step.data}, {step.run.name}: {len(ends)} learners tuned, {seconds:.0f} s of passes\n")
            held, _ = split_tuned(step.run, replace(plans[step.run.name], data=(step.data,)))
            outcome = run_plans(held, **how)
            broken += outcome.failed
            if outcome.interrupted:
                return _end(True, broken)
    except KeyboardInterrupt:
        return _end(True, broken)
    return _end(False, broken)


def _left(paper: "Paper", plans: "dict[str, Plan]") -> "list[Plan]":
    """Return the plans that a page takes: of races, and of what is reported."""
    from omkl.publications.tuned import split_tuned, steps
    from omkl.runs.tuning import assumed

    made: list[Plan] = []
    for step in steps(paper, plans):
        made += split_tuned(step.run, replace(plans[step.run.name], data=(step.data,)))[0] + assumed(
            step.races
        )
    return made
