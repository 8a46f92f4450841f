"""The next run removes the leftovers of a killed run, and nothing of a run that lives."""

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from support import ROOT, TESTS
from support.runner_plans import make_plan

from omkl.executors import leftovers
from omkl.runs import runner

pytestmark = pytest.mark.slow

DRIVER = """
import sys
sys.path.insert(0, {here!r})
from support.runner_fakes import act
from omkl import executors
jobs = [("pid", i) for i in range(8)] + [("spin", 600)] * 4
for job, outcome in executors.make_executor({options!r}).run(act, jobs):
    print(outcome, flush=True)
"""
OPTIONS = {
    "loky": {"name": "loky", "jobs": 2},
    "dask": {"name": "dask", "address": None, "jobs": 2, "wait": 60.0},
}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder for temporary files of this test's own, where nothing has been swept."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    leftovers.remove_leftovers.cache_clear()
    yield tmp_path
    leftovers.remove_leftovers.cache_clear()


def semaphores() -> set[str]:
    return {path.name for path in Path("/dev/shm").glob("sem.*")}


@pytest.mark.skipif(sys.platform != "linux", reason="looks at named semaphores in /dev/shm")
@pytest.mark.parametrize("name", OPTIONS)
def test_the_leftovers_of_a_killed_run_are_removed_by_the_next(name, folder, tmp_path, monkeypatch):
    if name == "dask":
        pytest.importorskip("distributed")
    driver = subprocess.Popen(
        [sys.executable, "-c", DRIVER.format(here=str(TESTS), options=OPTIONS[name])],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        start_new_session=True,
        env={**os.environ, "PYTHONPATH": str(ROOT), "TMPDIR": str(folder)},
    )
    try:
        assert driver.stdout.readline().strip().isdecimal()
        mine = {path for path in semaphores() if f"-{driver.pid}-" in path}
        assert mine
        assert len(list(folder.glob("omkl-*"))) == 1
        leftovers.remove_leftovers()  # of a run that lives nothing is removed
        assert mine <= semaphores()
        assert len(list(folder.glob("omkl-*"))) == 1
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(driver.pid, signal.SIGKILL)  # with those who would tidy up
        driver.wait()
    assert mine <= semaphores()
    leftovers.remove_leftovers.cache_clear()
    plan = make_plan(tmp_path, monkeypatch)
    assert len(runner.run_plan(plan).cells) == 24
    assert not mine & semaphores()
    assert list(folder.glob("omkl-*")) == []


def make(folder: Path, **owner: object) -> Path:
    """A folder as a run leaves it that was killed."""
    made = Path(tempfile.mkdtemp(prefix="omkl-", dir=folder))
    (made / "begun").write_text("1\n")
    if owner:
        (made / "owner").write_text(json.dumps(owner))
    return made


def gone() -> int:
    """The number of a process that has ended."""
    done = subprocess.Popen([sys.executable, "-c", ""])
    done.wait()
    return done.pid


def test_leftovers_that_may_have_an_owner_stay(folder):
    here, pid = socket.gethostname(), gone()
    dead, shared = make(folder, host=here, pid=pid), folder / f"joblib_memmapping_folder_{pid}_a_b"
    shared.mkdir()
    kept = [
        make(folder, host=here, pid=os.getpid()),  # lives
        make(folder, host=f"not-{here}", pid=pid),  # of another machine, where the folder is shared
        make(folder),  # its owner may be about to write who it is
        folder / "omkl-file",
        folder / "omkl-link",
        make(folder, host=here),
    ]
    kept[3].touch()
    (folder / "else").mkdir()
    kept[4].symlink_to(folder / "else")
    forgotten = make(folder)
    for path in (forgotten / "begun", forgotten):
        os.utime(path, (1, 1))
    leftovers.remove_leftovers()
    assert not dead.exists()
    assert not shared.exists()
    assert not forgotten.exists()
    assert [path.exists() for path in kept] == [True] * len(kept)


def test_a_folder_whose_lock_is_held_stays_whatever_its_number_says(folder):
    """In another container the same number is another process."""
    with leftovers.scratch() as scratch:
        (scratch / "owner").write_text(json.dumps({"host": socket.gethostname(), "pid": gone()}))
        leftovers.remove_leftovers()
        assert scratch.exists()
    assert not scratch.exists()
