"""Where things are: the conf folder, the folders that extend omkl, those of data files, the cache."""

import os
import sys
import time
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

from omkl.errors import OmklError, UserError, show


@cache
def conf_folder() -> Path:
    """Return the folder of the YAML files: inside an installed package, else beside it in a checkout."""
    return _shipped("conf folder is", "conf", "conf", holds="data")


@cache
def published_folder() -> Path:
    """Return the folder of the papers' numbers: inside an installed package, else the checkout's results."""
    return _shipped("published numbers are", "published", "results/published", holds="datasets.csv")


EXTENSIONS = "OMKL_PATH"  # the only place from which code of a user's is loaded; --with adds to it
SAFE = "PYTHONSAFEPATH"  # keeps Python from importing what the current folder holds
LAYOUT = (
    *("algorithms", "kernels", "conf/algo", "conf/data", "conf/kernel", "conf/pool", "conf/paper"),
    "tests/reference",
)


def extensions() -> list[Path]:
    """Return the folders of OMKL_PATH (separated as in PATH), which extend omkl, as absolute paths, in order.

    Raises UserError for one that is no folder, or has nothing of what such a folder may hold, and where a
    file has the name of one of ours, or of another folder's.
    """
    return _extensions(os.environ.get(EXTENSIONS, ""), os.getcwd()) if EXTENSIONS in os.environ else []


@cache
def _extensions(text: str, here: str) -> list[Path]:
    given_folders = [part for part in text.split(os.pathsep) if part.strip()]
    folders = [extension(part, f"{EXTENSIONS}: ") for part in given_folders]
    package = Path(__file__).resolve().parent
    for part in LAYOUT[:-1]:
        ours = package / part if "/" not in part else conf_folder() / part.partition("/")[2]
        homes = dict.fromkeys([ours, *(folder / part for folder in folders)])
        seen: dict[str, Path] = {}
        for path in (path for home in homes for path in sorted([*home.glob("*.py"), *home.glob("*.yaml")])):
            if not path.is_file() and _is_first_process():
                warnings.warn(f"{path} is left out: it is no file, nor a link to one", stacklevel=2)
            elif path.name[0] not in "._" and seen.setdefault(path.name, path) != path:
                raise UserError(f"{path}: the name is taken by {seen[path.name]}; rename one of the files")
    return folders


def _is_first_process() -> bool:
    """Whether this process is no worker of another, which has said the same."""
    import multiprocessing

    return multiprocessing.parent_process() is None


def extension(text: str, what: str) -> Path:
    """Return a folder that extends omkl as an absolute path; what: the option that names it.

    Raises UserError as `extensions` does.
    """
    folder = given(text, what).resolve()
    if not folder.is_dir():
        raise UserError(f"{what}{show(text)}: there is no such folder")
    if os.pathsep in str(folder):
        raise UserError(f"{what}{show(text)}: {os.pathsep!r} separates folders; rename this one")
    if not any((folder / part).is_dir() for part in LAYOUT):
        raise UserError(
            f"{what}{show(text)}: is not a folder of extensions; it has none of {', '.join(LAYOUT)}"
        )
    return folder


@contextmanager
def extended(folders: Iterable[Path]) -> Iterator[None]:
    """Add folders to OMKL_PATH, before those that are there, for this process and the ones that it starts."""
    before = os.environ.get(EXTENSIONS)
    every = dict.fromkeys(map(str, [*folders, *extensions()]))
    if every:
        os.environ[EXTENSIONS] = os.pathsep.join(every)
    try:
        extensions()  # clashes end the command, whatever it is
        yield
    finally:
        if before is not None:
            os.environ[EXTENSIONS] = before
        elif every:
            del os.environ[EXTENSIONS]


@contextmanager
def safe_children() -> Iterator[None]:
    """Let the Python processes that are started meanwhile import nothing from the current folder.

    ``python -m`` and ``python -c``, as which helpers and workers start, put it before everything else.
    What a user's PYTHONPATH names is still imported.
    """
    before = os.environ.get(SAFE)
    os.environ[SAFE] = before or "1"
    try:
        yield
    finally:
        if before is None:
            del os.environ[SAFE]
        else:
            os.environ[SAFE] = before


# By folder and pattern: the folder's time, its files.
_listed: dict[tuple[Path, str], tuple[int, tuple[Path, ...]]] = {}


def files_in(folder: Path, pattern: str) -> tuple[Path, ...]:
    """Return the files of a folder that fit a pattern, sorted: the same object until a file comes or goes."""
    try:
        changed = folder.stat().st_mtime_ns
    except OSError:
        return ()
    cached = _listed.get((folder, pattern))
    if cached is None or cached[0] != changed:
        cached = changed, tuple(sorted(path for path in folder.glob(pattern) if path.is_file()))
        if time.time_ns() - changed > 10**9:  # one that comes in the same tick of the clock would be missed
            _listed[folder, pattern] = cached
    return cached[1]


def _shipped(what: str, installed: str, in_checkout: str, holds: str) -> Path:
    """Return a folder by its path: looking it up as a module fails in wheels and in editable installs."""
    package = Path(__file__).resolve().parent
    folders = [package / installed, package.parent / in_checkout]
    for folder in folders:
        if (folder / holds).exists():
            return folder
    raise OmklError(f"the {what} missing: looked for {folders[0]} and {folders[1]}; reinstall omkl")


def documentation() -> str:
    """Return where the documentation is: the site or the pages in this checkout, else how to get them."""
    docs = Path(__file__).resolve().parents[1] / "docs"
    for page in (docs / "_build" / "html" / "index.html", docs / "index.md"):
        if page.is_file():
            return str(page)
    return "docs/index.md in the sources of omkl, where `make docs` builds the site"


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


def in_path(text: str) -> Path:
    """Return the path of a file to be read. Raises UserError for an empty one, and as `given`."""
    if not text.strip():
        raise UserError("the path of a file is missing")
    return given(text, "")


def store_folder(text: str | None) -> Path:
    """Return the folder of the results: the one given, else OMKL_STORE, else ./results."""
    if text:
        return given(text, "store=")
    return given(os.environ.get("OMKL_STORE") or "results", "OMKL_STORE=")


def data_folders() -> list[Path]:
    """Return the folders listed in OMKL_DATA (separated as in PATH), in order, existing or not.

    After them come the folders ``data`` of those that extend omkl.
    """
    given_folders = os.environ.get("OMKL_DATA", "").split(os.pathsep)
    of_extensions = [folder / "data" for folder in extensions()]
    return [given(part, "OMKL_DATA: ") for part in given_folders if part.strip()] + [
        f for f in of_extensions if f.is_dir()
    ]


def kernel_file(kind: str) -> Path:
    """Return the file of a kernel's function: ours, or that of a folder of OMKL_PATH. Raises UserError."""
    ours = Path(__file__).resolve().parent / "engine" / "further_kernels.py"
    if f"\ndef {kind}(" in ours.read_text(encoding="utf-8"):
        return ours
    paths = [home / "kernels" / f"{kind}.py" for home in extensions()]
    for path in paths:
        if path.is_file():
            return path
    places = f": looked for {', '.join(map(str, paths))}" if paths else ""
    raise UserError(f"the kernel {kind} has no function{places}")


def gram_file(text: str) -> Path:
    """Return the file of a Gram matrix: as given, or in one of the folders of data. Raises UserError."""
    path = given(text, "file=")
    places = [path, *(folder / path for folder in data_folders() if not path.is_absolute())]
    for place in places:
        if place.is_file():
            return place
    raise UserError(f"file={show(text)}: there is no such file; looked for {', '.join(map(str, places))}")


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
