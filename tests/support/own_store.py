"""A store of its own for each test of a folder whose conftest.py imports this."""

import pytest


@pytest.fixture(autouse=True)
def own_store(monkeypatch, tmp_path):
    """Keys of cells do not hold how omkl asks an estimator, so that a stored cell would hide a fault."""
    monkeypatch.setenv("OMKL_STORE", str(tmp_path / "store"))
