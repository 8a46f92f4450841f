"""Compiled code is made, or loaded from disk, before a clock or a worker starts.

What is on disk for this kind of CPU has a mark there, and loading it needs no lock. What is not is compiled
by one process at a time, which has others of its own that help it; other learners are compiled meanwhile.
"""

import hashlib
import json
import multiprocessing
import os
import platform
import subprocess
import sys
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from tqdm import tqdm

from omkl import conf
from omkl.algorithms import function
from omkl.config import learner_spec, members_of
from omkl.config.kernel_kinds import kernel_pool
from omkl.config.learners import LearnerSpec
from omkl.engine import by_address, numba_cache
from omkl.engine.compile_faults import fault_in_one_line
from omkl.engine.stream import make_stream
from omkl.errors import UserError, counted
from omkl.files import LONGEST_WAIT, locked
from omkl.others.making import make_estimator
from omkl.passes.one_pass import run_pass
from omkl.paths import safe_children
from omkl.stacks.new_learner import new_learner
from omkl.state.cost import memory
from omkl.state.resource import Setup
from omkl.state.state import absent, grow_part, limits, make_room

if TYPE_CHECKING:
    from omkl.data import Dataset

MOST_NAMES = 8
EACH = 6  # versions that make another process worth while: it compiles some parts of the engine again
MOST_PROCESSES = 7
MEMORY_OF_A_PROCESS = 2**30  # bytes of the machine's memory for each: it takes 0.3 of that
_POOL = {"normalise": "none", "kernels": [{"kind": "gaussian", "sigma": 1.0}]}

Asked = tuple[LearnerSpec, dict[str, Any]] | tuple[LearnerSpec, dict[str, Any], int]  # the last: classes
Setting = tuple[LearnerSpec, dict[str, Any], bool]  # the last: whether there are more than two classes


def setting(one: Asked) -> Setting:
    """Return the setting of what is asked for, of two classes where they are not said."""
    return one[0], one[1], len(one) > 2 and one[2] > 2


def version(spec: LearnerSpec, params: dict[str, Any], many: bool = False) -> str:
    """Return the name of what is compiled: of a function, one for each set of resources that it lacks.

    many: of more than two classes
    """
    return "-without_".join((spec.function, *absent(spec.state, params))) + ("-many" if many else "")


def usual_settings(specs: Iterable[LearnerSpec]) -> list[tuple[LearnerSpec, dict[str, Any], int]]:
    """Return settings for `warm_up` that make every version of these learners: of two classes, of more."""
    return [
        (spec, spec.usual(spec.tasks[0]), classes)
        for spec in specs
        if not spec.estimator
        for classes in ((2, 3) if spec.classes == "many" else (2,))
    ]


def _with_members(settings: Iterable[Setting]) -> list[Setting]:
    """Return the settings, and before each stack those of its members."""
    settings_of_all: list[Setting] = []
    for spec, params, many in settings:
        settings_of_all += [(member.spec, member.params, many) for member in members_of(spec, params)]
        settings_of_all.append((spec, params, many))
    return settings_of_all


def warm_up(settings: Sequence[Asked]) -> None:
    """Compile what will run, or load it from the cache on disk, before any clock or worker starts.

    settings: (LearnerSpec, hyperparameters) or, where there are more than two classes, (LearnerSpec,
    hyperparameters, classes). Says on stderr what it compiles.
    """
    versions: dict[str, Setting] = {}
    for chosen in _with_members(map(setting, settings)):
        spec, params, many = chosen
        if spec.estimator:  # imports its package, and sees wrong arguments
            make_estimator(spec, params, 0, 3 if many else 2)
        else:
            versions[version(*chosen)] = chosen
    if all(_mark(name).exists() for name in versions):
        for chosen in versions.values():
            _load(chosen)
        return
    worker = multiprocessing.parent_process() is not None
    _compile_all(versions, quiet=worker)
    if (why := numba_cache.unusable() or numba_cache.lost()) and not worker:
        warnings.warn(f"compiled code is not kept, so later runs compile it again: {why}", stacklevel=2)


