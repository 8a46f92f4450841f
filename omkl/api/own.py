"""`omkl.learner` and `omkl.kernel`: a learner with settings of its own, and a Python function as a kernel."""

import hashlib
import inspect
import json
import math
import os
from collections.abc import Callable
from dataclasses import dataclass, field, fields, replace
from types import FunctionType
from typing import Any, cast

from omkl.api.call import setting_of
from omkl.api.kernel_text import PRODUCTS, ROWS, defaults_of, lines_of, module_text
from omkl.api.learner_help import of_tasks
from omkl.api.results import Shown
from omkl.config import members_of
from omkl.config.kernel_kinds import check_kernel
from omkl.config.learners import STACK, STACKS
from omkl.config.members import tasks_of_members
from omkl.config.parameters import is_range, value_text
from omkl.config.words import Setting, setting_of_words
from omkl.engine.compile_faults import LINES
from omkl.errors import UserError, show, suggest
from omkl.files import replacing
from omkl.others.copies import with_params
from omkl.others.traits import Refit, is_estimator, last_step
from omkl.paths import EXTENSIONS, cache_folder, extensions
from omkl.reports.table import Table

_FOLDER = "own-kernels"  # in the cache


@dataclass(frozen=True, repr=False)
class ChosenLearner(Setting, Shown):
    """A learner with settings of its own, as `omkl.run(algo=[...])` takes it.

    In a notebook it is the table of its hyperparameters, with their values, domains and meanings.
    model: the estimator where it is one    several: the values of its parameters that have some, or where
    `tune` looks for them
    """

    model: Any = field(default=None, compare=False)
    several: dict[str, Any] = field(default_factory=dict)
    inner = frozenset(
        {
            "fits",
            "identity",
            "is_for",
            "kernel_pool",
            "kernels",
            "notes",
            "per_data",
            "scaling",
            "spec",
            "stored",
        }
        | {"task"}
    )
    __str__ = Setting.__str__

    def __repr__(self) -> str:
        return f"omkl.learner: {self}"

    def report_table(self) -> Table:
        """Return the table of the hyperparameters."""
        rows = [
            {
                "hyperparameter": name,
                "value": of_tasks(self.params.get(name, parameter.value)),
                "default": of_tasks(parameter.value),
                "domain": _domain(parameter.domain),
                "meaning": parameter.help,
            }
            for name, parameter in self.spec.hyperparameters.items()
        ] or [{"parameter": name, "value": of_tasks(value)} for name, value in self.params.items()]
        spec = self.spec
        more = [f"label {self.label}"] if self.label else []
        more += [f"for {', '.join(self.data)}"] if self.data else []
        more += [f"pool {self.pool['name']}"] if self.pool else []
        title = f"{spec.label}, {spec.cite}; {', '.join(spec.tasks)}"
        return Table.of(rows, shared="; ".join([title, *more]))


def learner(name: Any, *, pool: Any = None, label: str | None = None, **params: Any) -> ChosenLearner:
    """Return a learner with settings of its own.

    Parameters
    ----------
    name
        The learner's name or label, such as ``"alma"`` or ``"OMKC(D,D)"``; `learners` lists all. Or an
        estimator with ``partial_fit`` or ``learn_one``, or what `refit` returns.
    pool
        The name of its pool of kernels, for a learner that runs on one; or a kernel, or a list of kernels.
    label
        Its name in tables and figures.
    params
        Hyperparameters by name, such as ``C=1.0``; a kernel as ``"gaussian(sigma=2)"`` or as a mapping. Of an
        estimator its own parameters: a value; a list of values, for `sweep` and `tune`; or where `tune` is to
        look, such as ``"log 1e-5 0.1"``.

    Raises
    ------
    omkl.errors.UserError
        For an unknown learner, hyperparameter or pool, and for a value out of its domain.
    """
    model = name if is_estimator(name) else None
    if model is None:
        setting = setting_of_words(name, params, pool=pool, label=label)
        return ChosenLearner(**{part.name: getattr(setting, part.name) for part in fields(setting)})
    if pool:
        raise UserError(f"pool=...: {type(model).__name__} is of another package, and has no kernel pool")
    several = {key: value for key, value in params.items() if isinstance(value, list) or is_range(value)}
    with_params(model, dict.fromkeys(several))
    model = with_params(model, {key: value for key, value in params.items() if key not in several})
    setting = setting_of(model, label)
    own = {part.name: getattr(setting, part.name) for part in fields(setting)}
    return ChosenLearner(**own, model=model, several=several)


