"""The tuner's own check: does a tuned learner lose to its default with what another learner's race found?

Of each learner the default runs with widths of the kernel that the races of other learners on the data set
found (their quartiles), or with the pools that they chose. A tuned row that is significantly worse than one
of these is a violation: its race missed a setting that was easy to find. The p-values are corrected for all
comparisons of the page (Holm).

    python scripts/tuner_check.py today             run what is missing, and list the violations
    python scripts/tuner_check.py today --stored    of what the store holds
"""

import argparse
import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from omkl.config import Plan, Setting, learner_spec
from omkl.config.kernel_kinds import check_kernel
from omkl.config.parameters import WIDTH, WidthRange, params_text, with_part
from omkl.errors import OmklError, UserError, counted
from omkl.publications import Selection, read_paper
from omkl.publications.paper import Paper, Run
from omkl.publications.selection import tuned_plans
from omkl.publications.tuned import fixed_in, split_tuned, tuned_runs
from omkl.reports.statistics import ALPHA, LEAST_COMMON, holm, paired_t
from omkl.runs.runner import run_plans
from omkl.runs.search import axes

if TYPE_CHECKING:
    from omkl.data import DataRef

SHARES = (0.25, 0.5, 0.75)  # quantiles of the widths that others found


@dataclass(frozen=True)
class Violation:
    """A tuned row that is significantly worse than a default with what another learner's race found.

    error, other: means by the measure of the rows    what: the width or the pool    p: of the paired t-test,
    corrected
    """

    data: str
    learner: str
    error: float
    other: float
    what: str
    p: float
    is_worse: bool

    def __str__(self) -> str:
        return (
            f"{self.learner} on {self.data}: {self.error:.4g} tuned, {self.other:.4g} by default with "
            f"{self.what} (p = {self.p:.2g})"
        )


def borrowed(run: Run, plan: Plan, data: "DataRef") -> list[Plan]:
    """Return the plans of the defaults on a data set with what other learners' races found.

    plan: of the run's words. None for learners that are not tuned yet.
    """
    made = []
    usual = {setting.learner: setting for setting in plan.settings if setting.fits(data.task, data.name)}
    plans = split_tuned(run, replace(plan, data=(data,)))[0]
    found = {setting.learner: setting for own in plans for setting in own.settings}
    for own in plans:
        others = [
            other
            for setting in own.settings
            for other in _with_others(setting, usual[setting.learner], found, data.task, run)
        ]
        if others:
            made.append(replace(own, settings=tuple(others)))
    return made


def _with_others(
    own: Setting, usual: Setting, found: Mapping[str, Setting], task: str, run: Run
) -> list[Setting]:
    """Return a learner's default with the widths or pools of others, without what its own race chose."""
    fixed, spec = fixed_in(run), learner_spec(own.learner)
    axis = _width_axis(own, task, fixed)
    others = [setting for name, setting in found.items() if name != own.learner]
    made: list[Setting] = []
    if axis is not None:
        known = [width for setting in others if (width := _width(setting, task, fixed)) is not None]
        for width in np.quantile(known, SHARES, method="nearest").tolist() if known else ():
            kernel = check_kernel(with_part(usual.params[axis.name], axis.part, f"{width:.6g} median"))
            made.append(replace(usual, params={**usual.params, axis.name: kernel}))
    elif own.pool is not None and "pool" not in fixed:
        for pool in {other.pool["name"]: other.pool for other in others if other.pool}.values():
            try:
                spec.check_pool(pool)
            except UserError:
                continue
            made.append(replace(usual, pool=pool))
    distinct = {setting.identity: setting for setting in made}
    return [setting for name, setting in distinct.items() if name != own.identity]


def _width_axis(setting: Setting, task: str, fixed: list[str]) -> Any:
    searched = axes(learner_spec(setting.learner), task, fixed)
    return next((axis for axis in searched if isinstance(axis.form, WidthRange)), None)


def _width(setting: Setting, task: str, fixed: list[str]) -> float | None:
    """Return the width in medians of a tuned learner's kernel, None where it has none."""
    if (axis := _width_axis(setting, task, fixed)) is None:
        return None
    width = setting.params[axis.name].get(WIDTH)
    return float(width.split()[0]) if isinstance(width, str) else None


