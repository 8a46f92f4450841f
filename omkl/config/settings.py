"""A learner with settings of its own, said as a word: ``omkc_dd(beta=0.9, label=slow)``.

Words of a command, the lines of a settings file and `omkl.learner` give the same object. A plan completes it.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from omkl import conf
from omkl.config import kernel_pools
from omkl.config.learners import LearnerSpec, learner_names, learner_of, learner_spec
from omkl.config.settings_text import identity, typed
from omkl.errors import UserError, show, suggest

RESERVED = ("pool", "label", "data")  # arguments of a setting that are no hyperparameters


@dataclass(frozen=True)
class Setting:
    """A learner with its hyperparameters, in canonical form.

    params: those that are given; in a plan all of them    pool: its kernel pool, None where it uses none or,
    before the plan, its usual one    label: its name in tables and figures, None for the learner's
    data: names of the data sets that it is for, none means all

    A plan adds the rest. task: of the data that it is for, where a plan has data of several tasks and the
    hyperparameters depend on the task; None for all data    per_data: hyperparameters that it has for these
    data sets, which make no learner of its own in a figure    scaling: ``scale`` of the features and
    ``target`` of a regression while its streams run, and ``delay`` of the labels, where asked for
    """

    learner: str
    params: dict[str, Any] = field(default_factory=dict)
    pool: dict[str, Any] | None = None
    label: str | None = None
    data: tuple[str, ...] = ()
    task: str | None = None
    per_data: tuple[str, ...] = ()
    scaling: dict[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        """Return the word of the command line."""
        parts: dict[str, Any] = dict(self.params)
        parts |= {"pool": self.pool["name"]} if self.pool else {}
        parts |= {"label": self.label} if self.label else {}
        parts |= {"data": self.data[0] if len(self.data) == 1 else list(self.data)} if self.data else {}
        inner = ", ".join(f"{name}={typed(value)}" for name, value in parts.items())
        return f"{self.learner}({inner})" if inner else self.learner

    @property
    def spec(self) -> LearnerSpec:
        """What its file in conf/algo says."""
        return learner_spec(self.learner)

    @property
    def stored(self) -> dict[str, Any]:
        """The hyperparameters and the scaling: what the store has as ``params``."""
        return self.params | self.scaling

    @property
    def kernel_pool(self) -> dict[str, Any] | None:
        """The kernels that it runs on, ``{"normalise", "kernels"}``, None for a learner without."""
        return kernel_pools.kernel_pool(self.params, self.pool)

    @property
    def kernels(self) -> list[dict[str, Any]]:
        """Its kernels in order, none for a learner without."""
        pool = self.kernel_pool
        return pool["kernels"] if pool else []

    @property
    def identity(self) -> str:
        """What makes two settings for the same data the same."""
        return identity(self.learner, self.stored, self.pool)

    def fits(self, task: str, data: str) -> bool:
        """Whether it is for data of this task and name."""
        return self.task in (None, task) and (not self.data or data in self.data)

    def is_for(self, data: str, word: str) -> bool:
        """Whether it is for a data set of this name, which the user calls so."""
        return not self.data or bool({data, word} & {*self.data, *map(_named, self.data)})


def _named(data: str) -> str:
    """Return the name of a data set that is given as a name, an alias or a path."""
    from omkl.data import registry
    from omkl.data.formats import data_name

    return registry.entry(data).name if registry.is_name(data) else data_name(Path(data))


def setting(
    learner: str,
    params: Mapping[str, Any],
    *,
    pool: str | None = None,
    label: str | None = None,
    data: Iterable[str] = (),
) -> Setting:
    """Return a learner with settings of its own, checked and in canonical form.

    Raises UserError for an unknown learner, hyperparameter or pool, and for a value out of its domain.
    """
    name = learner_of(learner)
    if name not in learner_names():
        conf.known_option("algo", learner, "learner")  # which says what is wrong
    spec, values = learner_spec(name), {}
    for key, value in params.items():
        own = spec.hyperparameters.get(key)
        if own is None:
            hint = suggest(key, [*spec.hyperparameters, *RESERVED])
            known = ", ".join(spec.hyperparameters) or "none"
            raise UserError(f"algo={name} has no hyperparameter '{key}'{hint or f'; it has {known}'}")
        plain = value.tolist() if hasattr(value, "tolist") else value
        try:
            values[key] = spec.check_of(key)(list(plain) if isinstance(plain, tuple) else plain)
        except ValueError as error:
            raise UserError(f"algo.{name}.{key}: {error} ({own.help})") from None
    if pool is not None:
        conf.known_option("pool", pool, "kernel pool")
        if spec.kernels != "pool":
            raise UserError(f"algo={name} uses no kernel pool; leave out pool={pool}")
    if label is not None and not (isinstance(label, str) and label.strip() and label.isprintable()):
        raise UserError(f"algo={name}: label must be a text of one line, got {show(label)}")
    return Setting(name, values, kernel_pools.pool(pool) if pool else None, label, tuple(data))
