"""The kinds of kernels: those of the engine, those of conf/kernel and of a user's folder, sums and products.

A kernel is a mapping, ``{kind: gaussian, sigma: 1}``. In canonical form every parameter is there, in its
type. One whose values a file decides, the function of a user's folder or a Gram matrix, also has ``source``,
the beginning of that file's sha256: so it is part of the key of a cell.

{kind: sum, kernels: [...], weights: [2, 0.5]}    weights are 1 where none are given
{kind: product, kernels: [...]}
{kind: precomputed, file: gram.npy}               row t of the data is row t of the matrix
"""

import ast
import hashlib
import itertools
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from omkl import conf
from omkl.config import domains
from omkl.errors import UserError, show, suggest, with_article
from omkl.paths import gram_file, kernel_file
from omkl.schema import Check, checked

SUM, PRODUCT, PRECOMPUTED, SOURCE = "sum", "product", "precomputed", "source"
COMBINED = (SUM, PRODUCT)
GAUSSIAN = "gaussian"
# Of these, frequencies of random features are drawn from a spectrum in closed form: omkl/engine/features.py.
FEATURES = (GAUSSIAN, "laplacian", "matern32", "rational_quadratic", "ard", "periodic_each")
AUTO = "auto"  # a parameter that is set from the data's ranges
DEEPEST = 5  # levels of sums and products


@dataclass(frozen=True)
class KernelKind:
    """A kind as KINDS of omkl/engine/kernels.py, or conf/kernel/NAME.yaml, says.

    parameters: the check of each and its default, None where it must be given
    either: those of which exactly one is given    lists: those that are a list of numbers
    formula, cite, semidefinite: for tables: what it computes, by whom, and whether, or when, it is positive
    semidefinite    negative: whether features may be negative
    """

    name: str
    parameters: dict[str, tuple[Check, Any]]
    either: list[str] = field(default_factory=list)
    lists: list[str] = field(default_factory=list)
    formula: str = ""
    cite: str = ""
    semidefinite: str = "yes"
    negative: bool = True


_ABOUT: dict[str, Check] = {
    "formula": domains.domain_check("text"),
    "cite": domains.domain_check("text"),
    "semidefinite": domains.domain_check("text"),
    "negative": domains.domain_check("bool"),
}


_FORMULAS = {  # of the engine's own: what it computes, and whether it is positive semidefinite
    "gaussian": ("exp(-r² / 2 sigma²) = exp(-gamma r²), r = ‖x - x'‖", "yes"),
    "polynomial": ("(scale x·x' + coef0)^degree", "yes"),
    "linear": ("x·x'", "yes"),
    "laplacian": ("exp(-r / sigma)", "yes"),
    "matern32": ("(1 + √3 r / sigma) exp(-√3 r / sigma)", "yes"),
    "rational_quadratic": ("(1 + r² / 2 alpha sigma²)^-alpha", "yes"),
    "periodic": ("exp(-2 sin²(π r / period) / length²)", "for one feature; for several use periodic_each"),
}


@cache
def _native() -> dict[str, KernelKind]:
    """The engine's own: KINDS and EITHER of engine/kernels.py, read without importing numba (0.3 s)."""
    tree = ast.parse((Path(__file__).parents[1] / "engine" / "kernels.py").read_text(encoding="utf-8"))
    written = {}
    for node in tree.body:
        target = node.targets[0] if isinstance(node, ast.Assign) else None
        if isinstance(node, ast.Assign) and isinstance(target, ast.Name) and target.id in ("KINDS", "EITHER"):
            written[target.id] = ast.literal_eval(node.value)
    made = {}
    for kind, parameters in written["KINDS"].items():
        own = {name: (domains.domain_check(form), default) for name, (form, default) in parameters.items()}
        formula, semidefinite = _FORMULAS[kind]
        made[kind] = KernelKind(
            kind, own, written["EITHER"].get(kind, []), formula=formula, semidefinite=semidefinite
        )
    return made


def kinds() -> list[str]:
    """Return the names of all kinds, the engine's first; sums, products and given matrices are last.

    Raises UserError for a file that has the name of one of these.
    """
    own, reserved = conf.options("kernel"), [*_native(), PRECOMPUTED, *COMBINED]
    for name in set(own).intersection(reserved):
        raise UserError(f"{conf.file('kernel', name)}: the kind '{name}' is one of omkl's; rename the file")
    return [*_native(), *own, PRECOMPUTED, *COMBINED]


def kernel_kinds() -> list[KernelKind]:
    """Return all kinds that have parameters of their own, those of omkl and of the folders."""
    return [kernel_kind(name) for name in kinds() if name not in (PRECOMPUTED, *COMBINED)]


_known: dict[str, tuple[dict, KernelKind]] = {}  # content, what was made of it


