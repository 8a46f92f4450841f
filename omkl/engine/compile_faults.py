"""Where a function cannot be compiled, and why, in one line of what numba says in many."""

import dis
import json
import os
import re
from pathlib import Path
from typing import Any

LINES = "lines.json"  # beside the text of a kernel that is made of a function: where its lines were written


def _as_written(path: str, line: str) -> tuple[str, str]:
    """Return file and line where the user wrote a line of a module, which may be one that omkl has made."""
    path_of_lines = Path(path).parent.parent / LINES
    if not path_of_lines.is_file():
        return path, line
    content = json.loads(path_of_lines.read_text(encoding="utf-8"))
    return content["file"], str(content["lines"].get(line or "", ""))


def fault_in_one_line(function: Any, said: str) -> str:
    """Return where a function cannot be compiled, and why, of what numba said in many lines."""
    path = function.__code__.co_filename
    lines = [line.strip() for line in re.sub(r"\x1b\[\d*m", "", said).splitlines()]
    frame = rf'File "[^"]*{re.escape(os.path.basename(path))}", line (\d+)'
    places = [match[1] for line in lines if (match := re.search(frame, line))]
    if not places and (unknown := re.search(r"name '(\w+)' is not defined", said)):
        code = dis.get_instructions(function)
        places = [str(at.positions.lineno) for at in code if at.argval == unknown[1] and at.positions][:1]
    why = [line for line in lines if line and not line.startswith(("Failed in", "During:", "File", "-"))]
    text = " ".join(why[: 2 if why and why[0].endswith(":") else 1])
    path, line = _as_written(path, places[-1] if places else "")
    at = f":{line}" if line else ""
    return f"{path}{at}: {function.__name__} cannot be compiled: {text[:300]}"