def refit(model: Any, *, grow: float = 1.1, window: int | None = 10_000, first: int = 2) -> Refit:
    """Return an estimator with ``fit`` and ``predict`` as a learner that is fitted again as rows come.

    It is fitted in each round from the first row of a second class to 100 rows (numbers: from the second
    row), then whenever the rows have grown by a factor. In each round it predicts with its last fit; before
    the first one, the most frequent class or the mean so far.

    Parameters
    ----------
    model
        An estimator of scikit-learn, or of another package with its interface, such as
        ``RandomForestClassifier()``; also a pipeline.
    grow
        The factor; 1 fits in every round.
    window
        How many of the last rows it is fitted on; None for all.
    first
        The fewest rows of a fit, for an estimator that asks for more than two.

    Raises
    ------
    omkl.errors.UserError
        For a model without ``fit`` and ``predict``, a factor below 1, and fewer than 2 rows.

    Examples
    --------
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> forest = omkl.refit(RandomForestClassifier(n_estimators=10))
    >>> results = omkl.run(algo=["perceptron", forest], data="wdbc", reps=1, yardsticks=[])
    >>> results.table["label"].tolist()
    ['Perceptron', 'RandomForestClassifier, refitted (scikit-learn)']
    """
    if inspect.isclass(model):
        raise UserError(f"omkl.refit takes an object, such as {model.__name__}(...), got the class")
    if not hasattr(model, "fit"):  # some have predict only after it
        raise UserError(
            f"omkl.refit takes an estimator with fit and predict, got {type(model).__name__}; what has "
            "learn_one learns row by row without it"
        )
    last = last_step(model)
    tags = last.__sklearn_tags__() if hasattr(last, "__sklearn_tags__") else None
    kind = getattr(tags, "estimator_type", None)
    if hasattr(last, "transform") and not hasattr(last, "predict") and kind is None:
        name = type(last).__name__
        raise UserError(f"omkl.refit takes an estimator with fit and predict; {name} only transforms")
    if isinstance(grow, bool) or not isinstance(grow, int | float) or not 1.0 <= grow < math.inf:
        raise UserError(f"omkl.refit: grow must be a number ≥ 1, got {show(grow)}")
    for name, value, also in (("window", window, "None or "), ("first", first, "")):
        if value is None and also:
            continue
        if isinstance(value, bool) or not isinstance(value, int) or value < 2:
            raise UserError(f"omkl.refit: {name} must be {also}a whole number ≥ 2, got {show(value)}")
    return Refit(model, float(grow), window, first)


def stack(*members: Any, label: str | None = None) -> ChosenLearner:
    """Return a stack: a learner that learns, online, how much each member says.

    It is for classes or for numbers, as its members and the data are.

    Parameters
    ----------
    members
        Learners: names or words such as ``"krls_t(noise=0.1, scale=online)"``, what `learner` and `stack`
        return, and estimators with ``partial_fit`` or ``learn_one``. A stack, such as ``"auto"``, stands for
        its members.
    label
        Its name in tables and figures.

    Raises
    ------
    omkl.errors.UserError
        For a member that cannot be one, and for members of different tasks.
    """
    words: list[Any] = []
    for member in members:
        estimator = getattr(member, "model", None) if isinstance(member, Setting) else member
        if is_estimator(estimator):
            object_setting = setting_of(estimator)
            words.append({"kind": object_setting.learner, **object_setting.params})
        else:
            words.append(str(replace(member, label=None)) if isinstance(member, Setting) else member)
    stack_setting = setting_of_words(STACK, {"members": words}, label=label)
    if tasks_of_members(stack_setting.params["members"]) == {"regression"}:
        stack_setting = replace(stack_setting, learner=STACKS["regression"])
    members_of(stack_setting.spec, stack_setting.params)
    return ChosenLearner(**{part.name: getattr(stack_setting, part.name) for part in fields(stack_setting)})


def _domain(domain: Any) -> str:
    return ", ".join(map(value_text, domain)) if isinstance(domain, list) else str(domain)


# ------------------------------------------------------------------ kernels


class OwnKernel(dict):
    """A kernel of one's own, as `omkl.run` and `omkl.learner` take it; a call gives it other parameters."""

    def __call__(self, **parameters: Any) -> "OwnKernel":
        """Return the kernel with these parameters. Raises UserError for one that is unknown or not right."""
        given = {name: value for name, value in self.items() if name != "source"}
        return _checked({**given, **parameters})