def _compile_all(versions: Mapping[str, Setting], quiet: bool) -> None:
    """Compile these versions, with helpers, last those that another process compiles; quiet: say nothing."""
    unusable = numba_cache.unusable()
    new = {name: one for name, one in versions.items() if not _mark(name).exists()}
    for one in (one for name, one in versions.items() if name not in new):
        _load(one)
    names = [] if quiet else [spec.name for spec, *_ in new.values()]
    with (
        _announced(names, "not kept on disk" if unusable else "once; kept on disk") as bar,
        ExitStack() as stack,
    ):
        if new and not unusable:
            stack.enter_context(_helped(list(new.values())))
        for longest in (0.0, LONGEST_WAIT):
            for name, one in list(new.items()):
                with _lock(name, one, longest) as is_held:
                    if is_held or longest:
                        bar.set_postfix_str(one[0].name)
                        _compile(name, one)
                        bar.update()
                        del new[name]


@contextmanager
def _lock(name: str, one: Setting, longest: float) -> Iterator[bool]:
    """Hold the lock of a version, as `locked`; without locks each process compiles for itself."""
    with ExitStack() as stack:
        is_held = True
        with suppress(OSError):
            path = numba_cache.base() / "locks" / _mark(name).name
            is_held = stack.enter_context(locked(path, f"compiling {one[0].name}", longest))
        yield is_held


def _mark(name: str) -> Path:
    """Return the file that marks a version as compiled for this kind of CPU."""
    place = function(name.partition("-")[0])._cache.cache_path
    return numba_cache.base() / "ready" / f"{name}-{Path(place).parent.name}-{_target()}"


@cache
def _target() -> str:
    """Return a hash of what numba's files depend on beside the sources: interpreter, numba, CPU."""
    import numba
    from llvmlite import binding

    chosen = os.environ.get("NUMBA_CPU_NAME"), os.environ.get("NUMBA_CPU_FEATURES")
    cpu = (*chosen, binding.get_host_cpu_name(), binding.get_host_cpu_features().flatten())
    versions = (platform.python_implementation(), platform.python_version(), numba.__version__, *cpu)
    return hashlib.sha256(repr(versions).encode()).hexdigest()[:12]


def _compile(name: str, one: Setting) -> None:
    """Load a version from disk, or compile and mark it, unless it cannot be kept."""
    _load(one)
    if not numba_cache.lost():
        with suppress(OSError):
            _mark(name).parent.mkdir(parents=True, exist_ok=True)
            _mark(name).touch()


def _load(one: Setting) -> None:
    """Run two examples: what that needs is loaded from disk, or compiled."""
    with _faults_as_user_errors(one[0]):
        run_pass(one[0], *_tiny_run(*one), np.arange(2), 0)


def _make(one: Setting) -> None:
    """Make a learner with room for vectors: what it calls of the engine is loaded from disk, or compiled."""
    params, pool, tiny = _tiny_run(*one)
    learner = new_learner(one[0], params, kernel_pool(params, pool), tiny.d, 0, classes=tiny.n_classes)
    stream = make_stream(tiny.indptr, tiny.indices, tiny.values, tiny.y, np.arange(2), tiny.n_classes)
    make_room(learner.resources, learner.state, Setup(learner.params), stream, True)
    grow_part(learner.resources, learner.state, stream, True)


def _tiny_run(
    spec: LearnerSpec, params: dict[str, Any], many: bool
) -> tuple[dict[str, Any], dict[str, Any] | None, "Dataset"]:
    """Return hyperparameters of the version that these need, a pool, and data of two examples."""
    from omkl.data import Dataset

    y = np.array([0.0, 2.0] if many else [1.0, -1.0])
    rows = (np.array([0, 1, 2]), np.zeros(2, np.int32), np.array([1.0, 2.0]), y)
    classes = ("0", "1", "2") if many else None
    tiny = Dataset("", *rows, 1, "classification", "", classes=classes)
    usual = spec.usual(tiny.task)
    if version(spec, usual, many) != version(spec, params, many):
        usual |= {limit: params[limit] and 2 for limit in limits(spec.state)}
    return usual, _POOL if spec.kernels == "pool" else None, tiny


