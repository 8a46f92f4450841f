"""Run docs/notebook.ipynb and keep what its cells print, in the notebook or in another file.

    python scripts/notebook.py [OUT]     needs nbclient and ipykernel: pip install 'omkl[test]'

The notebook runs in a folder of its own, with an empty store.
"""

import json
import sys
import tempfile
from pathlib import Path
from typing import Any

NOTEBOOK = Path(__file__).resolve().parent.parent / "docs" / "notebook.ipynb"
KEPT = ("text/html", "image/png", "text/plain")  # forms of an output, the richest first


def executed(path: Path, folder: str) -> dict[str, Any]:
    """Return a notebook with the outputs of its cells, run in a folder. Raises as a cell does."""
    import nbclient
    import nbformat

    notebook = nbformat.read(path, as_version=4)
    how: dict[str, Any] = {"resources": {"metadata": {"path": folder}}, "timeout": 600}
    nbclient.NotebookClient(notebook, kernel_name="python3", **how).execute()
    return json.loads(nbformat.writes(notebook))


def stripped(notebook: dict[str, Any]) -> dict[str, Any]:
    """Return a notebook without what differs from run to run, or is shown in another form as well."""
    for cell in notebook["cells"]:
        cell["metadata"] = {}
        if cell["cell_type"] != "code":
            continue
        cell["execution_count"] = None
        cell["outputs"] = [own for output in cell["outputs"] if (own := _kept(output))]
    notebook["metadata"] = {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}
    }
    return notebook


def _kept(output: dict[str, Any]) -> dict[str, Any] | None:
    """Return an output in its richest form, None for what goes to stderr."""
    if output["output_type"] == "stream":
        return output if output["name"] == "stdout" else None
    kind = next(kind for kind in KEPT if kind in output["data"])
    return {"output_type": "display_data", "metadata": {}, "data": {kind: output["data"][kind]}}


def main() -> None:
    """Write the notebook with its outputs."""
    target = Path(sys.argv[1]) if sys.argv[1:] else NOTEBOOK
    with tempfile.TemporaryDirectory() as folder:
        made = stripped(executed(NOTEBOOK, folder))
    target.write_text(json.dumps(made, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    print(f"wrote {target}: {target.stat().st_size / 1e3:.0f} kB", file=sys.stderr)


if __name__ == "__main__":
    main()
