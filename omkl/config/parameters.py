"""Parameters as a conf file declares them, each one block of value, domain and help.

Used for the hyperparameters of a learner, the options of an executor and the keys of config.yaml alike:

beta:
  value: 0.8
  domain: "(0, 1]"
  help: "discount of a kernel's weight after its mistake"

A domain is one of those of domains.py, or

"kernel"     a kernel (kernels.py)
"budget"     vectors per kernel, or {match: LEARNER}, the size of another learner (budgets.py checks which)
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from omkl.config import domains
from omkl.config.kernels import check_kernel
from omkl.errors import UserError, suggest
from omkl.tasks import by_task

BUDGET = "a whole number ≥ 1, or {match: LEARNER} for the size that this learner has on the same streams"
_PARTS = ("value", "domain", "help")
_NUMBER = domains.parse("int [1, inf)")


@dataclass(frozen=True)
class Parameter:
    """One parameter: its checked default, its domain as written, and what it means.

    The default of a learner's hyperparameter may be a value for each task,
    ``{regression: squared, classification: logistic}``.
    """

    value: Any
    domain: Any
    help: str

    def check(self, value: Any) -> Any:
        """Return a value in canonical form. Raises ValueError that says what would be right."""
        return domain(self.domain).check(value)


def domain(form: Any) -> domains.Domain:
    """Return the domain written as in conf/algo. Raises ValueError when it cannot be read."""
    return domains.parse(form, _WORDS)


def parameters(content: dict, where: Path, tasks: Iterable[str] = ()) -> dict[str, Parameter]:
    """Return the parameters of a conf file by name: all its keys but ``about``.

    tasks: a value may be a mapping with one for each of these. Raises UserError that names file and key where
    a part is missing or unknown, or the value is out of its domain.
    """
    return {
        name: _parameter(name, block, where, list(tasks))
        for name, block in content.items()
        if name != "about"
    }


def _parameter(name: str, block: Any, where: Path, tasks: list[str]) -> Parameter:
    if not isinstance(block, dict):
        raise UserError(f"{where}: {name}: must be a block of value, domain and help")
    for key in block.keys() - set(_PARTS):
        raise UserError(f"{where}: unknown key '{name}.{key}'{suggest(str(key), _PARTS)}")
    for key in _PARTS:
        if key not in block:
            raise UserError(f"{where}: '{name}.{key}' is missing")
    value = block["value"]
    try:
        check = domain(block["domain"]).check
        value = _for_each_task(value, check, tasks) if by_task(value) and tasks else check(value)
    except ValueError as error:
        raise UserError(f"{where}: {name}: {error}") from None
    return Parameter(value, block["domain"], str(block["help"]))


def _for_each_task(values: dict, check: Callable[[Any], Any], tasks: list[str]) -> dict[str, Any]:
    """Return a default for each task, checked. Raises ValueError where a task has none, or one too many."""
    if values.keys() != set(tasks):
        raise ValueError(f"must be one value, or one for each of {', '.join(tasks)}")
    return {task: check(values[task]) for task in tasks}


def _budget(value: Any) -> int | dict[str, Any]:
    if not isinstance(value, dict):
        try:
            return _NUMBER.check(value)
        except ValueError as error:
            raise ValueError(f"{error}; or write {{match:bomkc_spa}}") from None
    if not isinstance(value.get("match"), str):
        raise ValueError(f"must be {BUDGET}, got {domains.show(value)}")
    return value


_WORDS: domains.Words = {
    "kernel": ("a kernel such as {kind: gaussian, sigma: 1}", check_kernel),
    "budget": (BUDGET, _budget),
}
