"""The commands that run, draw and check: they call the parts and print.

A command takes the parsed options and the remaining words (KEY=VALUE, or names) and returns an exit code. Its
docstring is its help. It imports slow modules itself, so that the others start fast.
"""

import shlex
from argparse import Namespace
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from omkl.cli.dry_run import dry_run
from omkl.cli.messages import FAILED, OK, emit, end, say, say_failed, say_written
from omkl.errors import UserError
from omkl.reports.figure_style import FigureStyle, in_style
from omkl.reports.table import Table

if TYPE_CHECKING:
    from omkl.config import Plan
    from omkl.publications import Selection
    from omkl.publications.paper import Item, Paper
    from omkl.reports.figures import Figure
    from omkl.reports.results_table import TableOptions
    from omkl.runs.runner import Outcome

KINDS = ("curve", "confusion", "sweep")  # of figures of the user's own runs


def run(args: Namespace, words: list[str]) -> int:
    """Run learners on data sets and print the table, next to the yardsticks."""
    return _run_and_report(args, words, sweep=False)


def sweep(args: Namespace, words: list[str]) -> int:
    """Run a grid of settings, print the table and the best settings, and draw them."""
    return _run_and_report(args, words, sweep=True)


def _run_and_report(args: Namespace, words: list[str], sweep: bool) -> int:
    from omkl.config import plan as make_plan
    from omkl.experiments.results import Results

    plan = make_plan(words, sweep=sweep)
    if sweep and not plan.has_choice:
        say("nothing is swept, so this is a run: give a key several values, such as algo.beta=0.2,0.5,0.8")
    _check_columns(plan, args, sweep)
    if args.dry_run:
        return dry_run([plan], args)
    if _submitted(plan, args):
        return OK
    outcome = _run(plan, args)
    results = Results.of(plan, outcome, args.line, sweep)
    emit(results.report_table(_table_options(args)).render(args.format))
    out = args.out or (_figures(plan) if plan.has_choice else None) if sweep else None
    if out and results.has_learners:
        _save(results.figure("sweep"), args, out)
    return end(outcome, args.fail_fast)


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
            return dry_run(_plans(paper, [item], args, words), args)
        with in_style(_look(args)):
            made = draw(paper, item, selection_of(args, words), args.out, **_how(args))
        say_written(made.files)
        return end(made.outcome)
    for option in ("reps", "data", "algo", "quick", "full", "dry_run"):
        if getattr(args, option):
            option = option.replace("_", "-")
            raise UserError(f"--{option} is for a paper's figure; figure {args.kind} takes KEY=VALUE words")
    from omkl.config import plan as make_plan
    from omkl.experiments.results import Results

    given = [word for word in words if args.kind == "curve" and word.startswith("measure=")]
    words = [word for word in words if word not in given]
    measure = given[-1].partition("=")[2] if given else None
    plan = make_plan(words, sweep=True)
    tasks = dict.fromkeys(ref.task for ref in plan.data)
    if args.kind == "confusion" and "classification" not in tasks:
        text = f"a confusion matrix needs a classification, and the task is {' and '.join(tasks)}"
        raise UserError(f"data={','.join(map(str, plan.data))}: {text}")
    results = Results.stored(plan, args.line)
    requested = results.parts[0].outcome.requested
    if len(results.cells) < requested:
        verb = "sweep" if plan.swept else "run"
        missing = f"the store {plan.store} holds {len(results.cells)} of {requested} cells"
        if not {setting.learner for setting in plan.settings} <= set(results.cells["algo"]):
            raise UserError(f"{missing}; `omkl {shlex.join([verb, *words])}` computes them")
        say(f"warning: {missing}")
    _save(results.figure(args.kind, measure), args, args.out or _figures(plan))
    return OK


def table(args: Namespace, words: list[str]) -> int:
    """Reproduce a table of a paper, our values next to the published ones."""
    from omkl.publications import find_item
    from omkl.publications.paper_tables import make_table as make

    paper, item = find_item("tables", args.name)
    if args.dry_run:
        return dry_run(_plans(paper, [item], args, words), args)
    made = make(paper, item, selection_of(args, words), **_how(args))
    emit(made.text(args.format))
    return end(made.outcome)


def claims(args: Namespace, words: list[str]) -> int:
    """Check the claims of a paper by numbers."""
    from omkl.publications import read_paper
    from omkl.publications.claims import check_claims as check

    paper = read_paper(args.paper)
    if not paper.claims:
        raise UserError(f"{args.paper}: conf/paper/{args.paper}.yaml has no claims")
    if args.dry_run:
        return dry_run(_plans(paper, paper.claims.values(), args, words), args)
    made = check(paper, selection_of(args, words), **_how(args))
    emit(made.text(args.format))
    return end(made.outcome)


