"""Compiled code on disk that was damaged: noticed before it is loaded, deleted, compiled again."""

import os
import pickle
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from support import ROOT

from omkl.engine import numba_cache

pytestmark = pytest.mark.slow

TRY = """
import numpy as np
from omkl.engine.experts import mean_vote, mistakes
print(mean_vote(np.array([1.0, 2.0, -3.0])), mistakes(1.0, np.array([1.0, -2.0])))
print(*(sum(f.stats.cache_hits.values()) for f in (mean_vote, mistakes)))
"""


def run(code: str, cache: Path, *words: str) -> subprocess.CompletedProcess:
    environment = {k: v for k, v in os.environ.items() if k != "NUMBA_CACHE_DIR"}
    return subprocess.run(
        [sys.executable, "-c", code, *words],
        env={**environment, "OMKL_CACHE": str(cache), "PYTHONPATH": str(ROOT)},
        cwd=cache.parent,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


@pytest.fixture(scope="module")
def compiled(tmp_path_factory):
    """A cache with two small functions of the engine, and the output of the program that calls them."""
    cache = tmp_path_factory.mktemp("sealed") / "cache"
    first = run(TRY, cache)
    assert (first.returncode, first.stderr) == (0, "")
    output, hits = first.stdout.splitlines()
    assert hits == "0 0"
    return cache, output


def flip(path: Path, start: int, stop: int, bits: int) -> None:
    """Flip these bits of some bytes."""
    content = bytearray(path.read_bytes())
    content[start:stop] = bytes(byte ^ bits for byte in content[start:stop])
    path.write_bytes(content)


def flip_code(path: Path) -> None:
    """Invert the machine code: loaded, it would crash without a word."""
    content = path.read_bytes()
    start = content.index(b"\x7fELF") if b"\x7fELF" in content else len(content) // 4
    flip(path, start + 64, len(content) - 64, bits=0xFF)


DAMAGE = {
    "empty": lambda path: path.write_bytes(b""),
    "cut": lambda path: path.write_bytes(path.read_bytes()[:-100]),
    "garbage": lambda path: path.write_bytes(b"garbage" * 1000),
    "another_pickle": lambda path: path.write_bytes(pickle.dumps([7])),
    "one_bit": lambda path: flip(path, start=200, stop=201, bits=1),
    "machine_code": flip_code,
    "another_s": lambda path: path.write_bytes(
        next(path.parent.glob(f"experts.mistakes-*{path.suffix}")).read_bytes()
    ),
}


@pytest.mark.parametrize("suffix", [".nbi", ".nbc"])
@pytest.mark.parametrize("damage", DAMAGE)
def test_damaged_files_are_noticed_and_deleted(compiled, tmp_path, monkeypatch, capsys, damage, suffix):
    [sound] = compiled[0].rglob(f"experts.mean_vote-*{suffix}")
    folder = tmp_path / sound.parent.name
    shutil.copytree(sound.parent, folder)
    path = folder / sound.name
    assert numba_cache._file_is_intact(path)
    DAMAGE[damage](path)
    for reported in (False, True):  # the first of a process is reported
        monkeypatch.setattr(numba_cache, "_reported", reported)
        content = path.read_bytes()
        assert not numba_cache._file_is_intact(path)
        assert not path.exists()
        said = f"omkl: warning: {path}: the compiled code is damaged; it is deleted and compiled again\n"
        assert capsys.readouterr().err == ("" if reported else said)
        path.write_bytes(content)


@pytest.mark.parametrize("suffix", [".nbi", ".nbc"])
def test_damaged_files_are_never_loaded_but_compiled_again(compiled, suffix):
    cache, output = compiled
    [path] = cache.rglob(f"experts.mean_vote-*{suffix}")
    flip_code(path)
    found = run(TRY, cache)
    assert found.returncode == 0, found.stderr
    assert found.stdout.splitlines() == [output, "0 1"]
    assert found.stderr.count("\n") == 1
    assert f"{path}: the compiled code is damaged; it is deleted and compiled again" in found.stderr


def test_several_damaged_files_are_one_line(compiled):
    cache, output = compiled
    for path in cache.rglob("*.nb?"):
        path.write_bytes(path.read_bytes()[:-1])
    found = run(TRY, cache)
    assert (found.returncode, found.stdout.splitlines()) == (0, [output, "0 0"])
    assert found.stderr.count("\n") == 1
    again = run(TRY, cache)
    assert (again.stdout.splitlines(), again.stderr) == ([output, "1 1"], "")


RUN = """
import sys
from omkl.cli import main
sys.exit(main(sys.argv[1:]))
"""


def test_a_command_with_a_damaged_learner_runs_and_the_next_says_nothing(tmp_path):
    cache = tmp_path / "cache"
    words = ["run", "algo=majority", "yardsticks=[]", "data=switch", "reps=1", "order=file", "exec=serial"]
    words += ["--format", "csv"]
    first = run(RUN, cache, *words, f"store={tmp_path / 'a'}")
    assert (first.returncode, first.stderr.count("compiling ")) == (0, 1)
    [path] = cache.rglob("yardsticks.majority-*.nbc")
    flip_code(path)
    second = run(RUN, cache, *words, f"store={tmp_path / 'b'}")
    assert second.returncode == 0
    assert [line for line in second.stderr.splitlines() if "damaged" in line] == [
        f"omkl: warning: {path}: the compiled code is damaged; it is deleted and compiled again"
    ]
    third = run(RUN, cache, *words, f"store={tmp_path / 'c'}")
    assert (third.returncode, "compil" in third.stderr) == (0, False)


def test_compiled_code_of_other_packages_is_left_as_numba_has_it(tmp_path):
    (tmp_path / "theirs.py").write_text(
        "from numba import njit\n\n@njit(cache=True)\ndef double(x):\n    return x + x\n"
    )
    code = "numba.config.CACHE_DIR = os.environ['OMKL_CACHE']; sys.path.insert(0, '.'); "
    code += "import theirs; print(theirs.double(2))"
    alone = run(f"import numba, os, sys; {code}", tmp_path / "c")
    beside = run(f"import omkl.engine, numba, os, sys; {code}", tmp_path / "c")
    assert (alone.stdout, beside.stdout, beside.stderr) == ("4\n", "4\n", "")
