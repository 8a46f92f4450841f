"""The learners of conf/algo, each file read and checked."""

import re
from collections.abc import Callable, Iterable
from typing import Any

from omkl.config import compose, domains
from omkl.config.parameters import Parameter, parameters
from omkl.config.spec import LearnerSpec
from omkl.errors import UserError, show
from omkl.paths import extensions
from omkl.resources.state import parse as parse_state
from omkl.schema import Check, checked, such
from omkl.tasks import MEASURES, TASKS

_ESTIMATOR = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*:[A-Za-z_]\w*", re.ASCII)
_RULE = re.compile(r"(\w+) +(?:<= +(\w+)|\* +(\w+) +<=? +1)", re.ASCII)  # of about.require

_known: dict[str, tuple[dict, tuple, LearnerSpec]] = {}  # content, folders, what was made of it


def learner_names() -> list[str]:
    """Return the names of all learners, sorted."""
    return compose.options("algo")


def learner_spec(name: str) -> LearnerSpec:
    """Return a learner's specification. Raises UserError for an unknown name or a faulty file."""
    return learner_specs([name])[name]


def learner_of(name: str) -> str:
    """Return the id of a learner named in capitals or by its label, such as ``OMKC(D,D)``; else the name."""
    known = learner_names()
    if name in known:
        return name
    if name.lower() in known:
        return name.lower()
    label = name.lower().replace(" ", "")
    meant = [own.name for own in learner_specs().values() if own.label.lower().replace(" ", "") == label]
    return meant[0] if len(meant) == 1 else name


def learner_specs(names: Iterable[str] | None = None) -> dict[str, LearnerSpec]:
    """Return the specifications of several learners (all when None), by name, in the order given."""
    known_names = learner_names()
    names = known_names if names is None else list(names)
    for name in set(names).difference(known_names):
        compose.known_option("algo", name, "learner")  # which says what is wrong
    around = tuple(extensions())  # with other folders a learner's name may be another's group
    specs = {}
    for name, content in compose.read("algo", names).items():  # the same objects until a file changes
        known = _known.get(name)
        if known is None or known[0] is not content or known[1] != around:
            _known[name] = known = content, around, _spec(name, content)
        specs[name] = known[2]
    return specs


def check_classes(spec: LearnerSpec, data: str, classes: int) -> None:
    """Raise UserError for a learner that is not for this many classes, naming those that are."""
    if spec.takes(classes):
        return
    able = ", ".join(name for name, own in learner_specs().items() if own.takes(classes))
    raise UserError(
        f"algo={spec.name} is for two classes, data={data} has {classes}; choose another learner ({able}), "
        "or one class against the rest of a table (positive=CLASS)"
    )


def hyperparameters(specs: Iterable[LearnerSpec]) -> list[str]:
    """Return the keys of all hyperparameters that these learners have: ``algo.beta``, ..."""
    return sorted({f"algo.{name}" for spec in specs for name in spec.hyperparameters})


# ------------------------------------------------------------------ budgets


def check_budget(value: Any) -> int | dict[str, Any]:
    """Return a budget in canonical form: a number, or ``{"match": learner, **hyperparameters given}``.

    Raises ValueError that says what would be right.
    """
    value = domains.parse("budget")(value)
    if not isinstance(value, dict):
        return value
    params = matched_params(value)
    return {name: params.get(name, value[name]) for name in ("match", *sorted(value.keys() - {"match"}))}


def to_match(value: Any) -> bool:
    """Whether a hyperparameter's value is the size of another learner, still without its number."""
    return isinstance(value, dict) and "match" in value


