"""Parameters as a conf file declares them, each one block of value, domain and help.

Used for the hyperparameters of a learner, the parameters of a kernel, the options of an executor and the keys
of config.yaml alike:

beta:
  value: 0.8
  domain: "(0, 1]"
  help: "discount of a kernel's weight after its mistake"

The entry ``search`` of a block says where `omkl tune` looks:

search: log 1e-3 1e2                    a number between these, its logarithm uniform
search: linear 0.1 0.9                  a number between these, uniform
search: [hinge, logistic]               one of these
search: times 1 2.5 6                   one of these multiples of the default
search: {sigma: median 0.0625 8}        a kernel's width, in median distances of the rows seen
search: {regression: log 1e-5 0.1, classification: log 1e-6 0.01}     by task; one may be left out

A hyperparameter without the entry keeps its default. Numbers are rounded to three digits.

The entry ``budget: a`` names another hyperparameter: {budget: B} then stands for the number a T / B.

Below: hyperparameters and kernels as tables and messages print them, and as the words of a command.
"""

import json
import math
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from omkl.errors import UserError
from omkl.schema import Check, canonical, checked, domain_check
from omkl.tasks import by_task, for_task

WIDTH = "sigma"  # of a kernel, which may be given in medians


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
    """One of several values, each as likely; multiples: of the default, which are sizes."""

    values: tuple[Any, ...]
    multiples: bool = False

    def __str__(self) -> str:
        return ", ".join(map(value_text, self.values))

    def at(self, share: float) -> Any:
        """Return the value at this share of the list, from 0 to 1."""
        return self.values[min(int(share * len(self.values)), len(self.values) - 1)]


@dataclass(frozen=True)
class WidthRange:
    """Widths of a kernel between two multiples of the median distance, their logarithm uniform.

    part: of the kernel that they take the place of, sigma or gamma
    """

    multiples: Range
    part: str

    def __str__(self) -> str:
        low, high = self.multiples.low, self.multiples.high
        width = "" if self.part == "sigma" else ": widths"
        return f"{width} {value_text(low)} to {value_text(high)} times the median distance".strip()

    def at(self, share: float) -> str:
        """Return the width at this share of the range, from 0 to 1."""
        return f"{value_text(self.multiples.at(share))} median"


Form = Range | Choices | WidthRange
Parsed = dict[str, dict[str, Form]]  # by task, and by part of a kernel


def parse_search(
    written: Any, domain: Any, check: Check, default: Any, tasks: Iterable[str], name: str = ""
) -> Parsed:
    """Return where to look for a hyperparameter, for each of its learner's tasks.

    default: in canonical form, for each task where it depends on it    name: of the hyperparameter
    Raises ValueError that says what is wrong: every end of a range, and every choice, must be in the domain.
    """
    tasks, of_tasks = list(tasks), by_task(written)
    try:
        if of_tasks and (others := written.keys() - set(tasks)):
            raise ValueError(f"the learner is not for {', '.join(sorted(others))}")
        return {
            task: {}
            if of_tasks and written.get(task) is None
            else _forms(
                written[task] if of_tasks else written,
                domain,
                check,
                for_task({"own": default}, task)["own"],
                name,
            )
            for task in tasks
        }
    except ValueError as error:
        raise ValueError(f"search: {error}") from None


def texts(searched: Parsed) -> list[str]:
    """Return what is searched, once for all tasks that have the same: ``sigma log 0.0625 to 64``."""
    of_tasks = {
        task: "; ".join(f"{part} {form}".strip() for part, form in forms.items())
        for task, forms in searched.items()
    }
    if len(set(of_tasks.values())) == 1:
        return list(dict.fromkeys(of_tasks.values()))
    return [f"{text} ({task})" for task, text in of_tasks.items() if text]


def _forms(written: Any, domain: Any, check: Check, default: Any, name: str) -> dict[str, Form]:
    """Return where to look for a hyperparameter, or for each of the parts of its kernel that are written."""
    if not (isinstance(written, Mapping) and domain == "kernel"):
        return {"": _form(written, domain, check, name, default)}
    forms = {}
    for part, text in written.items():
        if part not in default:
            raise ValueError(f"the kernel {default['kind']} of the default has no {part}")

        def fits(value: Any, part: str = part) -> Any:
            return check(with_part(default, part, value))[WIDTH if isinstance(value, str) else part]

        forms[part] = _form(text, "int" if type(default[part]) is int else "", fits, part)
    return forms