def checks(paper: Paper, plans: Mapping[str, Plan]) -> list[Plan]:
    """Return the plans of the check of a page; plans: by a run's name."""
    runs = {run.name: run for run in tuned_runs(paper) if not run.folder}
    return [
        own
        for name, plan in plans.items()
        if name in runs
        for data in plan.data
        for own in borrowed(runs[name], plan, data)
    ]


def violations(paper: Paper, plans: Mapping[str, Plan]) -> tuple[int, list[Violation]]:
    """Return how many comparisons the store holds, and the violations; nothing runs."""
    found: list[Violation] = []
    runs = {run.name: run for run in tuned_runs(paper) if not run.folder}
    for name, plan in plans.items():
        for data in plan.data if name in runs else ():
            tuned = split_tuned(runs[name], replace(plan, data=(data,)))[0]
            if tuned and (others := borrowed(runs[name], plan, data)):
                found += _compared(tuned, others)
    corrected = holm(np.array([own.p for own in found])).tolist()
    made = [replace(own, p=p) for own, p in zip(found, corrected, strict=True)]
    return len(made), [own for own in made if own.p < ALPHA and own.is_worse]


def _compared(tuned: list[Plan], others: list[Plan]) -> list[Violation]:
    """Return each comparison of a tuned row with a default, whether or not it is a violation."""
    from omkl.reports.measures import deciding_measure
    from omkl.reports.rows import ReportPlan, by_count, rows_of
    from omkl.reports.summary import READ, Tested, summary_of_rows
    from omkl.runs.runner import stored_plans

    plans = [replace(plan, yardsticks=()) for plan in (*tuned, *others)]
    expected = ReportPlan(tuple(plans), stored_plans(plans, READ)[0])
    cells = expected.outcome.cells
    rows = [row for row in rows_of(cells, expected) if row.cells]
    means = summary_of_rows(rows, cells, expected).to_dict("records")
    mine = {setting.learner: setting for plan in tuned for setting in plan.settings}
    at = {row.learner: i for i, row in enumerate(rows) if _is(row, mine.get(row.learner))}
    tested = Tested(cells)
    found: list[Violation] = []
    for i, row in enumerate(rows):
        if row.learner not in at or at[row.learner] == i:
            continue
        best = at[row.learner]
        measure = deciding_measure(row, cells, expected)
        for _, differences in tested.differences(by_count([row]), rows[best], measure):
            if differences.shape[1] < LEAST_COMMON:
                continue
            error, other = (float(means[own][f"{measure.name}_mean"]) for own in (best, i))
            spec = learner_spec(row.learner)
            text = params_text(spec.unusual(row.params, row.task)) or f"pool {row.pool}"
            p, is_worse = float(paired_t(differences)[0]), bool(differences.mean() < 0)
            found.append(Violation(row.data, spec.label, error, other, text, p, is_worse))
    return found


def _is(row: Any, setting: Setting | None) -> bool:
    """Whether a row is that of a setting."""
    return setting is not None and row.setting.identity == setting.identity


def main() -> int:
    """Run the check of a page, print what it finds, and return the exit code."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False
    )
    parser.add_argument("page", help="such as today")
    parser.add_argument("--data", default="", help="only these data sets, separated by commas")
    parser.add_argument("--stored", action="store_true", help="run nothing")
    parser.add_argument("-j", "--jobs", type=int, help="worker processes (default: one per core)")
    parser.add_argument("words", nargs="*", metavar="KEY=VALUE", help="such as store=DIR")
    args = parser.parse_args()
    try:
        paper = read_paper(args.page)
        data = tuple(filter(None, args.data.split(",")))
        plans = tuned_plans(paper, Selection(data=data, words=tuple(args.words)))
        own = checks(paper, plans)
        if own and not args.stored:
            run_plans(own, jobs=args.jobs)
        count, found = violations(paper, plans)
    except OmklError as error:
        print(f"tuner_check: {error}", file=sys.stderr)
        return error.exit_code
    print(*found, sep="\n", end="\n" * bool(found))
    print(f"{counted(count, 'comparison')}, {len(found)} with a tuned row that is significantly worse")
    return 0


if __name__ == "__main__":
    sys.exit(main())
