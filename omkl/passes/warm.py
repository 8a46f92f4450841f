"""What a process compiles or loads once, before its first clock starts."""

import os
import threading
from typing import TYPE_CHECKING, Any

from omkl.paths import EXTENSIONS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from omkl.passes.precompile import Asked


_warm: set[tuple] = set()
_one_at_a_time = threading.RLock()  # the first calls of a process may come from several threads


def warm_up_once(settings: "Iterable[Asked]") -> None:
    """Load compiled learners before their first clock starts; this process compiles what is not on disk.

    settings: as of `omkl.passes.warm_up`.
    """
    from omkl.passes import precompile
    from omkl.state.state import absent

    with _one_at_a_time:
        cold: dict[tuple, Asked] = {}
        for setting in settings:
            spec, params, many = precompile.setting(setting)
            arguments = repr(params) if spec.estimator or spec.is_stack else ""  # which are checked with it
            which = (spec.name, os.environ.get(EXTENSIONS), absent(spec.state, params), many, arguments)
            if which not in _warm:
                cold.setdefault(which, setting)
        if cold:
            precompile.warm_up(list(cold.values()))
            _warm.update(cold)


def compile_kernels(pools: "Iterable[dict[str, Any] | None]") -> None:
    """Compile the kernels of these pools that are called by address, or load them from disk.

    Raises UserError for one that cannot be compiled.
    """
    distinct = {repr(pool): pool for pool in pools if pool is not None}
    for pool in distinct.values():
        from omkl.config.kernel_kinds import with_median
        from omkl.engine.kernels import prepare_kernels

        prepare_kernels(with_median(pool, 1.0)["kernels"], pool["normalise"])
