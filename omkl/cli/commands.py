"""The commands that run, draw and check: one call each, and printing.

A command takes the parsed options and the remaining words (KEY=VALUE, or names) and returns an exit code. Its
docstring is its help: what it does, then examples. What is slow to import is imported when it is used.
"""

import json
from argparse import Namespace
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from omkl.cli.output import FAILED, OK, end, end_run, print_result, print_status, say_failed, say_written
from omkl.errors import UserError, counted, suggest
from omkl.figures.style import KINDS, FigureStyle, in_style
from omkl.paths import extended, extension, extensions
from omkl.reports.table import Table

if TYPE_CHECKING:
    from omkl.config import Plan
    from omkl.figures.figure import Figure
    from omkl.publications import Paper, Selection
    from omkl.publications.paper import Item
    from omkl.store.outcome import Outcome

_SEVERAL = "give a key several values, such as algo.beta=0.2,0.5,0.8"


def run(args: Namespace, words: list[str]) -> int:
    """Run learners on data sets and print the table, next to the yardsticks.

    examples:
      omkl run algo=omkc_ss data=a9a
      omkl run algo=omkc_dd data=german reps=10 pool=paper16 algo.beta=0.99 seed=1
      omkl run algo=omkc_dd data=a9a_train order=file algo.beta=0.99 --format json
      omkl run algo=omkc_ss data=path/to/my.libsvm -j 4
      omkl run algo=perceptron 'algo.kernel={kind:gaussian,gamma:0.01}' data=a9a_train order=file
    """
    return _run_and_report(args, words, sweep=False)


def sweep(args: Namespace, words: list[str]) -> int:
    """Run a grid of settings, print the table and the best settings, and draw them.

    Hyperparameters and parts of the pool take lists here: 0.1,0.5  range(0.1,1,0.1)  choice(max,sum).
    A hyperparameter applies to the learners that have it.

    examples:
      omkl sweep algo=omkc_dd,omkc_ss data=wdbc,svmguide3 algo.beta=0.1,0.3,0.5,0.8,0.95 algo.delta=0.01,0.1
      omkl sweep algo=omkc_dd data=german 'algo.beta=range(0.1,1,0.1)' reps=10
    """
    return _run_and_report(args, words, sweep=True)


def _run_and_report(args: Namespace, words: list[str], sweep: bool) -> int:
    from omkl.api.call import Call
    from omkl.api.results import Results
    from omkl.reports.results_table import TableOptions

    words, by = _taken(words, "by")
    plan = Call(words, typed=args.line).plan(sweep)
    if sweep and not plan.has_choice:
        print_status(f"no setting has several values, so this is a plain run; {_SEVERAL}")
    options = TableOptions(args.sort, args.columns)
    Results.check_options(plan, args.format, options, sweep, by)
    if args.dry_run:
        return print_dry_run([plan], args)
    if plan.exec["name"] == "slurm" and _submitted(plan, args):
        return OK
    whole = args.format == "json"
    results = Results.run(plan, args.line, sweep, whole=whole, **how_of(args)).by(by)
    print_result(results.report_table(options).render(args.format))
    if sweep and (args.out or plan.has_choice) and results.has_learners:
        _save(results.figure("sweep"), args, plan)
    return end_run(results.outcome, args.fail_fast)


def tune(args: Namespace, words: list[str]) -> int:
    """Find good hyperparameters for each learner on each data set, and compare them with the defaults.

    The trials of a learner are its default, then settings from the ranges that its file gives. They are
    compared on growing prefixes of the stream, over permutations that are never reported. Of at most 2,000
    rows they see one half, with order=file the first third, and the rest is reported. algo.KEY=VALUE keeps a
    hyperparameter at that value. --out FILE writes the best settings, which settings=FILE runs.

      trials=N           settings of each learner on each data set (else 30; 60 of three numbers and more)
      eta=3 rungs=3      one in eta goes on to a prefix eta times as long; the last is the whole stream
      passes=3           permutations of the last prefix      least=2000    rounds of the shortest prefix
      small=2000         of at most so many rows the trials see one half, on four permutations
      cost=TIMES         a setting that takes more than so many times as long as auto does not go on
      pools=NAME,...     pools among which a learner with a pool chooses; pool=NAME keeps one
      longest=SECONDS    a setting whose next pass would take longer does not go on
      by=MEASURE         measure by which trials are judged, such as auc, log_loss or mae

    examples:
      omkl tune algo=rff,arow data=german --out best.yaml
      omkl tune algo=budget data=svmguide3 trials=10 reps=5 --format json
      omkl tune algo=norma data=elec2 order=file longest=60
      omkl tune today data=german       the learners that the page conf/paper/today.yaml tunes
    """
    from omkl.api.call import Call
    from omkl.api.tune import Study
    from omkl.publications import paper_names

    how = {"jobs": args.jobs, "progress": not args.quiet}
    if words and words[0] in paper_names():
        return _tune_page(args, words[0], words[1:], how)
    if words and "=" not in words[0] and any("=" in word for word in words):
        near = suggest(words[0], paper_names())
        raise UserError(f"{words[0]}: no such page{near}; without a page, leave that word out")
    study = Study.of(Call(words, typed=args.line))
    if args.dry_run:
        return print_dry_run(study.plans, args)
    tuning = study.run(fresh=args.fresh, **how)
    if tuning.ends or not tuning.interrupted:
        print_result(tuning.render(args.format))
    if args.out and tuning.ends:
        say_written([tuning.save(args.out)])
    return end(tuning.interrupted, tuning.failed)


