"""Kernels as they are written in conf and on the command line: checks and canonical form."""

import itertools
import math
from typing import Any

from omkl.config import domains
from omkl.errors import suggest

# kind -> its parameters: (domain, default); a parameter without default must be given
_POSITIVE, _NOT_NEGATIVE = domains.parse("(0, inf)"), domains.parse("[0, inf)")
KINDS: dict[str, dict[str, tuple[domains.Domain, float | None]]] = {
    "gaussian": {"sigma": (_POSITIVE, None), "gamma": (_POSITIVE, None)},
    "polynomial": {
        "degree": (domains.parse("int [1, 1000]"), None),  # computed by so many products
        "scale": (_POSITIVE, 1.0),
        "coef0": (_NOT_NEGATIVE, 0.0),
    },
    "linear": {},
    "laplacian": {"sigma": (_POSITIVE, None)},
}


def check_kernel(value: Any) -> dict[str, Any]:
    """Return one kernel in canonical form: kind first, every parameter present, numbers in their type.

    Gaussian: exp(-||x - x'||^2 / (2 sigma^2)) = exp(-gamma ||x - x'||^2), exactly one of sigma and gamma.
    Laplacian: exp(-||x - x'|| / sigma). Polynomial: (scale x.x' + coef0)^degree. Linear: x.x'.
    Raises ValueError that says what would be right.
    """
    if not isinstance(value, dict):
        hint = "; quote the braces, the shell expands them" if isinstance(value, str) and ":" in value else ""
        raise ValueError(
            f"must be a kernel such as '{{kind:gaussian,sigma:1}}', is {domains.show(value)}{hint}"
        )
    kind = value.get("kind")
    if not isinstance(kind, str) or kind not in KINDS:
        hint = suggest(kind, KINDS) if isinstance(kind, str) else ""
        said = f"unknown kernel kind {domains.show(kind)}" if "kind" in value else "a kernel needs a kind"
        raise ValueError(f"{said}{hint}; kinds are {', '.join(KINDS)}")
    known = KINDS[kind]
    for name in value.keys() - {"kind"} - known.keys():
        raise ValueError(
            f"a {kind} kernel has no {domains.show(name)}{suggest(str(name), known)}; "
            f"it has {' and '.join(known) or 'no parameters'}"
        )
    if kind == "gaussian" and len(value.keys() & known.keys()) != 1:
        raise ValueError(f"a gaussian kernel takes exactly one of sigma and gamma, has {_given(value)}")
    kernel: dict[str, Any] = {"kind": kind}
    for name, (domain, default) in known.items():
        if name in value:
            try:
                kernel[name] = domain.check(value[name])
            except ValueError as error:
                raise ValueError(f"{name} of a {kind} kernel {error}") from None
        elif default is not None:
            kernel[name] = default
        elif kind != "gaussian":
            raise ValueError(f"a {kind} kernel needs {name}")
    _check_rate(kernel)
    return kernel


def _given(value: dict) -> str:
    return "both" if {"sigma", "gamma"} <= value.keys() else "neither"


def _check_rate(kernel: dict[str, Any]) -> None:
    """Refuse a width so extreme that 1/(2 sigma^2) or 1/sigma is 0 or infinite in double precision."""
    sigma = kernel.get("sigma")
    if sigma is None:
        return
    scale = 2.0 * sigma * sigma if kernel["kind"] == "gaussian" else sigma
    if not (0.0 < scale < math.inf and 0.0 < 1.0 / scale < math.inf):
        raise ValueError(f"sigma of a {kernel['kind']} kernel is beyond double precision: {sigma!r}")


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
            f"must be a list of kernels such as '[{{kind:linear}}]', is {domains.show(value)}{hint}"
        )
    kernels = []
    for number, entry in enumerate(value, 1):
        try:
            kernels += expand(entry)
        except ValueError as error:
            raise ValueError(f"kernel {number} of the list: {error}") from None
    return kernels
