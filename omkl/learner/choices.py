"""A learner's choices as compiled code takes them: each is a constant of its module, looked up by name.

The choice ``loss: eps`` is the constant ``LOSS_EPS``, or ``EPS``, of the learner's module, else of the
engine's modules whose functions it uses. The order of the choices in conf/algo does not matter.
"""

import math
import re
from collections.abc import Mapping
from typing import Any

from omkl.errors import UserError


def codes(compiled: Any, name: str, choices: list, learner: str) -> dict[str, int]:
    """Return the constants that stand for the words among the choices of a hyperparameter.

    compiled: the learner's function; name: of the hyperparameter; choices: its domain in conf/algo; learner:
    whose file that is. Raises UserError where a choice has no constant, or two choices have the same.
    """
    numbers: dict[str, int] = {}
    where = f"conf/algo/{learner}.yaml: {name}.domain"
    for choice in (choice for choice in choices if isinstance(choice, str)):
        code = _constant(compiled.py_func.__globals__, name, choice)
        names = " or ".join(_names(name, choice))
        module = compiled.py_func.__module__
        if code is None:
            raise UserError(
                f"{where}: the compiled code does not know '{choice}': "
                f"{module} has no constant {names}; remove the choice, or write the constant and its code"
            )
        if code in numbers.values():
            twin = next(other for other, known in numbers.items() if known == code)
            raise UserError(
                f"{where}: '{twin}' and '{choice}' are the same number, "
                f"{code}, in {module}; give each constant its own"
            )
        numbers[choice] = code
    return numbers


def _constant(own: Mapping[str, Any], name: str, choice: str) -> int | None:
    """Return the constant in a module's names, else in those of the compiled functions that it uses."""
    helpers = [used.py_func.__globals__ for used in own.values() if hasattr(used, "py_func")]
    for scope in (own, *helpers):
        for constant in _names(name, choice):
            if type(scope.get(constant)) is int:
                return scope[constant]
    return None


def _names(name: str, choice: str) -> list[str]:
    word = re.sub(r"\W+", "_", choice).upper()
    return [f"{name.upper()}_{word}", word]


def compiled_value(value: Any, domain: Any, constants: Mapping[str, int]) -> float | int | bool:
    """Return a hyperparameter as compiled code takes it: a choice as its constant, null as nan.

    Its type is that of the domain, whatever the value, so that all settings share one compiled version.
    constants: of the domain's choices, see ``codes``.
    """
    if isinstance(value, str):
        return constants[value]
    if value is None:
        return math.nan
    if not is_number(domain):
        return value
    return int(value) if domain.startswith("int") and not domain.endswith("null") else float(value)


def is_number(domain: Any) -> bool:
    """Whether the values of a domain are numbers of an interval (or null)."""
    return isinstance(domain, str) and domain.startswith(("(", "[", "int "))
