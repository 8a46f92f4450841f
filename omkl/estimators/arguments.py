"""Estimators made from conf/algo: their names, the arguments of their constructors, and their help."""

import inspect
import re
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from omkl.config import learner_spec, learner_specs, pool
from omkl.config.learners import LearnerSpec
from omkl.config.parameters import value_text
from omkl.errors import UserError, suggest
from omkl.paths import extensions

SUFFIX = {"classification": "Classifier", "regression": "Regressor", "novelty": "NoveltyDetector"}
USUAL_POOL = "paper16"
CALIBRATION = "calibration"  # argument of classifiers whose scores are no probabilities
INTERVAL = "interval"  # argument of regressors
CLASS_WEIGHT = "class_weight"  # argument of classifiers whose step has a size
WEIGHTLESS = "its step has no size that a weight could multiply"
METHODS = {
    "fit",
    "partial_fit",
    "predict",
    "score",
    "decision_function",
    "predict_proba",
    "predict_log_proba",
    "predict_interval",
}  # hyperparameters cannot be called so


SCALED = {"scale": ("online", "ranks"), "target": ("online",)}  # arguments beside None


class Argument(NamedTuple):
    """An argument of a constructor: its default and its meaning."""

    default: Any
    help: str


def class_name(learner: str, task: str) -> str:
    """Return the name of a learner's estimator: that of ``norma_novelty`` is ``NormaNoveltyDetector``."""
    name_parts = re.sub(rf"_{task}$", "", learner).split("_")
    return "".join(word[:1].upper() + word[1:] for word in name_parts) + SUFFIX[task]


def estimator_specs() -> dict[str, tuple[LearnerSpec, str]]:
    """Return learner and task of every estimator by name. Raises UserError where two would have one name."""
    return _known(tuple(extensions()))


@cache
def _known(folders: tuple[Path, ...]) -> dict[str, tuple[LearnerSpec, str]]:
    estimators: dict[str, tuple[LearnerSpec, str]] = {}
    for spec in learner_specs().values():
        for task in [] if spec.estimator else spec.tasks:
            name = class_name(spec.name, task)
            if name in estimators:
                raise UserError(
                    f"{spec.name} and {estimators[name][0].name} both give the estimator {name}; rename one"
                )
            estimators[name] = (spec, task)
    return estimators


def listed_learners() -> dict[str, LearnerSpec]:
    """Return the learners of the estimators that a list holds, by name: no paper's variant, no Dummy."""
    return {name: spec for name, (spec, _) in estimator_specs().items() if spec.listed}


def no_such_estimator(module: str, name: str) -> AttributeError:
    """Return the error for a name that a module of estimators does not have."""
    return AttributeError(f"{module} has no estimator '{name}'{suggest(name, estimator_specs())}")


def make_class(
    name: str,
    bases: Mapping[str, type],
    module: str,
    seed: str = "random_state",
    of_classes: Mapping[str, Argument] | None = None,
    calibrated: bool = False,
) -> type:
    """Return the estimator of this name as a subclass of the base for its task.

    module: where it is imported from, so that pickle finds it; seed: name of that argument; of_classes:
    further arguments where it takes more than two classes; calibrated: whether its scores become
    probabilities if nothing is said. Raises UserError for an unknown name.
    """
    if name not in estimator_specs():
        raise UserError(f"there is no estimator '{name}'{suggest(name, estimator_specs())}")
    spec, task = estimator_specs()[name]
    parameters = arguments(spec, task, seed)
    if calibrated and CALIBRATION in parameters:
        parameters[CALIBRATION] = parameters[CALIBRATION]._replace(default="platt")
    if of_classes and task == "classification" and spec.takes(3):
        parameters |= of_classes
    base = bases.get(f"weighted {task}", bases[task]) if spec.weight else bases[task]
    body = {
        "__init__": _constructor(name, parameters, spec),
        "__doc__": _help(spec, task, parameters, str(getattr(base, "attributes", ""))),
        "__module__": module,
        "__qualname__": name,
        "learner": spec.name,
        "task": task,
    }
    return type(name, (base,), body)


def argument_name(hyperparameter: str) -> str:
    """Return the argument of a hyperparameter: its name, but ``NAME_by`` where NAME is a method."""
    return f"{hyperparameter}_by" if hyperparameter in METHODS else hyperparameter


