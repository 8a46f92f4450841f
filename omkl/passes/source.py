"""What decides a learner's results beside its settings: a folder's source, the packages of an estimator.

It is part of the key of a cell. That of one of ours is empty, as its file has a revision.
"""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from omkl import conf
from omkl.config import Setting, members_of
from omkl.config.kernel_kinds import PARTS
from omkl.config.learners import LearnerSpec, learner_specs
from omkl.files import hash_of, sources
from omkl.others.modules import code_identity
from omkl.others.objects import ObjectSpec


def sources_of_others() -> dict[str, str]:
    """Return what the learners of the user's folders are made of, by learner."""
    return {name: source(spec) for name, spec in learner_specs().items() if not conf.of_omkl("algo", name)}


def source(spec: LearnerSpec, params: Mapping[str, Any] | None = None) -> str:
    """Return what tells a folder's learner from others of its name, empty for one of ours.

    Of a stack with these hyperparameters it is a hash of what its members are. Of a compiled learner it is a
    hash of its module, of those that this imports, and of what its YAML says about its function and state; of
    an estimator see `code_identity`.
    """
    if isinstance(spec, ObjectSpec):
        spec.check_versions()
        return spec.source
    if spec.is_stack:
        members = [_identity(file) for file in members_of(spec, spec.defaults if params is None else params)]
        return f"stack {hashlib.sha256(json.dumps(members, sort_keys=True).encode()).hexdigest()}"
    if conf.of_omkl("algo", spec.name):
        return ""
    if spec.estimator:
        return code_identity(spec)
    from omkl.algorithms import function

    state = {name: resource.written() for name, resource in spec.state.items()}
    said = [spec.function, spec.setup, spec.draws_as, spec.kernels, state]
    digest = hashlib.sha256(json.dumps(said, sort_keys=True).encode())
    folder = conf.file("algo", spec.name).parents[2] / "algorithms"
    for name in filter(None, (spec.function, spec.setup)):
        compiled = function(name, name == spec.function)
        module = Path(getattr(compiled, "py_func", compiled).__code__.co_filename)
        if module.parent == folder:  # a function of ours has a revision
            digest.update(hash_of(sources(module)).encode())
    return digest.hexdigest()


def _identity(member: Setting) -> list[Any]:
    """Return all that decides what a member of a stack does."""
    spec, kernels = member.spec, member.kernel_pool
    pool = kernels and {part: kernels[part] for part in PARTS}
    return [spec.name, member.params, pool, member.scaling, spec.revision, source(spec)]
