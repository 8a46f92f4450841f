"""Finding a learner's function by its name, and the folder of compiled code that follows the sources."""

import copy
import os
import pickle
import shutil
import subprocess
import sys
from pathlib import Path

import numba
import numpy as np
import pytest

from omkl import algorithms
from omkl.algorithms import function, functions
from omkl.config import learner_names, learner_spec
from omkl.engine import by_address, expansion, experts, jit, kernel_descent, numba_cache
from omkl.engine.expansion import Entries
from omkl.errors import UserError

PACKAGE = Path(numba_cache.__file__).parent.parent

TRY = """
import numba
import numpy as np
from omkl.engine.experts import mean_vote
print(mean_vote(np.zeros(3)))
"""

MINE = """
from numba import njit
from omkl.engine.experts import mean_vote

@njit(cache=True)
def mine(f):
    return 2.0 + mean_vote(f)
"""
TRY_MINE = """
import numba
import numpy as np
from omkl.algorithms import function
print(function("mine")(np.zeros(3)))
"""


@pytest.mark.parametrize("name", learner_names())
def test_every_learner_names_a_function_that_exists(name):
    spec = learner_spec(name)
    assert function(spec.function).py_func.__name__ == spec.function
    if spec.setup:
        assert callable(function(spec.setup, False))


def test_an_unknown_function_is_an_error_with_a_suggestion():
    with pytest.raises(UserError, match=r"'omkc_dda'.*did you mean 'omkc_dd"):
        function("omkc_dda")


@pytest.mark.parametrize("name", ["njit", "np", "_add_as_published", "outputs", "omkc", "GAUSSIAN"])
def test_what_a_module_imports_or_hides_is_no_learner(name):
    with pytest.raises(UserError, match=name):
        function(name)


@pytest.fixture
def added_module(tmp_path, monkeypatch):
    """Function: source -> a further module of omkl.algorithms for the length of the test."""

    def add(source, name="added_for_a_test"):
        (tmp_path / f"{name}.py").write_text(source)
        monkeypatch.setattr(algorithms, "__path__", [*algorithms.__path__, str(tmp_path)])
        monkeypatch.delitem(sys.modules, f"omkl.algorithms.{name}", raising=False)

    yield add
    sys.modules.pop("omkl.algorithms.added_for_a_test", None)
    vars(algorithms).pop("added_for_a_test", None)


def test_a_new_module_is_found_without_a_list(added_module):
    added_module("def my_learner(stream, E, trace, learn):\n    pass\n")
    assert function("my_learner", False).__name__ == "my_learner"


def test_a_name_defined_twice_is_an_error(added_module):
    added_module("def omkc_dd(stream, E, trace, learn):\n    pass\n")
    with pytest.raises(UserError, match=r"'omkc_dd' is defined twice"):
        functions()


