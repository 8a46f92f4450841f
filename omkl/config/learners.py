"""The learners of conf/algo: each file read and checked, what must hold of hyperparameters, and groups."""

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

from omkl import conf
from omkl.config.kernel_kinds import FEATURES, GAUSSIAN, kernel_pool
from omkl.config.parameters import Parameter, about_of, parameters
from omkl.errors import UserError, show, suggest
from omkl.schema import Check, Text, as_dataclass, checked, domain_check, such, wrong
from omkl.state.resource import Resource
from omkl.state.state import limits
from omkl.state.state import parse as parse_state
from omkl.tasks import REPORTED, TASKS, by_task, for_task

STACK = "stack"  # the function of stacks of classes
STACKS = {"classification": STACK, "regression": f"{STACK}_regression"}
_ESTIMATOR = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*:[A-Za-z_]\w*", re.ASCII)
_is_estimator = such("module:Class", lambda value: isinstance(value, str) and _ESTIMATOR.fullmatch(value))


def _all_of(choices: Iterable[str]) -> Check:
    """Return the check of one or several of these."""
    check = domain_check(list(choices))
    return lambda value: [check(one) for one in (value if isinstance(value, list) and value else [value])]


def _groups(value: Any) -> list[str]:
    names: list[str] = domain_check("names")(value)
    for name in names:
        if not conf.is_plain(name):
            raise ValueError(f"{show(name)} is not a name of a group: letters, digits and '_'")
        if name in learner_names():
            raise ValueError(f"{show(name)} is a learner's name; a group needs another name")
    return names