def kernel_kind(name: str) -> KernelKind:
    """Return a kind that is no sum, product or given matrix. Raises UserError for a faulty file."""
    if name in _native():
        return _native()[name]
    content = conf.read("kernel", name)
    if name not in _known or _known[name][0] is not content:
        _known[name] = content, _read(name, content)
    return _known[name][1]


def _read(name: str, content: dict) -> KernelKind:
    from omkl.config.parameters import parameters

    where = conf.file("kernel", name)
    about = content.get("about")
    if not isinstance(about, dict):
        raise UserError(f"{where}: the mapping 'about' is missing")
    values = checked(about, _ABOUT, where, ["formula"], "about.")
    own = parameters(content, where)
    for reserved in own.keys() & {"kind", SOURCE, "kernels", "weights", "file"}:
        raise UserError(f"{where}: a parameter cannot be named '{reserved}'")
    lists = [key for key, one in own.items() if str(one.domain).startswith("numbers")]
    return KernelKind(name, {key: (one.check, one.value) for key, one in own.items()}, lists=lists, **values)


def source(kind: str) -> str:
    """Return what tells a folder's kernel from others of its name, empty for one of ours."""
    if kind in _native() or conf.of_omkl("kernel", kind):
        return ""
    path = kernel_file(kind)
    stat = path.stat()
    return _hash(path, stat.st_mtime_ns, stat.st_size)


@cache
def _hash(path: Path, *changed: int) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()[:16]


