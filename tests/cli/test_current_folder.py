"""No process that omkl starts imports what lies in the current folder, beside the data."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from support import ROOT, TESTS
from support.planted import plant

from omkl import __main__
from omkl.config import learner_spec
from omkl.passes import precompile
from omkl.paths import SAFE, safe_children


@pytest.fixture
def mark(place, monkeypatch):
    """The current folder holds such modules; their mark."""
    monkeypatch.delenv(SAFE, raising=False)
    return plant(place)


@pytest.fixture
def in_a_process(tmp_path_factory):
    """Run code in the current folder as the script `omkl` is run: what it starts begins there, not itself."""
    path = tmp_path_factory.mktemp("bin") / "script"

    def run(code: str, *words: str, paths: tuple[Path, ...] = (ROOT, TESTS)) -> subprocess.CompletedProcess:
        path.write_text(code)
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, paths))}
        command = [sys.executable, str(path), *words]
        return subprocess.run(
            command, env=environment, capture_output=True, text=True, timeout=300, check=False
        )

    return run


EXECUTOR = """
import sys
from support.runner_fakes import act
from omkl.runs.workers import make_executor
options = {"name": sys.argv[1], "jobs": 2}
if __name__ == "__main__":
    outcomes = make_executor(options).run(act, [("value", i) for i in range(4)])
    print(sorted(outcome for _, outcome in outcomes))
"""


@pytest.mark.slow
@pytest.mark.parametrize("name", ["loky", "dask"])
def test_workers(mark, name, in_a_process):
    """With them start the resource trackers of joblib and of multiprocessing, and dask's nannies."""
    if name == "dask":
        pytest.importorskip("distributed")
    done = in_a_process(EXECUTOR, name)
    assert (done.returncode, done.stdout) == (0, "[0, 1, 2, 3]\n"), done.stderr
    assert not mark.exists(), mark.read_text()


@pytest.mark.slow
def test_the_process_that_helps_to_compile(mark, place, monkeypatch):
    spec, started = learner_spec("majority"), subprocess.Popen
    processes = []
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(place / "compiled"))
    monkeypatch.setattr("joblib.cpu_count", lambda: 2)
    monkeypatch.setattr(precompile, "MOST_PROCESSES", 1)
    start = lambda *words, **how: processes.append(started(*words, **how)) or processes[-1]  # noqa: E731
    monkeypatch.setattr(precompile.subprocess, "Popen", start)
    with precompile._helped([(spec, spec.defaults, False)]):
        assert [process.wait(120) for process in processes] == [0]
    assert not mark.exists(), mark.read_text()


def test_python_m_imports_nothing_but_omkl(place, monkeypatch):
    """Python looks for omkl in the current folder before any code of omkl runs: docs/security.md says so."""
    monkeypatch.delenv(SAFE, raising=False)
    mark = plant(place, but=("omkl",))
    command = [sys.executable, "-m", "omkl", "list", "data"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "wdbc" in done.stdout
    assert not mark.exists(), mark.read_text()


CHILD = """
import subprocess, sys
from omkl.paths import safe_children
with safe_children():
    sys.exit(subprocess.run([sys.executable, "-c", "import mine, omkl"]).returncode)
"""


def test_what_pythonpath_names_is_imported(place, in_a_process):
    (place / "mine.py").touch()
    assert in_a_process(CHILD).returncode == 1
    assert in_a_process(CHILD, paths=(ROOT, place)).returncode == 0


@pytest.mark.parametrize("before", [None, "yes"])
def test_the_environment_is_as_before(monkeypatch, before):
    monkeypatch.delenv(SAFE, raising=False)
    if before:
        monkeypatch.setenv(SAFE, before)
    with safe_children(), safe_children():
        assert os.environ[SAFE]
    assert os.environ.get(SAFE) == before


@pytest.mark.skipif(sys.flags.safe_path, reason="then -m adds no folder")
def test_a_checkout_that_is_not_installed_finds_itself(tmp_path, monkeypatch):
    """`python -m omkl` takes omkl from the current folder there, and so must the processes that it starts."""
    root = str(Path(__main__.__file__).parents[1])
    monkeypatch.setenv("PYTHONPATH", "mine")
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    __main__._leave_the_current_folder()
    assert sys.path[0] != str(tmp_path)
    assert os.environ["PYTHONPATH"] == "mine"
    monkeypatch.setattr(sys, "path", [root, *sys.path])
    __main__._leave_the_current_folder()
    assert sys.path[0] == root
    assert os.environ["PYTHONPATH"] == f"{root}{os.pathsep}mine"
