"""Members of a stack that have the same random features, and so share them."""

import json
from collections.abc import Mapping, Sequence
from inspect import signature
from typing import Any

from omkl.algorithms import function
from omkl.config.learners import LearnerSpec
from omkl.state.vectors import Lifting


def features_key(spec: LearnerSpec, params: Mapping[str, Any], pool: Any, scaling: Any) -> str | None:
    """Return what decides the random features of a learner that draws nothing else, None of others."""
    resource = spec.state.get("F")
    if (
        not isinstance(resource, Lifting)
        or not pool
        or "rng" in signature(function(spec.function).py_func).parameters
    ):
        return None
    return json.dumps([scaling, pool["kernels"], params[str(resource.features)], resource.drawn(params)])


def groups_of(keys: Sequence[str | bool | None]) -> list[list[int]]:
    """Return the places of equal keys, of each that is there more than once."""
    groups = [[i for i, key in enumerate(keys) if key == one] for one in dict.fromkeys(keys) if one]
    return [group for group in groups if len(group) > 1]
