"""`omkl bench --compare FILE`: the times of this run over those of an earlier one, with their spread."""

import json
import math
import statistics
from pathlib import Path
from typing import Any

from omkl.errors import UserError

LARGEST = 2**22  # bytes of a file


def read(path: Path) -> dict[str, Any]:
    """Return what `omkl bench --format json` printed. Raises UserError for any other file."""
    try:
        with open(path, "rb") as file:
            content = json.loads(file.read(LARGEST))
    except OSError as error:
        raise UserError(f"--compare {path}: cannot be read: {error.strerror}") from error
    except (ValueError, RecursionError):  # also UnicodeDecodeError
        content = None
    rows = content.get("rows") if isinstance(content, dict) else None
    if not (isinstance(rows, list) and rows and all(map(_is_row, rows))):
        hint = "make one with `omkl bench --format json > FILE`"
        raise UserError(f"--compare {path}: not JSON of omkl bench, or of an older omkl; {hint}")
    return {**content, "rows": rows}


def _is_row(row: Any) -> bool:
    return (
        isinstance(row, dict)
        and isinstance(row.get("name"), str)
        and type(row.get("count")) is int
        and row["count"] > 0
        and isinstance(seconds := row.get("seconds"), list)
        and len(seconds) > 0
        and all(type(s) in (int, float) and 0 < s < math.inf for s in seconds)
    )


def compare(old: dict[str, Any], new: dict[str, Any]) -> dict[str, Any]:
    """Return the ratios of the rows that both have, new over old, each for one part of the row.

    ratio: of the medians    least, most: of any two repetitions    verdict: ``slower`` or ``faster`` where
    all repetitions of one run are, else ``within the noise``    only: names of rows that one of them lacks
    same_machine: as far as host and processor say
    """
    olds, news = ({row["name"]: row for row in run["rows"]} for run in (old, new))
    here, there = (run["machine"] if isinstance(run.get("machine"), dict) else {} for run in (old, new))
    rows = [_ratio(olds[name], news[name]) for name in news if name in olds]
    same = all(here.get(key) == there.get(key) for key in ("host", "cpu"))
    return {"rows": rows, "only": sorted(olds.keys() ^ news.keys()), "same_machine": same}


def _ratio(old: dict[str, Any], new: dict[str, Any]) -> dict[str, Any]:
    before, after = ([s / row["count"] for s in row["seconds"]] for row in (old, new))
    least, most = min(after) / max(before), max(after) / min(before)
    verdict = "slower" if least > 1 else "faster" if most < 1 else "within the noise"
    ratio = statistics.median(after) / statistics.median(before)
    return {"name": new["name"], "ratio": ratio, "least": least, "most": most, "verdict": verdict}


def render(compared: dict[str, Any]) -> str:
    """Return the ratios as text."""
    if not compared["rows"]:
        return "! no row in common with the earlier run\n"
    width = max(len(row["name"]) for row in compared["rows"])
    lines = [f"{'new time / old time':<{width}}  ratio  (least to most of any two repetitions)"]
    for row in compared["rows"]:
        spread = f"({row['least']:.2f} to {row['most']:.2f})"
        lines.append(f"{row['name']:<{width}}  {row['ratio']:5.2f}  {spread}  {row['verdict']}")
    if compared["only"]:
        lines.append(f"! in one run only: {'; '.join(compared['only'])}")
    if not compared["same_machine"]:
        lines.append("! the earlier run was on another machine; compare with np.exp and dgemm in mind")
    return "\n".join(lines) + "\n"