def matched_params(budget: dict[str, Any]) -> dict[str, Any]:
    """Return all hyperparameters of the learner to be matched. Raises ValueError where one is not right."""
    try:
        spec = learner_spec(budget["match"])
        if spec.kernels != "pool" or spec.budget:
            raise UserError(
                f"match: {spec.name} has no size to match; take a learner of a pool without a budget"
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


def _tasks(value: Any) -> list[str]:
    return [_task(task) for task in (value if isinstance(value, list) and value else [value])]


def _groups(value: Any) -> list[str]:
    names = domains.parse("names")(value)
    for name in names:
        if not compose.is_plain(name):
            raise ValueError(f"{show(name)} is not a name of a group: letters, digits and '_'")
        if name in learner_names():
            raise ValueError(f"{show(name)} is a learner's name; a group needs another")
    return names


def _measures(value: Any) -> list[str]:
    return [_measure(name) for name in domains.parse("names")(value)]


_task, _measure = domains.parse(list(TASKS)), domains.parse(list(MEASURES))
_REQUIRED = ("label", "cite", "task", "revision")
_OF_ESTIMATORS = {*_REQUIRED, "classes", "estimator", "sparse", "yardstick"}
_CHECKS: dict[str, Check] = {
    **dict.fromkeys(("function", "label", "cite", "setup", "draws_as", "usual_pool"), domains.parse("text")),
    **dict.fromkeys(("yardstick", "stochastic", "sparse"), domains.parse("bool")),
    "estimator": such("module:Class", lambda value: isinstance(value, str) and _ESTIMATOR.fullmatch(value)),
    "task": _tasks,
    "groups": _groups,
    "kernels": domains.parse(["pool", "own", "none"]),
    "classes": domains.parse(["two", "many"]),
    "pool": domains.parse(["any", "gaussian"]),
    "measures": _measures,
    "revision": domains.parse("int [1, inf)"),
}


def _spec(name: str, content: dict) -> LearnerSpec:
    where, about = compose.file("algo", name), content.get("about")
    if not isinstance(about, dict):
        raise UserError(f"{where}: 'about' is missing (a mapping)")
    own_task = {key: value for key, value in about.items() if key == "task"}
    tasks = checked(own_task, {"task": _tasks}, where, ["task"], "about.")["task"]
    hyper = parameters(content, where, tasks, searched=True)
    foreign = "estimator" in about
    required = _REQUIRED if foreign else (*_REQUIRED, "kernels")
    values = checked(about, _CHECKS | _rule_checks(hyper, tasks), where, required, "about.")
    beside = "with" if foreign else "without"
    for key in values.keys() - _OF_ESTIMATORS if foreign else values.keys() & {"sparse"}:
        raise UserError(f"{where}: 'about.{key}' is not possible {beside} 'about.estimator'")
    tasks = values.pop("task")
    if foreign and "novelty" in tasks:
        raise UserError(f"{where}: about.task: an estimator is for classification or regression")
    if foreign and "classification" in tasks:
        values.setdefault("classes", "many")
    if values.get("classes") == "many" and "classification" not in tasks:
        raise UserError(f"{where}: about.classes: only a learner for classification has many")
    values.setdefault("kernels", "none")
    spec = LearnerSpec(**{"name": name, "function": name, "tasks": tasks, "hyperparameters": hyper, **values})
    own = "kernel" in hyper and hyper["kernel"].domain == "kernel"
    if (spec.kernels == "own") != own:
        raise UserError(f"{where}: 'about.kernels: own' and a hyperparameter 'kernel: kernel' go together")
    if spec.yardstick and spec.kernels == "pool":
        raise UserError(f"{where}: a yardstick has its own kernel or none, not a pool")
    for task in spec.tasks:
        spec.check_together(spec.usual(task))
    return spec


def _rule_checks(hyper: dict[str, Parameter], tasks: list[str]) -> dict[str, Check]:
    """Return the checks of what names hyperparameters: the state, and the rules between them."""
    known = hyper.keys()

    def within(part: Any, least: int = 1) -> bool:
        return isinstance(part, dict) and len(part) >= least and part.keys() <= known

    def require(value: Any) -> list[str]:
        rules = domains.parse("names")(value)
        for rule in rules:
            match = _RULE.fullmatch(rule)
            if not match or not {name for name in match.groups() if name} <= known:
                form = "'NAME <= NAME' or 'NAME * NAME < 1' of two hyperparameters"
                raise ValueError(f"{rule!r} is not {form}")
        return rules

    def maps(text: str, fits: Callable[[Any, Any], Any]) -> Check:
        text = f"a mapping of {text}"
        return such(text, lambda v: isinstance(v, dict) and all(fits(*item) for item in v.items()))

    return {
        "state": lambda value: parse_state(value, {name: own.value for name, own in hyper.items()}),
        "require": require,
        "only": maps(
            "tasks to hyperparameters and the values they may take",
            lambda task, part: task in tasks and within(part),
        ),
        "refuse": such(
            "a list of mappings of two or more hyperparameters to values",
            lambda value: isinstance(value, list) and all(within(part, 2) for part in value),
        ),
        "former": maps("names that are not hyperparameters to values", lambda name, _: name not in known),
        "renamed": maps(
            "a former hyperparameter to its values, and each of these to a learner",
            lambda name, part: name not in known and isinstance(part, dict) and part,
        ),
    }
