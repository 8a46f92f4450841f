#!/usr/bin/env python
"""Fuzz what reads other people's files and words with random, mutated and nearly valid inputs, seeded.

    python scripts/fuzz.py                                    every target, 2000 inputs each
    python scripts/fuzz.py --target libsvm csv --count 50000 --seed 7
    python scripts/fuzz.py --target store --seconds 60 --out /tmp/findings
    python scripts/fuzz.py --target npz --guided --seconds 60     guided by coverage (pip install atheris)

Every input may take 10 s, and 1.5 GB more than the process has at the start. An input must be accepted, or
refused with one line. Others are kept in --out, one per kind of finding, and the exit code is 1.
"""

import argparse
import faulthandler
import os
import resource
import signal
import sys
import tempfile
import time
from pathlib import Path
from random import Random
from types import FunctionType

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]
os.environ.setdefault("OMKL_OFFLINE", "1")

from support.fuzzing import Target, finding, targets  # noqa: E402

TARGETS = targets()
SECONDS, MEMORY = 10, 1_500_000_000


class Hang(BaseException):
    """The input took longer than its time limit."""


def main() -> int:
    """Run the selected targets; return 1 if there are findings."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--target", nargs="+", choices=TARGETS, default=list(TARGETS))
    parser.add_argument("--count", type=int, default=2000, help="inputs per target (default: %(default)s)")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="time limit per target")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default=Path("build/fuzz"), help="folder of the findings")
    parser.add_argument("--guided", action="store_true", help="mutate by coverage, with atheris")
    args = parser.parse_args()
    signal.signal(signal.SIGPROF, _alarm)
    total, count = 0, 0
    for name in args.target:
        with tempfile.TemporaryDirectory(dir="/dev/shm" if Path("/dev/shm").is_dir() else None) as folder:
            target = TARGETS[name](Path(folder))
            try:
                if args.guided:
                    return _guided(name, target, args)
                tried, findings = _fuzz(name, target, args)
            finally:
                target.close()
        total += tried
        count += len(findings)
    print(f"{total} inputs, {count} findings", flush=True)
    return 1 if count else 0


def _fuzz(name: str, target: Target, args: argparse.Namespace) -> tuple[int, dict[str, bytes]]:
    """Return how many inputs were tried, and one input for each kind of finding."""
    began, longest, slowest, findings, tried = time.monotonic(), 0.0, b"", {}, 0
    for data in target.seeds:  # this warms up; all of them are accepted
        assert finding(target, data) is None, data
    rng = Random(f"{name} {args.seed}")
    while tried < args.count and time.monotonic() - began < args.seconds:
        data = target.make(rng)
        tried += 1
        start = time.process_time()
        said = limited(target, data)
        if time.process_time() - start > longest:
            longest, slowest = time.process_time() - start, data
        if said is not None and said.partition(": ")[0] not in findings:
            findings[said.partition(": ")[0]] = data
            args.out.mkdir(parents=True, exist_ok=True)
            path = args.out / f"{name}-{len(findings)}"
            path.write_bytes(data)
            print(f"{name}: {said}\n    input {tried}, kept as {path}", flush=True)
    seconds = time.monotonic() - began
    print(f"{name}: {tried} inputs in {seconds:.0f} s, the slowest {longest:.2f} s, {len(findings)} findings")
    if longest > SECONDS / 10:
        print(f"    the slowest begins with {slowest[:200]!r}")
    return tried, findings


def limited(target: Target, data: bytes) -> str | None:
    """Try one input within the limits of time and memory."""
    now = int(Path("/proc/self/statm").read_text(encoding="utf-8").split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (now + MEMORY, resource.RLIM_INFINITY))
    # ends a process that is stuck in C code, where no signal arrives
    faulthandler.dump_traceback_later(max(600, 6 * SECONDS), exit=True, file=sys.__stderr__)
    signal.setitimer(signal.ITIMER_PROF, SECONDS)  # CPU time, because the machine may be busy
    try:
        return finding(target, data)
    except Hang:
        return f"hangs for more than {SECONDS} s"
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        faulthandler.cancel_dump_traceback_later()
        resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY,) * 2)


def _alarm(*_: object) -> None:
    raise Hang


def _guided(name: str, target: Target, args: argparse.Namespace) -> int:
    import atheris

    def one(data: bytes) -> None:
        if (said := limited(target, data)) is not None:
            raise RuntimeError(f"{name}: {said}")

    for data in target.seeds:  # this imports all modules
        finding(target, data)
    for module in [module for key, module in sys.modules.items() if key.startswith("omkl.")]:
        for value in list(vars(module).values()):
            if isinstance(value, FunctionType) and value.__module__.startswith("omkl."):
                atheris.instrument_func(value)
    corpus = args.out / f"corpus-{name}"
    corpus.mkdir(parents=True, exist_ok=True)
    for number, data in enumerate(target.seeds):
        (corpus / f"seed{number}").write_bytes(data)
    seconds = [] if args.seconds == float("inf") else [f"-max_total_time={int(args.seconds)}"]
    flags = [f"-seed={args.seed + 1}", f"-artifact_prefix={args.out}/", f"-runs={args.count}"]
    atheris.Setup([sys.argv[0], *flags, *seconds, str(corpus)], one)
    atheris.Fuzz()  # this ends the process
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
