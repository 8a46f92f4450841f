"""A dask cluster on loopback, whose scheduler and workers are processes that a test may kill."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from omkl.engine import numba_cache
from omkl.runs.workers import make_executor
from support import ROOT, TESTS
from support.runner_fakes import act


class Cluster:
    """A scheduler, and workers as they are added.

    failures: deaths of its worker after which a job has failed, less one
    """

    def __init__(self, folder: Path, failures: int = 1) -> None:
        self.folder, self.file, self.workers = folder, folder / "scheduler.json", []
        inherited = {k: v for k, v in os.environ.items() if not k.startswith("OMKL_")}
        self.environment = inherited | {
            "PYTHONPATH": f"{ROOT}{os.pathsep}{TESTS}",
            "OMKL_CACHE": str(folder / "cache"),  # without our files, as on another machine
            "NUMBA_CACHE_DIR": str(numba_cache.compiled_folder()),  # but compiling takes too long for a test
            "DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES": str(failures),
        }
        place = ("--host", "127.0.0.1", "--port", "0")
        self.scheduler = self._start("scheduler", *place, "--no-show")
        # The scheduler creates its file, then fills it.
        while self.scheduler.poll() is None and not (
            self.file.exists() and self.file.read_text().endswith("}")
        ):
            time.sleep(0.1)
        self.address = json.loads(self.file.read_text())["address"]

    def _start(self, what: str, *options: str) -> subprocess.Popen:
        command = [sys.executable, "-m", "dask", what, *options, "--no-dashboard"]
        command += ["--scheduler-file", str(self.file)]
        with open(self.folder / "log", "ab") as log:
            return subprocess.Popen(
                command, cwd=self.folder, env=self.environment, stdout=log, stderr=log, start_new_session=True
            )

    def add_worker(self, *options: str) -> subprocess.Popen:
        """Start a worker."""
        options = ("--nthreads", "1", "--local-directory", str(self.folder), *(options or ("--no-nanny",)))
        self.workers.append(self._start("worker", *options))
        return self.workers[-1]

    def wait_for(self, count: int) -> None:
        import distributed

        with distributed.Client(self.address, timeout=600, set_as_default=False) as client:
            client.wait_for_workers(count, timeout=600)

    def options(self, wait: float = 600.0) -> dict:
        return {"name": "dask", "address": self.address, "jobs": None, "wait": wait}

    def run(self, jobs: list, wait: float = 600.0) -> list:
        """Run jobs of `act` on this cluster."""
        return list(make_executor(self.options(wait)).run(act, jobs))

    def __enter__(self) -> "Cluster":
        return self

    def __exit__(self, *_: object) -> None:
        for process in (*self.workers, self.scheduler):
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