@pytest.mark.slow
def test_the_folders_follow_every_source_of_compiled_code(tmp_path, monkeypatch):
    copy = tmp_path / "omkl"
    shutil.copytree(PACKAGE, copy, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    original = numba_cache.compiled_folder()
    monkeypatch.setattr(numba_cache, "_PACKAGE", copy)
    assert numba_cache.compiled_folder() == original  # not the place
    learners = sorted(copy.glob("algorithms/[!_]*.py"))
    for path in learners:
        before = {each: numba_cache.module_folder(each) for each in learners}
        path.write_text(path.read_text() + "\n# changed\n")
        assert numba_cache.compiled_folder() == original
        after = {each: numba_cache.module_folder(each) for each in learners}
        assert [each for each in learners if after[each] != before[each]] == [path]
    folders = {original}
    for path in sorted(copy.glob("engine/*.py")):
        path.write_text(path.read_text() + "\n# changed\n")
        folders.add(numba_cache.compiled_folder())
        assert numba_cache.module_folder(learners[0]).parent == numba_cache.compiled_folder()
    assert len(folders) == 1 + len([*copy.glob("engine/*.py")])
    (copy / "engine" / "another.py").write_text("")
    assert numba_cache.compiled_folder() not in folders


def test_a_module_of_learners_that_uses_another_follows_all(tmp_path, monkeypatch):
    copy = tmp_path / "omkl"
    shutil.copytree(PACKAGE, copy, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(numba_cache, "_PACKAGE", copy)
    mine = copy / "algorithms" / "mine.py"
    for line in ("from omkl.algorithms.omkc import omkc_dd\n", "from .omkc import omkc_dd\n"):
        mine.write_text(line)
        before = numba_cache.module_folder(mine)
        (copy / "algorithms" / "omkc.py").write_text(line)
        assert numba_cache.module_folder(mine) != before


def test_compiled_learners_lie_in_their_module_s_folder_and_the_engine_beside_them():
    files = {name: Path(function(name)._cache.cache_path).parent for name in ("omkc_dd", "norma", "arow")}
    assert files == {name: numba_cache.folder_of(function(name)) for name in files}
    for helper in (kernel_descent.descend, expansion.add, experts.discount):
        assert Path(helper._cache.cache_path).parent == numba_cache.base()


def test_compiled_code_has_the_same_place_where_numba_is_imported_first(tmp_path):
    code = "import numba, omkl.engine.stream as s; print(s.row._cache.cache_path)"
    kept = {**os.environ, "OMKL_CACHE": str(tmp_path)}
    kept.pop("NUMBA_CACHE_DIR", None)
    done = subprocess.run([sys.executable, "-c", code], env=kept, capture_output=True, text=True, check=True)
    assert Path(done.stdout).is_relative_to(tmp_path / "numba")


def test_whole_numbers_in_a_call_make_no_version_of_their_own():
    @jit.compiled
    def twice(x):
        return x + x

    @jit.compiled
    def calls(x):
        return twice(0) + twice(x) + twice(x=1)

    assert calls(2) == 6
    assert len(twice.inner().signatures) == 1


def test_a_function_called_by_address_gets_its_arguments_and_raises_its_errors():
    @jit.compiled
    def double(x, i):
        if i >= x.size:
            raise IndexError("no such place")
        x[i] *= 2

    @jit.compiled
    def through(place, x, i):
        by_address.call(place, (x, i))

    x = np.ones(3)
    place = by_address.entry(double, (numba.typeof(x), numba.typeof(0)))
    through(place, x, 1)
    assert x.tolist() == [1, 2, 1]
    with pytest.raises(IndexError, match="no such place"):
        through(place, x, 3)
    with pytest.raises(TypeError, match="an entry of other types"):
        through(place, np.ones(3, np.float32), 1)
    with pytest.raises(TypeError, match="an entry of other types"):
        through(by_address.NO_ENTRY, x, 1)


def test_a_copy_of_addresses_has_none():
    """In another process they would be wild."""
    made = Entries(*[(1, 2)] * len(Entries._fields))
    for copied in (copy.deepcopy(made), pickle.loads(pickle.dumps(made))):
        assert copied == Entries(*[by_address.NO_ENTRY] * len(Entries._fields))


@pytest.fixture
def in_a_copy(tmp_path):
    """Function: code -> what it prints with a copy of the package and a cache of its own."""
    shutil.copytree(PACKAGE, tmp_path / "omkl", ignore=shutil.ignore_patterns("__pycache__"))

    def run(code):
        env = {k: v for k, v in os.environ.items() if k != "NUMBA_CACHE_DIR"}
        env |= {"OMKL_CACHE": str(tmp_path / "cache"), "PYTHONPATH": str(tmp_path)}
        env |= {"PYTHONDONTWRITEBYTECODE": "1"}  # Python's own files look only at a source's size and time
        command = [sys.executable, "-c", code]
        done = subprocess.run(command, env=env, cwd=tmp_path, capture_output=True, text=True, check=True)
        return float(done.stdout)

    return run


def compiled_in(folder):
    return {path: path.stat().st_mtime_ns for path in folder.glob("cache/numba/**/*.nbc")}


@pytest.mark.slow
def test_an_edited_helper_is_compiled_again_and_an_unchanged_one_is_not(tmp_path, in_a_copy):
    """mean_vote calls vote of another file: numba's own cache would still use the old one."""
    assert in_a_copy(TRY) == 1.0
    first = compiled_in(tmp_path)
    assert first
    assert in_a_copy(TRY) == 1.0
    assert compiled_in(tmp_path) == first
    conventions = tmp_path / "omkl" / "engine" / "conventions.py"
    conventions.write_text(conventions.read_text().replace("1.0 if f >= 0.0 else -1.0", "-5.0"))
    assert in_a_copy(TRY) == -5.0
    assert len(compiled_in(tmp_path)) > len(first)


@pytest.mark.slow
def test_an_edited_learner_is_compiled_again_and_the_engine_is_not(tmp_path, in_a_copy):
    """Even where neither the file's size nor its time changes, which is all that numba looks at."""
    mine = tmp_path / "omkl" / "algorithms" / "mine.py"
    mine.write_text(MINE)
    before = mine.stat()
    assert in_a_copy(TRY_MINE) == 3.0
    first = compiled_in(tmp_path)
    mine.write_text(MINE.replace("2.0", "7.0"))
    os.utime(mine, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert in_a_copy(TRY_MINE) == 8.0
    second = compiled_in(tmp_path)
    assert {path: second[path] for path in first} == first
    assert {path.name.split(".")[0] for path in second.keys() - first.keys()} == {"mine"}


def test_has_finds_a_function_on_disk(tmp_path, monkeypatch):
    learner = function("omkc_dd")
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    folder = numba_cache.folder_of(learner) / "algorithms_0"
    folder.mkdir(parents=True)
    assert not numba_cache.has(learner)
    (folder / "omkc.omkc_ddpa-160.py311.nbi").touch()
    assert not numba_cache.has(learner)
    (folder / "omkc.omkc_dd-28.py311.nbi").touch()
    assert numba_cache.has(learner)