@dataclass(frozen=True)
class LearnerSpec:
    """A learner as conf/algo/NAME.yaml describes it: its hyperparameters, and the entries of ``about``."""

    name: str
    function: Text  # see omkl.algorithms, where it has not the learner's name
    label: Text  # label and cite: for tables
    cite: Text
    tasks: list[str]  # of the data that it runs on; ``task`` in the file, one or a list
    kernels: Literal["pool", "own", "none"]  # it runs on pool=..., or on its hyperparameter ``kernel``
    revision: Annotated[int, "[1, inf)"]  # part of every cell's key
    hyperparameters: dict[str, Parameter] = field(default_factory=dict)
    summary: Text = ""  # a sentence on what it does, and one on when to take it
    # Which kernels its pool or its own kernel may be: Gaussian, or those with random features in closed form
    pool: Literal["any", "features", "gaussian"] = "any"
    classes: Literal["two", "many"] = "two"  # for which it is defined
    usual_pool: Text | None = None  # its pool where none is given
    yardstick: bool = False  # printed below the learners
    listed: bool = True  # among the estimators; a paper's variants and what scikit-learn has as Dummy are not
    in_order: bool = False  # as a yardstick only where rows come in their own order
    weight: Text | None = None  # the hyperparameter that a row's weight multiplies, or that of "1 / r"
    stochastic: bool = False  # draws random numbers of its own
    equivariant: bool = False  # its predictions of the targets a + c y are a + c times those of y
    setup: Text | None = None  # function that chooses its kernels from the pool
    state: dict[str, Resource] = field(default_factory=dict)
    measures: Annotated[list[str], _all_of(REPORTED)] = field(default_factory=list)  # of each round
    scales: bool = False  # the features by itself, so that `omkl tune` does not search scale=online
    probabilities: bool = False  # its scores are: of two classes that of +1 less 1/2, of more that of each
    # What must hold between hyperparameters: ``alpha <= beta``, ``eta * lam < 1``
    require: list[str] = field(default_factory=list)
    only: dict[str, dict[str, list]] = field(default_factory=dict)  # values allowed, by task and name
    refuse: list[dict[str, Any]] = field(default_factory=list)  # combinations of values without a rule
    draws_as: Text | None = None  # the learner whose random numbers it draws, where not its own
    # Families that algo=GROUP means, beside those that follow from the rest, see `groups`
    groups: Annotated[list[str], _groups] = field(default_factory=list)
    # ``module:Class`` of scikit-learn's or river's kind in place of a function, with these arguments
    estimator: Annotated[str, _is_estimator] | None = None
    refit: bool = False  # the estimator is fitted again as rows come, see omkl.others.adapters
    sparse: bool = False  # the estimator is given the non-zero features of a row only
    # What becomes of its expansion's terms: they stay, or shrink by 1 - eta_t lam in each round
    average: Literal["fixed", "shrunk"] | None = None
    stack: Annotated[list[str], "words"] | None = None  # the members of a stack, see `omkl.config.members`

    @property
    def is_stack(self) -> bool:
        """Whether it learns on what members say, see `omkl.config.members`."""
        return self.function in STACKS.values()

    @property
    def is_object(self) -> bool:
        """Whether it is of estimators that a call had as objects, which no word of a command names."""
        return self.name in given

    @property
    def defaults(self) -> dict[str, Any]:
        """The hyperparameters' defaults; one that depends on the task is a value for each."""
        return {name: parameter.value for name, parameter in self.hyperparameters.items()}

    @property
    def draws(self) -> bool:
        """Whether its passes over one stream may differ: it draws numbers, or is another package's."""
        return self.stochastic or self.estimator is not None

    @property
    def sees_scale(self) -> bool:
        """Whether the scale of features matters to it: it looks at them, and does not scale them itself."""
        sizes = {name for resource in self.state.values() for name in resource.sizes()}
        looks = self.kernels != "none" or self.estimator is not None or bool(sizes & {"d", "few"})
        return looks and not self.scales

    @property
    def has_matrix_of_features(self) -> bool:
        """Whether it keeps a matrix of the features, of which only the diagonal where they are many."""
        return any("few" in resource.sizes() for resource in self.state.values())

    @property
    def budget(self) -> str | None:
        """The hyperparameter that says how many vectors each kernel may store, None without."""
        return next(
            (name for name, parameter in self.hyperparameters.items() if parameter.domain == "budget"), None
        )

    def check_of(self, name: str) -> Check:
        """Return the check of a hyperparameter as users write it, where it may follow from the data."""
        if name == self.budget:
            return check_budget
        parameter = self.hyperparameters[name]
        return rate_check(parameter.check) if parameter.budget else parameter.check

    def usual(self, task: str) -> dict[str, Any]:
        """Return the defaults on data of this task."""
        return for_task(self.defaults, task)

    def unusual(self, params: dict[str, Any], task: str) -> dict[str, Any]:
        """Return the hyperparameters that differ from the defaults on data of this task."""
        usual = self.usual(task)
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
            raise UserError(f"{where} has no hyperparameter {show(name)}{self.nearest(name)}")
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
                    raise wrong("a whole number ≥ 1", value)
            except ValueError as error:
                raise UserError(f"{where}: {argument(name)} {error}") from None
        self.check_together(values)
        return values

    def nearest(self, name: object, others: Iterable[str] = ()) -> str:
        """Return what to write in place of a hyperparameter that it does not have."""
        parameters_by_name = self.hyperparameters
        return (
            suggest(str(name), [*parameters_by_name, *others])
            or f"; it has {', '.join(parameters_by_name) or 'none'}"
        )

    def weighted(self, params: Mapping[str, Any], weight: float, rounds: int | None) -> dict[str, Any]:
        """Return the hyperparameters with which a row of this weight is learnt.

        rounds: T of a learner with a step size of 1 / sqrt(T), which its value null stands for, else None.
        Raises UserError where it has no weights, or a hyperparameter so leaves its domain.
        """
        name = (self.weight or "").removeprefix("1 / ")
        value = params.get(name)
        if value is None and (not name or rounds is None):
            why = "its step has no size that a weight could multiply"
            if name:
                why = f"{name} has no number that a weight could multiply; give it one, such as {name}=0.1"
            raise UserError(f"algo={self.name} takes no weights: {why}")
        value = 1.0 / math.sqrt(rounds or 1) if value is None else value
        return self.checked({**params, name: value * weight if self.weight == name else value / weight})

    def check_together(self, params: dict[str, Any]) -> None:
        """Raise UserError when they break ``require`` or ``refuse``, or the kernel is of the wrong kind."""
        kernel = kernel_pool(params, None) or {"kernels": [{}]}
        kind = kernel["kernels"][0].get("kind")
        if kind is not None and not self.fits(kind):
            which = "" if self.pool == GAUSSIAN else ", of which random features exist in closed form"
            raise UserError(
                f"algo={self.name}: the kernel must be {' or '.join(self.kinds)}{which}, got {kind}"
            )
        for rule in self.require:
            low, sign, high, *most = rule.split()
            if of_budget(params[low]) or of_budget(params[high]):
                continue  # its number is checked with each data set
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
        others = dict.fromkeys(k["kind"] for k in pool["kernels"] if not self.fits(k["kind"]))
        if others:
            needed = ", ".join(self.kinds) + (" kernels alone" if len(self.kinds) == 1 else " kernels")
            raise UserError(
                f"algo={self.name} needs a pool of {needed}, such as pool=gauss13;"
                f" pool={pool.get('name', 'given')} has {', '.join(others)} kernels"
            )

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of kernels that it takes; none where it takes any."""
        return {"any": (), "features": FEATURES}.get(self.pool, (GAUSSIAN,))

    def fits(self, kind: str) -> bool:
        """Whether it takes kernels of this kind."""
        return not self.kinds or kind in self.kinds

    def takes(self, classes: int) -> bool:
        """Whether a classification may have this many classes."""
        return classes == 2 or self.classes == "many"

    def check_data(self, params: dict[str, Any], task: str, data: str) -> None:
        """Raise UserError when data of this task are not for the learner with these hyperparameters."""
        if task not in self.tasks:
            kin = [f"algo={name}"] if (name := kin_of(self.name, task)) else []
            raise UserError(
                f"algo={self.name} is for {' and '.join(self.tasks)}, data={data} for {task}; "
                f"choose {kin[0] if kin else 'another learner'} or another data set"
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


# ------------------------------------------------------------------ the files

IN_OBJECT = "the parameters of an object are set in the object itself"
given: dict[str, LearnerSpec] = {}  # of estimators that a call had as objects, see omkl.others.objects


def learner_names() -> list[str]:
    """Return the names of all learners, sorted."""
    return conf.options("algo")


def learner_spec(name: str) -> LearnerSpec:
    """Return a learner's specification. Raises UserError for an unknown name or a faulty file."""
    return learner_specs([name])[name]


