"""What conf/algo says about each learner, checked: `AlgoSpec`."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from omkl.config import compose, domains
from omkl.config.hyperparameters import domain
from omkl.errors import UserError, suggest
from omkl.tasks import TASKS, by_task, for_task


def _tasks(value: Any) -> list[str]:
    check = domains.parse(list(TASKS)).check
    return [check(task) for task in (value if isinstance(value, list) and value else [value])]


_REQUIRED = ("function", "label", "cite", "task", "kernels", "revision", "domains", "help")
_KINDS = {
    **{name: domains.parse("text") for name in ("function", "label", "cite")},
    "task": domains.Domain(f"some of {', '.join(TASKS)}", _tasks),
    "kernels": domains.parse(["pool", "own", "none"]),
    "pool": domains.parse(["any", "gaussian"]),
    "revision": domains.parse("int [1, inf)"),
    **{name: domains.parse("bool") for name in ("yardstick", "stochastic")},
    "setup": domains.parse("text or null"),
    "require": domains.parse("names"),
    "usual_pool": domains.parse("text or null"),
}


@dataclass(frozen=True)
class AlgoSpec:
    """A learner as conf/algo/NAME.yaml describes it.

    function: name in omkl.algorithms    label, cite: for tables    revision: part of every cell's key
    tasks: of the data that it runs on (``task`` in the file, one or a list)
    kernels: ``pool`` (runs on pool=...), ``own`` (its hyperparameter ``kernel``) or ``none``
    pool: which kernels a pool (or its own kernel) may be: ``any``, or ``gaussian`` alone
    yardstick: printed beside the learners    stochastic: draws random numbers of its own
    setup: function that chooses its kernels from the pool, or None    state: arrays the engine provides
    require: what must hold between its hyperparameters, as ``alpha <= beta`` or ``eta * lam < 1``
    usual_pool: its pool where none is asked for
    only: the values that a hyperparameter may take on data of a task: ``{task: {name: [value, ...]}}``
    refuse: combinations of values that it has no rule for: ``[{name: value, other: value}, ...]``
    defaults, domains, help: of its hyperparameters, by name (domains as written: an interval, a list, ...); a
    default may be a value for each task, ``{regression: squared, classification: logistic}``: `usual` has one
    """

    name: str
    function: str
    label: str
    cite: str
    tasks: list[str]
    kernels: str
    revision: int
    pool: str = "any"
    yardstick: bool = False
    stochastic: bool = False
    setup: str | None = None
    require: list[str] = field(default_factory=list)
    usual_pool: str | None = None
    only: dict[str, dict[str, list]] = field(default_factory=dict)
    refuse: list[dict[str, Any]] = field(default_factory=list)
    state: dict[str, Any] = field(default_factory=dict)
    domains: dict[str, Any] = field(default_factory=dict)
    defaults: dict[str, Any] = field(default_factory=dict)
    help: dict[str, str] = field(default_factory=dict)

    def usual(self, task: str) -> dict[str, Any]:
        """Return the defaults on data of this task."""
        return for_task(self.defaults, task)

    def check_together(self, params: dict[str, Any]) -> None:
        """Raise UserError when they break ``require`` or ``refuse``, or the kernel is of the wrong kind."""
        if self.pool != "any" and params.get("kernel", {}).get("kind", self.pool) != self.pool:
            raise UserError(
                f"algo={self.name}: the kernel must be {self.pool}, is {params['kernel']['kind']}"
            )
        for rule in self.require:
            low, sign, high, *most = rule.split()
            product = params[low] * params[high] if sign == "*" else 0
            if product > 1 or (product == 1 and most[0] == "<"):
                must = f"{low} must be {'below' if most[0] == '<' else 'at most'} 1 / {high}"
            elif sign == "<=" and params[low] > params[high]:
                must = f"{low} must be at most {high}"
            else:
                continue
            raise UserError(
                f"algo={self.name}: {must},"
                f" is {domains.show(params[low])} with {high}={domains.show(params[high])}"
            )

        for values in self.refuse:
            if all(params[name] == value for name, value in values.items()):
                first, *others = (f"{name}={value}" for name, value in values.items())
                raise UserError(
                    f"algo={self.name}: {first} has no rule for {' and '.join(others)}; choose another"
                )

    def check_pool(self, pool: dict[str, Any]) -> None:
        """Raise UserError when the pool holds a kernel that the learner cannot use."""
        others = [k["kind"] for k in pool["kernels"] if k["kind"] != self.pool]
        if self.pool != "any" and others:
            raise UserError(
                f"algo={self.name} needs a pool of {self.pool} kernels alone, such as pool=gauss13;"
                f" pool={pool['name']} has {', '.join(dict.fromkeys(others))} kernels"
            )

    def check_data(self, params: dict[str, Any], task: str, data: str) -> None:
        """Raise UserError when data of this task are not for the learner with these hyperparameters."""
        if task not in self.tasks:
            raise UserError(
                f"algo={self.name} is for {' and '.join(self.tasks)}, data={data} for {task}; "
                "choose another learner or another data set"
            )
        for name, allowed in self.only.get(task, {}).items():
            if params[name] not in allowed:
                raise UserError(
                    f"algo={self.name}: {name}={params[name]} is not for {task} (data={data}); "
                    f"there {name} is {' or '.join(map(str, allowed))}"
                )


def algo_names() -> list[str]:
    """Return the names of all learners, sorted."""
    return compose.options("algo")


def algo_spec(name: str) -> AlgoSpec:
    """Return a learner's specification. Raises UserError for an unknown name or a faulty file."""
    return algo_specs([name])[name]


