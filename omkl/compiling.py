"""One process compiles at a time.

Two processes that compile different versions of the same helper at the same moment leave numba's index of it
pointing at the wrong one of the two (``IndexDataCacheFile.save`` writes the index, then the code, and locks
neither), so whoever may compile holds a lock: workers on a fresh machine do. What has been compiled for this
kind of CPU is marked, and loading that needs no lock.
"""

import hashlib
import platform
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import cache

from omkl.algorithms import function
from omkl.engine import numba_cache
from omkl.locks import locked


@contextmanager
def compiling(functions: Iterable[str]) -> Iterator[None]:
    """Hold the lock of the compiled code unless these functions are marked as there; mark them at the end."""
    folder = numba_cache.base()
    compiled = {name: function(name) for name in functions}
    sources = {name: numba_cache.folder_of(each).name for name, each in compiled.items()}
    marks = [folder / "ready" / f"{name}-{source}-{_target()}" for name, source in sources.items()]
    sound = not [each for each in compiled.values() if not numba_cache.intact(each)]  # else compile here
    if sound and all(mark.exists() for mark in marks):
        yield
        return
    with ExitStack() as stack:
        try:
            stack.enter_context(locked(folder / "lock", "compiling the learners"))
        except OSError:  # a folder that cannot be written, or a file system without locks
            yield
            return
        yield
        with suppress(OSError):
            (folder / "ready").mkdir(exist_ok=True)
            for mark in marks:
                mark.touch()


@cache
def _target() -> str:
    """A hash of what numba's files depend on beside the sources: interpreter, numba, CPU."""
    import numba
    from llvmlite import binding

    cpu = (binding.get_host_cpu_name(), binding.get_host_cpu_features().flatten())
    parts = (platform.python_implementation(), platform.python_version(), numba.__version__, *cpu)
    return hashlib.sha256(repr(parts).encode()).hexdigest()[:12]
