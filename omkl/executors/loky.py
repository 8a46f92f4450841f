"""Worker processes on this machine (joblib's loky), which may die without harm."""

import os
import re
import signal
import sys
import threading
import time
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator
from concurrent.futures.process import BrokenProcessPool
from functools import cache
from pathlib import Path
from typing import Any

import joblib

from omkl.errors import OmklError
from omkl.executors import Failure, Function, Outcomes, attempt, leftovers
from omkl.paths import EXTENSIONS, safe_children

CRASHES_TO_ISOLATE = 2
BARREN_CRASHES = 3  # crashes in a row before any job began: then the workers cannot start


class Loky:
    """Worker processes of joblib's loky, one inner thread each.

    A worker that dies ends the pool, but only the running jobs are lost. They run again. A job of two
    crashes runs alone in a pool of its own; another crash there makes it a Failure. Workers ignore Ctrl-C
    (this process kills them) and die with this process.
    """

    name, remote = "loky", False

    def __init__(self, jobs: int | None = None, threads: int = 1) -> None:
        self.workers = jobs or max(1, joblib.cpu_count() // threads)  # which knows of containers' limits
        self.threads = threads

    def run(self, function: Function, jobs: Iterable[Any]) -> Outcomes:
        """Yield (job, result or Failure) as they finish.

        Raises OmklError when workers die before they begin any job.
        """
        waiting = dict(enumerate(jobs))
        crashes: Counter[int] = Counter()
        barren = 0
        while waiting:
            alone = next((number for number in waiting if crashes[number] >= CRASHES_TO_ISOLATE), None)
            batch = dict(waiting) if alone is None else {alone: waiting[alone]}
            with safe_children(), leftovers.scratch() as folder:
                begun = folder / "begun"
                begun.touch()
                try:
                    for number, outcome in self._pool(function, batch, begun):
                        barren = 0
                        yield waiting.pop(number), outcome
                    continue
                except BrokenProcessPool as error:
                    crash = error
                suspects = {int(line) for line in begun.read_bytes().split()} & waiting.keys()
            if alone is not None:
                codes = dict.fromkeys(re.findall(r"SIG\w+|EXIT\w*\(-?\d+\)", str(crash)))
                died = f"its worker process died {crashes[alone] + 1} times"
                how = f" ({', '.join(codes)})" if codes else ""
                why = "out of memory, or a crash in compiled code"
                yield waiting.pop(alone), Failure(f"{died}{how}, the last time while it ran alone: {why}")
                continue
            crashes.update(suspects)
            barren = 0 if suspects else barren + 1
            if barren == BARREN_CRASHES:
                raise OmklError(f"worker processes die before they begin any cell: {crash}") from crash

    def _pool(self, function: Function, jobs: dict[int, Any], begun: Path) -> Iterator[tuple[int, Any]]:
        with joblib.parallel_config(backend="loky", n_jobs=max(2, self.workers), inner_max_num_threads=1):
            # one job at a time: a batch would lose its finished jobs when a later one kills the worker
            parallel = joblib.Parallel(return_as="generator_unordered", batch_size=1)
        task, parent = joblib.delayed(_work), os.getpid()
        folders = os.environ.get(EXTENSIONS)
        results = parallel(
            task(function, job, number, begun, parent, folders) for number, job in jobs.items()
        )
        try:
            for result in results:  # noqa: UP028 (`yield from` would close it outside the filter below)
                yield result
        finally:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UserWarning)  # "n tasks have been cancelled": on purpose
                results.close()


def _work(
    function: Function, job: Any, number: int, begun: Path, parent: int, folders: str | None
) -> tuple[int, Any]:
    """Run one job in a worker, after noting that it began: a job that began and never ended is a suspect.

    folders: OMKL_PATH now; the worker may be older
    """
    _settle(parent)
    os.environ.pop(EXTENSIONS, None)
    os.environ |= {EXTENSIONS: folders} if folders else {}
    with open(begun, "ab", buffering=0) as file:
        file.write(b"%d\n" % number)
    return number, attempt(function, job)


@cache
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
