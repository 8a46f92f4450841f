"""`omkl tune`: the best hyperparameters of each learner on each data set, and what they are worth."""

import json
import shlex
from argparse import Namespace
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

from omkl.cli.dry_run import dry_run
from omkl.cli.messages import FAILED, INTERRUPTED, OK, emit, say, say_failed
from omkl.errors import UserError
from omkl.reports.table import Table

if TYPE_CHECKING:
    from pathlib import Path

    import pandas as pd

    from omkl.config import Plan, Setting
    from omkl.papers import Paper
    from omkl.runs.tuning import Rule, Tuned

LEAST = ("seconds", "trials", "default", "given")  # columns that a narrow terminal leaves out first
NOTE = """\
{first}, tuned: {measures}, mean ± sample standard deviation over {reps}, {apart}
trials: settings that were tried, the {first} one first; seconds: learner time of all their passes
"""
RULE = """\
rule: {trials} trials of {passes} passes; one in {eta} goes on to a prefix {eta} times as long, {rungs} in all
"""


def tune(args: Namespace, words: list[str]) -> int:
    """Find good hyperparameters for each learner on each data set, and compare them with the defaults."""
    from omkl.config import grammar
    from omkl.config import plan as make_plan
    from omkl.papers import paper_names
    from omkl.runs.runner import run_plans
    from omkl.runs.tuning import assumed, races, rule_of, run_races

    if words and words[0] in paper_names():
        return _page(args, words[0], words[1:])
    if args.data:
        raise UserError("--data is for a page such as today; without a page, write data=german")
    rule, rest = rule_of(words)
    given = grammar.parse(rest)
    for key, override in given.items():
        if key.startswith(("algo.", "pool.")) and len(override.values) > 1:
            raise UserError(
                f"{override.text}: tune keeps one value of {key}; leave the word out to tune {key}, "
                "or run a grid with `omkl sweep`"
            )
    plan = make_plan(rest)
    fixed = [key.removeprefix("algo.") for key in given if key.startswith("algo.")]
    every = races(plan, rule, fixed)
    if args.dry_run:
        return dry_run(assumed(every, reported=2), args)
    how = {"jobs": args.jobs, "fresh": args.fresh, "progress": not args.quiet}
    rows: list[dict[str, Any]] = []
    broken: list[dict[str, Any]] = []
    interrupted = False
    for data in plan.data:
        try:
            ends, lines = run_races([race for race in every if race.held.data == (data,)], **how)
        except KeyboardInterrupt:
            interrupted = True
            break
        outcome = run_plans([end.held(*_compared(end)) for end in ends], **how)
        broken += [*lines, *outcome.failed]
        rows += [_row(end, outcome.cells, rest, args.folders) for end in ends]
        if interrupted := outcome.interrupted:
            break
    if rows or not interrupted:
        emit(_text(rows, rule, args.format, "given" if fixed else "default"))
    return _end(interrupted, broken)


def _end(interrupted: bool, broken: list[dict[str, Any]]) -> int:
    """Say how races and runs ended, and return the exit code."""
    if interrupted:
        say("interrupted; run the same command again to continue")
        return INTERRUPTED
    if broken:
        say_failed(broken)
    return FAILED if broken else OK


def _page(args: Namespace, name: str, words: list[str]) -> int:
    """Tune what a page of conf/paper says is to be tuned, and run what it reports, data set by data set."""
    from omkl.papers import Selection, read_paper
    from omkl.papers.selection import tuned_plans
    from omkl.papers.tuned import split_tuned, steps
    from omkl.papers.tuned import tune_step as race
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
    from omkl.papers.tuned import split_tuned, steps
    from omkl.runs.tuning import assumed

    made: list[Plan] = []
    for step in steps(paper, plans):
        made += split_tuned(step.run, replace(plans[step.run.name], data=(step.data,)))[0] + assumed(
            step.races
        )
    return made


def _compared(end: "Tuned") -> "list[Setting]":
    """Return the setting that was given, and the best where that is another."""
    first = end.race.trials[0]
    return [first] if end.setting == first else [first, end.setting]


def _row(end: "Tuned", cells: "pd.DataFrame", rest: list[str], folders: "list[Path]") -> dict[str, Any]:
    from omkl.config import learner_spec
    from omkl.config.settings_text import params_text
    from omkl.reports.measures import BY_TASK

    setting, data = end.setting, end.race.held.data[0]
    spec, task = learner_spec(setting.learner), data.task
    unusual = spec.unusual(setting.params, task)
    row = {
        "data": data.word,
        "algo": spec.name,
        "label": spec.label,
        "pool": setting.pool and setting.pool["name"],
        "measure": BY_TASK[task].header,
        "params": setting.params,
        "settings": params_text(unusual),
    }
    for name, own in (("default", end.race.trials[0]), ("tuned", setting)):
        row |= {f"{name}_{part}": value for part, value in _held(cells, data.name, own, task).items()}
    row |= {
        "reps": len(cells) and int(min(end.race.held.reps, len(_own(cells, data.name, setting)))),
        "trials": end.trials,
        "failed": end.failed,
        "rounds": end.race.lengths[end.rung],
        "seconds": end.seconds,
        "command": _command(end, unusual, rest, folders),
    }
    return row


