"""`omkl.learner`: a learner with settings of its own, which shows its hyperparameters."""

from dataclasses import fields
from typing import Any

from omkl.config.settings_text import value_text
from omkl.config.words import Setting, setting
from omkl.experiments.shown import Shown
from omkl.reports.table import Table
from omkl.tasks import by_task


class ChosenLearner(Setting, Shown):
    """A learner with settings of its own, as `omkl.run(algo=[...])` takes it.

    In a notebook it is the table of its hyperparameters, with their values, domains and meanings.
    """

    __str__ = Setting.__str__

    def __repr__(self) -> str:
        return f"omkl.learner: {self}"

    def report_table(self) -> Table:
        """Return the table of the hyperparameters."""
        rows = [
            {
                "hyperparameter": name,
                "value": _text(self.params.get(name, own.value)),
                "default": _text(own.value),
                "domain": _domain(own.domain),
                "meaning": own.help,
            }
            for name, own in self.spec.hyperparameters.items()
        ]
        spec = self.spec
        more = [f"label {self.label}"] if self.label else []
        more += [f"for {', '.join(self.data)}"] if self.data else []
        more += [f"pool {self.pool['name']}"] if self.pool else []
        title = f"{spec.label}, {spec.cite}; {', '.join(spec.tasks)}"
        return Table.of(rows, shared="; ".join([title, *more]))


def learner(name: str, *, pool: str | None = None, label: str | None = None, **params: Any) -> ChosenLearner:
    """Return a learner with settings of its own.

    Parameters
    ----------
    name
        The learner's name or label, such as ``"alma"`` or ``"OMKC(D,D)"``; `learners` lists all.
    pool
        The name of its pool of kernels, for a learner that runs on one.
    label
        Its name in tables and figures.
    params
        Hyperparameters by name, such as ``C=1.0``; a kernel as ``"gaussian(sigma=2)"`` or as a mapping.

    Raises
    ------
    omkl.errors.UserError
        For an unknown learner, hyperparameter or pool, and for a value out of its domain.
    """
    return shown(setting(name, params, pool=pool, label=label))


def shown(own: Setting) -> ChosenLearner:
    """Return a choice as one that shows itself."""
    return ChosenLearner(**{field.name: getattr(own, field.name) for field in fields(own)})


def _text(value: Any) -> str:
    if by_task(value):
        return ", ".join(f"{value_text(own)} ({task})" for task, own in value.items())
    return value_text(value)


def _domain(domain: Any) -> str:
    return ", ".join(map(value_text, domain)) if isinstance(domain, list) else str(domain)