def _tune_page(args: Namespace, name: str, words: list[str], how: dict[str, Any]) -> int:
    """Tune what a page of conf/paper says is to be tuned, and run what it reports."""
    from omkl.publications import Selection, read_paper
    from omkl.publications.selection import tuned_plans
    from omkl.publications.tuned import planned, tune_page

    paper = read_paper(name)
    words, data = _taken(words, "data")
    chosen = Selection(data=tuple(filter(None, data.split(","))), words=tuple(words), dry=args.dry_run)
    plans = tuned_plans(paper, chosen)
    if not plans:
        raise UserError(
            f"{name}: no run of conf/paper/{name}.yaml has a tune: block, or none of its data are available"
        )
    if args.dry_run:
        return print_dry_run(planned(paper, plans), args)
    interrupted, broken = tune_page(paper, plans, args.fresh, lambda line: print_result(f"{line}\n"), **how)
    return end(interrupted, broken)


def figure(args: Namespace, words: list[str]) -> int:
    """Draw what the store holds, or a figure of a paper.

    With order=file a curve's error is that of windows: a mean since the beginning hides what changes.
    With by=NAME a curve shows one measure, such as nlpd, log_loss or n_sv_union, instead of error and
    #SV, and a sweep shows that measure, such as auc or kappa, instead of the error.

    examples:
      omkl figure curve algo=omkc_ss data=wdbc
      omkl figure curve algo=omkc_dd,omkc_ss data=german,a9a --out figures/
      omkl figure sweep algo=omkc_dd data=wdbc 'algo.beta=range(0.1,1,0.1)' --out beta.pdf
      omkl figure curve algo=omkc_dd data=wdbc --out a.pdf --width 3.3in --style paper --no-title
      omkl figure confusion algo=omkc_dd data=digits                     which classes are mistaken for which
      omkl figure calibration algo=auto,arow data=wdbc calibration=platt   how far probabilities are right
      omkl figure ranks algo=omkc_dd,omkc_ss,alma data=wdbc,german,svmguide3
      omkl figure omkc/1 --quick            runs the missing cells, then draws the paper's figure
    """
    from omkl.api.call import Call
    from omkl.api.results import Results

    if "=" in args.kind:
        raise UserError(
            f"{args.kind}: the KIND of figure comes first: {', '.join(KINDS)} or a paper's (omkc/1)"
        )
    if args.kind not in KINDS:
        from omkl.publications import find_item
        from omkl.publications.paper_figures import draw_item as draw

        paper, item = find_item("figures", args.kind)
        if args.dry_run:
            return _dry_run_of(paper, [item], args, words)
        with in_style(_look(args)):
            drawn = draw(paper, item, selection_from(args, words), args.out, **how_of(args))
        say_written(drawn.files)
        _say_about(drawn.figure)
        return end_run(drawn.outcome)
    _refuse(args, "quick full dry-run", f"figure; figure {args.kind} takes KEY=VALUE words")
    measure = None
    if args.kind not in ("confusion", "calibration"):
        words, by = _taken(words, "by")
        measure = by or None
    plan = Call(words, typed=args.line).plan(sweep=True)
    if args.kind == "sweep" and not plan.has_choice:
        print_status(f"no setting has several values; {_SEVERAL}")
    results = Results.to_draw(plan, args.kind, args.line, words, measure)
    _save(results.figure(args.kind, measure), args, plan)
    return OK