@contextmanager
def _helped(new: list[Setting]) -> Iterator[None]:
    """Let other processes compile too: parts of the engine for the first version, then from the list's end.

    What they do not finish is done here.
    """
    from joblib import cpu_count  # which knows of containers' limits

    written = [[spec.name, params, many] for spec, params, many in new]
    room = memory() / MEMORY_OF_A_PROCESS  # may be infinite
    count = int(min(cpu_count() - 1, 1 + len(new) // EACH, MOST_PROCESSES, room)) if sys.executable else 0
    processes: list[subprocess.Popen[str]] = []
    with ExitStack() as stack:
        for number in range(count):
            command = [sys.executable, "-m", "omkl.passes.precompile"]
            quiet: dict[str, Any] = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
            try:
                with safe_children():
                    process = subprocess.Popen(command, stdin=subprocess.PIPE, text=True, **quiet)
            except OSError:  # no more processes are allowed
                break
            processes.append(process)
            stack.callback(process.wait)
            stack.callback(process.kill)  # harmless: files of compiled code are written as a whole or not
            with suppress(OSError), process.stdin as file:  # type: ignore[union-attr] # unless it ended at once
                json.dump({"share": (number + 1) / (count + 1), "settings": written}, file)
        yield
        for code in filter(None, (process.poll() for process in processes)):
            warnings.warn(f"a process that compiled learners ended with code {code}", stacklevel=2)


def _help(text: str) -> None:
    """Do what the process that wrote this text has not begun."""
    work = json.loads(text)
    settings = [(learner_spec(name), params, many) for name, params, many in work["settings"]]
    by_address.begin_at(work["share"])
    _make(settings[0])
    others = settings[:0:-1]
    first = round((1 - work["share"]) * len(others)) if len(others) > EACH else 0
    for one in others[first:] + others[:first]:
        if not _mark(name := version(*one)).exists():
            _compile(name, one)


@contextmanager
def _announced(names: list[str], kept: str) -> Iterator[tqdm]:
    """Name the learners to be compiled on stderr; on a terminal, yield a bar that counts them instead.

    names: say nothing where there are none    kept: whether they are kept on disk
    """
    look = "{desc}: {n_fmt} of {total_fmt} |{bar}| {elapsed}{postfix}"
    what = f"compiling {counted(len(names), 'learner')} ({kept})"
    silent = None if names else True  # None: unless on a terminal
    bar = tqdm(total=len(names), disable=silent, leave=False, desc=what, bar_format=look, dynamic_ncols=True)
    if bar.disable and names:  # not on a terminal
        named = list(dict.fromkeys(names))  # a learner has a version for more than two classes
        more = f" and {len(named) - MOST_NAMES} more" if len(named) > MOST_NAMES else ""
        print(f"compiling {', '.join(named[:MOST_NAMES])}{more} ({kept}) ...", file=sys.stderr, flush=True)
    with bar:
        yield bar


@contextmanager
def _faults_as_user_errors(spec: LearnerSpec) -> Iterator[None]:
    """Turn numba's error for a learner of a folder into a UserError of one line with the file's name.

    What such a learner raises when it runs is left to its cells, which fail with it.
    """
    from numba.core.errors import NumbaError

    try:
        yield
    except NumbaError as error:
        if conf.of_omkl("algo", spec.name):
            raise
        raise UserError(fault_in_one_line(function(spec.function).py_func, str(error))) from error
    except Exception as error:
        if conf.of_omkl("algo", spec.name) or isinstance(error, UserError):
            raise


if __name__ == "__main__":
    _help(sys.stdin.read())
