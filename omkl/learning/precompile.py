"""Compiled code is made, or loaded from disk, before a clock or a worker starts."""

import json
import multiprocessing
import subprocess
import sys
import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from tempfile import TemporaryFile
from typing import IO, Any

import numpy as np
from tqdm import tqdm

from omkl import conf
from omkl.algorithms import function
from omkl.config import learner_spec
from omkl.config.kernel_kinds import kernel_pool
from omkl.engine import by_address, numba_cache
from omkl.engine.jit import fault_in_one_line
from omkl.engine.stream import make_stream
from omkl.errors import UserError
from omkl.learning import third_party
from omkl.learning.compiled import Setting, cold, company, engine_marks, mark_engine, setting, turns, version
from omkl.learning.learner import Learner
from omkl.learning.one_pass import run_pass
from omkl.paths import safe_children
from omkl.resources.resource import Setup
from omkl.resources.size import memory
from omkl.resources.state import grow_part, limits, make_room

MOST_NAMES = 8
COMPANY = 6  # versions to be compiled for each process: fewer take less than what all processes compile
MOST_PROCESSES = 7  # more would mostly compile the same parts of the engine
MEMORY_OF_A_PROCESS = 2**30  # bytes of the machine's memory for each: it takes 0.3 of that
ENGINE_PROCESSES = 3  # that help to compile the engine's entries: more would have little left to do
_POOL = {"normalise": "none", "kernels": [{"kind": "gaussian", "sigma": 1.0}]}
ENGINE = 10  # learners that take as long as what they share
BAR = "{desc} |{bar}| {elapsed}"


def warm_up(settings: Sequence[Sequence[Any]]) -> None:
    """Compile what will run, or load it from the cache on disk, before any clock or worker starts.

    settings: (LearnerSpec, hyperparameters) or, where there are more than two classes, (LearnerSpec,
    hyperparameters, classes). Says on stderr what it compiles; of many, on all cores.
    """
    chosen = list(map(setting, settings))
    for spec, params, many in chosen:
        if spec.estimator:
            third_party.make_estimator(
                spec, params, 0, 3 if many else 2
            )  # imports its package, and sees wrong arguments
    versions = {version(*own): own for own in chosen if not own[0].estimator}
    missing = cold(versions)
    for name in versions:
        if name not in missing:
            _load(*versions[name])
    if not missing:
        return
    new = [
        name for name in missing if "-" in name or not numba_cache.has(function(versions[name][0].function))
    ]
    unusable = numba_cache.unusable()
    kept = "not kept on disk" if unusable else "once; kept on disk"
    with ExitStack() as stack:
        names = [versions[name][0].name for name in new]
        bar = _announce(names, kept, stack) if names and not _is_worker() else None
        shared = ENGINE * _engine_is_new(list(versions.values()))
        helped = stack.enter_context(_company([versions[name] for name in missing]))
        for name in stack.enter_context(closing(turns(missing, helped))):
            if bar is not None and name in new:
                bar.set_description_str(_progress(bar, versions[name][0].name, kept, shared))
            _load(*versions[name])
            mark_engine(versions[name][0], versions[name][2])
            if bar is not None and name in new:
                bar.update()
    if (why := unusable or numba_cache.lost()) and not _is_worker():
        warnings.warn(f"compiled code is not kept, so later runs compile it again: {why}", stacklevel=2)


def _is_worker() -> bool:
    """Whether another process of the same run has said already what is compiled, and whether it is kept."""
    return multiprocessing.parent_process() is not None


def _tiny_run(spec: Any, params: dict, many: bool) -> tuple[dict, dict | None, Any]:
    """Return hyperparameters of the version that these need, a pool, and data of two examples."""
    tiny = _tiny(many)
    usual = spec.usual(tiny.task)
    if version(spec, usual, many) != version(spec, params, many):
        usual |= {limit: params[limit] and 2 for limit in limits(spec.state)}
    return usual, _POOL if spec.kernels == "pool" else None, tiny


def _make(*setting: Any) -> None:
    """Make a learner with room for vectors: what it calls of the engine is loaded from disk, or compiled."""
    params, pool, tiny = _tiny_run(*setting)
    pool = kernel_pool(params, pool)
    learner = Learner(setting[0], params, pool, tiny.d, 0, classes=tiny.n_classes)
    stream = make_stream(tiny.indptr, tiny.indices, tiny.values, tiny.y, np.arange(2), tiny.n_classes)
    make_room(learner.resources, learner.state, Setup(learner.params), stream, True)
    grow_part(learner.resources, learner.state, stream, True)


def _load(*setting: Any) -> None:
    """Run two examples: what that needs is loaded from disk, or compiled."""
    with _faults_as_user_errors(setting[0]):
        run_pass(setting[0], *_tiny_run(*setting), np.arange(2), 0)


