"""The page of a notebook: its text, its code, and what its cells printed when it was run last."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any


def page(path: Path) -> str:
    """Return a notebook as Markdown with HTML; scripts/notebook.py runs it and keeps its outputs."""
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return "\n\n".join(part for cell in cells for part in _cell(cell)) + "\n"


def _cell(cell: dict[str, Any]) -> Iterator[str]:
    text = "".join(cell["source"])
    if cell["cell_type"] == "markdown":
        yield text
        return
    yield f"```python\n{text}\n```"
    for output in cell["outputs"]:
        if output["output_type"] == "stream":
            yield f"```\n{''.join(output['text']).rstrip()}\n```"
            continue
        ((kind, content),) = output["data"].items()
        content = "".join(content).strip()
        if kind == "image/png":
            content = f'<img alt="the figure of this cell" src="data:image/png;base64,{content}">'
        if kind == "text/plain":
            yield f"```\n{content}\n```"
        else:  # an empty line would end the HTML
            lines = "\n".join(line for line in content.split("\n") if line.strip())
            yield f'```{{raw}} html\n<div class="output">\n{lines}\n</div>\n```'
