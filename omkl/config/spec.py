"""A learner as its file in conf/algo describes it, and what must hold of its hyperparameters."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from omkl.config.kernel_pools import kernel_pool
from omkl.config.parameters import Parameter
from omkl.errors import UserError, show, suggest
from omkl.resources.resource import Resource
from omkl.tasks import by_task, for_task


@dataclass(frozen=True)
class LearnerSpec:
    """A learner as conf/algo/NAME.yaml describes it.

    hyperparameters: each with its default, domain and meaning, by name
    label, cite: for tables    revision: part of every cell's key
    function: name in omkl.algorithms, where it is not the learner's
    tasks: of the data that it runs on (``task`` in the file, one or a list)
    kernels: ``pool`` (runs on pool=...), ``own`` (its hyperparameter ``kernel``) or ``none``
    pool: which kernels a pool (or its own kernel) may be: ``any``, or ``gaussian`` alone
    classes: ``many`` where it is defined for more than two classes, else ``two``
    usual_pool: its pool where none is given
    yardstick: printed below the learners    stochastic: draws random numbers of its own
    setup: function that chooses its kernels from the pool, or None    state: its resources by name
    measures: what it reports in every round beside its task's error, of omkl.tasks.MEASURES
    require: what must hold between its hyperparameters, as ``alpha <= beta`` or ``eta * lam < 1``
    only: the values that a hyperparameter may take on data of a task: ``{task: {name: [value, ...]}}``
    refuse: combinations of values that it has no rule for: ``[{name: value, other: value}, ...]``
    former: hyperparameters that it no longer has, with their values: part of its cells' keys, so that the
    cells of older versions count    renamed: the learners that a former hyperparameter's values stand for,
    ``{name: {value: learner}}``    draws_as: the learner whose random numbers it draws, where not its own
    groups: families that ``algo=GROUP`` means, beside those that follow from the rest (groups.py)
    estimator: ``module:Class`` of scikit-learn's or river's kind in place of a function; the hyperparameters
    are its arguments    sparse: it is given the non-zero features of a row only
    """

    name: str
    function: str
    label: str
    cite: str
    tasks: list[str]
    kernels: str
    revision: int
    hyperparameters: dict[str, Parameter] = field(default_factory=dict)
    pool: str = "any"
    classes: str = "two"
    usual_pool: str | None = None
    yardstick: bool = False
    stochastic: bool = False
    setup: str | None = None
    state: dict[str, Resource] = field(default_factory=dict)
    measures: list[str] = field(default_factory=list)
    require: list[str] = field(default_factory=list)
    only: dict[str, dict[str, list]] = field(default_factory=dict)
    refuse: list[dict[str, Any]] = field(default_factory=list)
    former: dict[str, Any] = field(default_factory=dict)
    renamed: dict[str, dict[str, str]] = field(default_factory=dict)
    draws_as: str | None = None
    groups: list[str] = field(default_factory=list)
    estimator: str | None = None
    sparse: bool = False

    @property
    def defaults(self) -> dict[str, Any]:
        """The hyperparameters' defaults; one that depends on the task is a value for each."""
        return {name: parameter.value for name, parameter in self.hyperparameters.items()}

    @property
    def budget(self) -> str | None:
        """The hyperparameter that says how many vectors each kernel may store, None without."""
        return next((name for name, own in self.hyperparameters.items() if own.domain == "budget"), None)

    def usual(self, task: str) -> dict[str, Any]:
        """Return the defaults on data of this task."""
        return for_task(self.defaults, task)

    def unusual(self, params: dict[str, Any], task: str) -> dict[str, Any]:
        """Return the hyperparameters that differ from the defaults on data of this task."""
        usual = {**self.former, **self.usual(task)}
        return {name: value for name, value in params.items() if name not in usual or usual[name] != value}

    def checked(
        self, params: Mapping[str, Any], where: str | None = None, argument: Callable[[str], str] = str
    ) -> dict[str, Any]:
        """Return all hyperparameters of a pass in canonical form.

        where: begins a message, ``algo=NAME`` if None; argument: what a hyperparameter is called there.
        Raises UserError for one that is unknown, missing, out of its domain, or by task, and as
        `check_together` does.
        """
        where = where or f"algo={self.name}"
        for name in params.keys() - self.hyperparameters.keys():
            known = ", ".join(self.hyperparameters) or "none"
            hint = suggest(str(name), self.hyperparameters) or f"; it has {known}"
            raise UserError(f"{where} has no hyperparameter {show(name)}{hint}")
        values = {}
        for name, parameter in self.hyperparameters.items():
            if name not in params:
                raise UserError(f"{where}: {argument(name)} is missing; spec.usual(task) has all defaults")
            value = params[name]
            if by_task(value):
                raise UserError(f"{where}: {argument(name)} depends on the task; use spec.usual(task)")
            try:
                scalar = getattr(value, "item", None)  # of numpy
                values[name] = parameter.check(scalar() if scalar else value)
                if name == self.budget and not isinstance(values[name], int):
                    raise ValueError(f"must be a whole number ≥ 1, got {show(value)}")
            except ValueError as error:
                raise UserError(f"{where}: {argument(name)} {error}") from None
        self.check_together(values)
        return values

    def check_together(self, params: dict[str, Any]) -> None:
        """Raise UserError when they break ``require`` or ``refuse``, or the kernel is of the wrong kind."""
        kernel = kernel_pool(params, None) or {"kernels": [{}]}
        kind = kernel["kernels"][0].get("kind", self.pool)
        if self.pool not in ("any", kind):
            raise UserError(f"algo={self.name}: the kernel must be {self.pool}, got {kind}")
        for rule in self.require:
            low, sign, high, *most = rule.split()
            product = params[low] * params[high] if sign == "*" else 0
            if product > 1 or (product == 1 and most[0] == "<"):
                must = f"{'below' if most[0] == '<' else 'at most'} 1 / {high}"
            elif sign == "<=" and params[low] > params[high]:
                must = f"at most {high}"
            else:
                continue
            got = f"{show(params[low])} with {high}={show(params[high])}"
            raise UserError(f"algo={self.name}: {low} must be {must}, got {got}")
        for values in self.refuse:
            if all(params[name] == value for name, value in values.items()):
                first, *others = (f"{name}={value}" for name, value in values.items())
                raise UserError(
                    f"algo={self.name}: {first} has no rule for {' and '.join(others)}; choose another"
                )

    def check_pool(self, pool: dict[str, Any]) -> None:
        """Raise UserError when the pool holds a kernel that the learner cannot use."""
        others = dict.fromkeys(k["kind"] for k in pool["kernels"] if self.pool not in ("any", k["kind"]))
        if others:
            raise UserError(
                f"algo={self.name} needs a pool of {self.pool} kernels alone, such as pool=gauss13;"
                f" pool={pool.get('name', 'given')} has {', '.join(others)} kernels"
            )

    def takes(self, classes: int) -> bool:
        """Whether a classification may have this many classes."""
        return classes == 2 or self.classes == "many"

    def check_data(self, params: dict[str, Any], task: str, data: str) -> None:
        """Raise UserError when data of this task are not for the learner with these hyperparameters."""
        if task not in self.tasks:
            raise UserError(
                f"algo={self.name} is for {' and '.join(self.tasks)}, data={data} for {task}; "
                "choose another learner or another data set"
            )
        self.check_values(params, task, data)

    def check_values(self, params: dict[str, Any], task: str, data: str) -> None:
        """Raise UserError when a hyperparameter has a value that is not for data of this task."""
        for name, allowed in self.only.get(task, {}).items():
            if params[name] not in allowed:
                raise UserError(
                    f"algo={self.name}: {name}={params[name]} is not for {task} (data={data}); "
                    f"there {name} is {' or '.join(map(str, allowed))}"
                )