def table(args: Namespace, words: list[str]) -> int:
    """Reproduce a table of a paper, our values next to the published ones.

    NAME is PAPER/NUMBER (or PAPER where it has only one); `omkl list papers` shows all names. Cells are
    kept in the store and shared between tables; only missing cells are run. Run an interrupted command
    again to continue. Further words set store, seed, exec and block; the paper sets everything else.

    examples:
      omkl table bomkl/1 --quick
      omkl table omkc/3 data=wdbc,sonar_scale reps=5 --format markdown
      omkl table bomkl/2 data=german algo=omkc_dd          one more learner, on the same streams
      omkl table bomkl/1 data=kdd08=my/kdd.libsvm          a file for a set that cannot be had
    """
    from omkl.publications import find_item
    from omkl.publications.paper_tables import make_table

    paper, item = find_item("tables", args.name)
    if args.dry_run:
        return _dry_run_of(paper, [item], args, words)
    result = make_table(paper, item, selection_from(args, words), **how_of(args))
    return _print(result.table, result.outcome, args)


def claims(args: Namespace, words: list[str]) -> int:
    """Check the claims of a paper by numbers.

    Cells are kept in the store and shared with the paper's tables; only missing cells are run.
    Further words set store, seed, exec and block; the paper sets everything else.

    examples:
      omkl claims omkc --quick
    """
    from omkl.api.paper_results import with_claims
    from omkl.publications.claims import check_claims

    paper = with_claims(args.paper)
    if args.dry_run:
        return _dry_run_of(paper, paper.claims.values(), args, words)
    result = check_claims(paper, selection_from(args, words), **how_of(args))
    return _print(result.table, result.outcome, args)


def bounds(args: Namespace, words: list[str]) -> int:
    """Print the theorems' bounds next to the observed mistakes, vectors or regret.

    Runs the missing cells as omkl run does, and evaluates each theorem's right-hand side at a batch solution:
    a support vector machine, batch multiple kernel learning, or least squares. Yardsticks are left out.

    examples:
      omkl bounds algo=omkc_dd data=wdbc
      omkl bounds algo=omkc_dd,omklp_da2,bomkc_spa data=wdbc,german pool=paper16_cosine --format markdown
      omkl bounds algo=raker,adaraker data=switch_numbers order=file reps=1      regret
    """
    from omkl.api.call import Call
    from omkl.api.paper_results import bounds_of
    from omkl.theorems import with_theorems

    plan = Call(words, typed=args.line).plan()
    if args.dry_run:
        return print_dry_run([with_theorems(plan)], args)
    bounds_table, outcome = bounds_of(plan, args.line, args.rows, **how_of(args))
    return end_run(outcome) if outcome.interrupted else _print(bounds_table, outcome, args)


def _print(table: Table, outcome: "Outcome | None", args: Namespace) -> int:
    """Print a table and return the exit code of its run."""
    print_result(table.render(args.format))
    return end_run(outcome)


def status(args: Namespace, words: list[str]) -> int:
    """Show progress: the cells that are done, running, queued, failed or missing."""
    from omkl.api.call import Call
    from omkl.runs.status import status_of

    plan = Call(words, typed=args.line).plan(sweep=True)
    progress = status_of(plan)
    if all(word.startswith("store=") for word in words):
        instead = " without words" if not words else " without words other than store="
        about = f"these are the cells of `omkl run`{instead}, in the store {plan.store}"
        print_status(f"{about}; give the settings of your run to see its cells, or use `omkl results list`")
    print_result(Table.of(progress.rows).render(args.format))
    if progress.failed:
        say_failed(progress.failed)
    if progress.logs:
        again = "run the command again to resubmit each such cell separately"
        print_status(
            f"{counted(len(progress.logs), 'job')} crashed; {again}; the last log is {progress.logs[-1]}"
        )
    if progress.silence:
        print_status(
            f"squeue does not answer, so the queued and running cells are unknown: {progress.silence}"
        )
    return FAILED if progress.silence else OK