@contextmanager
def _company(settings: list[Setting]) -> Iterator[bool]:
    """Let other processes compile too, and say whether some do; what they do not finish is done here.

    They begin with other entries of the engine, if these are new, and go on from the list's other end.
    """
    written = [[spec.name, params, many] for spec, params, many in reversed(settings)]
    with ExitStack() as stack:
        count = _helpers(settings) if stack.enter_context(company()) else 0
        said = stack.enter_context(TemporaryFile()) if count else None
        processes: list[subprocess.Popen[str]] = []
        for helper in range(count):
            command = [sys.executable, "-m", "omkl.learning.precompile"]
            heard: dict[str, Any] = {"stdout": subprocess.DEVNULL, "stderr": said}
            try:
                with safe_children():
                    process = subprocess.Popen(command, stdin=subprocess.PIPE, text=True, **heard)
            except OSError:  # no more processes are allowed
                break
            processes.append(process)
            stack.callback(process.wait)
            stack.callback(process.kill)  # harmless: files of compiled code are written as a whole or not
            assert process.stdin is not None
            with suppress(OSError), process.stdin as file:  # unless it ended at once
                json.dump({"share": (helper + 1) / (count + 1), "settings": written}, file)
        yield count > 0
        if said is not None and (failed := [code for process in processes if (code := process.poll())]):
            _warn_of_helpers(failed[0], said)


def _warn_of_helpers(code: int, said: IO[bytes]) -> None:
    """Say that a process that was to help to compile has failed, with the last line that it wrote."""
    said.seek(0)
    text = said.read().decode(errors="replace").strip().rpartition("\n")[2] or f"exit code {code}"
    warnings.warn(f"a process that helps to compile has failed: {text[:300]}", stacklevel=2)


def _helpers(settings: list[Setting]) -> int:
    """How many processes may help: by the work that there is, the cores, and the memory."""
    from joblib import cpu_count  # which knows of containers' limits

    most = max(len(settings) // COMPANY, ENGINE_PROCESSES if _engine_is_new(settings) else 0)
    room = memory() / MEMORY_OF_A_PROCESS  # may be infinite
    return int(min(cpu_count() - 1, most, MOST_PROCESSES, room)) if sys.executable else 0


def _engine_is_new(settings: list[Setting]) -> bool:
    """Whether these learners call parts of the engine that no learner before them has called."""
    return any(not mark.exists() for spec, _, many in settings for mark in engine_marks(spec, many))


def usual_settings(specs: Iterable[Any]) -> list[tuple[Any, dict, int]]:
    """Return settings for `warm_up` that make every version of these learners: of two classes, of more."""
    return [
        (spec, spec.usual(spec.tasks[0]), classes)
        for spec in specs
        if not spec.estimator
        for classes in ((2, 3) if spec.classes == "many" else (2,))
    ]


def _tiny(many: bool) -> Any:
    """Return two examples of two classes, or of more."""
    from omkl.data import Dataset

    y = np.array([0.0, 2.0] if many else [1.0, -1.0])
    rows = (np.array([0, 1, 2]), np.zeros(2, np.int32), np.array([1.0, 2.0]), y)
    return Dataset("", *rows, 1, "classification", "", classes=("0", "1", "2") if many else None)


def _announce(names: list[str], kept: str, stack: ExitStack) -> Any:
    """Name the learners to be compiled on stderr; on a terminal, return a bar that counts them instead.

    kept: whether they are kept on disk
    """
    look: dict[str, Any] = {"desc": "compiling", "bar_format": BAR, "dynamic_ncols": True}
    bar = tqdm(total=len(names), disable=None, leave=False, **look)  # None: only on a terminal
    if bar.disable:
        named = list(dict.fromkeys(names))  # a learner has a version for more than two classes
        more = f" and {len(named) - MOST_NAMES} more" if len(named) > MOST_NAMES else ""
        what = ", ".join(named[:MOST_NAMES]) + more
        print(f"compiling {what} ({kept}) ...", file=sys.stderr, flush=True)
    return stack.enter_context(bar)


def _progress(bar: Any, name: str, kept: str, shared: int) -> str:
    """Return which learner is compiled, of how many, and about how long the rest takes.

    shared: as many learners take as long as what the first of these compiles for all
    """
    if bar.disable:
        return ""
    left = bar.format_dict["elapsed"] * (bar.total - bar.n) / (bar.n + shared) if bar.n else None
    about = "" if left is None else f", about {left:.0f} s left"
    return f"compiling {bar.n + 1} of {bar.total}: {name}{about} ({kept})"


@contextmanager
def _faults_as_user_errors(spec: Any) -> Iterator[None]:
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


def _accompany(text: str) -> None:
    """Compile what the process that wrote this text has not begun."""
    work = json.loads(text)
    written = [(learner_spec(name), params, many) for name, params, many in work["settings"]]
    by_address.begin_at(work["share"])
    for own in written:
        _make(*own)
    versions = {version(*own): own for own in written}
    with closing(turns(cold(versions))) as names:
        for name in names:
            _load(*versions[name])


if __name__ == "__main__":
    _accompany(sys.stdin.read())
