"""The commands that run, draw and check: one call each, and printing.

A command takes the parsed options and the remaining words (KEY=VALUE, or names) and returns an exit code. Its
docstring is its help. What is slow to import is imported when it is used (``front``), so that the others
start fast.
"""

from argparse import Namespace
from typing import TYPE_CHECKING, Any

from omkl import experiments as front
from omkl.cli.messages import FAILED, OK, emit, end, end_races, say, say_failed, say_written
from omkl.errors import UserError, counted
from omkl.figures.style import KINDS, FigureStyle, in_style
from omkl.reports.table import Table

if TYPE_CHECKING:
    from pathlib import Path

    from omkl.config import Plan
    from omkl.figures.style import Figure
    from omkl.publications import Selection
    from omkl.reports.limits import Limit

_SEVERAL = "give a key several values, such as algo.beta=0.2,0.5,0.8"


def run(args: Namespace, words: list[str]) -> int:
    """Run learners on data sets and print the table, next to the yardsticks."""
    return _run_and_report(args, words, sweep=False)


def sweep(args: Namespace, words: list[str]) -> int:
    """Run a grid of settings, print the table and the best settings, and draw them."""
    return _run_and_report(args, words, sweep=True)


def _run_and_report(args: Namespace, words: list[str], sweep: bool) -> int:
    from omkl.reports.results_table import TableOptions

    plan = front.Call(words).plan(sweep)
    if sweep and not plan.has_choice:
        say(f"nothing is swept, so this is a run: {_SEVERAL}")
    options = TableOptions(args.sort, args.columns)
    front.Results.check_options(plan, args.format, options, sweep, args.by)
    limits = [] if sweep else _limits(args, plan)
    if args.dry_run:
        return dry_run([plan], args)
    if _submitted(plan, args):
        return OK
    whole = args.format == "json"
    results = front.Results.run(plan, args.line, sweep, whole=whole, **how_of(args)).by(args.by)
    emit(results.report_table(options).render(args.format))
    out = args.out or (figures_of(plan.store) if plan.has_choice else None) if sweep else None
    if out and results.has_learners:
        _save(results.figure("sweep"), args, out)
    code = end(results.outcome, args.fail_fast)
    if limits and not results.outcome.interrupted:
        from omkl.reports.limits import failed_limits

        for sentence in failed_limits(limits, results.table):
            say(sentence)
            code = FAILED
    return code


def _limits(args: Namespace, plan: "Plan") -> "list[Limit]":
    """Return what the rows of a run are held to. Raises UserError before any work."""
    if not (args.fail_above or args.fail_below):
        return []
    from omkl.reports.limits import limits_of

    return limits_of(args.fail_above, args.fail_below, list(dict.fromkeys(ref.task for ref in plan.data)))


def tune(args: Namespace, words: list[str]) -> int:
    """Find good hyperparameters for each learner on each data set, and compare them with the defaults."""
    from omkl.publications import paper_names

    how = {"jobs": args.jobs, "progress": not args.quiet}
    if words and words[0] in paper_names():
        return _tune_page(args, words[0], words[1:], how)
    if args.data:
        raise UserError("--data is for a page, as in `omkl tune today`; without a page, write data=german")
    study = front.Study.of(front.Call(words, typed=args.line))
    if args.dry_run:
        return dry_run(study.plans, args)
    made = study.run(fresh=args.fresh, **how)
    if made.ends or not made.interrupted:
        emit(made.render(args.format))
    if args.out and made.settings:
        say_written([made.save(args.out)])
    return end_races(made.interrupted, made.failed)


def _tune_page(args: Namespace, name: str, words: list[str], how: dict[str, Any]) -> int:
    """Tune what a page of conf/paper says is to be tuned, and run what it reports."""
    from omkl.publications import Selection, read_paper
    from omkl.publications.selection import tuned_plans
    from omkl.publications.tuned import planned, tune_page
    from omkl.publications.tuner_check import checks, run_checks

    paper = read_paper(name)
    plans = tuned_plans(paper, Selection(data=args.data, words=tuple(words), dry=args.dry_run))
    if not plans:
        raise UserError(
            f"{name}: no run of conf/paper/{name}.yaml has a tune: block, or none of its data are available"
        )
    if args.dry_run:
        return dry_run([*planned(paper, plans), *checks(paper, plans)], args)
    interrupted, broken = tune_page(paper, plans, args.fresh, lambda line: emit(f"{line}\n"), **how)
    if not interrupted:
        interrupted, failed = run_checks(paper, plans, **how)
        broken += failed
    return end_races(interrupted, broken)


