"""The object of a learner that is an estimator, made anew for a pass, and checked against the data."""

import inspect
from collections.abc import Mapping
from typing import Any

from omkl import conf
from omkl.config.learners import LearnerSpec
from omkl.errors import UserError, suggest
from omkl.others.adapters import adapter
from omkl.others.copies import fresh
from omkl.others.learnable import learnable
from omkl.others.modules import estimator_class
from omkl.others.names import Names
from omkl.others.objects import ObjectSpec
from omkl.others.traits import SEEDS, Refit, says_parameters, takes_many


def check_names(spec: ObjectSpec, params: Mapping[str, Any], dataset: Any) -> None:
    """Raise UserError for parameters of an object that name classes or columns which it does not see."""
    model = learnable(spec.object_of(params), f"algo={spec.name}")
    classes = 0 if dataset.task == "regression" else dataset.n_classes
    adapter(model, f"algo={spec.name}", dataset.d, classes, spec.sparse, Names.of(dataset))


def make_estimator(spec: LearnerSpec, params: Mapping[str, Any], seed: int, classes: int = 2) -> Any:
    """Return a new object of the estimator. Raises UserError, with the YAML's name, where there is none.

    classes: their number; many are an error where the estimator says that it is for two
    """
    if isinstance(spec, ObjectSpec):
        return learnable(spec.fresh(params, seed), f"algo={spec.name}")
    where, target = conf.file("algo", spec.name), estimator_class(spec)
    arguments = inspect.signature(target).parameters
    any_name = any(one.kind is inspect.Parameter.VAR_KEYWORD for one in arguments.values())
    for name in [] if any_name else params.keys() - arguments.keys():
        raise UserError(f"{where}: {spec.estimator} has no argument '{name}'{suggest(name, arguments)}")
    seeds = [name for name in SEEDS if name in arguments and name not in params]
    try:
        model = target(**params, **dict.fromkeys(seeds[:1], seed % 2**32))
    except (ImportError, TypeError, ValueError) as error:  # the first of a package that its function imports
        raise UserError(f"{where}: {spec.estimator}: {error}") from None
    if says_parameters(model):
        model = fresh(model, seed)
    model = learnable(Refit(model) if spec.refit else model, f"{where}: {spec.estimator}")
    if classes > 2 and not takes_many(model):
        raise UserError(f"{where}: {spec.estimator} is for two classes, the data have {classes}")
    return model
