"""Jobs and learners that misbehave on demand. A module of its own, so that worker processes can import it."""

import hashlib
import multiprocessing
import os
import signal
import sys
import time
import types
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from unittest import mock

from omkl import passes
from omkl.passes import cell as jobs
from omkl.passes import warm

SPIN = 1.0  # what the seconds of "spin" are multiplied by


def act(job: tuple[str, Any]) -> Any:
    """Do what the job says, such as ("value", v), ("raise", text), ("kill", None), ("spin", CPU seconds)."""
    what, argument = job
    if what == "raise":
        raise ValueError(argument)
    if what == "exit":
        raise SystemExit(argument)
    if what == "kill":
        _kill()
    if what == "stay":  # for ever, after its process's number is in the file
        Path(argument).write_text(f"{os.getpid()}\n")
        what, argument = "spin", 10**6
    if what == "kill_parent":
        os.kill(os.getppid(), signal.SIGKILL)
        time.sleep(60)  # until the worker has noticed
    if what == "leave":
        os._exit(argument)
    if what == "kill_once":
        marker = Path(argument)
        if not marker.exists():
            marker.touch()
            _kill()
        return "survived"
    if what == "spin":  # busy, as compiled code is; by this process's own clock, not the machine's
        end = time.process_time() + argument * SPIN
        while time.process_time() < end:
            sum(range(1000))
    if what == "pid":
        return os.getpid()
    if what == "environment":
        return os.environ.get(argument)
    if what == "threads":
        return {name: os.environ.get(name) for name in ("OMP_NUM_THREADS", "NUMBA_NUM_THREADS")}
    if what == "count":  # one more byte in the file for every time this job begins
        with open(argument, "ab", buffering=0) as file:
            file.write(b"x")
    return argument


class Deadly:
    """Data that kill the dask workers that they reach, until the marker file has a byte for each death."""

    def __init__(self, dataset: Any, marker: str, deaths: int) -> None:
        self.arguments = dataset, marker, deaths

    def __reduce__(self) -> tuple:
        return _arrive, self.arguments


def _arrive(dataset: Any, marker: str, deaths: int) -> Any:
    if "Dask Worker" not in multiprocessing.current_process().name:  # the scheduler unpickles too
        return Deadly(dataset, marker, deaths)
    with open(marker, "ab") as file:
        if file.tell() == deaths:
            return dataset
        file.write(b"x")
    return _kill()


def _kill() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def run_pass(spec, params, pool, dataset, order, permutation_seed, **how) -> dict[str, Any]:
    """Stands for omkl.passes.one_pass.run_pass: figures that depend on all that a pass may depend on.

    The hyperparameter ``fault``, a job for `act`, makes it misbehave first.
    """
    outcome = act(params["fault"]) if "fault" in params else None
    drawn = hashlib.sha256(repr((spec.name, params.get("beta"), permutation_seed)).encode()).digest()
    mistakes = (int(order[: dataset.T // 2].sum()) + drawn[0]) % dataset.T
    m = len(pool["kernels"]) if pool else 0
    return {
        "T": dataset.T,
        "m": m,
        "mistakes": mistakes,
        "mistake_rate": float("nan") if outcome == "nan" else mistakes / dataset.T,
        "n_sv_sum": m * mistakes,
        "n_sv_union": mistakes,
        "n_sv_combined": mistakes,
        "n_sv_per_kernel": [mistakes] * m,
        "weights": [1 / m] * m if pool else None,
        "pairs": mistakes * dataset.T,
        "seconds": 1e-6 * os.getpid(),  # the only figure that may depend on where it ran
        "curve": {"t": [dataset.T], "mistakes": [mistakes], "weights": None},
    }


def run_cell(job: Any) -> dict[str, Any]:
    """Run the real `omkl.passes.cell.run_cell` on the learner above, in whatever process this is."""
    fakes = {name: types.ModuleType(f"omkl.passes.{name}") for name in ("one_pass", "precompile")}
    fakes["one_pass"].run_pass = run_pass
    fakes["precompile"].warm_up = lambda settings: None
    fakes["precompile"].setting = lambda own: (own[0], own[1], False)
    with ExitStack() as stack:
        stack.enter_context(mock.patch.dict(sys.modules, {fake.__name__: fake for fake in fakes.values()}))
        for name, fake in fakes.items():
            stack.enter_context(mock.patch.object(passes, name, fake, create=True))
        stack.enter_context(mock.patch.object(warm, "_warm", set()))
        return jobs.run_cell(job)
