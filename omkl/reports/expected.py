"""What a report should hold: its rows and their names, and what is known in addition to the cells."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Expected:
    """The rows that a report should have, and where they come from.

    reps: repetitions of each row    settings, yardsticks: objects with ``learner``, ``params``, ``pool``
    (omkl.config.Setting), in the order of the rows    data: names or paths of the data sets, in order
    specs: LearnerSpec by learner name    failed: lines of failed cells
    stale: number of cells of older revisions in the store by (learner, revision); for another source of a
    folder's learner the revision is a text that says so
    swept: keys given several values, such as "algo.beta"    command: as typed, for captions and metadata
    about_data: what is to be known of the user's own files: which label is +1, how a table was scaled
    classes: the names of each data set's classes    store: folder of the cells, for commands in notes

    Everything may be left out: rows are then what the cells hold, in alphabetical order.
    """

    reps: int | None = None
    settings: tuple = ()
    yardsticks: tuple = ()
    data: tuple[str, ...] = ()
    specs: Mapping[str, Any] = field(default_factory=dict)
    failed: tuple[Mapping[str, Any], ...] = ()
    swept: tuple[str, ...] = ()
    stale: Mapping[tuple[str, int | str], int] = field(default_factory=dict)
    command: str = ""
    about_data: tuple[str, ...] = ()
    classes: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    store: Path | None = None

    @classmethod
    def of(cls, plan: Any, failed: Any = (), command: str = "", stale: Any = None) -> "Expected":
        """Return what is expected of an omkl.config.Plan; failed, stale: lines and counts of its Outcome."""
        from omkl.config import learner_spec

        names = dict.fromkeys(setting.learner for setting in (*plan.settings, *plan.yardsticks))
        return cls(
            reps=plan.reps,
            settings=tuple(plan.settings),
            yardsticks=tuple(plan.yardsticks),
            data=tuple(ref.name for ref in plan.data),
            specs={name: learner_spec(name) for name in names},
            failed=tuple(failed),
            swept=tuple(plan.swept),
            command=command,
            stale=stale or {},
            about_data=plan.about_data,
            classes={ref.name: ref.classes for ref in plan.data if ref.classes},
            store=plan.store,
        )

    def tasks(self, learner: str) -> list[str]:
        """Return the learner's tasks, classification where no spec is known."""
        return getattr(self.specs.get(learner), "tasks", ["classification"])

    def label(self, learner: str) -> str:
        """Return the learner's printed name, its plain name where no spec is known."""
        return self.specs[learner].label if learner in self.specs else learner
