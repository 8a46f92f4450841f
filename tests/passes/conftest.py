"""Each test has a store of its own."""

import pytest


@pytest.fixture(autouse=True)
def _store(monkeypatch, tmp_path):
    """Keys of cells do not hold how omkl asks an estimator, so that a stored cell would hide a fault."""
    monkeypatch.setenv("OMKL_STORE", str(tmp_path / "store"))
