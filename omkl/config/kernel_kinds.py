"""Kernels and pools of them: the kinds, of the engine, of conf/kernel and of a user's folder, and conf/pool.

A kernel is a mapping, ``{kind: gaussian, sigma: 1}``. In canonical form every parameter is there, in its
type. One whose values a file decides, the function of a user's folder or a Gram matrix, also has ``source``,
the beginning of that file's sha256: so it is part of the key of a cell.

{kind: precomputed, file: gram.npy}    row t of the data is row t of the matrix

A width sigma may be a text such as ``0.5 median``: half the median distance of the rows that the learner has
seen, see `omkl.rounds.widths`.
"""

import ast
import hashlib
import itertools
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from omkl import conf, schema
from omkl.config.parameters import WIDTH, about_of, parameters, value_text
from omkl.errors import UserError, show, suggest, with_article
from omkl.files import hash_of, sources
from omkl.paths import gram_file, kernel_file
from omkl.schema import Check, Text, as_dataclass, checked, domain_check, wrong

PRECOMPUTED, SOURCE = "precomputed", "source"
COMBINED = ("sum", "product")  # what is no kind: see docs/kernels.md
GAUSSIAN = "gaussian"
# Of these, frequencies of random features are drawn from a spectrum in closed form: omkl/engine/features.py.
FEATURES = (GAUSSIAN, "laplacian", "matern32", "rational_quadratic", "ard", "periodic_each")
AUTO = "auto"  # a parameter that is set from the data's ranges
AS_GIVEN = "kernels as given"  # the label of a pool without a name
LEAST_WIDTH, LARGEST_WIDTH = 1e-100, 1e100  # of one given so, whatever the distances
_IN_MEDIANS = re.compile(r"(\d+(?:\.\d*)?(?:e[-+]?\d+)?|\.\d+) +median", re.IGNORECASE)


@dataclass(frozen=True)
class KernelKind:
    """A kind as KINDS of omkl/engine/kernels.py, or conf/kernel/NAME.yaml, says.

    parameters: the check of each and its default, None where it must be given
    formula, cite, semidefinite: for tables: what it computes, by whom, and whether, or when, it is positive
    semidefinite    negative: whether features may be negative
    either: those of which exactly one is given    lists: those that are a list of numbers
    """

    name: str
    parameters: dict[str, tuple[Check, Any]]
    formula: Text
    cite: Text = ""
    semidefinite: Text = "yes"
    negative: bool = True
    either: list[str] = field(default_factory=list)
    lists: list[str] = field(default_factory=list)


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
    written = {
        node.targets[0].id: ast.literal_eval(node.value)
        for node in tree.body
        if isinstance(node, ast.Assign)
        and isinstance(node.targets[0], ast.Name)
        and node.targets[0].id in ("KINDS", "EITHER")
    }
    native = {}
    for kind, given in written["KINDS"].items():
        checks = {name: (domain_check(form), default) for name, (form, default) in given.items()}
        formula, semidefinite = _FORMULAS[kind]
        either = written["EITHER"].get(kind, [])
        native[kind] = KernelKind(kind, checks, formula, semidefinite=semidefinite, either=either)
    return native


def kinds() -> list[str]:
    """Return the names of all kinds, the engine's first; given matrices are last.

    Raises UserError for a file that has the name of one of these.
    """
    further, reserved = conf.options("kernel"), [*_native(), PRECOMPUTED]
    for name in set(further).intersection(reserved):
        raise UserError(f"{conf.file('kernel', name)}: the kind '{name}' is one of omkl's; rename the file")
    return [*_native(), *further, PRECOMPUTED]


def kernel_kinds() -> list[KernelKind]:
    """Return all kinds that have parameters of their own, those of omkl and of the folders."""
    return [kernel_kind(name) for name in kinds() if name != PRECOMPUTED]


def kernel_kind(name: str) -> KernelKind:
    """Return a kind that is no given matrix. Raises UserError for a faulty file."""
    return _native().get(name) or conf.made_of("kernel", name, _kind_of)


def needs_stored_rows(kernels: list[dict[str, Any]]) -> bool:
    """Whether some kernel needs the rows as they are: their numbers, or features that are not negative."""
    kinds = {kernel["kind"] for kernel in kernels}
    return any(kind == PRECOMPUTED or not kernel_kind(kind).negative for kind in kinds)


def _kind_of(name: str, content: dict[str, Any]) -> KernelKind:
    where = conf.file("kernel", name)
    about, declared = about_of(content, where), parameters(content, where)
    more: dict[str, Any] = {
        "parameters": {key: (one.check, one.value) for key, one in declared.items()},
        "lists": [key for key, one in declared.items() if str(one.domain).startswith("numbers")],
    }
    kernel_kind: KernelKind = as_dataclass(KernelKind, about, where, "about.", name=name, either=[], **more)
    for reserved in declared.keys() & {"kind", SOURCE, "file"}:
        raise UserError(f"{where}: a parameter cannot be named '{reserved}'")
    return kernel_kind