def with_part(kernel: Mapping[str, Any], part: str, value: Any) -> dict[str, Any]:
    """Return a kernel with this value of a part; a width in medians takes the place of sigma or gamma."""
    rest = {name: number for name, number in kernel.items() if name != part}
    return {**rest, WIDTH: value} if isinstance(value, str) else {**kernel, part: value}


def _form(written: Any, domain: Any, check: Check, name: str, default: Any = None) -> Form:
    if isinstance(written, list) and written:
        values = domain_check("kernels")(written) if domain == "kernel" else map(check, written)
        return Choices(tuple(values))
    whole = isinstance(domain, str) and (domain.startswith("int") or domain == "budget")
    if times := re.fullmatch(r"times((?: +[0-9.]+)+)", str(written).strip()):
        multiples = [default * float(number) for number in times[1].split()]
        sizes = tuple(check(round(value) if whole else canonical(value)) for value in multiples)
        return Choices(sizes, multiples=True)
    kind, low, high = _ends(written)
    if kind == "median":
        if name not in ("sigma", "gamma"):
            raise ValueError(f"{written!r} is for the width of a kernel, sigma or gamma")
        widths = WidthRange(Range(low, high, True, False), name)
        for share in (0.0, 1.0):
            check(widths.at(share))
        return widths
    for end in (low, high):
        check(int(end) if whole and end.is_integer() else end)
    return Range(low, high, kind != "linear", whole)


def is_range(value: Any) -> bool:
    """Whether a value says where to look for numbers: ``"log LOW HIGH"`` or ``"linear LOW HIGH"``."""
    return isinstance(value, str) and re.fullmatch(r"(log|linear) +\S+ +\S+", value.strip()) is not None


def _ends(written: Any) -> tuple[str, float, float]:
    """Return the kind of a range, and its ends. Raises ValueError for anything else."""
    match = re.fullmatch(r"(log|linear|median) +(\S+) +(\S+)", str(written).strip())
    try:
        low, high = (float(match[2]), float(match[3])) if match else (math.nan, math.nan)
    except ValueError:
        low = math.nan
    if not match or not math.isfinite(low) or not math.isfinite(high):
        forms = "'log LOW HIGH', 'linear LOW HIGH', 'times 1 2.5 6' or a list of values"
        raise ValueError(f"{written!r} is not {forms}")
    if not low < high or (match[1] != "linear" and low <= 0):
        raise ValueError(
            f"{written!r}: the ends must ascend{' and be above 0' if match[1] != 'linear' else ''}"
        )
    return match[1], low, high


# ------------------------------------------------------------------ a block

_REQUIRED = ("value", "domain", "help")


@dataclass(frozen=True)
class Parameter:
    """One parameter: its checked default, its domain as written (see omkl/schema.py), and what it means.

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
        return domain_check(self.domain)(value)


def about_of(content: dict, where: Path) -> dict[str, Any]:
    """Return the mapping ``about`` of a conf file. Raises UserError where it is missing."""
    if not isinstance(content.get("about"), dict):
        raise UserError(f"{where}: the mapping 'about' is missing")
    about: dict[str, Any] = content["about"]
    return about


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
    keys = (*_REQUIRED, *(("search", "budget") if searched else ()))
    block = checked(block, dict.fromkeys(keys, lambda value: value), where, _REQUIRED, f"{name}.")
    value, entry = block["value"], block.get("search")
    try:
        check = domain_check(block["domain"])
        if tasks and by_task(value):
            if value.keys() != set(tasks):
                raise ValueError(f"must be one value, or one for each of {', '.join(tasks)}")
            value = {task: check(value[task]) for task in tasks}
        else:
            value = check(value)
        looked = None if entry is None else parse_search(entry, block["domain"], check, value, tasks, name)
    except ValueError as error:
        raise UserError(f"{where}: {name}: {error}") from None
    return Parameter(value, block["domain"], str(block["help"]), looked, block.get("budget"))


# ------------------------------------------------------------------ values as they are written

_UNSHOWN = ("kind", "source")  # of a kernel
# the store has them among the hyperparameters
SCALING = ("scale", "target", "delay", "calibration", "interval")


def identity(learner: str, params: Mapping[str, Any], pool: Mapping[str, Any] | None) -> str:
    """Return what makes two settings the same: learner, hyperparameters, and what the pool holds.

    As in the cell's key, the pool's name does not count.
    """
    kernels = {"normalise": pool["normalise"], "kernels": pool["kernels"]} if pool else None
    return json.dumps([learner, params, kernels], sort_keys=True)


def value_text(value: Any, number: Callable[[float], str] | None = None) -> str:
    """Return a hyperparameter's value as one would type it, a kernel as ``gaussian(sigma=1)``.

    number: the text of a float; None gives all its digits
    """
    if value is None:
        return "null"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return (number or _exact)(value)
    if isinstance(value, Mapping):
        inner = ", ".join(f"{k}={value_text(v, number)}" for k, v in value.items() if k not in _UNSHOWN)
        return f"{value['kind']}({inner})" if "kind" in value and inner else str(value.get("kind", inner))
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(value_text(one, number) for one in value)}]"
    return str(value)


def shown_text(value: Any) -> str:
    """Return a hyperparameter's value as tables and figures show it: a computed number in three digits."""
    return value_text(value, _short)


