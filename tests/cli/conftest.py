"""What tests of commands share: the folder that they run in."""

import pytest

from omkl.passes import precompile
from omkl.paths import EXTENSIONS


@pytest.fixture
def place(tmp_path, monkeypatch):
    """Run in an empty folder, with nothing set in the environment that changes a command.

    What is new to compile here is a function alone: a process that helps would only load the engine.
    """
    monkeypatch.setattr(precompile, "MOST_PROCESSES", 0)
    monkeypatch.chdir(tmp_path)
    for name in ("OMKL_STORE", "OMKL_MIRROR", "OMKL_OFFLINE", EXTENSIONS):
        monkeypatch.delenv(name, raising=False)
    return tmp_path