def report(args: Namespace, words: list[str]) -> int:
    """Write a report for the browser: one file with tables and figures of stored cells.

    Writes one HTML file with sortable tables, figures, data sets, commands and the origin of what the store
    holds. It runs nothing: rows that lack repetitions are named at the top.

    examples:
      omkl report algo=omkc_ss,omkc_dd data=wdbc --out report.html
      omkl report algo=omkc_dd data=wdbc 'algo.beta=range(0.1,1,0.1)'      a sweep
      omkl report bomkl                     a paper, with the published values
    """
    from omkl.api.report import page_of, write_page

    papers, settings = [word for word in words if "=" not in word], [word for word in words if "=" in word]
    if not papers:
        _refuse(args, "quick full", "report; others take KEY=VALUE words")
    settings, by = _taken(settings, "by")
    if by and papers:
        raise UserError("by= needs a report of settings (KEY=VALUE), not of a paper")
    selection = selection_from(args, settings) if papers else None
    page, store_path = page_of([*papers, *settings], args.line, selection=selection, by=by)
    path, size = write_page(page, store_path, args.out)
    for warning in page.warnings:
        print_status(f"warning: {warning}")
    print_status(f"wrote {path}: {size / 1e6:.1f} MB")
    return OK


# ------------------------------------------------------------------ tools


def check(args: Namespace, words: list[str]) -> int:
    """Check the learners and kernels of a folder: against naive twins, and by omkl's own contracts.

    Reads every file of the folder (also given by --with, or OMKL_PATH). Then it compares each learner with
    its naive twin in tests/reference, round by round, and runs the contracts that omkl's own learners keep:
    seeds, inputs, block sizes, passes in parts, scoring, extreme numbers. For each kernel it checks that
    values are finite, symmetric and positive semidefinite, on random vectors. It compares sums of them, and
    learners that use the kernel, with plain versions. All is also checked on the folder's data sets and on
    those named. Exit code 1 if a check fails.

    examples:
      omkl check mylearners/
      omkl check mykernels/ data=wdbc
    """
    from omkl.testing.check import check as findings

    data = [name for word in words if word.startswith("data=") for name in word[5:].split(",") if name]
    named = [extension(word, "omkl check ") for word in words if not word.startswith("data=")]
    folders: Sequence[Path] = list(dict.fromkeys([*named, *args.folders]))
    with extended(folders):
        if not (folders := folders or extensions()):
            raise UserError("omkl check DIR: name the folder of your learners (or set OMKL_PATH)")
        for folder in folders:
            _read(folder)
        found = [finding for folder in folders for finding in findings(folder, data)]
    if not found:
        print_status(
            f"no learners and no kernels in {', '.join(map(str, folders))}; all other files are in order"
        )
        return OK
    failed = sum(bool(finding.fault) for finding in found)
    rows = []
    for finding in found:
        rows.append({"name": finding.name, "check": finding.check, "result": finding.result})
        if failed or args.format != "table":
            rows[-1]["what differs first"] = finding.fault
    print_result(Table.of(rows).render(args.format))
    if failed:
        print_status(f"{failed} of {len(rows)} checks failed")
    return FAILED if failed else OK


def _read(folder: Path) -> None:
    """Read every file of a folder. Raises UserError for one that is wrong."""
    from omkl import conf
    from omkl.algorithms import functions
    from omkl.config import kernel_pools
    from omkl.config.kernel_kinds import kernel_kind
    from omkl.data import registry
    from omkl.publications import read_paper

    def own(group: str) -> list[str]:
        names = registry.registered_names() if group == "data" else conf.options(group)
        return [name for name in names if conf.file(group, name).is_relative_to(folder)]

    functions()
    kernel_pools(own("pool"))
    for group, read in (("kernel", kernel_kind), ("data", registry.entry), ("paper", read_paper)):
        for name in own(group):
            read(name)


def compile_(args: Namespace, words: list[str]) -> int:
    """Compile learners now, so that later runs only load the code: for CI, a container, a cluster.

    A run compiles what it needs, once for each kind of processor and version of omkl, and keeps it in
    OMKL_CACHE. This command does it ahead of time: for all learners or those named, for two classes and for
    more.

    examples:
      omkl compile algo=omkc_ss,omkc_dd
      OMKL_CACHE=/srv/omkl omkl compile
    """
    import time

    from omkl.config import learner_specs
    from omkl.config.learners import members
    from omkl.passes.precompile import usual_settings, warm_up

    chosen: list[str] = []
    for word in words:
        key, _, value = word.partition("=")
        if key != "algo" or not value:
            raise UserError(f"omkl compile takes no {word!r}; write algo=omkc_ss,omkc_dd or algo=budget")
        for name in value.split(","):
            chosen += members(name) or [name]
    began = time.perf_counter()
    settings = usual_settings(learner_specs(dict.fromkeys(chosen) if words else None).values())
    warm_up(settings)
    learners = counted(len({spec.name for spec, _, _ in settings}), "learner")
    print_status(f"the compiled code of {learners} is ready ({time.perf_counter() - began:.0f} s)")
    return OK