def arguments(spec: LearnerSpec, task: str, seed: str = "random_state") -> dict[str, Argument]:
    """Return the arguments of a learner's estimator by name."""
    parameters: dict[str, Argument] = {}
    if spec.kernels == "pool":
        usual = spec.usual_pool or USUAL_POOL
        text = f"kernel pool: a name ({usual}: {pool(usual)['label']}), a list of kernels, or a mapping"
        parameters["pool"] = Argument(usual, f"{text} of normalise and kernels")
    for name, parameter in spec.hyperparameters.items():
        value = spec.usual(task)[name]
        default = value_text(value) if isinstance(value, dict) else value
        default = tuple(default) if isinstance(default, list) else default  # no caller can change it
        parameters[argument_name(name)] = Argument(default, f"{parameter.help}; {_domain(parameter.domain)}")
    if "scale" not in parameters and not spec.scales:
        text = (
            "'online': features are scaled with the mean and deviation of the rows seen so far; "
            "'ranks': with their ranks among the last 300 rows"
        )
        parameters["scale"] = Argument(None, f"{text}; None: as they are")
    if "target" not in parameters and task == "regression":
        text = "'online': targets are scaled with those seen so far; predictions stay in their units"
        parameters["target"] = Argument(None, f"{text}; None: as they are")
    if task == "classification" and not spec.probabilities:
        text = "'platt' turns the scores into probabilities by online Platt scaling; None: there are none"
        parameters[CALIBRATION] = Argument(None, text)
    if task == "regression":
        text = "share of the targets that intervals are to hold, such as 0.9, by adaptive conformal inference"
        parameters[INTERVAL] = Argument(None, f"{text}; None: there are none")
    if task == "classification" and spec.weight and seed == "random_state":
        text = (
            "a mapping of classes to weights, which multiply those of rows, 1 for others; 'balanced' in fit"
        )
        parameters[CLASS_WEIGHT] = Argument(None, f"{text}: n_samples / (n_classes * count of the class)")
    if any(resource.counts_rounds for resource in spec.state.values()):
        first = "the rows of fit, or of the first partial_fit" if seed == "random_state" else "one"
        text = f"rounds of the whole stream; None: {first}"
        parameters["rounds"] = Argument(None, text)
    text = (
        "seed of the learner's own random numbers, as numpy.random.default_rng takes it; None for fresh ones"
    )
    parameters[seed] = Argument(None, text if spec.stochastic else "not used: the learner draws no numbers")
    return parameters


def _domain(domain: Any) -> str:
    if isinstance(domain, list):
        return "one of " + ", ".join(value_text(choice) for choice in domain)
    kernel = "a kernel such as 'gaussian(sigma=1)', or a mapping such as {'kind': 'gaussian', 'sigma': 1}"
    return {"kernel": kernel, "budget": "a whole number ≥ 1", "bool": "True or False"}.get(
        domain, f"in {domain}"
    )


def _constructor(name: str, takes: dict[str, Argument], spec: LearnerSpec) -> Callable[..., None]:
    def __init__(self: Any, **given: Any) -> None:
        for word in given.keys() - takes.keys():
            why = suggest(word, takes)
            if word == CLASS_WEIGHT and self.task == "classification":
                why = ": learn_one takes the weight of a row, w=" if spec.weight else f": {WEIGHTLESS}"
            if word == "scale" and spec.scales:
                why = f": {spec.label} scales the features by itself"
            raise TypeError(f"{name} has no argument '{word}'{why}")
        for key, argument in takes.items():
            setattr(self, key, given.get(key, argument.default))

    kind = inspect.Parameter.KEYWORD_ONLY
    parameters = [inspect.Parameter(key, kind, default=argument.default) for key, argument in takes.items()]
    first = inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)
    __init__.__signature__ = inspect.Signature([first, *parameters])  # type: ignore[attr-defined]
    __init__.__doc__ = "Keep the arguments; they are checked when the first rows come."
    return __init__


def _help(spec: LearnerSpec, task: str, takes: dict[str, Argument], attributes: str) -> str:
    lines = [f"{spec.label} for {task}: {spec.cite}.", "", f"The learner ``algo={spec.name}`` of omkl.", ""]
    lines += ["Parameters", "----------"]
    for key, argument in takes.items():
        lines += [f"{key} : default={argument.default!r}", f"    {argument.help}"]
    return "\n".join([*lines, "", attributes])


def has_probabilities(estimator: Any) -> bool:
    """Whether an estimator has probabilities: its learner's own, or asked for with an argument."""
    by_itself = learner_spec(estimator.learner).probabilities
    return estimator.task == "classification" and (
        by_itself or getattr(estimator, CALIBRATION, None) is not None
    )


def has_intervals(estimator: Any) -> bool:
    """Whether a regressor was asked for intervals."""
    return getattr(estimator, INTERVAL, None) is not None
