"""Parameters as a conf file declares them, each one block of value, domain and help.

Used for the hyperparameters of a learner, the options of an executor and the keys of config.yaml alike:

beta:
  value: 0.8
  domain: "(0, 1]"
  help: "discount of a kernel's weight after its mistake"
"""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from omkl.config import domains
from omkl.config.search import Parsed, parse
from omkl.errors import UserError
from omkl.schema import Check, checked
from omkl.tasks import by_task

_REQUIRED = ("value", "domain", "help")
_PARTS: dict[str, Check] = dict.fromkeys((*_REQUIRED, "search"), lambda value: value)


@dataclass(frozen=True)
class Parameter:
    """One parameter: its checked default, its domain as written (see domains.py), and what it means.

    The default of a learner's hyperparameter may be a value for each task,
    ``{regression: squared, classification: logistic}``. A learner's may say where `omkl tune` looks for
    it (see search.py).
    """

    value: Any
    domain: Any
    help: str
    search: Parsed | None = None

    def check(self, value: Any) -> Any:
        """Return a value in canonical form. Raises ValueError that says what would be right."""
        return domains.parse(self.domain)(value)


def parameters(
    content: dict, where: Path, tasks: Iterable[str] = (), searched: bool = False
) -> dict[str, Parameter]:
    """Return the parameters of a conf file by name: all its keys but ``about``.

    tasks: a value may be a mapping with one for each of these. searched: whether a block
    may have an entry ``search``. Raises UserError that names file and key where a part is missing or unknown,
    or the value is out of its domain.
    """
    blocks = {name: block for name, block in content.items() if name != "about"}
    return {name: _parameter(name, block, where, list(tasks), searched) for name, block in blocks.items()}


def _parameter(name: str, block: Any, where: Path, tasks: list[str], searched: bool) -> Parameter:
    if not isinstance(block, dict):
        raise UserError(f"{where}: {name}: must be a block of value, domain and help")
    known = _PARTS if searched else {key: _PARTS[key] for key in _REQUIRED}
    checked(block, known, where, _REQUIRED, f"{name}.")
    value = block["value"]
    try:
        check = domains.parse(block["domain"])
        if tasks and by_task(value):
            if value.keys() != set(tasks):
                raise ValueError(f"must be one value, or one for each of {', '.join(tasks)}")
            value = {task: check(value[task]) for task in tasks}
        else:
            value = check(value)
        entry = block.get("search")
        looked = None if entry is None else parse(entry, block["domain"], check, value, tasks)
    except ValueError as error:
        raise UserError(f"{where}: {name}: {error}") from None
    return Parameter(value, block["domain"], str(block["help"]), looked)
