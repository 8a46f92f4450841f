"""Where numba keeps compiled code: a folder named by a hash of this package's sources.

Numba's own cache looks only at the caller's file: edit a helper, and the old code would run. With the
sources' hash in the folder's name it cannot. Import this before numba.
"""

import hashlib
import os
import sys
from pathlib import Path
from typing import Any

from omkl.paths import cache_folder

_PACKAGE = Path(__file__).resolve().parent.parent


def _sources_hash() -> str:
    digest = hashlib.sha256()
    for folder in ("engine", "algorithms"):
        for path in sorted((_PACKAGE / folder).glob("*.py")):
            digest.update(path.name.encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:16]


def compiled_folder() -> Path:
    """The folder of compiled code for the sources as they are now."""
    return cache_folder() / "numba" / _sources_hash()


def has(compiled: Any) -> bool:
    """Whether the cache holds some version of a compiled function."""
    name = compiled.py_func.__name__
    return any(compiled_folder().rglob(f"*.{name}-*.nbi"))


if "NUMBA_CACHE_DIR" not in os.environ and "numba" not in sys.modules:
    os.environ["NUMBA_CACHE_DIR"] = str(compiled_folder())
