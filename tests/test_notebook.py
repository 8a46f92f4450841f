"""The notebook of the documentation runs, and its cells print the numbers that its page shows."""

import json
import re

import pytest
from support import script

notebook = script("notebook")
PAIR = re.compile(r"(\d+\.\d+)\s*±\s*(\d+\.\d+)")


def numbers(cells):
    """Return the means and deviations, and the texts, that each cell has printed."""
    found = []
    for cell in cells:
        for output in cell.get("outputs", ()):
            if output["output_type"] == "stream":
                found.append("".join(output["text"]))
            elif html := "".join(output["data"].get("text/html", "")):
                found.append(PAIR.findall(re.sub(r"<[^>]+>", "", html)))
            else:
                found.append(sorted(output["data"]))
    return found


def tables(cells):
    outputs = [output for cell in cells for output in cell.get("outputs", ()) if "data" in output]
    return ["".join(output["data"].get("text/html", "")) for output in outputs]


@pytest.mark.slow
def test_the_notebook_prints_what_its_page_shows(tmp_path):
    for package in ("nbclient", "ipykernel", "river"):
        pytest.importorskip(package, reason=f"the notebook needs {package}: pip install 'omkl[test]'")
    kept = json.loads(notebook.NOTEBOOK.read_text(encoding="utf-8"))
    made = notebook.stripped(notebook.executed(notebook.NOTEBOOK, str(tmp_path)))
    shown = numbers(made["cells"])
    assert shown == numbers(kept["cells"])
    assert ["image/png"] in shown
    assert sum(len(own) for own in shown if isinstance(own, list)) > 10
    assert (tmp_path / "fruit.omkl").is_file()
    assert made["metadata"] == kept["metadata"]
    headers = [table.count("</th>") for table in tables(made["cells"]) if "omkl-table" in table]
    assert headers
    assert max(headers) <= 6