def kernel_source(kind: str) -> str:
    """Return what tells a folder's kernel from others of its name, empty for one of ours.

    It is a hash of its module and of those that this imports.
    """
    if kind in _native() or conf.of_omkl("kernel", kind):
        return ""
    return hash_of(sources(kernel_file(kind)))


def _hash_of(path: Path) -> str:
    stat = path.stat()
    return _hash(path, stat.st_mtime_ns, stat.st_size)


@cache
def _hash(path: Path, *changed: int) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()[:16]


# ------------------------------------------------------------------ a kernel


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


def check_kernel(value: Any) -> dict[str, Any]:
    """Return one kernel in canonical form: kind first, every parameter present, numbers in their type.

    Raises ValueError that says what would be right.
    """
    if isinstance(value, str):
        value = kernel_of_text(value) or value
    if not isinstance(value, dict):
        raise wrong("a kernel such as '{kind:gaussian,sigma:1}'", value, _quoting(value))
    kind, kind_names = value.get("kind"), kinds()
    if kind in COMBINED:
        raise ValueError(f"a {kind} of kernels is a function of your own that returns it: docs/kernels.md")
    if kind not in kind_names:
        hint = suggest(kind, kind_names) if isinstance(kind, str) else ""
        said = f"unknown kernel kind {show(kind)}" if "kind" in value else "a kernel needs a kind"
        raise ValueError(f"{said}{hint}; kinds are {', '.join(kind_names)}")
    given = {name: part for name, part in value.items() if name not in ("kind", SOURCE)}
    if kind == PRECOMPUTED:
        kernel, kernel_hash = _precomputed(given)
    else:
        kernel, kernel_hash = _plain(kernel_kind(kind), given), kernel_source(kind)
    if value.get(SOURCE, kernel_hash) != kernel_hash:
        what = f"the file of {kernel['file']}" if kind == PRECOMPUTED else f"kernels/{kind}.py"
        raise ValueError(
            f"{what} has changed since: its source was {show(value[SOURCE])}, and is now {kernel_hash}"
        )
    return kernel | ({SOURCE: kernel_hash} if kernel_hash else {})


def _plain(kind: KernelKind, given: dict[str, Any]) -> dict[str, Any]:
    _check_names(kind.name, given, kind.parameters)
    if kind.either and len(given.keys() & set(kind.either)) != 1:
        count = "both" if given.keys() & set(kind.either) else "neither"
        one = f"exactly one of {' and '.join(kind.either)}"
        raise ValueError(f"{with_article(kind.name)} kernel takes {one}, got {count}")
    kernel: dict[str, Any] = {"kind": kind.name}
    for name, (check, default) in kind.parameters.items():
        if name in given:
            try:
                kernel[name] = _in_medians(name, given[name], check) or check(given[name])
            except ValueError as error:
                raise ValueError(f"{name} of {with_article(kind.name)} kernel {error}") from None
        elif default is not None:
            kernel[name] = default
        elif name not in kind.either:
            raise ValueError(f"{with_article(kind.name)} kernel needs {name}")
    return kernel


def _in_medians(name: str, value: Any, check: Check) -> str | None:
    """Return a width in medians in canonical form, None for any other value of a parameter."""
    found = _IN_MEDIANS.fullmatch(value.strip()) if name == WIDTH and isinstance(value, str) else None
    if found is None and "median" in str(value):
        raise ValueError(f"in medians is written as in '0.5 median', got {show(value)}")
    return f"{value_text(check(float(found[1])))} median" if found else None


def in_medians(kernels: Iterable[Mapping[str, Any]]) -> bool:
    """Whether a kernel has a width in medians."""
    return any(isinstance(kernel.get(WIDTH), str) for kernel in kernels)


def with_median(pool: Mapping[str, Any], distance: float) -> dict[str, Any]:
    """Return a pool whose widths in medians are multiples of this distance."""

    def of(kernel: Mapping[str, Any]) -> dict[str, Any]:
        width = kernel.get(WIDTH)
        if not isinstance(width, str):
            return dict(kernel)
        sigma = float(width.split()[0]) * distance
        return {**kernel, WIDTH: min(max(sigma, LEAST_WIDTH), LARGEST_WIDTH)}

    return {**pool, "kernels": list(map(of, pool["kernels"]))}


def _check_names(kind: str, given: Iterable[str], parameters: Iterable[str]) -> None:
    for name in [name for name in given if name not in parameters]:
        raise ValueError(
            f"{with_article(kind)} kernel has no {show(name)}{suggest(str(name), parameters)}; "
            f"it has {' and '.join(parameters) or 'no parameters'}"
        )


def _precomputed(given: dict[str, Any]) -> tuple[dict[str, Any], str]:
    _check_names(PRECOMPUTED, given, ("file",))
    file = given.get("file")
    if not isinstance(file, str) or not file:
        raise ValueError(f"a precomputed kernel needs file, the path of a Gram matrix, got {show(file)}")
    try:
        return {"kind": PRECOMPUTED, "file": file}, _hash_of(gram_file(file))
    except UserError as error:
        raise ValueError(str(error)) from None
    except OSError as error:
        raise ValueError(f"{file}: cannot be read: {error.strerror}") from None


