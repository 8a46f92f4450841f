"""Where things are: the conf folder, the folders of data files, the cache."""

import os
import sys
from pathlib import Path

from omkl.errors import OmklError, UserError, show


def conf_folder() -> Path:
    """Return the folder of the YAML files: inside an installed package, else beside it in a checkout."""
    return _shipped("conf folder is", "conf", "conf", holds="data")


def published_folder() -> Path:
    """Return the folder of the papers' numbers: inside an installed package, else the checkout's results."""
    return _shipped("published numbers are", "published", "results/published", holds="datasets.csv")


def _shipped(what: str, installed: str, in_checkout: str, holds: str) -> Path:
    """Return a folder by its path: looking it up as a module fails in wheels and in editable installs."""
    package = Path(__file__).resolve().parent
    folders = [package / installed, package.parent / in_checkout]
    for folder in folders:
        if (folder / holds).exists():
            return folder
    raise OmklError(f"the {what} missing: looked for {folders[0]} and {folders[1]}; reinstall omkl")


def given(text: str | Path, what: str) -> Path:
    """Return a path that a user gave, with ~ replaced, whether or not it exists.

    what: the option, such as ``store=``. Raises UserError for a path that cannot exist, such as one too long.
    """
    path = Path(os.path.expanduser(text))
    try:
        path.stat()
    except (FileNotFoundError, NotADirectoryError, PermissionError):
        pass  # reading or writing there will say so
    except (OSError, ValueError) as error:
        raise UserError(f"{what}{show(str(text))}: {getattr(error, 'strerror', None) or error}") from error
    return path


def out_path(text: str) -> str:
    """Return the value of ``--out``, with the slash at its end that marks a folder."""
    if not text.strip():
        raise UserError("--out: the path is missing")
    given(text, "--out ")
    return os.path.expanduser(text)


def store_folder(text: str | None) -> Path:
    """Return the folder of the results: the one given, else OMKL_STORE, else ./results."""
    if text:
        return given(text, "store=")
    return given(os.environ.get("OMKL_STORE") or "results", "OMKL_STORE=")


def data_folders() -> list[Path]:
    """Return the folders listed in OMKL_DATA (separated as in PATH), in order, existing or not."""
    parts = os.environ.get("OMKL_DATA", "").split(os.pathsep)
    return [given(part, "OMKL_DATA: ") for part in parts if part.strip()]


def cache_folder() -> Path:
    """Return the folder for downloads and parsed copies: OMKL_CACHE, else the platform's cache folder."""
    if text := os.environ.get("OMKL_CACHE", "").strip():
        return given(text, "OMKL_CACHE=")
    if sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Caches"
    else:
        base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return base / "omkl" / "data"
