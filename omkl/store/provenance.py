"""The origin of a result: versions, commit, machine. Stored with every cell, never part of its key."""

import hashlib
import importlib.metadata
import os
import platform
import socket
import subprocess
from contextlib import suppress
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

from omkl import __version__
from omkl.paths import EXTENSIONS, extensions

_DECIDING = ("numpy", "scipy", "numba", "llvmlite")  # whose versions may decide the last bits
_PACKAGE = Path(__file__).resolve().parent.parent
_SHOWS = {  # parts of omkl that print, draw, query or store what others computed
    *("reports", "publications", "pages", "theorems", "cli", "api", "models", "testing", "__main__.py"),
    *("runs/slurm.py", "runs/slurm_chunks.py", "runs/slurm_jobs.py", "runs/status.py"),
}


def collect(backend: str, jobs: int, threads: int = 1) -> dict[str, Any]:
    """Return what all cells of one run share.

    Keys: versions {omkl, python, numpy, numba}, commit and dirty (None outside a git checkout), host, cpu
    (model), cores (that this process may use), backend, jobs, and threads where a cell had several.
    """
    return {**here(), "backend": backend, "jobs": jobs, **({"threads": threads} if threads > 1 else {})}


@cache
def here() -> dict[str, Any]:
    """Return the part of the origin that every result of this process has: versions, commit, machine."""
    versions = {"omkl": __version__, "python": platform.python_version()}
    versions |= {name: importlib.metadata.version(name) for name in ("numpy", "numba")}
    commit, dirty = checkout(_PACKAGE.parent)
    origin = {"versions": versions, "commit": commit, "dirty": dirty, "host": socket.gethostname()}
    return origin | {"cpu": _cpu_model(), "cores": cores()}


def stamp() -> dict[str, Any]:
    """Return what changes from cell to cell: time (UTC, ISO 8601 to the microsecond) and load (1 minute).

    The load is the machine's, times the share of its cores that this process may use: a job with one core of
    a busy node of 64 is not crowded.
    """
    load = None
    if hasattr(os, "getloadavg"):
        load = round(os.getloadavg()[0] * cores() / max(cores(), os.cpu_count() or 1), 2)
    return {"time": datetime.now(UTC).isoformat(timespec="microseconds"), "load": load}


def deciding_versions() -> dict[str, str]:
    """Return all that decides a result, except the cell and its data, as text that can be compared.

    This is a hash of omkl's sources at the first call, without those that only show results, the versions of
    the numeric libraries, and a hash of the learners in the folders of OMKL_PATH, where there are any.
    Nothing of the machine: results must not depend on it.
    """
    digest = hashlib.sha256()
    for folder in extensions():
        paths = [*folder.glob("*.py"), *folder.glob("algorithms/*.py"), *folder.glob("conf/algo/*.yaml")]
        for path in sorted(filter(Path.is_file, paths)):
            digest.update(path.relative_to(folder).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return _of_omkl() | ({EXTENSIONS: digest.hexdigest()[:12]} if extensions() else {})


@cache
def _of_omkl() -> dict[str, str]:
    digest = hashlib.sha256()
    for path in sorted(_PACKAGE.rglob("*.py")):
        name = path.relative_to(_PACKAGE)
        if not {name.parts[0], name.as_posix()} & _SHOWS:
            digest.update(name.as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    versions = {name: importlib.metadata.version(name) for name in _DECIDING}
    return {"omkl": f"{__version__} ({digest.hexdigest()[:12]})", **versions}


def checkout(folder: Path) -> tuple[str | None, bool | None]:
    """Return the commit of a git checkout, and whether its code or conf differ from that commit.

    (None, None) where the folder is no checkout (an installed package), git is missing, or does not answer.
    """
    if not (folder / ".git").exists():  # a package installed inside another project's checkout is not ours
        return None, None
    command = ["git", "-C", str(folder), "status", "--porcelain=v2", "--branch", "--", "omkl", "conf"]
    # without locks a run never disturbs a commit made meanwhile; a hook's GIT_DIR would name another checkout
    environment = {k: v for k, v in os.environ.items() if not k.startswith("GIT_")}
    environment["GIT_OPTIONAL_LOCKS"] = "0"
    try:
        git = subprocess.run(
            command, env=environment, timeout=5, check=True, stdin=subprocess.DEVNULL, capture_output=True
        )
    except (OSError, subprocess.SubprocessError):
        return None, None
    lines = git.stdout.decode().splitlines()
    commit = next((line.split()[2] for line in lines if line.startswith("# branch.oid ")), "(initial)")
    if commit == "(initial)":
        return None, None
    return commit, any(not line.startswith("#") for line in lines)


def cores() -> int:
    """Return the number of cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _cpu_model() -> str:
    with suppress(OSError):  # Linux has this file
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()