def learner_of(name: str) -> str:
    """Return the id of a learner named in capitals or by its label, such as ``OMKC(D,D)``; else the name."""
    names = learner_names()
    if name in names:
        return name
    if name.lower() in names:
        return name.lower()
    label = name.lower().replace(" ", "")
    meant = [spec.name for spec in learner_specs().values() if spec.label.lower().replace(" ", "") == label]
    return meant[0] if len(meant) == 1 else name


def kin_of(name: str, task: str) -> str | None:
    """Return the learner of another task with this name, as auto_regression is of auto; None without."""
    sibling = f"{name}_{task}"
    return sibling if sibling in learner_names() and task in learner_spec(sibling).tasks else None


def learner_specs(names: Iterable[str] | None = None) -> dict[str, LearnerSpec]:
    """Return the specifications of several learners (all when None), by name, in the order given."""
    all_names = learner_names()
    names = all_names if names is None else list(names)
    for name in set(names).difference(all_names, given):
        conf.known_option("algo", name, "learner")  # which says what is wrong
    return {name: given[name] if name in given else conf.made_of("algo", name, _spec) for name in names}


def check_classes(spec: LearnerSpec, data: str, classes: int) -> None:
    """Raise UserError for a learner that is not for this many classes, naming those that are."""
    if spec.takes(classes):
        return
    raise UserError(
        f"algo={spec.name} is for two classes, data={data} has {classes}; choose another learner, such as "
        "auto (`omkl list groups`: multiclass), or one class against the rest of a table (positive=CLASS)"
    )


def hyperparameters(specs: Iterable[LearnerSpec]) -> list[str]:
    """Return the keys of all hyperparameters that these learners have: ``algo.beta``, ..."""
    return sorted({f"algo.{name}" for spec in specs for name in spec.hyperparameters})


# ------------------------------------------------------------------ budgets


def check_budget(value: Any) -> int | dict[str, Any]:
    """Return a budget in canonical form: a number, or ``{"match": learner, **hyperparameters given}``.

    Raises ValueError that says what would be right.
    """
    value = domain_check("budget")(value)
    if not isinstance(value, dict):
        return value
    params = matched_params(value)
    return {name: params.get(name, value[name]) for name in ("match", *sorted(value.keys() - {"match"}))}


def rate_check(check: Check) -> Check:
    """Return the check of a hyperparameter that is a number, or {budget: B}."""

    def checked_rate(value: Any) -> Any:
        if not isinstance(value, dict):
            return check(value)
        if value.keys() != {"budget"}:
            raise wrong("a number, or {budget: B}", value)
        return {"budget": domain_check("int [1, inf)")(value["budget"])}

    return checked_rate


def of_budget(value: Any) -> bool:
    """Whether a hyperparameter's value follows from a budget, still without its number."""
    return isinstance(value, dict) and "budget" in value


