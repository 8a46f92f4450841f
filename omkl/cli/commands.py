"""What each command does: call the parts, print. Everything slow is imported by the command that needs it.

A command takes the parsed options and the words left over (KEY=VALUE, or names) and returns an exit code.
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
    """``omkl run``: the cells that are missing, then the table."""
    from omkl.config import plan
    from omkl.reports.expected import Expected
    from omkl.reports.report import report

    asked = plan(words)
    if _submitted(asked, args):
        return OK
    outcome = _run(asked, args)
    emit(report(outcome.cells, Expected.of(asked, outcome.failed, args.line, outcome.stale), args.format))
    return end(outcome, args.fail_fast)


def sweep(args: Namespace, words: list[str]) -> int:
    """``omkl sweep``: the grid, the best setting per data set and learner, and a figure."""
    from omkl.config import plan
    from omkl.reports.expected import Expected
    from omkl.reports.report import sweep_report

    asked = plan(words, sweep=True)
    if _submitted(asked, args):
        return OK
    outcome = _run(asked, args)
    about = Expected.of(asked, outcome.failed, args.line, outcome.stale)
    text, files = sweep_report(outcome.cells, about, args.format, _figures(asked, args))
    emit(text)
    tell(files)
    return end(outcome, args.fail_fast)


def figure(args: Namespace, words: list[str]) -> int:
    """``omkl figure``: a picture of what the store holds of these settings, or a paper's figure."""
    if "=" in args.kind:
        raise UserError(f"{args.kind}: the KIND of figure comes first: curve, sweep or a paper's (omkc/1)")
    if args.kind not in ("curve", "sweep"):
        from omkl.cli.paper_commands import figure as paper_figure

        return paper_figure(args, words)
    for option in ("reps", "data", "algo", "quick"):
        if getattr(args, option):
            raise UserError(f"--{option} is for a paper's figure; figure {args.kind} takes KEY=VALUE words")
    from omkl.config import plan
    from omkl.reports.curves import curve_figure
    from omkl.reports.expected import Expected
    from omkl.reports.report import sweep_report
    from omkl.run.cells import expand
    from omkl.run.matched_budgets import sizes
    from omkl.run.runner import table_of
    from omkl.store.store import Store

    asked = plan(words, sweep=True)
    wanted = expand(asked, sizes(asked))
    keys = {cell.key for cell in wanted}
    store = Store(asked.store)
    cells = table_of(store, wanted)
    if len(cells) < len(keys):
        verb = "sweep" if asked.swept else "run"
        missing = f"the store {asked.store} holds {len(cells)} of {len(keys)} cells"
        if not {setting.algo for setting in asked.settings} <= set(cells["algo"]):
            raise UserError(f"{missing}; `omkl {shlex.join([verb, *words])}` computes them")
        say(f"warning: {missing}")
    about, out = Expected.of(asked, command=args.line), _figures(asked, args)
    if args.kind == "curve":
        files = curve_figure(cells, store.curves(keys), out, expected=about)
    else:
        _, files = sweep_report(cells, about, out=out)
    tell(files)
    return OK


def bounds(args: Namespace, words: list[str]) -> int:
    """``omkl bounds``: the learners' mistake bounds beside what the runs counted."""
    from omkl.bounds import bounded, evaluate, render
    from omkl.config import plan

    asked = bounded(plan(words))
    outcome = _run(asked, args)
    if not outcome.interrupted:
        emit(render(evaluate(asked, outcome.cells, args.rows), args.format, args.line))
    return end(outcome)


def list_(args: Namespace, words: list[str]) -> int:
    """``omkl list``: learners, data sets or pools."""
    from omkl.cli import listing

    emit(plain_table.render(listing.KINDS[args.kind](), args.format))
    return OK


def show(args: Namespace, words: list[str]) -> int:
    """``omkl show``: the resolved configuration."""
    from omkl.config import resolved

    found = resolved(words)
    if args.format == "json":
        import json

        emit(json.dumps(found, indent=1, ensure_ascii=False) + "\n")
    else:
        import yaml

        emit(yaml.safe_dump(found, sort_keys=False, default_flow_style=None, width=110, allow_unicode=True))
    return OK


def data(args: Namespace, words: list[str]) -> int:
    """``omkl data``: list, download, verify or locate data sets; goes on past one that fails."""
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
    """``omkl status``: how far the cells of these settings are; FAILED where that cannot be told."""
    from omkl.config import plan
    from omkl.run.status import status

    found = status(plan(words, sweep=True))
    emit(plain_table.render(found.rows, args.format))
    if found.failed:
        tell_failed(found.failed)
    if found.logs:
        say(
            f"{len(found.logs)} jobs crashed; run the command again to resubmit each such cell separately; "
            f"the last one's log: {found.logs[-1]}"
        )
    if found.silence:
        say(f"what is queued or running is unknown, as squeue does not answer: {found.silence}")
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
    """With an executor that only submits: do so, say what, and return whether any cell is still to come."""
    if plan.exec["name"] != "slurm":
        return False
    from omkl.run.slurm import submit

    if args.jobs or args.fail_fast:
        given, name = "--jobs" if args.jobs else "--fail-fast", plan.exec["name"]
        raise UserError(f"{given} has no effect with exec={name}, which submits the cells and does not wait")
    found = submit(plan, fresh=args.fresh)
    if found.jobs:
        emit("".join(f"{array}\n" for array in dict.fromkeys(job.partition("_")[0] for job in found.jobs)))
        say(f"submitted {found.cells} cells in {len(found.jobs)} jobs; the ids of their arrays are on stdout")
    if found.waiting:
        say(f"{found.waiting} cells are queued or running already")
    if found.jobs or found.waiting:
        say("`omkl status` with the same settings shows how far they are, the same command the results")
        return True
    return False


def _figures(plan: "Plan", args: Namespace) -> str | Path:
    """Return where figures go: --out, else a folder in the store, named with a slash at its end."""
    return args.out or f"{plan.store / 'figures' / 'local'}/"
