"""What omkl uses of numba's internals: all of it is listed, is here, and a sentence says what is not."""

import re

import numba
import numba.core.typing.templates
import pytest
from support import ROOT

from omkl.cli import main
from omkl.engine import numba_internals
from omkl.engine.numba_internals import NEWEST, OLDEST, USED, fault, lacking


def test_this_numba_has_all_of_it():
    assert lacking() == []
    if OLDEST <= tuple(map(int, numba.__version__.split(".")[:2])) <= NEWEST:  # else it is one to come
        assert fault() == ""
    oldest = re.search(r'"numba>=(\d+)\.(\d+)"', (ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert tuple(map(int, oldest.groups())) == OLDEST


def test_what_the_sources_import_of_it_is_listed():
    listed = {f"{module}.{name.partition('.')[0]}" for module, names in USED.items() for name in names}
    modules = {module.rpartition(".")[2]: module for module in USED}
    found = set()
    for path in (ROOT / "omkl").rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        for module, many, one in re.findall(r"from (numba[\w.]+) import (?:\(([^)]*)\)|([^#\n]*))", text):
            names = re.findall(r"\w+", re.sub(r" as \w+", "", many or one))
            found |= {f"{module}.{name}" for name in names}
        found |= {f"numba.core.cgutils.{name}" for name in re.findall(r"\bcgutils\.(\w+)", text)}
    found -= {f"numba.core.{name}" for name in modules}  # modules, whose parts are listed
    assert found - listed == set()


def test_a_sentence_says_what_a_new_numba_lacks(monkeypatch, capsys):
    monkeypatch.delattr(numba.core.typing.templates, "AttributeTemplate")
    monkeypatch.setattr(numba, "__version__", "0.99.0dev1")
    said = fault()
    assert said.startswith("numba 0.99.0dev1 lacks numba.core.typing.templates.AttributeTemplate, which")
    assert said.endswith("(tested: 0.59 to 0.68); pip install 'numba>=0.59,<0.69' installs one that works")


@pytest.mark.parametrize(
    ("version", "said"),
    [
        ("0.69.0rc1", "is newer than the tested versions"),
        ("0.58.1", "is too old"),
        ("0.60.0", ""),
        ("?", ""),
    ],
)
def test_versions_that_were_not_tried_are_named(version, said, monkeypatch):
    monkeypatch.setattr(numba, "__version__", version)
    assert said in fault()
    assert bool(fault()) == bool(said)


def test_an_unexpected_error_of_a_command_names_it(monkeypatch, capsys):
    def broken():
        raise AttributeError("no _load_index")

    monkeypatch.setattr("omkl.api.lists.KINDS", {"algos": (broken, "")})
    monkeypatch.setattr(numba_internals, "lacking", lambda: ["numba.core.caching.X"])
    assert main(["list", "algos"]) == 1
    first, second = capsys.readouterr().err.splitlines()
    assert first.startswith("omkl: unexpected AttributeError: no _load_index")
    assert second.startswith(f"omkl: this may be why: numba {numba.__version__} lacks numba.core.caching.X")
