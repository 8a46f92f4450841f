"""Where cells are computed: in this process, or in worker processes of this machine; on a cluster: dask.py.

An executor takes a function and jobs and yields (job, result) as they finish, in any order. A job that raises
yields a Failure in place of its result; closing the generator stops everything at once. exec=slurm only
submits cells to a queue, so it is not an executor: see slurm.py.
"""

import os
import pkgutil
import re
import signal
import sys
import threading
import time
import traceback
import warnings
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Future
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from itertools import chain, islice
from queue import SimpleQueue
from typing import Any, Protocol

from threadpoolctl import threadpool_limits

from omkl.errors import OmklError, UserError
from omkl.paths import safe_children
from omkl.rounds.guards import ctrl_c_later

WHY = (
    "out of memory, or a crash in compiled code: an own kernel or learner may have read beyond an array, "
    "which `omkl check` finds"
)
Function = Callable[[Any], Any]
Outcomes = Generator[tuple[Any, Any], None, None]  # (job, its result or Failure), as they finish


@dataclass(frozen=True)
class Failure:
    """What a job returns instead of a result: one line, and the end of the traceback if there was one.

    provenance: of the machine where it failed, where that differs from the command's.
    """

    error: str
    trace: str = ""
    provenance: dict[str, Any] = field(default_factory=dict)


class Death(Failure):
    """The Failure of a job whose worker died: perhaps of another job, unless it ran alone."""


class Executor(Protocol):
    """What the runner needs of an executor.

    workers: how many jobs it runs at a time    remote: on other machines, with compiled code of their own
    threads: cores for each job, which may use as many threads
    """

    name: str
    workers: int
    threads: int
    remote: bool

    def run(self, function: Function, jobs: Iterable[Any]) -> Outcomes:
        """Yield (job, ``function(job)`` or Failure) for each job, as they finish."""


CLASSES = {"serial": "workers:Serial", "loky": "workers:Loky", "dask": "dask:Dask"}


def make_executor(options: dict[str, Any], jobs: int | None = None) -> Executor:
    """Return the executor of a plan's ``exec``; jobs, unless None, replaces its option ``jobs``.

    Raises UserError for a name that only submits, or jobs < 1.
    """
    options = dict(options)
    name = options.pop("name")
    if name not in CLASSES:
        only = "only `omkl run` and `omkl sweep` take one that submits them"
        raise UserError(f"exec={name} is not an executor that waits for its cells; {only}")
    if jobs is not None and jobs < 1:
        raise UserError(f"jobs={jobs}: at least 1 worker is needed")
    if jobs is not None and "jobs" in options:
        options["jobs"] = jobs
    return pkgutil.resolve_name(f"omkl.runs.{CLASSES[name]}")(**options)


def attempt(function: Function, job: Any) -> Any:
    """Return ``function(job)``, or a Failure if it raises anything but Ctrl-C."""
    try:
        return function(job)
    except (Exception, SystemExit) as error:
        return Failure(error_line(error), traceback.format_exc()[-3000:])


def error_line(error: BaseException) -> str:
    """Return an error's type and message as one line of at most 500 characters."""
    return " ".join(f"{type(error).__name__}: {error}".split())[:500]


def with_retries(run: Callable[[Iterable[Any], int], Outcomes], jobs: Iterable[Any], width: int) -> Outcomes:
    """Yield the outcomes of ``run(jobs, width)``; those whose worker died run again in the end, one by one.

    width: how many jobs are sent at a time
    """
    suspects: list[Any] = []
    for job, outcome in run(jobs, width):
        if isinstance(outcome, Death):
            suspects.append(job)
        else:
            yield job, outcome
    yield from run(suspects, 1)


class Serial:
    """One job after the other in this process, with one BLAS thread as everywhere."""

    name, remote, workers = "serial", False, 1

    def __init__(self, threads: int = 1) -> None:
        self.threads = threads

    def run(self, function: Function, jobs: Iterable[Any]) -> Outcomes:
        """Yield (job, result or Failure) in the order given."""
        with threadpool_limits(1):
            for job in jobs:
                yield job, attempt(function, job)


