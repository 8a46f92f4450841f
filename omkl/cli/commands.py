"""What each command does: call the parts, print. Slow modules are imported by the command that needs them.

A command takes the parsed options and the remaining words (KEY=VALUE, or names) and returns an exit code.
Results go to stdout, everything else to stderr.
"""

import shlex
from argparse import Namespace
from pathlib import Path
from typing import TYPE_CHECKING

from omkl.cli.messages import FAILED, OK, complain, emit, end, say, tell, tell_failed
from omkl.errors import OmklError, UserError
from omkl.reports import plain_table

if TYPE_CHECKING:
    from omkl.config import Plan
    from omkl.run.runner import Outcome


def run(args: Namespace, words: list[str]) -> int:
    """``omkl run``: run the missing cells, then print the table."""
    from omkl.config import plan as make_plan
    from omkl.reports.expected import Expected
    from omkl.reports.report import report

    plan = make_plan(words)
    if _submitted(plan, args):
        return OK
    outcome = _run(plan, args)
    emit(report(outcome.cells, Expected.of(plan, outcome.failed, args.line, outcome.stale), args.format))
    return end(outcome, args.fail_fast)


def sweep(args: Namespace, words: list[str]) -> int:
    """``omkl sweep``: run the grid, print the best setting per data set and learner, draw a figure."""
    from omkl.config import plan as make_plan
    from omkl.reports.expected import Expected
    from omkl.reports.report import sweep_report

    plan = make_plan(words, sweep=True)
    if _submitted(plan, args):
        return OK
    outcome = _run(plan, args)
    about = Expected.of(plan, outcome.failed, args.line, outcome.stale)
    text, files = sweep_report(outcome.cells, about, args.format, _figures(plan, args))
    emit(text)
    tell(files)
    return end(outcome, args.fail_fast)


def figure(args: Namespace, words: list[str]) -> int:
    """``omkl figure``: draw what the store holds of these settings, or a paper's figure."""
    if "=" in args.kind:
        raise UserError(f"{args.kind}: the KIND of figure comes first: curve, sweep or a paper's (omkc/1)")
    if args.kind not in ("curve", "sweep"):
        from omkl.cli.paper_commands import figure as paper_figure

        return paper_figure(args, words)
    for option in ("reps", "data", "algo", "quick"):
        if getattr(args, option):
            raise UserError(f"--{option} is for a paper's figure; figure {args.kind} takes KEY=VALUE words")
    from omkl.config import plan as make_plan
    from omkl.reports.curves import curve_figure
    from omkl.reports.expected import Expected
    from omkl.reports.report import sweep_report
    from omkl.run.cells import expand
    from omkl.run.runner import table_of
    from omkl.store.store import Store

    plan = make_plan(words, sweep=True)
    planned = expand(plan)
    keys = {cell.key for cell in planned}
    store = Store(plan.store)
    cells = table_of(store, planned)
    if len(cells) < len(keys):
        verb = "sweep" if plan.swept else "run"
        missing = f"the store {plan.store} holds {len(cells)} of {len(keys)} cells"
        if not {setting.learner for setting in plan.settings} <= set(cells["algo"]):
            raise UserError(f"{missing}; `omkl {shlex.join([verb, *words])}` computes them")
        say(f"warning: {missing}")
    about, out = Expected.of(plan, command=args.line), _figures(plan, args)
    if args.kind == "curve":
        files = curve_figure(cells, store.curves(keys), out, expected=about)
    else:
        _, files = sweep_report(cells, about, out=out)
    tell(files)
    return OK


def bounds(args: Namespace, words: list[str]) -> int:
    """``omkl bounds``: print the learners' mistake bounds next to the mistakes that the runs counted."""
    from omkl.bounds import bounded, evaluate, render
    from omkl.config import plan as make_plan

    plan = bounded(make_plan(words))
    outcome = _run(plan, args)
    if not outcome.interrupted:
        emit(render(evaluate(plan, outcome.cells, args.rows), args.format, args.line))
    return end(outcome)


def list_(args: Namespace, words: list[str]) -> int:
    """``omkl list``: learners, data sets or pools."""
    from omkl.cli import listing

    emit(plain_table.render(listing.KINDS[args.kind](), args.format))
    return OK


