"""What tests of commands share: the folder that they run in."""

import pytest

from omkl.paths import EXTENSIONS


@pytest.fixture
def place(tmp_path, monkeypatch):
    """Run in an empty folder, with nothing set in the environment that changes a command."""
    monkeypatch.chdir(tmp_path)
    for name in ("OMKL_STORE", "OMKL_MIRROR", "OMKL_OFFLINE", EXTENSIONS):
        monkeypatch.delenv(name, raising=False)
    return tmp_path
