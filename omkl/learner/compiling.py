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
from omkl.files import locked


@contextmanager
def compiling(versions: Iterable[str]) -> Iterator[list[str]]:
    """Hold the lock of the compiled code unless these versions are marked as there; mark them at the end.

    versions: functions of learners, with -SOMETHING after the name for another compiled version of one.
    Yields those that are not marked.
    """
    folder = numba_cache.base()
    compiled = {name: function(name.partition("-")[0]) for name in versions}
    sources = {name: numba_cache.folder_of(each).name for name, each in compiled.items()}
    marks = {name: folder / "ready" / f"{name}-{source}-{_target()}" for name, source in sources.items()}
    # what is damaged is deleted by `intact`, and compiled here
    missing = [
        name for name, mark in marks.items() if not (numba_cache.intact(compiled[name]) and mark.exists())
    ]
    if not missing:
        yield missing
        return
    with ExitStack() as stack:
        try:
            stack.enter_context(locked(folder / "lock", "compiling the learners"))
        except OSError:  # a folder that cannot be written, or a file system without locks
            yield missing
            return
        yield missing
        with suppress(OSError):
            (folder / "ready").mkdir(exist_ok=True)
            for mark in marks.values():
                mark.touch()


@cache
def _target() -> str:
    """A hash of what numba's files depend on beside the sources: interpreter, numba, CPU."""
    import numba
    from llvmlite import binding

    cpu = (binding.get_host_cpu_name(), binding.get_host_cpu_features().flatten())
    parts = (platform.python_implementation(), platform.python_version(), numba.__version__, *cpu)
    return hashlib.sha256(repr(parts).encode()).hexdigest()[:12]