def show(args: Namespace, words: list[str]) -> int:
    """``omkl show``: the resolved configuration."""
    from omkl.config import resolved

    configuration = resolved(words)
    if args.format == "json":
        import json

        emit(json.dumps(configuration, indent=1, ensure_ascii=False) + "\n")
    else:
        import yaml

        style = {"sort_keys": False, "default_flow_style": None, "width": 110, "allow_unicode": True}
        emit(yaml.safe_dump(configuration, **style))
    return OK


def data(args: Namespace, words: list[str]) -> int:
    """``omkl data``: list, download, verify or locate data sets; one that fails does not stop the others."""
    import omkl.data
    from omkl.cli import listing

    names = [omkl.data.registry.entry(word).name for word in words]
    if args.action == "list":
        rows = [row for row in listing.data() if not names or row["data"] in names]
        emit(plain_table.render(rows, args.format))
        return OK
    if not names and args.action == "verify":
        names = [name for name in omkl.data.registry.names() if omkl.data.status(name).state != "missing"]
    if not names:
        raise UserError(f"omkl data {args.action} NAME ...: which data sets? `omkl data list` shows them")
    code = OK
    for name in names:
        try:
            emit(_data_line(args, name))
        except OmklError as error:
            if args.debug:
                raise
            code = max(code, complain(error))
    return code


def status(args: Namespace, words: list[str]) -> int:
    """``omkl status``: show the progress of these settings; FAILED where squeue does not answer."""
    from omkl.config import plan
    from omkl.run.status import status

    progress = status(plan(words, sweep=True))
    emit(plain_table.render(progress.rows, args.format))
    if progress.failed:
        tell_failed(progress.failed)
    if progress.logs:
        again = "run the command again to resubmit each such cell separately"
        say(f"{len(progress.logs)} jobs crashed; {again}; the last log is {progress.logs[-1]}")
    if progress.silence:
        say(f"what is queued or running is unknown, as squeue does not answer: {progress.silence}")
        return FAILED
    return OK


def bench(args: Namespace, words: list[str]) -> int:
    """``omkl bench``: speed of the engine on this machine."""
    import json

    from omkl.run import bench

    measured = bench.measure()
    emit(json.dumps(measured, indent=1) + "\n" if args.format == "json" else bench.render(measured))
    return OK


def _data_line(args: Namespace, name: str) -> str:
    import omkl.data

    if args.action == "verify":
        return f"{name}: ok, sha256 {omkl.data.verify(name)}\n"
    if args.action == "path":
        return "".join(f"{path}\n" for path in omkl.data.path(name))
    files = omkl.data.get(name, force=args.force)
    return f"{name}: {' '.join(map(str, files)) or 'comes with scikit-learn'}\n"


def _run(plan: "Plan", args: Namespace) -> "Outcome":
    from omkl.run.runner import run_plan

    return run_plan(plan, jobs=args.jobs, fresh=args.fresh, progress=not args.quiet, fail_fast=args.fail_fast)


def _submitted(plan: "Plan", args: Namespace) -> bool:
    """With exec=slurm: submit the missing cells, and return whether any cell is still to come."""
    if plan.exec["name"] != "slurm":
        return False
    from omkl.run.slurm import submit

    if args.jobs or args.fail_fast:
        option, name = "--jobs" if args.jobs else "--fail-fast", plan.exec["name"]
        raise UserError(f"{option} has no effect with exec={name}, which submits the cells and does not wait")
    new = submit(plan, fresh=args.fresh)
    if new.jobs:
        emit("".join(f"{array}\n" for array in dict.fromkeys(job.partition("_")[0] for job in new.jobs)))
        say(f"submitted {new.cells} cells in {len(new.jobs)} jobs; the ids of their arrays are on stdout")
    if new.waiting:
        say(f"{new.waiting} cells are queued or running already")
    if new.jobs or new.waiting:
        say("`omkl status` with the same settings shows the progress, the same command shows the results")
        return True
    return False


def _figures(plan: "Plan", args: Namespace) -> str | Path:
    """Return where figures go: --out, else a folder in the store, named with a slash at its end."""
    return args.out or f"{plan.store / 'figures' / 'local'}/"
