"""A learner's hyperparameters and records as its compiled function takes them."""

import math
from collections.abc import Mapping
from functools import cache
from typing import Any

from omkl.engine.choices import Choice
from omkl.engine.records import Record
from omkl.errors import UserError


def kinds_of_records(learns: Any, state: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of a learner's function that its annotations say are records of resources."""
    return {
        name: kind
        for name, kind in learns.__annotations__.items()
        if isinstance(kind, type) and issubclass(kind, Record) and name not in state
    }


def check_choices(compiled: Any, name: str, choices: list, learner: str) -> None:
    """Raise UserError where the compiled code knows fewer words of a domain than all but one.

    compiled: the learner's function; name: of the hyperparameter; choices: its domain in conf/algo; learner:
    whose file that is. Code that compares with every word but one takes that one for what is left.
    """
    told_apart = [choice for choice in choices if isinstance(choice, str)]
    unknown = [word for word in told_apart if word not in _words(compiled.py_func)]
    if len(unknown) > 1:
        raise UserError(
            f"conf/algo/{learner}.yaml: {name}.domain: the compiled code does not know "
            f"{' and '.join(map(repr, unknown))}: {compiled.py_func.__module__} compares with none of them; "
            "remove the choices, or write their code (one may be what is left)"
        )


@cache
def _words(function: Any) -> frozenset[str]:
    """Return the texts in a function's module and in the modules of the compiled functions that it uses."""
    space = function.__globals__
    modules = [space, *(used.py_func.__globals__ for used in space.values() if hasattr(used, "py_func"))]
    return frozenset(
        constant
        for module in modules
        for used in module.values()
        if hasattr(used, "py_func")
        for constant in used.py_func.__code__.co_consts
        if isinstance(constant, str)
    )


def compiled_value(value: Any, domain: Any) -> float | int | bool | Choice:
    """Return a hyperparameter as compiled code takes it: a word as a choice, null as nan.

    Its type is that of the domain, whatever the value, so that all settings share one compiled version.
    """
    if isinstance(value, str):
        return Choice(value)
    if value is None:
        return math.nan
    if not is_number_domain(domain):
        return value
    return int(value) if domain.startswith("int") and not domain.endswith("null") else float(value)


def is_number_domain(domain: Any) -> bool:
    """Whether the values of a domain are numbers of an interval (or null)."""
    return isinstance(domain, str) and domain.startswith(("(", "[", "int "))