def check_kernels(value: Any) -> list[dict[str, Any]]:
    """Return a pool's list of kernels in canonical form: a list in place of a number is a kernel per item.

    Raises ValueError that says what would be right.
    """
    if not isinstance(value, list) or not value:
        raise wrong("a list of kernels such as '[{kind:linear}]'", value, _quoting(value))
    kernels = []
    for number, entry in enumerate(value, 1):
        written = entry if isinstance(entry, dict) else {}
        axes = {name: items_of(written, name) for name in written}
        try:
            for name in (name for name, axis in axes.items() if not axis):
                raise ValueError(f"{name} is an empty list")
            for items in itertools.product(*axes.values()):
                kernels.append(check_kernel(dict(zip(axes, items, strict=True)) if axes else entry))
        except ValueError as error:
            raise ValueError(f"kernel {number} of the list: {error}") from None
    return kernels


def items_of(kernel: Mapping[str, Any], name: str) -> list[Any]:
    """Return the values of a parameter as a pool writes it, one for each kernel: usually a single one.

    What is a list in one kernel, such as the scales of its features, is a list of lists in several.
    """
    value, kind = kernel[name], kernel.get("kind")
    if not isinstance(value, list) or not isinstance(kind, str) or kind not in kinds():
        return [value]
    if kind != PRECOMPUTED and name in kernel_kind(kind).lists:
        return value if value and isinstance(value[0], list) else [value]
    return value


def is_one(kernel: Any) -> bool:
    """Whether this is one kernel, not a list of several in short."""
    if not isinstance(kernel, dict) or isinstance(kernel.get("kind"), list):
        return False
    return all(
        not isinstance(part, list) or items_of(kernel, name) == [part] for name, part in kernel.items()
    )


def _quoting(value: Any) -> str:
    is_expanded = isinstance(value, str) and ":" in value
    return "; quote the braces, the shell expands them" if is_expanded else ""


schema.DOMAINS |= {"kernel": check_kernel, "kernels": check_kernels}

# ------------------------------------------------------------------ pools

PARTS = {"normalise": domain_check(["none", "cosine"]), "kernels": check_kernels}
_KEYS = {"label": domain_check("text"), **PARTS}


def pool_names() -> list[str]:
    """Return the names of all kernel pools, sorted."""
    return conf.options("pool")


def pool(name: str) -> dict[str, Any]:
    """Return ``{"name", "label", "normalise", "kernels"}``, kernels as flat dicts in canonical form.

    Raises UserError for an unknown name or a faulty file.
    """
    where = conf.file("pool", conf.known_option("pool", name, "kernel pool"))
    return {"name": name, **checked(conf.read("pool", name), _KEYS, where, sorted(_KEYS))}


def pool_of(value: Any) -> dict[str, Any]:
    """Return the pool of a name, or of a kernel or a list of kernels that is given in its place.

    Raises UserError for what is neither.
    """
    if isinstance(value, str) and (value in pool_names() or kernel_of_text(value) is None):
        return pool(value)
    try:
        kernels = check_kernels(value if isinstance(value, list) else [value])
    except ValueError as error:
        raise UserError(f"pool={show(value)}: {error}") from None
    return changed({"name": "", "label": "", "normalise": "none", "kernels": []}, {"kernels": kernels}, [])


def is_unnamed(pool: Mapping[str, Any]) -> bool:
    """Whether a pool is of kernels that were given, and has no name that one may write."""
    return pool["label"] == AS_GIVEN


def kernel_pools(names: Iterable[str]) -> list[dict[str, Any]]:
    """Return several pools in the order given, as ``pool`` does."""
    return list(map(pool, names))


def kernel_pool(params: Mapping[str, Any], pool: dict[str, Any] | None) -> dict[str, Any] | None:
    """Return the kernels that a learner runs on, ``{"normalise", "kernels"}``: its own, the pool's, or None.

    params: its hyperparameters; pool: of a learner with ``kernels: pool``.
    """
    kernel = params.get("kernel")  # of an estimator it may be a word
    return {"normalise": "none", "kernels": [kernel]} if isinstance(kernel, dict) else pool


def changed(pool: dict, changes: dict[str, Any], named: list[dict]) -> dict[str, Any]:
    """Return the pool with checked ``normalise`` or ``kernels`` in place of its own, under a name that fits.

    If one of the ``named`` pools has that content, it is that pool. Otherwise a changed normalisation shows
    in the name (``gauss3-cosine``), and a list of kernels of one's own is named by a hash of its content.
    """
    content = {"normalise": pool["normalise"], "kernels": pool["kernels"], **changes}
    for other in [pool, *named]:
        if all(other[key] == value for key, value in content.items()):
            return other
    name, label, usual = pool["name"], pool["label"], pool["normalise"]
    if content["kernels"] != pool["kernels"]:
        digest = hashlib.sha256(json.dumps(content["kernels"], sort_keys=True).encode()).hexdigest()
        name, label, usual = f"own{len(content['kernels'])}-{digest[:6]}", AS_GIVEN, "none"
    if content["normalise"] != usual:
        name, label = f"{name}-{content['normalise']}", f"{label}; normalise {content['normalise']}"
    return {"name": name, "label": label, **content}
