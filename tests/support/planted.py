"""Modules beside the data that leave a mark when they are imported (docs/security.md)."""

from pathlib import Path

# of omkl, of what it needs, and of what Python's own starters of processes import first
NAMES = (
    *("omkl", "numpy", "numba", "joblib", "distributed", "submitit", "filelock", "sitecustomize"),
    *("argparse", "json", "multiprocessing", "pickle", "random", "subprocess", "tempfile", "traceback"),
)
MARK = "from pathlib import Path\n\nwith open({mark!r}, 'a') as file:\n    file.write('{name}\\n')\n"


def plant(folder: Path, *, but: tuple[str, ...] = ()) -> Path:
    """Write a module of each of these names into a folder; return the file that their import appends to."""
    mark = folder / "imported"
    for name in set(NAMES) - set(but):
        (folder / f"{name}.py").write_text(MARK.format(mark=str(mark), name=name))
    return mark
