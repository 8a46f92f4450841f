"""Parameters as a conf file declares them, each one block of value, domain and help.

Used for the hyperparameters of a learner, the options of an executor and the keys of config.yaml alike:

beta:
  value: 0.8
  domain: "(0, 1]"
  help: "discount of a kernel's weight after its mistake"

The entry ``search`` of a block says where `omkl tune` looks:

search: log 1e-3 1e2                    a number between these, its logarithm uniform
search: linear 0.1 0.9                  a number between these, uniform
search: [hinge, logistic]               one of these
search: {sigma: median 0.0625 8}        a kernel's width, in median distances of the data's first rows
search: {regression: log 1e-5 0.1, classification: log 1e-6 0.01}     by task; one may be left out

A hyperparameter without the entry keeps its default. Numbers are rounded to three digits.

The entry ``budget: a`` names another hyperparameter: {budget: B} then stands for the number a T / B.
"""

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from omkl.config import domains
from omkl.config.settings_text import value_text
from omkl.errors import UserError
from omkl.schema import Check, canonical, checked
from omkl.tasks import TASKS, by_task, for_task

_RANGE = re.compile(r"(log|linear|median) +(\S+) +(\S+)")


@dataclass(frozen=True)
class Range:
    """Numbers from low to high, uniform or with a uniform logarithm."""

    low: float
    high: float
    log: bool
    whole: bool

    def __str__(self) -> str:
        return f"{'log' if self.log else 'linear'} {value_text(self.low)} to {value_text(self.high)}"

    def at(self, share: float) -> float | int:
        """Return the number at this share of the range, from 0 to 1."""
        low, high = (math.log(end) if self.log else end for end in (self.low, self.high))
        value = low + share * (high - low)
        rounded = float(f"{math.exp(value) if self.log else value:.3g}")
        value = min(max(rounded, self.low), self.high)
        return round(value) if self.whole else canonical(value)


@dataclass(frozen=True)
class Choices:
    """One of several values, each as likely."""

    values: tuple[Any, ...]

    def __str__(self) -> str:
        return ", ".join(map(value_text, self.values))

    def at(self, share: float) -> Any:
        """Return the value at this share of the list, from 0 to 1."""
        return self.values[min(int(share * len(self.values)), len(self.values) - 1)]


@dataclass(frozen=True)
class Widths:
    """Widths of a kernel between two multiples of a distance, their logarithm uniform.

    The distance is the median one of the data's first rows, so that what is searched fits the data's scale.
    part: of the kernel, sigma, or gamma = 1 / (2 sigma²)
    """

    multiples: Range
    part: str

    def __str__(self) -> str:
        low, high = self.multiples.low, self.multiples.high
        width = "" if self.part == "sigma" else ": widths"
        return f"{width} {value_text(low)} to {value_text(high)} times the median distance".strip()

    def at(self, share: float, median: float) -> float | int:
        """Return the kernel's parameter at this share of the range, from 0 to 1."""
        low, high = math.log(self.multiples.low), math.log(self.multiples.high)
        width = median * math.exp(low + share * (high - low))
        return canonical(float(f"{width if self.part == 'sigma' else 0.5 / width**2:.3g}"))


Form = Range | Choices | Widths
Parsed = dict[str, dict[str, Form]]  # by task, and by part of a kernel


def parse_search(
    written: Any, domain: Any, check: Check, default: Any, tasks: Iterable[str], name: str = ""
) -> Parsed:
    """Return where to look for a hyperparameter, for each of its learner's tasks.

    default: in canonical form, for each task where it depends on it    name: of the hyperparameter
    Raises ValueError that says what is wrong: every end of a range, and every choice, must be in the domain.
    """
    tasks = list(tasks)
    by_task = isinstance(written, Mapping) and bool(written) and written.keys() <= set(TASKS)
    if by_task and (others := written.keys() - set(tasks)):
        raise ValueError(f"search: the learner is not for {', '.join(sorted(others))}")
    made = {}
    for task in tasks:
        own = for_task({"own": default}, task)["own"]
        part = written.get(task) if by_task else written
        made[task] = {} if by_task and part is None else _forms(part, domain, check, own, name)
    return made


