"""Hyperparameters and kernels as tables and messages print them, and as the words of a command."""

import json
import re
from collections.abc import Mapping
from typing import Any

_UNSHOWN = ("kind", "source")  # of a kernel
SCALING = ("scale", "target", "delay")  # what the store has among the hyperparameters, and is none


def identity(learner: str, params: Mapping[str, Any], pool: Mapping[str, Any] | None) -> str:
    """Return what makes two settings the same: learner, hyperparameters, and what the pool holds.

    As in the cell's key, the pool's name does not count.
    """
    kernels = {"normalise": pool["normalise"], "kernels": pool["kernels"]} if pool else None
    return json.dumps([learner, params, kernels], sort_keys=True)


def value_text(value: Any) -> str:
    """Return a hyperparameter's value as one would type it, a kernel as ``gaussian(sigma=1)``."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        short = f"{value:.6g}"
        return short if float(short) == value else repr(value)
    if isinstance(value, Mapping):
        inner = ", ".join(f"{k}={value_text(v)}" for k, v in value.items() if k not in _UNSHOWN)
        return f"{value['kind']}({inner})" if "kind" in value and inner else str(value.get("kind", inner))
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(value_text, value))}]"
    return str(value)


_PLAIN = re.compile(r"(?!(null|true|false|inf|nan)$)[a-z_][\w./-]*( [\w./-]+)*", re.ASCII | re.IGNORECASE)


def is_plain_text(text: str) -> bool:
    """Whether a text is read as itself where it is typed without quotes."""
    return _PLAIN.fullmatch(text) is not None


def quoted(text: str) -> str:
    """Return a text in quotes, as Hydra reads it: a backslash is one, except before a quote."""
    escaped = re.sub(r'(\\*)("|$)', lambda found: found[1] * 2 + ('\\"' if found[2] else ""), text)
    return f'"{escaped}"'


def typed(value: Any) -> str:
    """Return a value as one types it: texts in quotes where they need them, kernels as calls."""
    if isinstance(value, str):
        return value if is_plain_text(value) else quoted(value)
    if isinstance(value, Mapping):
        kind = value.get("kind")
        sign = ":" if kind is None else "="
        parts = [f"{name}{sign}{typed(part)}" for name, part in value.items() if name not in _UNSHOWN]
        inner = ("," if kind is None else ", ").join(parts)
        return f"{{{inner}}}" if kind is None else f"{kind}({inner})" if inner else str(kind)
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(typed, value))}]"
    return value_text(value)


def params_text(params: Mapping[str, Any]) -> str:
    """Return hyperparameters as ``beta=0.9 delta=0.1``."""
    return " ".join(f"{name}={value_text(value)}" for name, value in params.items())


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
    parts = []
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
        parts.append(f"{count}{kind}" + (f" ({', '.join(ranges)})" if ranges else ""))
    return ", ".join(parts)
