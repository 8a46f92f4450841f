"""Shared fixtures: real data is found through OMKL_DATA, and a test without it skips with the reason."""

import os
from pathlib import Path

import pytest

pytest_plugins = ["download_server"]


def data_folder() -> Path | None:
    """First folder of OMKL_DATA that exists and holds the manifest, or None."""
    for part in os.environ.get("OMKL_DATA", "").split(os.pathsep):
        if part and (Path(part) / "MANIFEST.csv").is_file():
            return Path(part)
    return None


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Folder with the real data sets; skips the test where it is not."""
    folder = data_folder()
    if folder is None:
        pytest.skip("real data not found: set OMKL_DATA to the folder that holds MANIFEST.csv")
    return folder