def _own(cells: "pd.DataFrame", data: str, setting: "Setting") -> "pd.DataFrame":
    pool = setting.pool["name"] if setting.pool else None
    columns = (cells[name] for name in ("data", "algo", "params", "pool"))
    same = [
        name == data
        and algo == setting.learner
        and params == setting.stored
        and (of if isinstance(of, str) else None) == pool  # pandas may hold None as NaN
        for name, algo, params, of in zip(*columns, strict=True)
    ]
    return cells[same]


def _held(cells: "pd.DataFrame", data: str, setting: "Setting", task: str) -> dict[str, float | None]:
    """Return mean and sample standard deviation of a setting's error on what is reported."""
    own = _own(cells, data, setting)
    column, scale = ("mse", 1e3) if task == "regression" else ("mistake_rate", 100)
    values = scale * own[column].astype(float)
    return {
        "mean": float(values.mean()) if len(values) else None,
        "std": float(values.std(ddof=1)) if len(values) > 1 else None,
    }


def _command(end: "Tuned", unusual: dict[str, Any], rest: list[str], folders: "list[Path]") -> str:
    """Return the `omkl run` of the best setting on what is reported: its cells are in the store.

    folders: of ``--with``
    """
    from omkl.config.settings_text import word_text

    setting, held = end.setting, end.race.held
    words = [f"algo={setting.learner}", f"data={held.data[0]}"]
    words += [word_text(f"algo.{name}", value) for name, value in unusual.items()]
    dropped = ("algo", "data", "rounds", *(() if setting.pool else ("pool",)))
    words += [word for word in rest if word.partition("=")[0].partition(".")[0] not in dropped]
    given = any(word.startswith("rounds=") for word in rest)
    words += [f"rounds={held.rounds}"] if given or held.order == "file" else []
    words += [word for folder in folders for word in ("--with", str(folder))]
    return shlex.join(["omkl", "run", *words])


def _text(rows: list[dict[str, Any]], rule: "Rule", fmt: str, first: str) -> str:
    """Return the table; first: what the setting that was given is called, "default" or "given"."""
    if fmt == "json":
        return json.dumps({"rule": asdict(rule), "tuned": rows}, indent=1, ensure_ascii=False) + "\n"
    if fmt == "csv":
        flat = [{**row, "params": json.dumps(row["params"], sort_keys=True)} for row in rows]
        return Table.of(flat).render("csv")
    several = len({row["pool"] for row in rows} - {None}) > 1
    shown = [
        {
            "data": row["data"],
            "learner": row["label"],
            **({"pool": row["pool"] or ""} if several else {}),
            first: _spread(row, "default"),
            "tuned": _spread(row, "tuned"),
            "best setting": row["settings"] or "the default",
            "trials": f"{row['trials']} ({row['failed']} failed)" if row["failed"] else str(row["trials"]),
            "seconds": f"{row['seconds']:.3f}",
        }
        for row in rows
    ]
    table = Table.of(shown, least=LEAST).render(fmt)
    if fmt == "latex":
        return table
    lines = "".join(f"  {row['command']}\n" for row in rows)
    code = ("```\n", "```\n") if fmt == "markdown" else ("", "")
    return f"{table}\n{_notes(rows, rule, first)}\nrun the best settings:\n{code[0]}{lines}{code[1]}"


def _notes(rows: list[dict[str, Any]], rule: "Rule", first: str) -> str:
    reps = max((row["reps"] for row in rows), default=0)
    in_order = any(" order=file" in row["command"] for row in rows)
    apart = "on rounds after those of the trials" if in_order else "which no trial has seen"
    about = {
        "first": first,
        "measures": " or ".join(dict.fromkeys(row["measure"] for row in rows)),
        "reps": "one pass" if reps == 1 else f"{reps} passes",
        "apart": apart,
    }
    alone = list(dict.fromkeys(row["label"] for row in rows if row["trials"] == 1))
    nothing = f"nothing to tune of {', '.join(alone)}\n" if alone else ""
    raced = RULE.format(**asdict(rule)) if any(row["trials"] > 1 for row in rows) else ""
    return NOTE.format(**about) + raced + nothing


def _spread(row: dict[str, Any], name: str) -> str:
    mean, std = row[f"{name}_mean"], row[f"{name}_std"]
    if mean is None:
        return "failed"
    return f"{mean:.2f}" if std is None else f"{mean:.2f} ± {std:.2f}"