def figure(args: Namespace, words: list[str]) -> int:
    """Draw what the store holds, or a figure of a paper."""
    if "=" in args.kind:
        raise UserError(
            f"{args.kind}: the KIND of figure comes first: {', '.join(KINDS)} or a paper's (omkc/1)"
        )
    if args.kind not in KINDS:
        from omkl.publications import find_item
        from omkl.publications.paper_figures import draw_item as draw

        paper, item = find_item("figures", args.kind)
        if args.dry_run:
            return dry_run(front.plans_of(paper, [item], selected(args, words)), args)
        with in_style(_look(args)):
            made = draw(paper, item, selected(args, words), args.out, **how_of(args))
        say_written(made.files)
        _say_about(made.figure)
        return end(made.outcome)
    for option in ("reps", "data", "algo", "quick", "full", "dry_run"):
        if getattr(args, option):
            option = option.replace("_", "-")
            raise UserError(f"--{option} is for a paper's figure; figure {args.kind} takes KEY=VALUE words")
    given = [word for word in words if args.kind != "confusion" and word.startswith("measure=")]
    words = [word for word in words if word not in given]
    measure = given[-1].partition("=")[2] if given else None
    plan = front.Call(words).plan(sweep=True)
    if args.kind == "sweep" and not plan.has_choice:
        say(f"nothing is swept: {_SEVERAL}")
    results = front.Results.to_draw(plan, args.kind, args.line, words, measure)
    _save(results.figure(args.kind, measure), args, args.out or figures_of(plan.store))
    return OK


def table(args: Namespace, words: list[str]) -> int:
    """Reproduce a table of a paper, our values next to the published ones."""
    from omkl.publications import find_item

    if args.dry_run:
        paper, item = find_item("tables", args.name)
        return dry_run(front.plans_of(paper, [item], selected(args, words)), args)
    return _print(front.paper_table(args.name, selected(args, words), **how_of(args)), args)


def claims(args: Namespace, words: list[str]) -> int:
    """Check the claims of a paper by numbers."""
    paper = front.with_claims(args.paper)
    if args.dry_run:
        return dry_run(front.plans_of(paper, paper.claims.values(), selected(args, words)), args)
    return _print(front.paper_claims(args.paper, selected(args, words), **how_of(args)), args)


def bounds(args: Namespace, words: list[str]) -> int:
    """Print the theorems' bounds next to the observed mistakes, vectors or regret."""
    from omkl.theorems import bounded

    plan = bounded(front.Call(words).plan())
    if args.dry_run:
        return dry_run([plan], args)
    made = front.Bounds.of(plan, args.line, args.rows, **how_of(args))
    return end(made.outcome) if made.outcome.interrupted else _print(made, args)


def _print(made: Any, args: Namespace) -> int:
    """Print a table and return the exit code of its run."""
    emit(made.render(args.format))
    return end(made.outcome)


def status(args: Namespace, words: list[str]) -> int:
    """Show progress: the cells that are done, running, queued, failed or missing."""
    from omkl.runs.status import status

    plan = front.Call(words).plan(sweep=True)
    progress = status(plan)
    if all(word.startswith("store=") for word in words):
        own = " without words" if not words else " without words other than store="
        about = f"these are the cells of `omkl run`{own}, in the store {plan.store}"
        say(f"{about}; give the words of your run to see its own, or use `omkl results list`")
    emit(Table.of(progress.rows).render(args.format))
    if progress.failed:
        say_failed(progress.failed)
    if progress.logs:
        again = "run the command again to resubmit each such cell separately"
        say(f"{counted(len(progress.logs), 'job')} crashed; {again}; the last log is {progress.logs[-1]}")
    if progress.silence:
        say(f"squeue does not answer, so the queued and running cells are unknown: {progress.silence}")
        return FAILED
    return OK


