"""Where things are: the conf folder, the folders of data files, the cache."""

import os
import sys
from pathlib import Path

from omkl.errors import OmklError, UserError, show


def conf_folder() -> Path:
    """Return the folder of the YAML files: inside an installed package, else beside it in a checkout.

    Found by path, because looking it up as a module fails in wheels and in editable installs.
    Raises OmklError when neither folder exists.
    """
    package = Path(__file__).resolve().parent
    candidates = [package / "conf", package.parent / "conf"]
    for folder in candidates:
        if (folder / "data").is_dir():
            return folder
    raise OmklError(
        f"the conf folder is missing: looked for {candidates[0]} and {candidates[1]}; reinstall omkl"
    )


def published_folder() -> Path:
    """Return the folder of the papers' numbers: inside an installed package, else the checkout's results.

    Raises OmklError when neither exists.
    """
    package = Path(__file__).resolve().parent
    candidates = [package / "published", package.parent / "results" / "published"]
    for folder in candidates:
        if folder.is_dir():
            return folder
    raise OmklError(f"the published numbers are missing: looked for {candidates[0]} and {candidates[1]}")


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
