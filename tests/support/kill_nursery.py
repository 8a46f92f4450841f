"""Runs one command again and again and kills it: a script of its own, which imports once and forks per run.

    python kill_nursery.py FOLDER KILLS SEED WORD...

Prints JSON: "kills" by kind, and "stores", the folders whose run ended by itself with exit code 0 at last.
"""

import json
import os
import random
import signal
import sys
import time
from collections import Counter
from pathlib import Path

from omkl import cli
from omkl.runs import runner

KINDS = ("moment", "write", "worker", "driver")
LONGEST = 600.0  # seconds that one run may take


def launch(words: list[str], store: Path, jobs: int, torn_write: int = 0) -> int:
    """Fork a process that runs the command on the store, and return its id.

    torn_write: which of its writes to the store is cut short by a SIGKILL (0: none).
    """
    child = os.fork()
    if child:
        return child
    code = 70
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # the table
        if jobs > 1:
            runner.SMALL_WORK = -1.0
        if torn_write:
            tear(torn_write)
        code = cli.main(["run", *words, f"store={store}", "-q", "-j", str(jobs)])
    finally:
        os._exit(code)


def tear(which: int) -> None:
    """Let this process die in the middle of one of its writes to the store."""
    write, count = os.write, 0

    def torn(file: int, data: bytes) -> int:
        nonlocal count
        count += 1
        if count == which:
            write(file, data[: random.randrange(len(data) + 1)])
            os.kill(os.getpid(), signal.SIGKILL)
        return write(file, data)

    os.write = torn


def workers(driver: int) -> list[int]:
    """Return the worker processes of a driver."""
    found = []
    for child in Path(f"/proc/{driver}/task/{driver}/children").read_text(encoding="utf-8").split():
        try:
            if b"popen_loky" in Path(f"/proc/{child}/cmdline").read_bytes():
                found.append(int(child))
        except OSError:
            continue
    return found


def ended(process: int, within: float) -> int | None:
    """Return the exit code of a process (negative: the signal), None if it still runs after some seconds."""
    until = time.monotonic() + within
    while True:
        pid, status = os.waitpid(process, os.WNOHANG)
        if pid:
            return os.waitstatus_to_exitcode(status)
        if time.monotonic() > until:
            return None
        time.sleep(0.002)


def finish(process: int) -> int:
    code = ended(process, LONGEST)
    if code is None:
        os.kill(process, signal.SIGKILL)
        raise SystemExit(f"a run hangs for {LONGEST} s")
    return code


def disturb(kind: str, words: list[str], store: Path, usual: float) -> tuple[int, bool]:
    """Run the command once, kill it or a worker in that way, and return its exit code and whether it was."""
    if kind == "write":
        code = finish(launch(words, store, 1, torn_write=random.randint(1, 60)))
        return code, code == -signal.SIGKILL
    if kind == "moment":
        process = launch(words, store, 1)
        code = ended(process, random.uniform(0, usual))
    else:
        process, code, victims = launch(words, store, 2), None, []
        while code is None and not victims:
            code = ended(process, 0)
            victims = workers(process) if code is None else []
        if code is None:
            code = ended(process, random.uniform(0, 1.5))
        if kind == "worker" and code is None:
            for victim in random.sample(victims, 1):
                os.kill(victim, signal.SIGKILL)
            return finish(process), True
    if code is not None:
        return code, False
    os.kill(process, signal.SIGKILL)
    return finish(process), True


def main(folder: str, kills: str, seed: str, *words: str) -> None:
    random.seed(int(seed))
    stores = [Path(folder, "0")]
    began = time.monotonic()
    runs = [finish(launch(list(words), Path(folder, "warm"), 1))]
    began = time.monotonic()
    runs.append(finish(launch(list(words), Path(folder, "usual"), 1)))
    usual = time.monotonic() - began
    done: Counter = Counter()
    while done.total() < int(kills):
        kind = KINDS[done.total() % len(KINDS)]
        code, killed = disturb(kind, list(words), stores[-1], usual)
        done[kind] += killed
        runs.append(code)
        if code == 0:
            stores.append(Path(folder, str(len(stores))))
    runs.append(finish(launch(list(words), stores[-1], 1)))
    print(json.dumps({"kills": done, "stores": [str(store) for store in stores], "codes": Counter(runs)}))


if __name__ == "__main__":
    main(*sys.argv[1:])