def algo_specs(names: Iterable[str] | None = None) -> dict[str, AlgoSpec]:
    """Return the specifications of several learners (all when None), by name, in the order given."""
    names = algo_names() if names is None else list(names)
    for name in names:
        compose.known_option("algo", name, "learner")
    return {name: _spec(name, content) for name, content in compose.read("algo", names).items()}


def hyperparameters(specs: Iterable[AlgoSpec]) -> list[str]:
    """Return the keys of all hyperparameters that these learners have: ``algo.beta``, ..."""
    return sorted({f"algo.{name}" for spec in specs for name in spec.defaults})


def typed_values(content: dict, where: Path, tasks: Iterable[str] = ()) -> dict[str, Any]:
    """Return the values of a file beside its ``about``, each checked against ``about.domains``.

    tasks: a value may be a mapping with one for each of these. Used for learners, executors and config.yaml
    alike. Raises UserError that names file and key where a value is out of its domain, or a value, a domain
    or a help text lacks the other two.
    """
    about = content.get("about")
    if not isinstance(about, dict):
        raise UserError(f"{where}: 'about' is missing (a mapping with domains and help)")
    values = {key: value for key, value in content.items() if key != "about"}
    for part in ("domains", "help"):
        if not isinstance(about.get(part), dict):
            raise UserError(
                f"{where}: 'about.{part}' is missing (a mapping; {{}} when there is nothing to say)"
            )
        for key in sorted(values.keys() ^ about[part].keys()):
            raise UserError(f"{where}: '{key}' must stand both as a value and in 'about.{part}'")
    checked = {}
    for key, value in values.items():
        try:
            check = domain(about["domains"][key]).check
            if by_task(value) and tasks:
                checked[key] = _by_task(value, check, list(tasks))
            else:
                checked[key] = check(value)
        except ValueError as error:
            raise UserError(f"{where}: {key}: {error}") from None
    return checked


def _by_task(values: dict, check: Callable[[Any], Any], tasks: list[str]) -> dict[str, Any]:
    """Return a default for each task, checked. Raises ValueError where a task has none, or one too many."""
    if values.keys() != set(tasks):
        raise ValueError(f"must be one value, or one for each of {', '.join(tasks)}")
    return {task: check(values[task]) for task in tasks}


def _spec(name: str, content: dict) -> AlgoSpec:
    where = compose.file("algo", name)
    about = content.get("about")
    tasks = about.get("task") if isinstance(about, dict) else None
    defaults = typed_values(content, where, tasks if isinstance(tasks, list) else [])
    known = {*_KINDS, "domains", "help", "state", "only", "refuse"}
    for key in about.keys() - known:
        raise UserError(f"{where}: unknown key 'about.{key}'{suggest(key, known)}")
    for key in _REQUIRED:
        if key not in about:
            raise UserError(f"{where}: 'about.{key}' is missing")
    values = {}
    for key, kind in _KINDS.items():
        if key in about:
            try:
                values[key] = kind.check(about[key])
            except ValueError as error:
                raise UserError(f"{where}: about.{key} {error}") from None
    if not isinstance(about.get("state") or {}, dict):
        raise UserError(f"{where}: about.state must be a mapping of array names to shape and fill")
    only = about.get("only") or {}
    if not isinstance(only, dict) or not all(
        task in values["task"] and isinstance(part, dict) and part.keys() <= defaults.keys()
        for task, part in only.items()
    ):
        raise UserError(f"{where}: about.only must map tasks to hyperparameters and the values they may take")
    refuse = about.get("refuse") or []
    if not isinstance(refuse, list) or not all(
        isinstance(part, dict) and len(part) > 1 and part.keys() <= defaults.keys() for part in refuse
    ):
        raise UserError(f"{where}: about.refuse must list mappings of two or more hyperparameters to values")
    if (values["kernels"] == "own") != (about["domains"].get("kernel") == "kernel"):
        raise UserError(f"{where}: 'about.kernels: own' and a hyperparameter 'kernel: kernel' go together")
    for rule in values.get("require", []):
        words = rule.split()
        form = words[1::2] + words[4:]
        if (
            form not in (["<="], ["*", "<", "1"], ["*", "<=", "1"])
            or not {words[0], words[2]} <= defaults.keys()
        ):
            raise UserError(
                f"{where}: about.require: {rule!r} is not 'NAME <= NAME' or 'NAME * NAME < 1'"
                " of two hyperparameters"
            )
    if values.get("yardstick") and values["kernels"] == "pool":
        raise UserError(f"{where}: a yardstick has its own kernel or none, not a pool")
    spec = AlgoSpec(
        name=name,
        tasks=values.pop("task"),
        only=only,
        refuse=refuse,
        **values,
        state=about.get("state") or {},
        domains=about["domains"],
        defaults=defaults,
        help={key: str(text) for key, text in about["help"].items()},
    )
    for task in spec.tasks:
        spec.check_together(spec.usual(task))
    return spec