def report(args: Namespace, words: list[str]) -> int:
    """Write a report for the browser: one file with tables and figures of stored cells."""
    papers, settings = [word for word in words if "=" not in word], [word for word in words if "=" in word]
    for option in ("reps", "data", "algo", "quick", "full"):
        if getattr(args, option) and not papers:
            raise UserError(f"--{option} is for a paper's report; others take KEY=VALUE words")
    if args.by and (papers or args.all):
        raise UserError("--by is for a report of KEY=VALUE words")
    own: dict[str, Any] = {"everything": args.all, "by": args.by}
    own |= {"selection": selected(args, settings)} if papers and not args.all else {}
    source = front.PageSource.of(words, args.line, **own)
    page = source.make()
    path, size = source.write(page, args.out)
    for warning in page.warnings:
        say(f"warning: {warning}")
    say(f"wrote {path}: {size / 1e6:.1f} MB")
    return OK


def compile_(args: Namespace, words: list[str]) -> int:
    """Compile learners now, so that later runs only load the code: for CI, a container, a cluster."""
    import time

    from omkl.config import learner_specs
    from omkl.config.learners import members
    from omkl.learning.precompile import usual_settings, warm_up

    chosen: list[str] = []
    for word in words:
        key, _, value = word.partition("=")
        if key != "algo" or not value:
            raise UserError(f"omkl compile takes no {word!r}; write algo=omkc_ss,omkc_dd or algo=budget")
        for name in value.split(","):
            chosen += members(name) or [name]
    specs = learner_specs(dict.fromkeys(chosen) if words else None).values()
    began = time.perf_counter()
    settings = usual_settings(specs)
    warm_up(settings)
    learners = counted(len({spec.name for spec, _, _ in settings}), "learner")
    say(f"the compiled code of {learners} is ready ({time.perf_counter() - began:.0f} s)")
    return OK


def dry_run(plans: "list[Plan]", args: Namespace) -> int:
    """Print the cells of these plans, how many are done, and an estimate of time and memory."""
    made, fmt = front.DryRun.of(plans, args.jobs, args.fresh), getattr(args, "format", "table")
    emit(made.render(fmt))
    for remark in made.remarks if fmt not in ("json", "csv") else ():
        say(remark)
    return OK


def selected(args: Namespace, words: list[str]) -> "Selection":
    """Return the part of a paper's tables, figures or claims that the options choose."""
    own = {name: getattr(args, name) for name in ("data", "reps", "algo", "quick", "full")}
    return front.selection_of(words, dry=getattr(args, "dry_run", False), **own)


def how_of(args: Namespace) -> dict[str, Any]:
    """Return how cells run."""
    return {"jobs": args.jobs, "fresh": args.fresh, "progress": not args.quiet, "fail_fast": args.fail_fast}


def _submitted(plan: "Plan", args: Namespace) -> bool:
    """With exec=slurm: submit the missing cells, and return whether any cell is still to come."""
    if plan.exec["name"] != "slurm":
        return False
    from omkl.runs.slurm import submit

    if args.jobs or args.fail_fast:
        option = "--jobs" if args.jobs else "--fail-fast"
        raise UserError(f"{option} has no effect with exec=slurm, which submits the cells and does not wait")
    new = submit(plan, fresh=args.fresh)
    if new.jobs:
        emit("".join(f"{array}\n" for array in dict.fromkeys(job.partition("_")[0] for job in new.jobs)))
        say(
            f"submitted {counted(new.cells, 'cell')} in {counted(len(new.jobs), 'job')}; "
            "the ids of their arrays are on stdout"
        )
    if new.waiting:
        say(f"{counted(new.waiting, 'cell')} {'is' if new.waiting == 1 else 'are'} queued or running already")
    if not (new.jobs or new.waiting):
        return False
    say("`omkl status` with the same settings shows the progress; the same command shows the results")
    return True


def _look(args: Namespace) -> FigureStyle:
    """Return the look of a figure that the options choose."""
    return FigureStyle(args.style, args.width, not args.no_title, args.ylim)


def _save(figure: "Figure", args: Namespace, out: str) -> None:
    with in_style(_look(args)):
        say_written(figure.write(out))
    _say_about(figure)


def _say_about(figure: "Figure") -> None:
    """Print what a picture does not hold: warnings about its lines, and its tests in numbers."""
    from omkl.reports.comparison import comparison

    if figure.instead:
        say(figure.instead)
    for warning in figure.warnings:
        say(f"warning: {warning}")
    if figure.ranks:
        emit(comparison(figure.ranks).render())


def figures_of(store: "Path") -> str:
    """Return the folder in a store where figures go, named with a slash at its end."""
    return f"{store / 'figures' / 'local'}/"
