"""What a learner of a folder is made of is part of its cells' keys: its module, and all that this imports."""

import pytest
from support.extension import TINY, tiny

from omkl.config import learner_spec
from omkl.passes.source import source
from omkl.paths import EXTENSIONS


@pytest.mark.parametrize("home", ["mine/algorithms", "elsewhere"])
def test_a_helper_that_changes_changes_the_key(tmp_path, monkeypatch, home):
    name = f"a_helper_{home.replace('/', '_')}"  # a module is imported once in a process
    text = TINY.replace("from numba", f"from {name} import step\nfrom numba")
    monkeypatch.setenv(EXTENSIONS, str(tiny(tmp_path / "mine", text)))
    monkeypatch.syspath_prepend(str(tmp_path / home))
    (tmp_path / "elsewhere").mkdir()
    helper = tmp_path / home / f"{name}.py"
    found = []
    for sign in ("", "-"):
        helper.write_text(f"from numba import njit\n\n\n@njit\ndef step(y):\n    return {sign}y\n")
        found.append(source(learner_spec("tiny")))
    assert found[0] != found[1]