def to_match(value: Any) -> bool:
    """Whether a hyperparameter's value is the size of another learner, still without its number."""
    return isinstance(value, dict) and "match" in value


def matched_params(budget: dict[str, Any]) -> dict[str, Any]:
    """Return all hyperparameters of the learner to be matched. Raises ValueError where one is not right."""
    try:
        spec = learner_spec(budget["match"])
        if spec.kernels != "pool" or spec.budget:
            raise UserError(
                f"match: {spec.name} has no size to match; choose a learner that has a pool and no budget"
            )
        params = spec.usual("classification")  # the task of all learners with a budget
        for name in [name for name in budget if name != "match"]:
            if name not in params:
                raise UserError(f"{spec.name} has no hyperparameter '{name}'; it has {', '.join(params)}")
            try:
                params[name] = spec.hyperparameters[name].check(budget[name])
            except ValueError as error:
                raise UserError(f"{name} of {spec.name} {error}") from None
        spec.check_together(params)
    except UserError as error:
        raise ValueError(str(error)) from None
    return params


# ------------------------------------------------------------------ a file, checked


# What the file of an estimator may have beside its hyperparameters.
_OF_ESTIMATORS = {
    "label",
    "summary",
    "cite",
    "task",
    "revision",
    "classes",
    "equivariant",
    "estimator",
    "refit",
}
_OF_ESTIMATORS |= {"scales", "sparse", "yardstick"}
# What that of a stack may have; the rest is said of that of `STACKS`.
_OF_STACKS = {"label", "summary", "cite", "task", "revision", "groups", "listed", "equivariant", "stack"}
_RULE = re.compile(r"(\w+) +(?:<= +(\w+)|\* +(\w+) +<=? +1)", re.ASCII)  # of about.require


def _spec(name: str, content: dict) -> LearnerSpec:
    where = conf.file("algo", name)
    about = _of_stack(name, about_of(content, where))
    task = {key: about[key] for key in ("task",) if key in about}
    tasks = checked(task, {"task": _all_of(TASKS)}, where, ["task"], "about.")["task"]
    hyper = parameters(content, where, tasks, searched=True)
    given: dict[str, Any] = {"function": name}
    if "estimator" in about:
        given["kernels"] = "none"
        if "classification" in tasks:
            given["classes"] = "many"
    given |= {key: value for key, value in about.items() if key != "task"}
    more = {"name": name, "tasks": tasks, "hyperparameters": hyper}
    spec: LearnerSpec = as_dataclass(LearnerSpec, given, where, "about.", _rules(hyper, tasks), **more)
    for fault in (*_wrong_keys(about, content["about"]), *_contradictions(spec)):
        raise UserError(f"{where}: {fault}")
    for task_name in tasks:
        spec.check_together(spec.usual(task_name))
    return spec


def _wrong_keys(about: Mapping[str, Any], written: Mapping[str, Any]) -> Iterator[str]:
    """Yield the keys that this kind of learner cannot have; written: ``about`` without a stack's defaults."""
    estimator = "estimator" in about
    wrong = about.keys() - _OF_ESTIMATORS if estimator else about.keys() & {"refit", "sparse"}
    for key in sorted(wrong):
        yield f"'about.{key}' is not possible {'with' if estimator else 'without'} 'about.estimator'"
    if "stack" in about and (others := written.keys() - _OF_STACKS):
        yield f"'about.{min(others)}' is not possible with 'about.stack'"


def _contradictions(spec: LearnerSpec) -> Iterator[str]:
    """Yield what a learner's file says that does not go together."""
    hyper = spec.hyperparameters
    if spec.estimator and "novelty" in spec.tasks:
        yield "about.task: an estimator is for classification or regression"
    if spec.classes == "many" and "classification" not in spec.tasks:
        yield "about.classes: only a learner for classification can have 'many'"
    if (spec.kernels == "own") != ("kernel" in hyper and hyper["kernel"].domain == "kernel"):
        yield "'about.kernels: own' and a hyperparameter 'kernel: kernel' go together"
    if spec.stack is not None and hyper:
        yield f"{next(iter(hyper))}: a stack has members, about.stack, and no hyperparameters"
    if spec.yardstick and spec.kernels == "pool":
        yield "a yardstick has its own kernel or none, not a pool"
    if spec.weight and spec.weight.removeprefix("1 / ") not in hyper:
        yield "about.weight: must be the name of a hyperparameter, or 1 / NAME"
    for name, parameter in hyper.items():
        if parameter.budget not in (None, *(hyper.keys() - {name})):
            yield f"{name}.budget: must be the name of another hyperparameter"


