"""What must work on systems other than Linux: these tests hide fcntl, resource and /proc."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from support import ROOT
from support.runner_plans import write_data

from omkl.cli import main
from omkl.store.store import Store

pytestmark = pytest.mark.slow

# Every Python process below the folder with this file imports it when it starts: the workers too.
BARE = '''
import builtins, io, os, sys

class Hidden:
    """No such modules, as on Windows."""

    def find_spec(self, name, path=None, target=None):
        if name in ("fcntl", "resource"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Hidden())
for name in ("fcntl", "resource"):
    sys.modules.pop(name, None)

def without_proc(function):
    def opens(path, *args, **kwargs):
        text = path if isinstance(path, int) else os.fsdecode(path)
        if isinstance(text, str) and (text == "/proc" or text.startswith(("/proc/", "/sys/fs/cgroup"))):
            raise FileNotFoundError(2, "No such file or directory", text)
        return function(path, *args, **kwargs)
    return opens

builtins.open = io.open = without_proc(io.open)
for name in ("open", "stat", "lstat", "listdir", "scandir", "readlink"):
    setattr(os, name, without_proc(getattr(os, name)))
for name in ("sched_getaffinity", "getloadavg"):
    if hasattr(os, name):
        delattr(os, name)
'''

CHECK = """
import os, sys
for name in ("fcntl", "resource"):
    try:
        __import__(name)
        sys.exit(f"{name} is there")
    except ImportError:
        pass
for look in (open, os.stat, os.listdir):
    try:
        look("/proc/self" if look is not open else "/proc/cpuinfo")
        sys.exit("/proc is there")
    except FileNotFoundError:
        pass
"""


@pytest.fixture
def bare(tmp_path) -> dict[str, str]:
    """An environment whose Python processes find no fcntl, no resource and no /proc."""
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "sitecustomize.py").write_text(BARE)
    path = os.pathsep.join([str(tmp_path / "site"), str(ROOT)])
    environment = {**os.environ, "PYTHONPATH": path, "PYTHONWARNINGS": "default"}
    done = subprocess.run([sys.executable, "-c", CHECK], env=environment, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    return environment


def omkl(environment: dict[str, str], *words: str) -> subprocess.CompletedProcess:
    code = "from omkl.cli import main; from omkl.runs import runner; "
    code += "runner.SMALL_WORK = 0.0; raise SystemExit(main())"
    command = [sys.executable, "-c", code, *words]  # workers even for this little work
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=500)


def figures(table: str) -> list[tuple]:
    columns = ("algo", "settings", "reps", "mistakes_mean", "n_sv_sum_mean")
    return [tuple(row[column] for column in columns) for row in json.loads(table)["summary"]]


def test_a_sweep_runs_without_fcntl_resource_and_proc(tmp_path, bare, capsys):
    data = write_data(tmp_path / "tiny.libsvm", 60)
    words = ["sweep", "algo=omkc_dd", f"data={data}", "algo.beta=0.5,0.8", "reps=8", "-q", "--format", "json"]
    assert main([*words, "exec=serial", f"store={tmp_path / 'here'}"]) == 0
    tables = {"here": figures(capsys.readouterr().out)}
    for name, how in (("serial", ["exec=serial"]), ("workers", ["-j", "2"])):
        done = omkl(bare, *words, *how, f"store={tmp_path / name}")
        assert done.returncode == 0, done.stderr
        assert "Traceback" not in done.stderr
        tables[name] = figures(done.stdout)
        (used,) = {origin["backend"] for origin in Store(tmp_path / name).cells()["provenance"]}
        assert used == ("loky" if name == "workers" else "serial")
    assert len(tables["here"]) > 2
    assert tables["here"] == tables["serial"] == tables["workers"]
    store, cells = f"store={tmp_path / 'serial'}", tmp_path / "serial" / "cells"
    again = b"".join(path.read_bytes() for path in cells.iterdir())
    (cells / "again.jsonl").write_bytes(again)
    upkeep = [["merge", str(tmp_path / "workers"), store], ["prune", "--yes", store]]
    code = (
        f"from omkl.cli import main; raise SystemExit(any(main(['results', *words]) for words in {upkeep}))"
    )
    done = subprocess.run([sys.executable, "-c", code], env=bare, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    left = b"".join(path.read_bytes() for path in cells.iterdir())
    assert left.count(b"\n") == again.count(b"\n")  # each cell once
    assert not list((tmp_path / "serial" / "locks").iterdir())  # locks that are files are gone with their use


def test_without_locks_of_the_system_a_killed_writer_s_lock_is_broken(tmp_path, bare):
    code = (
        "import os, signal, sys; from pathlib import Path; from omkl.files import hold\n"
        "lock = hold(Path(sys.argv[1]))\n"
        "os.kill(os.getpid(), signal.SIGKILL)"
    )
    path = str(tmp_path / "lock")
    killed = subprocess.run([sys.executable, "-c", code, path], env=bare, capture_output=True, text=True)
    assert killed.returncode == -9, killed.stderr
    assert Path(path).exists()
    code = (
        "import sys; from pathlib import Path; from omkl.files import locked\n"
        "with locked(Path(sys.argv[1]), 'testing'): print('held')"
    )
    after = subprocess.run(
        [sys.executable, "-c", code, path], env=bare, capture_output=True, text=True, timeout=100
    )
    assert after.stdout == "held\n", after.stderr
