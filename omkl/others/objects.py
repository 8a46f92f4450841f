"""Objects of a call as learners: what they are called, and what decides their results.

An object of scikit-learn's kind has ``get_params`` and ``partial_fit``, one of river's ``_get_params`` and
``learn_one``. What it has learnt does not count: each pass begins with a copy of the same parameters.
"""

import importlib.metadata
import inspect
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from omkl.config.learners import LearnerSpec, given
from omkl.config.parameters import Parameter, parse_search
from omkl.errors import OmklError, UserError
from omkl.others.copies import all_params, fresh, with_params
from omkl.others.identity import Identity, as_json, distributions, steps_of
from omkl.others.learnable import learnable
from omkl.others.traits import REFITTED, Refit, params_of, takes_many, tasks_of


@dataclass(frozen=True)
class ObjectSpec(LearnerSpec):
    """The objects of one class as a learner, whose parameters are those that are not the class's defaults.

    source: what decides results beside these parameters    packages: their versions, by name
    models: the objects, by their parameters as JSON
    is_kept: whether all code that decides results is known, so that the store keeps the cells
    """

    source: str = ""
    packages: dict[str, str] = field(default_factory=dict)
    models: dict[str, Any] = field(default_factory=dict)
    is_kept: bool = True

    def checked(self, params: Mapping[str, Any], *_: Any, **__: Any) -> dict[str, Any]:
        """Return the parameters, which the object's own class checks."""
        return dict(params)

    def check_versions(self) -> None:
        """Raise OmklError where a worker has another version of a package than the process that planned."""
        for name, version in self.packages.items():
            try:
                here = importlib.metadata.version(name)
            except importlib.metadata.PackageNotFoundError:
                here = "none"
            if here != version:
                raise OmklError(f"{self.label}: this worker has {name} {here}, and the command {version}")

    def object_of(self, params: Mapping[str, Any]) -> Any:
        """Return the object with these parameters. Raises UserError where this process does not have it."""
        model = self.models.get(as_json(params))
        if model is None and self.hyperparameters and self.models:  # what is searched has another value
            changed = {name: params[name] for name in self.hyperparameters}
            return with_params(next(iter(self.models.values())), changed)
        if model is None:
            raise UserError(f"the class {self.name} was defined again: give an object of it to this call")
        return model

    def fresh(self, params: Mapping[str, Any], seed: int) -> Any:
        """Return a copy of the object with these parameters that has learnt nothing.

        seed: where the object names none. Raises UserError for an object that this process does not have.
        """
        try:
            return fresh(self.object_of(params), seed)
        except (RuntimeError, TypeError, ValueError) as error:  # of a constructor that is not as usual
            raise UserError(f"algo={self.name}: {' '.join(str(error).split())}") from None


def spec_of(
    model: Any, occasion: str = "", several: Mapping[str, Any] = {}
) -> tuple[ObjectSpec, dict[str, Any]]:
    """Return the learner of an object's class, and the object's parameters; this process then knows both.

    occasion: what tells the cells of one call from others where the store does not keep them
    several: where to look for parameters, as `search` of a learner's file says it, or lists of values; None
    for one that another setting has another value of
    Raises UserError for what does not learn row by row, or does not say its parameters.
    """
    if inspect.isclass(model):
        raise UserError(f"algo={model.__name__} is a class: give an object, {model.__name__}(...)")
    learns = learnable(model, f"algo={type(model).__name__}")
    refit = model if isinstance(model, Refit) else None
    estimator = refit.model if refit else model
    kind = type(estimator)
    if params_of(estimator) is None:
        raise UserError(
            f"algo={kind.__name__} does not say its parameters, which are part of the keys of results: "
            "derive it from sklearn.base.BaseEstimator or river.base.Base"
        )
    steps = [type(step) for _, step in steps_of(estimator)] if hasattr(estimator, "steps") else []
    classes = steps or [kind]
    names = [each.__name__ for each in classes]
    name = "+".join(names) + (".refit" if refit else "")
    identity = Identity(name)
    tasks, params = tasks_of(estimator), identity.params(estimator)
    if refit:
        params |= {f"refit_{key}": value for key, value in refit.changed().items()}
    homes = dict.fromkeys(identity.named(each) for each in (kind, *classes))
    homes |= dict.fromkeys([REFITTED] if refit else [])
    source, top = (
        identity.text(*homes, "" if identity.is_kept else occasion),
        kind.__module__.partition(".")[0],
    )
    package = ", ".join(distributions().get(top, []))
    label = " | ".join(names) + (", refitted" if refit else "")
    hyperparameters = {}
    for key, where in several.items():
        params[key] = identity.value(all_params(model)[key], key)  # also where it is the default
        if where is None:
            continue
        try:
            search = parse_search(where, "", lambda value: value, params[key], tasks)
        except ValueError as error:
            raise UserError(f"algo={name}: {key}: {error}") from None
        hyperparameters[key] = Parameter(params[key], "", "a parameter of the object", search)
    spec = _known(
        ObjectSpec(
            hyperparameters=hyperparameters,
            name=f"{top}.{name}" if package else name,
            function=name,
            label=label + (f" ({package})" if package else ""),
            cite=package or kind.__module__,
            tasks=tasks,
            kernels="none",
            revision=1,
            classes="many" if takes_many(learns) else "two",
            estimator=f"{kind.__module__}:{kind.__qualname__}",
            source=source,
            packages=identity.packages,
            is_kept=identity.is_kept,
        )
    )
    spec.models[as_json(params)] = model
    return spec, params


def _known(spec: ObjectSpec) -> ObjectSpec:
    """Return the spec of that name and source that this process knows, or this one, which it then knows."""
    before = given.get(spec.name)
    searching = bool(spec.hyperparameters or getattr(before, "hyperparameters", None))
    if isinstance(before, ObjectSpec) and before.source == spec.source and not searching:
        return before
    given[spec.name] = spec
    return spec
