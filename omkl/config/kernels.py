"""Kernels as they are written in conf and on the command line: checks and canonical form."""

import ast
import itertools
import re
from functools import cache
from pathlib import Path
from typing import Any

from omkl.config import domains
from omkl.errors import suggest

Parameters = dict[str, tuple[domains.Domain, float | None]]  # domain and default; None: must be given


@cache
def kinds() -> tuple[dict[str, Parameters], dict[str, list[str]]]:
    """Return the parameters of each kind of kernel, and for some kinds those of which exactly one is given.

    These are KINDS and EITHER of omkl/engine/kernels.py, read there without importing numba (0.3 s).
    """
    tree = ast.parse((Path(__file__).parents[1] / "engine" / "kernels.py").read_text(encoding="utf-8"))
    written = {}
    for node in tree.body:
        target = node.targets[0] if isinstance(node, ast.Assign) else None
        if isinstance(node, ast.Assign) and isinstance(target, ast.Name) and target.id in ("KINDS", "EITHER"):
            written[target.id] = ast.literal_eval(node.value)
    parsed = {
        kind: {name: (domains.parse(form), default) for name, (form, default) in parameters.items()}
        for kind, parameters in written["KINDS"].items()
    }
    return parsed, written["EITHER"]


def kernel_of_text(text: str) -> dict[str, Any] | None:
    """Return the kernel that tables print as ``gaussian(sigma=8)`` or ``linear``, None for other text."""
    match = re.fullmatch(r"\s*([a-z_0-9]+)\s*(?:\((.*)\))?\s*", text)
    if not match or match[1] not in kinds()[0]:
        return None
    kernel: dict[str, Any] = {"kind": match[1]}
    for part in filter(str.strip, (match[2] or "").split(",")):
        name, _, number = part.partition("=")
        try:
            kernel[name.strip()] = int(number) if number.strip().isdigit() else float(number)
        except ValueError:
            kernel[name.strip()] = number.strip()
    return kernel


def check_kernel(value: Any) -> dict[str, Any]:
    """Return one kernel in canonical form: kind first, every parameter present, numbers in their type.

    What each kind computes stands in omkl/engine/kernels.py. Raises ValueError that says what would be right.
    """
    if isinstance(value, str):
        value = kernel_of_text(value) or value
    if not isinstance(value, dict):
        hint = "; quote the braces, the shell expands them" if isinstance(value, str) and ":" in value else ""
        raise ValueError(
            f"must be a kernel such as '{{kind:gaussian,sigma:1}}', got {domains.show(value)}{hint}"
        )
    known_kinds, either = kinds()
    kind = value.get("kind")
    if not isinstance(kind, str) or kind not in known_kinds:
        hint = suggest(kind, known_kinds) if isinstance(kind, str) else ""
        said = f"unknown kernel kind {domains.show(kind)}" if "kind" in value else "a kernel needs a kind"
        raise ValueError(f"{said}{hint}; kinds are {', '.join(known_kinds)}")
    known, one_of = known_kinds[kind], either.get(kind, [])
    for name in value.keys() - {"kind"} - known.keys():
        raise ValueError(
            f"a {kind} kernel has no {domains.show(name)}{suggest(str(name), known)}; "
            f"it has {' and '.join(known) or 'no parameters'}"
        )
    if one_of and len(value.keys() & set(one_of)) != 1:
        given = "both" if value.keys() & set(one_of) else "neither"
        raise ValueError(f"a {kind} kernel takes exactly one of {' and '.join(one_of)}, has {given}")
    kernel: dict[str, Any] = {"kind": kind}
    for name, (domain, default) in known.items():
        if name in value:
            try:
                kernel[name] = domain.check(value[name])
            except ValueError as error:
                raise ValueError(f"{name} of a {kind} kernel {error}") from None
        elif default is not None:
            kernel[name] = default
        elif name not in one_of:
            raise ValueError(f"a {kind} kernel needs {name}")
    return kernel


def expand(value: Any) -> list[dict[str, Any]]:
    """Return the kernels that an entry stands for: a list in place of a number gives one kernel per item."""
    if not isinstance(value, dict):
        return [check_kernel(value)]
    axes = [item if isinstance(item, list) else [item] for item in value.values()]
    for name, axis in zip(value, axes, strict=True):
        if not axis:
            raise ValueError(f"{name} is an empty list")
    return [check_kernel(dict(zip(value, items, strict=True))) for items in itertools.product(*axes)]


def check_kernels(value: Any) -> list[dict[str, Any]]:
    """Return a pool's list of kernels, expanded and in canonical form; raises ValueError."""
    if not isinstance(value, list) or not value:
        hint = "; quote the braces, the shell expands them" if isinstance(value, str) and ":" in value else ""
        raise ValueError(
            f"must be a list of kernels such as '[{{kind:linear}}]', got {domains.show(value)}{hint}"
        )
    kernels = []
    for number, entry in enumerate(value, 1):
        try:
            kernels += expand(entry)
        except ValueError as error:
            raise ValueError(f"kernel {number} of the list: {error}") from None
    return kernels