def kernel(
    function: Callable[..., float],
    *,
    domains: dict[str, str] | None = None,
    semidefinite: str = "yes",
    negative: bool = True,
    **defaults: Any,
) -> OwnKernel:
    """Return a kernel that is a Python function, for pools and learners of this process and its workers.

    The function is compiled. Its text is kept in a folder of the cache, which is added to OMKL_PATH, and its
    hash is part of the keys of cells. Calling this again with another function of the name replaces it.

    Parameters
    ----------
    function
        A function of ``product, norm2, other_norm2``, the dot product and the squared norms of two vectors,
        or of ``indices, values, other_indices, other_values``, their non-zeros, and of its parameters. It may
        use modules, functions of modules, and numbers from outside.
    domains
        The domains of its parameters as conf files write them, such as ``{"sigma": "(0, inf)"}``; a parameter
        without a domain may be any number.
    semidefinite
        ``"yes"``, or a remark on a kernel that is not positive semidefinite.
    negative
        Whether it takes features that are negative.
    defaults
        The parameters with their usual values; a list is one number for each feature.

    Raises
    ------
    omkl.errors.UserError
        For a function whose text cannot be found, or that uses something that cannot be written down, and for
        a parameter, value or domain that is not right.

    Examples
    --------
    >>> def cauchy(product, norm2, other_norm2, sigma):
    ...     return 1.0 / (1.0 + (norm2 + other_norm2 - 2.0 * product) / sigma**2)
    >>> cauchy = omkl.kernel(cauchy, sigma=1.0)
    >>> pool = {"pool.kernels": [cauchy(sigma=s) for s in (10, 100)]}
    >>> omkl.run("algo=omkc_ss data=wdbc reps=1 yardsticks=[]", **pool).table["m"].tolist()
    [2]
    """
    function = cast(FunctionType, getattr(function, "py_func", function))
    text = module_text(function)
    name = function.__name__
    defaults = defaults_of(function) | defaults
    _check_parameters(function, defaults, domains)
    content: dict[str, Any] = {}
    for name_of_parameter, value in defaults.items():
        usual = "numbers" if isinstance(value, list) else "(-inf, inf)"
        content[name_of_parameter] = {
            "value": value,
            "domain": (domains or {}).get(name_of_parameter, usual),
            "help": "a parameter",
        }
    about = {"formula": (inspect.getdoc(function) or name).splitlines()[0], "semidefinite": semidefinite}
    content["about"] = {**about, "negative": negative}
    conf = json.dumps(content, indent=1)  # which is YAML too
    digest = hashlib.sha256(f"{text}\0{conf}".encode()).hexdigest()[:16]
    folder = cache_folder() / _FOLDER / f"{name}-{digest}"
    for path, written in ((f"kernels/{name}.py", text), (f"conf/kernel/{name}.yaml", conf)):
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        if not (folder / path).is_file():
            with replacing(folder / path) as file:
                file.write(written.encode())
    with replacing(folder / LINES) as file:  # which may have moved
        file.write(json.dumps(lines_of(function)).encode())
    earlier = [other for other in extensions() if other.parent.name == _FOLDER]
    earlier = [other for other in earlier if other.name.rpartition("-")[0] == name]  # of this name
    others = [str(other) for other in extensions() if other not in earlier]
    before = os.environ.get(EXTENSIONS, "")
    os.environ[EXTENSIONS] = os.pathsep.join([*others, str(folder)])
    try:
        own_kernel = _checked({"kind": name})
    except UserError as error:
        os.environ[EXTENSIONS] = before  # the folder would be a mistake in every later call
        where = str(folder / f"conf/kernel/{name}.yaml")
        raise UserError(str(error).replace(where, f"omkl.kernel({name})").replace("about.", "")) from None
    return own_kernel


def _check_parameters(function: FunctionType, defaults: dict[str, Any], domains: Any) -> None:
    """Raise UserError where a function's own parameters and the given ones are not the same."""
    where, names = f"omkl.kernel({function.__name__})", list(inspect.signature(function).parameters)
    start = next((len(first) for first in (PRODUCTS, ROWS) if tuple(names[: len(first)]) == first), 0)
    if not start:
        forms = f"{', '.join(PRODUCTS)} or {', '.join(ROWS)}"
        raise UserError(f"{where}: the first arguments must be {forms}, got {', '.join(names) or 'none'}")
    parameters = names[start:]
    if not isinstance(domains, dict | None):
        raise UserError(
            f"{where}: domains must be a mapping such as {{'sigma': '(0, inf)'}}, got {show(domains)}"
        )
    for key in (*defaults, *(domains or {})):
        if key not in parameters:
            has = f"; it has {', '.join(parameters) or 'none'}"
            raise UserError(
                f"{where}: the function has no parameter '{key}'{suggest(key, parameters) or has}"
            )
    for key in parameters:
        if key not in defaults:
            raise UserError(f"{where}: {key} has no usual value; give one, such as {key}=1.0")


def _checked(given: dict[str, Any]) -> OwnKernel:
    try:
        return OwnKernel(check_kernel(given))
    except ValueError as error:
        raise UserError(str(error)) from None
