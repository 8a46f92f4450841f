"""Kernel pools: those of conf/pool, and those changed on the command line."""

import hashlib
import json
from collections.abc import Iterable, Mapping
from typing import Any

from omkl import conf
from omkl.config import domains, kernel_kinds
from omkl.schema import checked

PARTS = {"normalise": domains.domain_check(["none", "cosine"]), "kernels": kernel_kinds.check_kernels}
_KEYS = {"label": domains.domain_check("text"), **PARTS}


def pool_names() -> list[str]:
    """Return the names of all kernel pools, sorted."""
    return conf.options("pool")


def pool(name: str) -> dict[str, Any]:
    """Return ``{"name", "label", "normalise", "kernels"}``, kernels as flat dicts in canonical form.

    Raises UserError for an unknown name or a faulty file.
    """
    return pools([name])[0]


def pools(names: Iterable[str]) -> list[dict[str, Any]]:
    """Return several pools in the order given, as ``pool`` does."""
    names = [conf.known_option("pool", name, "kernel pool") for name in names]
    return [_pool(name, conf.read("pool", name)) for name in names]


def kernel_pool(params: Mapping[str, Any], pool: dict[str, Any] | None) -> dict[str, Any] | None:
    """Return the kernels that a learner runs on, ``{"normalise", "kernels"}``: its own, the pool's, or None.

    params: its hyperparameters; pool: of a learner with ``kernels: pool``.
    """
    own = params.get("kernel")  # of an estimator it may be a word
    return {"normalise": "none", "kernels": [own]} if isinstance(own, dict) else pool


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
        name, label, usual = f"own{len(content['kernels'])}-{digest[:6]}", "kernels as given", "none"
    if content["normalise"] != usual:
        name, label = f"{name}-{content['normalise']}", f"{label}; normalise {content['normalise']}"
    return {"name": name, "label": label, **content}


def _pool(name: str, content: dict) -> dict[str, Any]:
    return {"name": name, **checked(content, _KEYS, conf.file("pool", name), sorted(_KEYS))}