def texts(searched: Parsed) -> list[str]:
    """Return what is searched, once for all tasks that have the same: ``sigma log 0.0625 to 64``."""
    by_task = {
        task: "; ".join(f"{part} {form}".strip() for part, form in forms.items())
        for task, forms in searched.items()
    }
    if len(set(by_task.values())) == 1:
        return list(dict.fromkeys(by_task.values()))
    return [f"{text} ({task})" for task, text in by_task.items() if text]


def _forms(written: Any, domain: Any, check: Check, default: Any, name: str) -> dict[str, Form]:
    if not (isinstance(written, Mapping) and domain == "kernel"):
        return {"": _form(written, domain, check, name)}
    forms = {}
    for part, text in written.items():
        if part not in default:
            raise ValueError(f"search: the kernel {default['kind']} of the default has no {part}")
        whole = type(default[part]) is int

        def fits(value: Any, part: str = part) -> Any:
            return check({**default, part: value})[part]

        forms[part] = _form(text, "int" if whole else "", fits, part)
    return forms


def _form(written: Any, domain: Any, check: Check, name: str) -> Form:
    """Return where to look for a hyperparameter, or a part of a kernel, of this name."""
    if isinstance(written, list) and written:
        if domain == "kernel":
            return Choices(tuple(domains.domain_check("kernels")(written)))
        return Choices(tuple(_checked(value, check) for value in written))
    match = _RANGE.fullmatch(written.strip()) if isinstance(written, str) else None
    try:
        ends = [float(match[2]), float(match[3])] if match else []
    except ValueError:
        ends = []
    if not match or not ends or not all(map(math.isfinite, ends)):
        raise ValueError(f"search: {written!r} is not 'log LOW HIGH', 'linear LOW HIGH' or a list of values")
    if not ends[0] < ends[1] or (match[1] != "linear" and ends[0] <= 0):
        above = " and be above 0" * (match[1] != "linear")
        raise ValueError(f"search: {written!r}: the ends must ascend{above}")
    assert match is not None
    if match[1] == "median":
        if name not in ("sigma", "gamma"):
            raise ValueError(f"search: {written!r} is for the width of a kernel, sigma or gamma")
        widths = Widths(Range(ends[0], ends[1], True, False), name)
        for share in (0.0, 1.0):
            _checked(widths.at(share, 1.0), check)
        return widths
    whole = isinstance(domain, str) and domain.startswith("int")
    for end in ends:
        _checked(int(end) if whole and end.is_integer() else end, check)
    return Range(ends[0], ends[1], match[1] != "linear", whole)


def _checked(value: Any, check: Check) -> Any:
    try:
        return check(value)
    except ValueError as error:
        raise ValueError(f"search: {error}") from None


# ------------------------------------------------------------------ a block

_REQUIRED = ("value", "domain", "help")
_PARTS: dict[str, Check] = dict.fromkeys((*_REQUIRED, "search", "budget"), lambda value: value)


@dataclass(frozen=True)
class Parameter:
    """One parameter: its checked default, its domain as written (see domains.py), and what it means.

    The default of a learner's hyperparameter may be a value for each task,
    ``{regression: squared, classification: logistic}``. A learner's may say where `omkl tune` looks for
    it (``search``), and with which other one it follows from a budget (``budget``).
    """

    value: Any
    domain: Any
    help: str
    search: Parsed | None = None
    budget: str | None = None

    def check(self, value: Any) -> Any:
        """Return a value in canonical form. Raises ValueError that says what would be right."""
        return domains.domain_check(self.domain)(value)


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
        check = domains.domain_check(block["domain"])
        if tasks and by_task(value):
            if value.keys() != set(tasks):
                raise ValueError(f"must be one value, or one for each of {', '.join(tasks)}")
            value = {task: check(value[task]) for task in tasks}
        else:
            value = check(value)
        entry = block.get("search")
        looked = None if entry is None else parse_search(entry, block["domain"], check, value, tasks, name)
    except ValueError as error:
        raise UserError(f"{where}: {name}: {error}") from None
    return Parameter(value, block["domain"], str(block["help"]), looked, block.get("budget"))