def bounds(args: Namespace, words: list[str]) -> int:
    """Print the theorems' mistake bounds next to the observed mistakes."""
    from omkl.config import plan as make_plan
    from omkl.theorems import bounded, bounds_table, evaluate

    plan = bounded(make_plan(words))
    if args.dry_run:
        return dry_run([plan], args)
    outcome = _run(plan, args)
    if not outcome.interrupted:
        emit(bounds_table(evaluate(plan, outcome.cells, args.rows), args.line).render(args.format))
    return end(outcome)


def status(args: Namespace, words: list[str]) -> int:
    """Show progress: the cells that are done, running, queued, failed or missing."""
    from omkl.config import plan
    from omkl.runs.status import status

    progress = status(plan(words, sweep=True))
    emit(Table.of(progress.rows).render(args.format))
    if progress.failed:
        say_failed(progress.failed)
    if progress.logs:
        again = "run the command again to resubmit each such cell separately"
        say(f"{len(progress.logs)} jobs crashed; {again}; the last log is {progress.logs[-1]}")
    if progress.silence:
        say(f"squeue does not answer, so the queued and running cells are unknown: {progress.silence}")
        return FAILED
    return OK


def bench(args: Namespace, words: list[str]) -> int:
    """Measure the engine on this machine, against np.exp and the naive twin."""
    import json

    from omkl.runs import bench

    older = bench.read_earlier(args.compare) if args.compare else None  # a bad file fails before any work
    measured = bench.measure(args.long)
    if older is not None:
        measured["compared"] = bench.compared(older, measured)
    if args.format == "json":
        emit(json.dumps(measured, indent=1) + "\n")
    else:
        emit(bench.measured_text(measured))
        emit("" if older is None else "\n" + bench.compared_text(measured["compared"]))
    return OK


def selection_of(args: Namespace, words: list[str]) -> "Selection":
    """Return the part of a paper's tables, figures or claims that the options choose."""
    from omkl.publications import Selection

    dry = getattr(args, "dry_run", False)
    return Selection(args.reps, args.data, args.algo, args.quick, tuple(words), args.full, dry)


def _plans(paper: "Paper", items: "Iterable[Item]", args: Namespace, words: list[str]) -> "list[Plan]":
    """Return the plans of a paper's tables, figures or claims."""
    from omkl.publications.selection import work_of

    items = [item for item in items if item.runs]
    return work_of(paper, items, selection_of(args, words)).plans if items else []


def _how(args: Namespace) -> dict[str, Any]:
    return {"jobs": args.jobs, "fresh": args.fresh, "progress": not args.quiet, "fail_fast": args.fail_fast}


def _table_options(args: Namespace) -> "TableOptions":
    from omkl.reports.results_table import TableOptions

    return TableOptions(args.sort, args.columns)


def _check_columns(plan: "Plan", args: Namespace, sweep: bool) -> None:
    """Refuse unknown columns before any work."""
    if args.columns:
        from omkl.reports.results_table import check_options
        from omkl.reports.rows import ReportPlan
        from omkl.store.store import Store

        none = Store(plan.store).cells(keys=())
        check_options(none, ReportPlan.of(plan), args.format, _table_options(args), sweep)


def _run(plan: "Plan", args: Namespace) -> "Outcome":
    from omkl.reports.summary import READ
    from omkl.runs.runner import run_plan

    # of many cells, few columns take a small part of the time; JSON has them all
    return run_plan(plan, **_how(args), columns=None if args.format == "json" else READ)


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
        say(f"submitted {new.cells} cells in {len(new.jobs)} jobs; the ids of their arrays are on stdout")
    if new.waiting:
        say(f"{new.waiting} cells are queued or running already")
    if not (new.jobs or new.waiting):
        return False
    say("`omkl status` with the same settings shows the progress, the same command shows the results")
    return True


def _look(args: Namespace) -> FigureStyle:
    """Return the look of a figure that the options choose."""
    return FigureStyle(args.style, args.width, not args.no_title)


def _save(figure: "Figure", args: Namespace, out: str) -> None:
    from omkl.reports import drawing

    with in_style(_look(args)):
        say_written(drawing.write_files(figure, out))


def _figures(plan: "Plan") -> str:
    """Return the folder in the store where figures go, named with a slash at its end."""
    return f"{plan.store / 'figures' / 'local'}/"
