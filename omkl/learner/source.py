"""What a learner of a folder of OMKL_PATH is made of: part of the keys of its cells."""

import hashlib
import json
from pathlib import Path

from omkl.config import compose
from omkl.config.learners import LearnerSpec


def source(spec: LearnerSpec) -> str:
    """Return what tells a folder's learner from others of its name, empty for one of ours.

    Of a compiled learner it is a hash of its module (with the folder's other modules if it uses any) and of
    what its YAML says about its function and state; of an estimator see `omkl.learner.outside.identity`.
    """
    if compose.of_omkl("algo", spec.name):
        return ""
    if spec.estimator:
        from omkl.learner import outside

        return outside.identity(spec)
    from omkl.algorithms import function
    from omkl.engine.numba_cache import stands_alone

    state = {name: resource.written() for name, resource in spec.state.items()}
    said = [spec.function, spec.setup, spec.draws_as, spec.kernels, state]
    digest = hashlib.sha256(json.dumps(said, sort_keys=True).encode())
    folder = compose.file("algo", spec.name).parents[2] / "algorithms"
    for name in filter(None, (spec.function, spec.setup)):
        compiled = function(name, name == spec.function)
        module = Path(getattr(compiled, "py_func", compiled).__code__.co_filename)
        if module.parent == folder:  # a function of ours has a revision
            parts = [module] if stands_alone(module) else sorted(folder.glob("*.py"))
            for path in parts:
                digest.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()
