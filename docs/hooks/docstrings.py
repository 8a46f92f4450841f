"""Docstrings are plain text with legends in columns: no mark-up is read into them.

Those with sections (numpydoc) are read by Sphinx; a name in backticks is code there, too.
"""

import re
from typing import Any

from sphinx.application import Sphinx

_CODE = re.compile(r"(`+[^`]+`+)")
_SECTION = re.compile(r"^ *(Parameters|Attributes|Returns|Raises)\n *-{4,}$", re.MULTILINE)
_NAME = re.compile(r"(?<![:`])`([^`]+)`(?!`)")


def _escaped(line: str) -> str:
    """Keep what is between backticks as code, and take everything else as it is written."""
    parts = _CODE.split(line)
    for number, part in enumerate(parts):
        code = number % 2 == 1
        parts[number] = f"``{part.strip('`')}``" if code else re.sub(r"([\\*|_])", r"\\\1", part)
    return "".join(parts)


def _plain(app: Sphinx, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    if _SECTION.search(getattr(obj, "__doc__", None) or ""):
        lines[:] = [_NAME.sub(r"``\1``", line) for line in lines]
        return
    shown = []
    for paragraph in re.split(r"\n\s*\n", "\n".join(lines).strip("\n")):
        own = paragraph.splitlines()
        if any("   " in line for line in own):  # a legend, whose lines are its layout
            shown += [*(f"| {_escaped(line.strip())}" for line in own), ""]
        else:
            shown += [_escaped(" ".join(line.strip() for line in own)), ""]
    lines[:] = shown


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("autodoc-process-docstring", _plain)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