def _of_stack(name: str, about: dict[str, Any]) -> dict[str, Any]:
    """Return what the file of a learner says, of a stack with what holds for all stacks."""
    if "stack" not in about:
        return about
    task = about.get("task")
    kind = STACKS.get(task, STACK) if isinstance(task, str) else STACK
    return (
        about_of(conf.read("algo", kind), conf.file("algo", kind)) | {"function": kind, "label": name} | about
    )


def _rules(hyper: dict[str, Parameter], tasks: list[str]) -> dict[str, Check]:
    """Return the checks of what names hyperparameters: the state, and the rules between them."""
    names = hyper.keys()

    def within(part: Any, least: int = 1) -> bool:
        return isinstance(part, dict) and len(part) >= least and part.keys() <= names

    def require(value: Any) -> list[str]:
        rules: list[str] = domain_check("names")(value)
        for rule in rules:
            match = _RULE.fullmatch(rule)
            if not match or not {name for name in match.groups() if name} <= names:
                form = "'NAME <= NAME' or 'NAME * NAME < 1' of two hyperparameters"
                raise ValueError(f"{rule!r} is not {form}")
        return rules

    def maps(text: str, fits: Callable[[Any, Any], Any]) -> Check:
        text = f"a mapping of {text}"
        return such(text, lambda v: isinstance(v, dict) and all(fits(*item) for item in v.items()))

    return {
        "state": lambda value: parse_state(
            value, {name: parameter.value for name, parameter in hyper.items()}
        ),
        "require": require,
        "only": maps(
            "tasks to hyperparameters and the values they may take",
            lambda task, part: task in tasks and within(part),
        ),
        "refuse": such(
            "a list of mappings of two or more hyperparameters to values",
            lambda value: isinstance(value, list) and all(within(part, 2) for part in value),
        ),
    }


# ------------------------------------------------------------------ groups of learners
# ``algo=budget`` means all of one; conf/groups.yaml says what each has in common. Most follow from conf/algo;
# a learner may name further ones under ``about.groups``.


ALL = "all"


_BELONGS: dict[str, Callable[[LearnerSpec], bool]] = {
    ALL: lambda spec: True,
    **{task: lambda spec, task=task: task in spec.tasks for task in TASKS},  # type: ignore[misc]
    "multiclass": lambda spec: spec.takes(3),
    "pooled": lambda spec: spec.kernels == "pool",
    "single": lambda spec: spec.kernels == "own",
    "budget": lambda spec: any(spec.defaults[name] is not None for name in limits(spec.state)),
    "features": lambda spec: any(resource.frequencies for resource in spec.state.values()),
    "bounded": lambda spec: is_bounded(spec),
    "yardsticks": lambda spec: spec.yardstick,
}


def is_bounded(spec: LearnerSpec) -> bool:
    """Whether its memory does not grow with the stream, with its defaults."""
    members = _kinds_of_members(spec).values() if spec.is_stack else [spec]
    return not any(resource.unlimited(one.defaults) for one in members for resource in one.state.values())


def _kinds_of_members(spec: LearnerSpec) -> dict[str, LearnerSpec]:
    """Return the learners that a stack's usual members are, by name, and those of stacks among them."""
    members: dict[str, LearnerSpec] = {}
    for word in spec.stack or spec.defaults.get("members", ()):
        member = learner_spec(learner_of(re.split(r"\W", word, maxsplit=1)[0]))
        if member.name not in members and member.name != spec.name:
            members |= _kinds_of_members(member) if member.is_stack else {member.name: member}
    return members


def groups() -> dict[str, list[str]]:
    """Return the names of each group's learners, sorted, by the group's name."""
    specs = learner_specs().values()
    learners_by_group = {
        name: [spec.name for spec in specs if belongs(spec)] for name, belongs in _BELONGS.items()
    }
    for spec in specs:
        for name in spec.groups:
            if spec.name not in learners_by_group.setdefault(name, []):
                learners_by_group[name].append(spec.name)
    return learners_by_group


def meanings() -> dict[str, str]:
    """Return what the learners of a group have in common, by its name; a user's family has none."""
    return conf.read("", "groups")


def members(name: str) -> list[str]:
    """Return the learners of a group, none where it is no group."""
    if name == ALL:
        return learner_names()
    return [] if name in learner_names() else groups().get(name, [])
