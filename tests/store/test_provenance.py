"""Where results came from: commit and dirtiness of a checkout, or nothing, never an error."""

import json
import os
import shutil
import subprocess
from datetime import UTC, datetime
from pathlib import Path

import pytest

import omkl
from omkl.store import provenance


def git(folder: Path, *words: str) -> str:
    identity = {"GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@b", "GIT_COMMITTER_NAME": "a"}
    clean = {k: v for k, v in os.environ.items() if not k.startswith("GIT_")}
    environment = {**clean, **identity, "GIT_COMMITTER_EMAIL": "a@b", "GIT_CONFIG_GLOBAL": os.devnull}
    done = subprocess.run(
        ["git", *words], cwd=folder, env=environment, check=True, capture_output=True, text=True
    )
    return done.stdout.strip()


@pytest.fixture
def checkout(tmp_path) -> Path:
    (tmp_path / "omkl").mkdir()
    (tmp_path / "conf").mkdir()
    (tmp_path / "omkl" / "code.py").write_text("1\n")
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-qm", "one")
    return tmp_path


def test_commit_and_dirtiness(checkout, monkeypatch):
    commit = git(checkout, "rev-parse", "HEAD")
    assert provenance.checkout(checkout) == (commit, False)
    (checkout / "notes.txt").write_text("not code")
    assert provenance.checkout(checkout) == (commit, False)
    (checkout / "conf" / "new.yaml").write_text("a: 1")  # a new learner, not added yet
    assert provenance.checkout(checkout) == (commit, True)
    (checkout / "conf" / "new.yaml").unlink()
    (checkout / "omkl" / "code.py").write_text("2\n")
    monkeypatch.setenv("GIT_DIR", "/nowhere")  # as inside a hook
    assert provenance.checkout(checkout) == (commit, True)


def test_no_checkout_no_commit_no_git(tmp_path, checkout, monkeypatch):
    assert provenance.checkout(checkout / "omkl") == (None, None)  # inside another's checkout is not ours
    empty = tmp_path / "empty"
    empty.mkdir()
    git(empty, "init", "-q")
    assert provenance.checkout(empty) == (None, None)
    monkeypatch.setenv("PATH", str(empty))
    assert provenance.checkout(checkout) == (None, None)


def test_what_is_collected_can_be_stored():
    origin = provenance.collect("loky", 3)
    assert set(origin) == {"versions", "commit", "dirty", "host", "cpu", "cores", "backend", "jobs"}
    assert set(origin["versions"]) == {"omkl", "python", "numpy", "numba"}
    assert (origin["backend"], origin["jobs"]) == ("loky", 3)
    assert origin["cores"] >= 1
    assert origin["cpu"]
    json.dumps(origin, allow_nan=False)
    stamp = provenance.stamp()
    assert abs((datetime.now(UTC) - datetime.fromisoformat(stamp["time"])).total_seconds()) < 60
    assert len(stamp["time"]) == 32  # of fixed width, so that times sort as text


def test_what_decides_results_follows_every_source_but_those_that_show(tmp_path, monkeypatch):
    package = Path(omkl.__file__).parent
    copy = tmp_path / "omkl"
    shutil.copytree(package, copy, ignore=shutil.ignore_patterns("__pycache__"))
    before = provenance.deciding_versions()
    assert list(before) == ["omkl", "numpy", "scipy", "numba", "llvmlite"]
    monkeypatch.setattr(provenance, "_PACKAGE", copy)
    deciding = provenance._of_omkl.__wrapped__
    assert deciding() == before  # not the place
    assert {name for name in provenance._SHOWS if not (copy / name).exists()} == set()
    seen = {before["omkl"]}
    ours = {path.relative_to(copy): path for path in sorted(copy.rglob("*.py"))}
    one = {name.parts[0] if name.as_posix() not in provenance._SHOWS else name: name for name in ours}
    for path in (ours[name] for name in one.values()):  # of each folder, and each that is named
        path.write_text(path.read_text() + "\n# changed\n")
        name = path.relative_to(copy)
        shows = bool({name.parts[0], name.as_posix()} & provenance._SHOWS)
        assert (deciding()["omkl"] in seen) == shows, path
        seen.add(deciding()["omkl"])
    for name in ("passes", "seeds.py", "runs", "data", "config", "engine", "algorithms"):
        assert name not in provenance._SHOWS


@pytest.mark.parametrize(("own", "of_machine", "load"), [(1, 64, 0.75), (64, 64, 48.0), (8, None, 48.0)])
def test_the_load_is_of_the_share_of_the_cores(own, of_machine, load, monkeypatch):
    monkeypatch.setattr(os, "getloadavg", lambda: (48.0, 0.0, 0.0), raising=False)
    monkeypatch.setattr(os, "cpu_count", lambda: of_machine)
    monkeypatch.setattr(provenance, "cores", lambda: own)
    assert provenance.stamp()["load"] == load
