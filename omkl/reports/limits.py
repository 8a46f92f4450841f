"""Limits that the rows of a table are held to: ``omkl run --fail-above mistakes=12 --fail-below auc=0.9``."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from omkl.errors import UserError
from omkl.reports.measures import learners_of
from omkl.reports.results_table import digits_of, number
from omkl.tasks import Measure, judging_on

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Limit:
    """The value of a measure that no learner's mean may pass; where more is better it is the least one."""

    measure: Measure
    value: float

    @property
    def option(self) -> str:
        """As typed."""
        side = "below" if self.measure.better == "more" else "above"
        return f"--fail-{side} {self.measure.word}={self.value:g}"

    def failures(self, summary: "pd.DataFrame") -> list[str]:
        """Return what is worse, as ``OMKC(S,S) on wdbc has 13.05``; yardsticks are not held to a limit.

        A row without a value, such as the log loss of a learner without probabilities, is among them: a
        check that cannot be made has not been passed.
        """
        own = learners_of(summary)
        failed = []
        for row in own[own["task"].isin(self.measure.tasks)].to_dict("records"):
            mean = row[f"{self.measure.name}_mean"]
            if np.isnan(mean):
                shown = f"no {self.measure.word}"
            elif self.measure.sign * (mean - self.value) > 0:
                shown = number(mean, max(digits_of(self.measure, abs(mean)), 2))
            else:
                continue
            named = " ".join(filter(None, (row["label"], row["settings"])))
            failed.append(f"{named} on {row['data']} has {shown}")
        return failed


def limits_of(
    above: Iterable[tuple[str, float]], below: Iterable[tuple[str, float]], tasks: Sequence[str]
) -> list[Limit]:
    """Return the limits of both options, for data of these tasks.

    Raises UserError for a name that is no measure or one of another task, and where the other option is
    meant.
    """
    limits = []
    for option, other, better, given in (
        ("above", "below", "less", above),
        ("below", "above", "more", below),
    ):
        for name, value in given:
            measure = judging_on(name, tasks)
            if measure.better != better:
                size = "larger" if measure.better == "more" else "smaller"
                raise UserError(
                    f"--fail-{option} {name}={value:g}: a {size} value is better; "
                    f"write --fail-{other} {name}={value:g}"
                )
            limits.append(Limit(measure, value))
    return limits


def failed_limits(limits: Iterable[Limit], summary: "pd.DataFrame") -> list[str]:
    """Return a sentence for each limit that some rows of a summary do not keep."""
    return [
        f"worse than {limit.option} allows: {', '.join(failed)}"
        for limit in limits
        if (failed := limit.failures(summary))
    ]