def leaves(kernels: Iterable[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
    """Yield the kernels that others are sums and products of."""
    for kernel in kernels:
        if kernel["kind"] in COMBINED:
            yield from leaves(kernel["kernels"])
        else:
            yield kernel


# ------------------------------------------------------------------ text


def kernel_of_text(text: str) -> dict[str, Any] | None:
    """Return the kernel that tables print as ``gaussian(sigma=8)`` or ``linear``, None for other text."""
    match = re.fullmatch(r"\s*([A-Za-z_0-9]+)\s*(?:\((.*)\))?\s*", text)
    if not match or match[1] not in kinds():
        return None
    kernel: dict[str, Any] = {"kind": match[1]}
    for part in filter(str.strip, re.split(r",(?![^\[]*\])", match[2] or "")):
        name, _, value = map(str.strip, part.partition("="))
        listed = value.startswith("[") and value.endswith("]")
        kernel[name] = list(map(_number, value[1:-1].split(","))) if listed else _number(value)
    return kernel


def _number(text: str) -> Any:
    text = text.strip()
    try:
        return int(text) if text.isdigit() else float(text)
    except ValueError:
        return text


# ------------------------------------------------------------------ checks


def check_kernel(value: Any) -> dict[str, Any]:
    """Return one kernel in canonical form: kind first, every parameter present, numbers in their type.

    Raises ValueError that says what would be right.
    """
    return _checked(value, 0)


def _checked(value: Any, depth: int) -> dict[str, Any]:
    if isinstance(value, str):
        value = kernel_of_text(value) or value
    if not isinstance(value, dict):
        example = "a kernel such as '{kind:gaussian,sigma:1}'"
        raise ValueError(f"must be {example}, got {show(value)}{_quoting(value)}")
    kind = value.get("kind")
    if not isinstance(kind, str) or kind not in kinds():
        hint = suggest(kind, kinds()) if isinstance(kind, str) else ""
        said = f"unknown kernel kind {show(kind)}" if "kind" in value else "a kernel needs a kind"
        raise ValueError(f"{said}{hint}; kinds are {', '.join(kinds())}")
    given = {name: part for name, part in value.items() if name not in ("kind", SOURCE)}
    if kind in COMBINED:
        return _combined(kind, given, depth)
    if kind == PRECOMPUTED:
        kernel, own = _precomputed(given)
    else:
        kernel, own = _plain(kernel_kind(kind), given), source(kind)
    if value.get(SOURCE, own) != own:
        what = f"the file of {kernel['file']}" if kind == PRECOMPUTED else f"kernels/{kind}.py"
        raise ValueError(f"{what} has changed since: its source was {show(value[SOURCE])}, and is now {own}")
    return kernel | ({SOURCE: own} if own else {})


def _plain(kind: KernelKind, given: dict[str, Any]) -> dict[str, Any]:
    known, one_of = kind.parameters, kind.either
    _check_names(kind.name, given, known)
    if one_of and len(given.keys() & set(one_of)) != 1:
        count = "both" if given.keys() & set(one_of) else "neither"
        one = f"exactly one of {' and '.join(one_of)}"
        raise ValueError(f"{with_article(kind.name)} kernel takes {one}, got {count}")
    kernel: dict[str, Any] = {"kind": kind.name}
    for name, (check, default) in known.items():
        if name in given:
            try:
                kernel[name] = check(given[name])
            except ValueError as error:
                raise ValueError(f"{name} of {with_article(kind.name)} kernel {error}") from None
        elif default is not None:
            kernel[name] = default
        elif name not in one_of:
            raise ValueError(f"{with_article(kind.name)} kernel needs {name}")
    return kernel


def _check_names(kind: str, given: Iterable[str], known: Iterable[str]) -> None:
    for name in [name for name in given if name not in known]:
        raise ValueError(
            f"{with_article(kind)} kernel has no {show(name)}{suggest(str(name), known)}; "
            f"it has {' and '.join(known) or 'no parameters'}"
        )


def _combined(kind: str, given: dict[str, Any], depth: int) -> dict[str, Any]:
    _check_names(kind, given, ("kernels", "weights") if kind == SUM else ("kernels",))
    parts = given.get("kernels")
    if not isinstance(parts, list) or len(parts) < 2:
        raise ValueError(f"a {kind} needs kernels, a list of two or more, got {show(parts)}")
    if depth == DEEPEST:
        raise ValueError(f"a {kind} is nested too deeply: at most {DEEPEST} levels")
    kernel: dict[str, Any] = {"kind": kind, "kernels": []}
    for number, part in enumerate(parts, 1):
        try:
            kernel["kernels"].append(_checked(part, depth + 1))
        except ValueError as error:
            raise ValueError(f"kernel {number} of the {kind}: {error}") from None
    if kind == SUM:
        weights = given.get("weights", [1.0] * len(parts))
        try:
            kernel["weights"] = domains.domain_check("numbers")(weights)
        except ValueError as error:
            raise ValueError(f"weights of a sum {error}") from None
        if len(kernel["weights"]) != len(parts) or min(kernel["weights"]) <= 0:
            raise ValueError(
                f"a sum of {len(parts)} kernels needs that many weights > 0, got {show(weights)}"
            )
    return kernel


def _precomputed(given: dict[str, Any]) -> tuple[dict[str, Any], str]:
    _check_names(PRECOMPUTED, given, ("file",))
    file = given.get("file")
    if not isinstance(file, str) or not file:
        raise ValueError(f"a precomputed kernel needs file, the path of a Gram matrix, got {show(file)}")
    try:
        path = gram_file(file)
        stat = path.stat()
        return {"kind": PRECOMPUTED, "file": file}, _hash(path, stat.st_mtime_ns, stat.st_size)
    except UserError as error:
        raise ValueError(str(error)) from None
    except OSError as error:
        raise ValueError(f"{file}: cannot be read: {error.strerror}") from None


def check_kernels(value: Any) -> list[dict[str, Any]]:
    """Return a pool's list of kernels in canonical form: a list in place of a number is a kernel per item.

    Raises ValueError that says what would be right.
    """
    if not isinstance(value, list) or not value:
        example = "a list of kernels such as '[{kind:linear}]'"
        raise ValueError(f"must be {example}, got {show(value)}{_quoting(value)}")
    kernels = []
    for number, entry in enumerate(value, 1):
        written = entry if isinstance(entry, dict) else {}
        axes = [items_of(written, name) for name in written]
        try:
            for name, axis in zip(written, axes, strict=True):
                if not axis:
                    raise ValueError(f"{name} is an empty list")
            for items in itertools.product(*axes):
                kernels.append(check_kernel(dict(zip(written, items, strict=True)) if written else entry))
        except ValueError as error:
            raise ValueError(f"kernel {number} of the list: {error}") from None
    return kernels


def items_of(kernel: Mapping[str, Any], name: str) -> list[Any]:
    """Return the values of a parameter as a pool writes it, one for each kernel: usually a single one.

    What is a list in one kernel, such as the scales of its features, is a list of lists in several.
    """
    value, kind = kernel[name], kernel.get("kind")
    if not isinstance(value, list):
        return [value]
    if kind in COMBINED or not isinstance(kind, str) or kind not in kinds():
        return [value]
    if kind != PRECOMPUTED and name in kernel_kind(kind).lists:
        return value if value and isinstance(value[0], list) else [value]
    return value


def is_one(kernel: Any) -> bool:
    """Whether this is one kernel, not a list of several in short."""
    if not isinstance(kernel, dict) or isinstance(kernel.get("kind"), list):
        return False
    if kernel.get("kind") in COMBINED:
        parts = kernel.get("kernels")
        return isinstance(parts, list) and all(map(is_one, parts))
    return all(
        not isinstance(part, list) or items_of(kernel, name) == [part] for name, part in kernel.items()
    )


def _quoting(value: Any) -> str:
    is_expanded = isinstance(value, str) and ":" in value
    return "; quote the braces, the shell expands them" if is_expanded else ""


domains.WORDS |= {"kernel": check_kernel, "kernels": check_kernels}