def _exact(value: float) -> str:
    text = f"{value:.6g}"
    return text if float(text) == value else repr(value)


def _short(value: float) -> str:
    text = f"{value:.6g}"  # what was typed, such as 0.9995, but for its rounding
    return text if math.isclose(float(text), value, rel_tol=1e-9) else f"{value:.3g}"


_PLAIN = re.compile(
    r"(?!(null|true|false|inf|nan)$)[a-z_][\w./-]*( [\w./-]+)*|\d[\w.]* median", re.ASCII | re.IGNORECASE
)


def is_plain_text(text: str) -> bool:
    """Whether a text is read as itself where it is typed without quotes."""
    return _PLAIN.fullmatch(text) is not None


def in_quotes(text: str) -> str:
    """Return a text in quotes, as Hydra reads it: a backslash is one, except before a quote."""
    escaped = re.sub(r'(\\*)("|$)', lambda found: found[1] * 2 + ('\\"' if found[2] else ""), text)
    return f'"{escaped}"'


def as_typed(value: Any) -> str:
    """Return a value as one types it: texts in quotes where they need them, kernels as calls."""
    if isinstance(value, str):
        return value if is_plain_text(value) else in_quotes(value)
    if isinstance(value, Mapping):
        kind = value.get("kind")
        sign = ":" if kind is None else "="
        items = [f"{name}{sign}{as_typed(part)}" for name, part in value.items() if name not in _UNSHOWN]
        inner = ("," if kind is None else ", ").join(items)
        return f"{{{inner}}}" if kind is None else f"{kind}({inner})" if inner else str(kind)
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(as_typed, value))}]"
    return value_text(value)


def params_text(params: Mapping[str, Any]) -> str:
    """Return hyperparameters as tables show them, ``beta=0.9 delta=0.1``."""
    return " ".join(f"{name}={shown_text(value)}" for name, value in params.items())


def word_text(key: str, value: Any) -> str:
    """Return the KEY=VALUE word of a plain value: lists bare (``a,b``), mappings in braces."""

    def typed(value: Any) -> str:
        if isinstance(value, (list, tuple)):
            return ",".join(map(typed, value)) if value else "[]"
        if isinstance(value, dict):
            return "{" + ",".join(f"{key}:{typed(part)}" for key, part in value.items()) + "}"
        return "null" if value is None else str(value).lower() if isinstance(value, bool) else str(value)

    return f"{key}={typed(value)}"


def kernels_text(kernels: list[dict[str, Any]]) -> str:
    """Return kernels in short: ``13 gaussian (sigma 0.015625 to 64), linear``."""
    texts = []
    for kind in dict.fromkeys(kernel["kind"] for kernel in kernels):
        same = [kernel for kernel in kernels if kernel["kind"] == kind]
        ranges = []
        for name in dict.fromkeys(key for kernel in same for key in kernel if key not in _UNSHOWN):
            values = [kernel[name] for kernel in same if name in kernel]
            if all(isinstance(value, int | float) for value in values):
                values = sorted(values)
                ends = f"{values[0]:.6g}" + (f" to {values[-1]:.6g}" if values[0] != values[-1] else "")
            else:
                ends = ", ".join(dict.fromkeys(map(value_text, values)))
            if (name, ends) not in (("scale", "1"), ("coef0", "0")):
                ranges.append(f"{name} {ends}")
        count = f"{len(same)} " if len(same) > 1 else ""
        texts.append(f"{count}{kind}" + (f" ({', '.join(ranges)})" if ranges else ""))
    return ", ".join(texts)