# ------------------------------------------------------------------ what several commands do


def print_dry_run(plans: "list[Plan]", args: Namespace) -> int:
    """Print the cells of these plans, and how many are in the store."""
    from omkl.api.dry_run import dry_run

    fmt = getattr(args, "format", "table")
    table, records, remarks = dry_run(plans, args.fresh)
    print_result(
        json.dumps(records, indent=1, ensure_ascii=False) + "\n" if fmt == "json" else table.render(fmt)
    )
    for remark in remarks if fmt not in ("json", "csv") else ():
        print_status(remark)
    return OK


def _dry_run_of(paper: "Paper", items: "Iterable[Item]", args: Namespace, words: list[str]) -> int:
    """Print what the tables, figures or claims of a paper would take."""
    from omkl.publications.selection import plans_of

    items = [item for item in items if item.runs]
    return print_dry_run(plans_of(paper, items, selection_from(args, words)).plans if items else [], args)


def selection_from(args: Namespace, words: list[str]) -> "Selection":
    """Return the part of a paper's tables, figures or claims that the options choose."""
    from omkl.api.paper_results import selection_of

    words, data = _taken(words, "data")
    words, algo = _taken(words, "algo")
    words, reps = _taken(words, "reps")
    if reps and not (reps.isascii() and reps.isdecimal() and 0 < len(reps) < 7 and int(reps)):
        raise UserError(f"reps={reps}: must be a whole number from 1 to 999999")
    options = {"quick": args.quick, "full": args.full, "dry": getattr(args, "dry_run", False)}
    return selection_of(words, data=data, algo=algo, reps=int(reps) if reps else None, **options)


def _taken(words: list[str], key: str) -> tuple[list[str], str]:
    """Return the words of other keys, and the value of this one, empty if it is not there.

    Raises UserError for a key without a value, or given twice.
    """
    values = [word.partition("=")[2] for word in words if word.startswith(f"{key}=")]
    if len(values) > 1 or values == [""]:
        fault = "given twice" if values[1:] else "the value is missing"
        raise UserError(f"{key}={values[-1]}: {fault}")
    return [word for word in words if not word.startswith(f"{key}=")], "".join(values)


def how_of(args: Namespace) -> dict[str, Any]:
    """Return how cells run."""
    return {"jobs": args.jobs, "fresh": args.fresh, "progress": not args.quiet, "fail_fast": args.fail_fast}


def _refuse(args: Namespace, options: str, what: str) -> None:
    """Raise UserError for an option that is for a paper alone."""
    for option in options.split():
        if getattr(args, option.replace("-", "_")):
            raise UserError(f"--{option} is for a paper's {what}")


def _submitted(plan: "Plan", args: Namespace) -> bool:
    """Submit the missing cells to Slurm, and return whether any cell is still to come."""
    from omkl.runs.slurm import submit

    if args.jobs or args.fail_fast:
        option = "--jobs" if args.jobs else "--fail-fast"
        raise UserError(f"{option} has no effect with exec=slurm, which submits the cells and does not wait")
    new = submit(plan, fresh=args.fresh)
    if new.jobs:
        print_result(
            "".join(f"{array}\n" for array in dict.fromkeys(job.partition("_")[0] for job in new.jobs))
        )
        cells, jobs = counted(new.cells, "cell"), counted(len(new.jobs), "job")
        print_status(f"submitted {cells} in {jobs}; the ids of their arrays are on stdout")
    if new.waiting:
        print_status(
            f"{counted(new.waiting, 'cell')} {'is' if new.waiting == 1 else 'are'} queued or running already"
        )
    if not (new.jobs or new.waiting):
        return False
    print_status(
        "`omkl status` with the same settings shows the progress; the same command shows the results"
    )
    return True


def _look(args: Namespace) -> FigureStyle:
    return FigureStyle(args.style, args.width, not args.no_title, args.ylim)


def _save(figure: "Figure", args: Namespace, plan: "Plan") -> None:
    """Write a figure where the options say, else into the store."""
    with in_style(_look(args)):
        say_written(figure.write(args.out or f"{plan.store / 'figures' / 'local'}/"))
    _say_about(figure)


def _say_about(figure: "Figure") -> None:
    """Print what a picture does not hold: warnings about its lines, and its tests in numbers."""
    from omkl.reports.pairwise import comparison

    if figure.instead:
        print_status(figure.instead)
    for warning in figure.warnings:
        print_status(f"warning: {warning}")
    if figure.ranks:
        print_result(comparison(figure.ranks).render())
