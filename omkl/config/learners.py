"""What conf/algo says about each learner: `LearnerSpec`, read and checked."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from omkl.config import compose, domains
from omkl.config.parameters import Parameter, parameters
from omkl.config.state import Form
from omkl.config.state import parse as parse_state
from omkl.errors import UserError, suggest
from omkl.tasks import TASKS, for_task


@dataclass(frozen=True)
class LearnerSpec:
    """A learner as conf/algo/NAME.yaml describes it.

    hyperparameters: each with its default, domain and meaning, by name
    label, cite: for tables    revision: part of every cell's key
    function: name in omkl.algorithms, where it is not the learner's
    tasks: of the data that it runs on (``task`` in the file, one or a list)
    kernels: ``pool`` (runs on pool=...), ``own`` (its hyperparameter ``kernel``) or ``none``
    pool: which kernels a pool (or its own kernel) may be: ``any``, or ``gaussian`` alone
    usual_pool: its pool where none is given
    yardstick: printed below the learners    stochastic: draws random numbers of its own
    setup: function that chooses its kernels from the pool, or None    state: its resources by name (state.py)
    require: what must hold between its hyperparameters, as ``alpha <= beta`` or ``eta * lam < 1``
    only: the values that a hyperparameter may take on data of a task: ``{task: {name: [value, ...]}}``
    refuse: combinations of values that it has no rule for: ``[{name: value, other: value}, ...]``
    former: hyperparameters that it no longer has, with their values: part of its cells' keys, so that the
    cells of older versions count    renamed: the learners that a former hyperparameter's values stand for,
    ``{name: {value: learner}}``    draws_as: the learner whose random numbers it draws, where not its own
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
    usual_pool: str | None = None
    yardstick: bool = False
    stochastic: bool = False
    setup: str | None = None
    state: dict[str, Form] = field(default_factory=dict)
    require: list[str] = field(default_factory=list)
    only: dict[str, dict[str, list]] = field(default_factory=dict)
    refuse: list[dict[str, Any]] = field(default_factory=list)
    former: dict[str, Any] = field(default_factory=dict)
    renamed: dict[str, dict[str, str]] = field(default_factory=dict)
    draws_as: str | None = None

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

    def check_together(self, params: dict[str, Any]) -> None:
        """Raise UserError when they break ``require`` or ``refuse``, or the kernel is of the wrong kind."""
        if self.pool != "any" and params.get("kernel", {}).get("kind", self.pool) != self.pool:
            raise UserError(
                f"algo={self.name}: the kernel must be {self.pool}, got {params['kernel']['kind']}"
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
                f" got {domains.show(params[low])} with {high}={domains.show(params[high])}"
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


def learner_names() -> list[str]:
    """Return the names of all learners, sorted."""
    return compose.options("algo")


def learner_spec(name: str) -> LearnerSpec:
    """Return a learner's specification. Raises UserError for an unknown name or a faulty file."""
    return learner_specs([name])[name]


def learner_specs(names: Iterable[str] | None = None) -> dict[str, LearnerSpec]:
    """Return the specifications of several learners (all when None), by name, in the order given."""
    names = learner_names() if names is None else list(names)
    for name in names:
        compose.known_option("algo", name, "learner")
    return {name: _spec(name, content) for name, content in compose.read("algo", names).items()}


def hyperparameters(specs: Iterable[LearnerSpec]) -> list[str]:
    """Return the keys of all hyperparameters that these learners have: ``algo.beta``, ..."""
    return sorted({f"algo.{name}" for spec in specs for name in spec.hyperparameters})


# ------------------------------------------------------------------ a file, checked


def _tasks(value: Any) -> list[str]:
    check = domains.parse(list(TASKS)).check
    return [check(task) for task in (value if isinstance(value, list) and value else [value])]


_REQUIRED = ("label", "cite", "task", "kernels", "revision")
_KINDS = {
    **{name: domains.parse("text") for name in ("function", "label", "cite", "setup", "draws_as")},
    "task": domains.Domain(f"some of {', '.join(TASKS)}", _tasks),
    "kernels": domains.parse(["pool", "own", "none"]),
    "pool": domains.parse(["any", "gaussian"]),
    "usual_pool": domains.parse("text"),
    "revision": domains.parse("int [1, inf)"),
    **{name: domains.parse("bool") for name in ("yardstick", "stochastic")},
    "require": domains.parse("names"),
}
_KNOWN = {*_KINDS, "state", "only", "refuse", "former", "renamed"}


def _spec(name: str, content: dict) -> LearnerSpec:
    where = compose.file("algo", name)
    about = content.get("about")
    if not isinstance(about, dict):
        raise UserError(f"{where}: 'about' is missing (a mapping)")
    tasks = about.get("task")
    hyper = parameters(content, where, tasks if isinstance(tasks, list) else [])
    for key in about.keys() - _KNOWN:
        raise UserError(f"{where}: unknown key 'about.{key}'{suggest(key, _KNOWN)}")
    for key in _REQUIRED:
        if key not in about:
            raise UserError(f"{where}: 'about.{key}' is missing")
    values: dict[str, Any] = {"function": name}
    for key, kind in _KINDS.items():
        if key in about:
            try:
                values[key] = kind.check(about[key])
            except ValueError as error:
                raise UserError(f"{where}: about.{key} {error}") from None
    try:
        forms = parse_state(about.get("state", {}), {key: own.value for key, own in hyper.items()})
    except ValueError as error:
        raise UserError(f"{where}: about.state: {error}") from None
    spec = LearnerSpec(
        name=name,
        tasks=values.pop("task"),
        hyperparameters=hyper,
        state=forms,
        **values,
        **{key: about[key] for key in ("only", "refuse", "former", "renamed") if key in about},
    )
    _check_rules(spec, where)
    for task in spec.tasks:
        spec.check_together(spec.usual(task))
    return spec


def _check_rules(spec: LearnerSpec, where: Path) -> None:
    """Raise UserError for rules of a file that do not fit its hyperparameters or one another."""
    known = spec.hyperparameters.keys()
    if not isinstance(spec.only, dict) or not all(
        task in spec.tasks and isinstance(part, dict) and part.keys() <= known
        for task, part in spec.only.items()
    ):
        raise UserError(f"{where}: about.only must map tasks to hyperparameters and the values they may take")
    if not isinstance(spec.refuse, list) or not all(
        isinstance(part, dict) and len(part) > 1 and part.keys() <= known for part in spec.refuse
    ):
        raise UserError(f"{where}: about.refuse must list mappings of two or more hyperparameters to values")
    if not isinstance(spec.former, dict) or spec.former.keys() & known:
        raise UserError(f"{where}: about.former must map names that are no hyperparameters to values")
    if not isinstance(spec.renamed, dict) or not all(
        isinstance(part, dict) and part.keys() and not {key} & known for key, part in spec.renamed.items()
    ):
        raise UserError(f"{where}: about.renamed must map a former hyperparameter's values to learners")
    own = "kernel" in known and spec.hyperparameters["kernel"].domain == "kernel"
    if (spec.kernels == "own") != own:
        raise UserError(f"{where}: 'about.kernels: own' and a hyperparameter 'kernel: kernel' go together")
    for rule in spec.require:
        words = rule.split()
        form = words[1::2] + words[4:]
        if form not in (["<="], ["*", "<", "1"], ["*", "<=", "1"]) or not {words[0], words[2]} <= known:
            raise UserError(
                f"{where}: about.require: {rule!r} is not 'NAME <= NAME' or 'NAME * NAME < 1'"
                " of two hyperparameters"
            )
    if spec.yardstick and spec.kernels == "pool":
        raise UserError(f"{where}: a yardstick has its own kernel or none, not a pool")
