"""Where numba keeps compiled code: folders named by a hash of the sources that went into it.

Numba's own cache looks only at the caller's file: edit a helper, and the old code would run. With the
engine's hash in the folder's name it cannot. A module of learners has a folder of its own in there, named by
its own hash: one learner edited or added leaves the others compiled. Import this before numba.
"""

import hashlib
import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from omkl.paths import cache_folder

_PACKAGE = Path(__file__).resolve().parent.parent


def _sources(folder: str) -> list[Path]:
    return sorted((_PACKAGE / folder).glob("*.py"))


def _hash(paths: Iterable[Path]) -> str:
    digest = hashlib.sha256()
    for path in paths:
        digest.update(path.name.encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:16]


def compiled_folder() -> Path:
    """The folder of compiled code for the engine as it is now."""
    return cache_folder() / "numba" / _hash(_sources("engine"))


def base() -> Path:
    """That folder, or the one that the environment names."""
    return Path(os.environ.get("NUMBA_CACHE_DIR") or compiled_folder())


def module_folder(module: Path) -> Path:
    """The folder in there for a module of learners as it is now, with all others if it uses another."""
    text = module.read_bytes()
    alone = b"omkl.algorithms" not in text and b"from ." not in text
    return base() / f"{module.stem}-{_hash([module] if alone else _sources('algorithms'))}"


def folder_of(compiled: Any) -> Path:
    """The folder of a learner's compiled function."""
    return module_folder(Path(compiled.py_func.__code__.co_filename))


@contextmanager
def apart(module: Path) -> Iterator[None]:
    """Give what is compiled in a module that is imported meanwhile the module's own folder."""
    import numba

    settings: Any = numba.config
    before = settings.CACHE_DIR
    settings.CACHE_DIR = str(module_folder(module))
    try:
        yield
    finally:
        settings.CACHE_DIR = before


def has(compiled: Any) -> bool:
    """Whether the cache holds some version of a compiled function."""
    name = compiled.py_func.__name__
    return any(folder_of(compiled).rglob(f"*.{name}-*.nbi"))


def intact(compiled: Any) -> bool:
    """Whether nothing that the cache holds of a compiled function is damaged; what is has been deleted."""
    folder = compiled.stats.cache_path  # None of a function that is not to be cached
    paths = Path(folder).glob(f"*.{compiled.py_func.__name__}-*.nb?") if folder else []
    return not [path for path in paths if not sealed_files.intact(path)]


if "NUMBA_CACHE_DIR" not in os.environ and "numba" not in sys.modules:
    os.environ["NUMBA_CACHE_DIR"] = str(compiled_folder())
from omkl.engine import sealed_files as sealed_files  # noqa: E402 (it imports numba)
