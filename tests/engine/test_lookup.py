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
from omkl.engine import by_address, expansion, experts, jit, numba_cache, stores
from omkl.engine.expansion import Pointers
from omkl.errors import UserError
from omkl.files import sources

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


@pytest.fixture
def copied(tmp_path, monkeypatch):
    """A copy of the package, which the folders are named by."""
    shutil.copytree(PACKAGE, tmp_path / "omkl", ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    monkeypatch.setattr(numba_cache, "_PACKAGE", tmp_path / "omkl")
    return tmp_path / "omkl"


def test_the_folders_follow_every_source_of_compiled_code(copied):
    folders = {numba_cache.compiled_folder()}
    for path in sorted(copied.glob("engine/*.py")):
        path.write_text(path.read_text() + "\n# changed\n")
        folders.add(numba_cache.compiled_folder())
    (copied / "engine" / "another.py").write_text("")
    folders.add(numba_cache.compiled_folder())
    assert len(folders) == 1 + len([*copied.glob("engine/*.py")])


def test_a_module_of_learners_has_a_folder_of_its_own(copied):
    learners = sorted(copied.glob("algorithms/[!_]*.py"))
    before = {each: numba_cache.module_folder(each) for each in learners}
    assert {folder.parent for folder in before.values()} == {numba_cache.compiled_folder()}
    learners[0].write_text(learners[0].read_text() + "\n# changed\n")
    after = {each: numba_cache.module_folder(each) for each in learners}
    assert [each for each in learners if after[each] != before[each]] == learners[:1]


@pytest.mark.parametrize(
    ("text", "others"),
    [
        ("import math\nimport numpy as np\nfrom numba import njit\n", []),
        ("from omkl.engine.experts import vote\n", []),
        ("from omkl.algorithms.omkc import omkc_dd\n", ["omkc.py"]),
        ("from omkl.algorithms import omkc\n", ["omkc.py", "omkl.py"]),
        ("from .steps import step\n", ["algorithms/steps.py", "deeper.py"]),
        ("from . import steps\n", ["algorithms/mine.py", "algorithms/steps.py", "deeper.py"]),
        ("from . import (\n    steps,\n)\n", ["algorithms/steps.py"]),
        ("def learner():\n    import math, deeper\n", ["deeper.py"]),
        ("import parts.one\n", ["parts/__init__.py", "parts/one.py", "parts/two.py"]),
        ("from parts import two as one\n", ["parts/one.py"]),
        ("import there_is_none\n", []),
    ],
)
def test_a_module_s_sources_are_its_own_and_those_of_all_that_it_imports(tmp_path, monkeypatch, text, others):
    (tmp_path / "algorithms").mkdir()
    (tmp_path / "parts").mkdir()
    for name in ("parts/__init__.py", "parts/one.py", "parts/two.py", "deeper.py"):
        (tmp_path / name).write_text("")
    (tmp_path / "algorithms/steps.py").write_text("import deeper\n")
    (tmp_path / "algorithms/mine.py").write_text(text)
    monkeypatch.syspath_prepend(str(tmp_path))
    found = [str(path) for path in sources(tmp_path / "algorithms/mine.py")]
    assert str(tmp_path / "algorithms/mine.py") in found
    assert all(any(path.endswith(other) for path in found) for other in others)
    assert (len(found) == 1) is not bool(set(others) - {"algorithms/mine.py"})


def test_compiled_learners_lie_in_their_module_s_folder_and_the_engine_beside_them():
    for name in ("omkc_dd", "norma", "arow"):
        compiled = function(name)
        own = numba_cache.module_folder(Path(compiled.py_func.__code__.co_filename))
        assert Path(compiled._cache.cache_path).parent == own
    for helper in (stores.scaled, expansion.add, experts.discount):
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
    place = by_address.pointer_to(double, (numba.typeof(x), numba.typeof(0)))
    through(place, x, 1)
    assert x.tolist() == [1, 2, 1]
    with pytest.raises(IndexError, match="no such place"):
        through(place, x, 3)
    with pytest.raises(TypeError, match="a pointer to a function of other types"):
        through(place, np.ones(3, np.float32), 1)
    with pytest.raises(TypeError, match="a pointer to a function of other types"):
        through(by_address.NO_POINTER, x, 1)


def test_a_copy_of_addresses_has_none():
    """In another process they would be wild."""
    made = Pointers(*[(1, 2)] * len(Pointers._fields))
    for copied in (copy.deepcopy(made), pickle.loads(pickle.dumps(made))):
        assert copied == Pointers(*[by_address.NO_POINTER] * len(Pointers._fields))


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


@pytest.mark.slow
@pytest.mark.parametrize("content", [b"", b"garbage" * 1000])
def test_an_index_that_was_cut_off_is_made_again(tmp_path, in_a_copy, content):
    assert in_a_copy(TRY) == 1.0
    for path in tmp_path.glob("cache/numba/**/*.nbi"):
        path.write_bytes(content)
    assert in_a_copy(TRY) == 1.0
    assert all(path.read_bytes() != content for path in tmp_path.glob("cache/numba/**/*mean_vote*.nbi"))


@pytest.mark.slow
def test_what_installed_packages_compile_is_kept_where_numba_keeps_it(tmp_path, monkeypatch):
    (tmp_path / "site-packages").mkdir()
    theirs = "from numba import njit\n\n@njit(cache=True)\ndef double(x):\n    return x + x\n"
    (tmp_path / "site-packages" / "theirs.py").write_text(theirs)
    code = "import omkl.engine, theirs; print(theirs.double(2), theirs.double._cache.cache_path)"
    kept = {**os.environ, "PYTHONPATH": str(tmp_path / "site-packages"), "OMKL_CACHE": str(tmp_path / "c")}
    kept.pop("NUMBA_CACHE_DIR", None)
    done = subprocess.run([sys.executable, "-c", code], env=kept, capture_output=True, text=True, check=True)
    number, place = done.stdout.split()
    assert (number, Path(place).name.startswith("site-packages_")) == ("4", True)


@pytest.fixture
def files(tmp_path, monkeypatch):
    """The index and the data of a function, in a folder of their own."""
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    return numba_cache.SharedFiles(str(tmp_path), "function", "stamp")


@pytest.mark.parametrize("ending", ["nbi", "nbc"])
def test_a_damaged_file_of_compiled_code_is_one_that_is_not_there(files, tmp_path, ending):
    files.save(("key", 1), [b"code"] * 50)
    (path,) = tmp_path.glob(f"*.{ending}")
    whole = path.read_bytes()
    damaged = [b"", whole[:9], whole[:-1], whole + b"x", pickle.dumps("0.59.0"), b"\x80\x05\x8c\x02\xff\xff."]
    damaged += [whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :] for at in range(0, len(whole), 5)]
    for content in damaged:
        path.write_bytes(content)
        assert files.load(("key", 1)) is None
    files.save(("key", 1), [b"again"])
    assert files.load(("key", 1)) == [b"again"]
    other = numba_cache.SharedFiles(str(tmp_path), "function", "another stamp")
    assert other.load(("key", 1)) is None


def test_a_new_index_never_leads_to_another_key_s_code(files, tmp_path):
    """Numba numbers the files of data: where an index was lost, a number may have been another version's."""
    files.save("key", [b"code"])
    (index,), (data,) = tmp_path.glob("*.nbi"), tmp_path.glob("*.nbc")
    old, code = index.read_bytes(), data.read_bytes()
    index.write_bytes(b"")
    files.save("other", [b"other"])
    new = index.read_bytes()
    index.write_bytes(old)  # as another process has read it
    assert files.load("key") is None
    index.write_bytes(new)
    data.write_bytes(code)
    assert files.load("other") is None


def test_a_process_that_is_suspended_while_it_saves_is_waited_for_once(files, tmp_path, monkeypatch):
    waits = []
    monkeypatch.setattr(numba_cache, "hold_lock", lambda path, wait: waits.append(wait))
    monkeypatch.setattr(numba_cache, "_wait", numba_cache._wait)
    files.save("one", [1])
    files.save("two", [2])
    assert waits == [60.0, 0.0]
    assert (files.load("one"), files.load("two")) == ([1], [2])
