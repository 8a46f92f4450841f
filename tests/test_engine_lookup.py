"""Finding a learner's function by its name, and the folder of compiled code that follows the sources."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from omkl import algorithms
from omkl.algorithms import function, functions
from omkl.config import algo_names, algo_spec
from omkl.engine import numba_cache
from omkl.errors import UserError

PACKAGE = Path(numba_cache.__file__).parent.parent

TRY = """
import numpy as np
from omkl.engine.experts import mean_vote
print(mean_vote(np.zeros(3)))
"""


@pytest.mark.parametrize("name", algo_names())
def test_every_learner_names_a_function_that_exists(name):
    spec = algo_spec(name)
    assert function(spec.function).py_func.__name__ == spec.function
    if spec.setup:
        assert callable(function(spec.setup))


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
    assert function("my_learner").__name__ == "my_learner"


def test_a_name_defined_twice_is_an_error(added_module):
    added_module("def omkc_dd(stream, E, trace, learn):\n    pass\n")
    with pytest.raises(UserError, match=r"'omkc_dd' is defined twice"):
        functions()


def test_the_folder_follows_every_source_of_compiled_code(tmp_path, monkeypatch):
    copy = tmp_path / "omkl"
    shutil.copytree(PACKAGE, copy, ignore=shutil.ignore_patterns("__pycache__"))
    original = numba_cache.compiled_folder()
    monkeypatch.setattr(numba_cache, "_PACKAGE", copy)
    assert numba_cache.compiled_folder() == original  # the content counts, not the place
    folders = {original}
    for path in [*sorted(copy.glob("engine/*.py")), *sorted(copy.glob("algorithms/*.py"))]:
        path.write_text(path.read_text() + "\n# changed\n")
        folders.add(numba_cache.compiled_folder())
    assert len(folders) == 1 + len([*copy.glob("engine/*.py"), *copy.glob("algorithms/*.py")])
    (copy / "engine" / "another.py").write_text("")
    assert numba_cache.compiled_folder() not in folders


def test_an_edited_helper_is_compiled_anew_and_an_unchanged_one_is_not(tmp_path):
    """mean_vote calls vote of another file: numba's own cache would go on with the old one."""
    copy = tmp_path / "omkl"
    shutil.copytree(PACKAGE, copy, ignore=shutil.ignore_patterns("__pycache__"))

    def mean_vote_of_zeros():
        env = {k: v for k, v in os.environ.items() if k != "NUMBA_CACHE_DIR"}
        env |= {"OMKL_CACHE": str(tmp_path / "cache"), "PYTHONPATH": str(tmp_path)}
        run = [sys.executable, "-c", TRY]
        done = subprocess.run(run, env=env, cwd=tmp_path, capture_output=True, text=True, check=True)
        return float(done.stdout)

    def written():
        return {path: path.stat().st_mtime_ns for path in tmp_path.glob("cache/numba/**/*.nbc")}

    assert mean_vote_of_zeros() == 1.0
    first = written()
    assert first
    assert mean_vote_of_zeros() == 1.0
    assert written() == first
    conventions = copy / "engine" / "conventions.py"
    conventions.write_text(conventions.read_text().replace("1.0 if f >= 0.0 else -1.0", "-5.0"))
    assert mean_vote_of_zeros() == -5.0
    assert len(written()) > len(first)


def test_has_tells_whether_a_function_is_on_disk(tmp_path, monkeypatch):
    learner = function("omkc_dd")
    folder = tmp_path / "compiled" / "algorithms_0"
    folder.mkdir(parents=True)
    monkeypatch.setattr(numba_cache, "compiled_folder", lambda: tmp_path / "compiled")
    assert not numba_cache.has(learner)
    (folder / "omkc.omkc_ddpa-160.py311.nbi").touch()
    assert not numba_cache.has(learner)
    (folder / "omkc.omkc_dd-28.py311.nbi").touch()
    assert numba_cache.has(learner)