class Loky:
    """Worker processes of loky, one inner thread each. They ignore Ctrl-C and die with this process.

    It is the loky inside joblib, which scikit-learn needs anyway: not one more dependency.

    Each worker is a pool of its own, so that the death of one breaks no other and names its job. That job
    runs again when all others have finished, alone; where its worker dies again it is a Failure.
    """

    name, remote = "loky", False

    def __init__(self, jobs: int | None = None, threads: int = 1) -> None:
        from joblib import cpu_count  # which knows of containers' limits

        self.workers = jobs or max(1, cpu_count() // threads)
        self.threads = threads

    def run(self, function: Function, jobs: Iterable[Any]) -> Outcomes:
        """Yield (job, result or Failure) as they finish.

        Raises OmklError when the workers of a job die twice before they begin it.
        """
        return with_retries(partial(self._outcomes, function), jobs, self.workers)

    def _outcomes(self, function: Function, jobs: Iterable[Any], workers: int) -> Outcomes:
        """Yield (job, result or Failure), that many at a time."""
        waiting = iter(jobs)
        busy: dict[Future[Any], tuple[_Worker, Any]] = {}
        arrived: SimpleQueue[Future[Any]] = SimpleQueue()
        again: list[Any] = []  # jobs whose first worker died before it began
        try:
            while True:
                for job in islice(waiting, workers - len(busy)):
                    with ctrl_c_later():  # else a worker could be lost that has its job already
                        worker, future = _submit(function, job)
                        busy[future] = worker, job
                    future.add_done_callback(arrived.put)
                if not busy:
                    return
                future = arrived.get()
                worker, job = busy.pop(future)
                error = future.exception()
                if isinstance(error, BrokenProcessPool):
                    if worker.began.exception() is None:
                        yield job, _died(error)
                    elif any(job is each for each in again):
                        text = f"worker processes die before they begin any cell: {error}"
                        raise OmklError(text) from error
                    else:
                        again.append(job)
                        waiting = chain([job], waiting)
                else:
                    _idle.append(worker)
                    yield job, future.result() if error is None else Failure(error_line(error))
        finally:
            for future, (worker, _) in busy.items():
                _wait_until_taken(future)
                worker.pool.shutdown(wait=True, kill_workers=True)


def _wait_until_taken(future: Future[Any]) -> None:
    """Wait, a second at most, until loky's thread has taken a job.

    A shutdown drops the jobs that it has not, and then the thread prints a traceback on looking for them.
    """
    for _ in range(1000):
        if future.running() or future.done():
            return
        time.sleep(0.001)


def _died(error: BrokenProcessPool) -> Death:
    codes = dict.fromkeys(re.findall(r"SIG\w+|EXIT\w*\(-?\d+\)", str(error)))
    how = f" ({', '.join(codes)})" if codes else ""
    return Death(f"its worker process died twice{how}, the second time while it ran alone: {WHY}")


# ------------------------------------------------------------------ worker processes

IDLE = 300  # seconds after which a worker without work ends
LIBRARIES = ("OMP", "OPENBLAS", "MKL", "BLIS", "VECLIB_MAXIMUM", "NUMEXPR", "NUMBA")
ONE_THREAD = {f"{name}_NUM_THREADS": "1" for name in LIBRARIES}


@dataclass(frozen=True)
class _Worker:
    """A worker process: of which environment, its pool of one, and whether it began to work."""

    environment: dict[str, str]
    pool: Any
    began: Future[Any]


_idle: list[_Worker] = []  # for the next jobs or the next run, where the environment is still the same


def _submit(function: Function, job: Any) -> tuple[_Worker, Future[Any]]:
    """Give a job to an idle worker, or to a new one."""
    from joblib.externals.loky import ProcessPoolExecutor

    # a worker whose memory has grown ends after its job, and loky begins another for the next one
    warnings.filterwarnings("ignore", "A worker stopped while some jobs were given", UserWarning)
    environment = {**os.environ, "parent": str(os.getpid())}  # a fork inherits pools that it cannot use
    while worker := _take_idle():
        if worker.environment == environment:
            try:
                return worker, worker.pool.submit(attempt, function, job)
            except BrokenProcessPool:  # it died while it was idle
                continue
        if worker.environment["parent"] == environment["parent"]:
            worker.pool.shutdown(wait=True, kill_workers=True)
    with safe_children(), ctrl_c_blocked():  # the pool itself starts a resource tracker
        pool = ProcessPoolExecutor(
            1, timeout=IDLE, env=ONE_THREAD, initializer=_settle, initargs=(os.getpid(),)
        )
        worker = _Worker(environment, pool, pool.submit(os.getpid))
        return worker, pool.submit(attempt, function, job)


def _take_idle() -> _Worker | None:
    """Return an idle worker, None where there is none; another thread may take one at the same time."""
    try:
        return _idle.pop()
    except IndexError:
        return None


def _settle(parent: int) -> None:
    """Make this worker ignore Ctrl-C, which goes to the whole process group, and end with its parent."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if sys.platform == "linux":
        import ctypes

        # the kernel does it even while compiled code holds the interpreter
        pr_set_pdeathsig = 1
        ctypes.CDLL(None, use_errno=True).prctl(pr_set_pdeathsig, signal.SIGKILL)
        if os.getppid() != parent:  # it died before the call
            os._exit(1)
    else:
        threading.Thread(target=_watch, args=(parent,), daemon=True).start()


def _watch(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(1)
    os._exit(1)


@contextmanager
def ctrl_c_blocked() -> Iterator[None]:
    """Delay Ctrl-C in this process, and block it in those that start meanwhile.

    A half-made pool or cluster cannot be closed, and a process interrupted at its start prints a traceback.
    """
    if threading.current_thread() is not threading.main_thread() or not hasattr(signal, "pthread_sigmask"):
        yield
        return
    from multiprocessing import resource_tracker

    resource_tracker.ensure_running()  # starting it later would undo the mask
    with ctrl_c_later():
        mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})  # threads and processes inherit it
        try:
            yield
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, mask)
