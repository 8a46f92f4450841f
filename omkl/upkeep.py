"""Looking after stores: what one holds, its cells as a flat table, merging several, removing what is spent.

A merge or prune writes a new file beside the others and renames it when it is whole, so that it can be ended
at any moment. Files that a running sweep writes to are never changed: its lock on them tells.
"""

import contextlib
import hashlib
import json
import os
import uuid
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from omkl.errors import UserError, suggest
from omkl.lines import decode_cell, scan
from omkl.results import Store, lock, sync_folder
from omkl.tasks import unusual

if TYPE_CHECKING:
    import pandas as pd

FOLDERS = ("curves", "cells")  # in the order in which they are written: a cell implies its curve
SUPERSEDED, SINCE_FINISHED = "computed again since", "failed, finished since"
OLD, TORN, UNFINISHED = "of an older revision", "unreadable", "left by an interrupted merge or prune"


# -------------------------------------------------------------------- what is there


def contents(store: Store, algos: Iterable[str] = (), data: Iterable[str] = ()) -> list[dict[str, Any]]:
    """Return one row per learner, settings, pool, data set, order and revision: what the store holds of it.

    ``cells`` are finished, ``failed`` have only failed; ``seconds`` is the learner's time of all of them.
    algos, data: names to keep (all when empty). Raises UserError for a name that the store does not hold.
    """
    from omkl.config import algo_specs
    from omkl.reports.rows import identity, params_text

    specs = algo_specs()
    groups: dict[tuple, list[dict]] = {}
    memo: dict[tuple, str] = {}  # cells share their params and pools: dump each pair once
    for cell in [*_chosen(store.cells(), algos, data).to_dict("records"), *_failed(store, algos, data)]:
        pool = cell["pool_spec"] if isinstance(cell["pool_spec"], dict) else None
        which = (cell["algo"], id(cell["params"]), id(pool))
        if which not in memo:
            memo[which] = identity(cell["algo"], cell["params"], pool)
        place = (cell["algo"], cell["data"], cell["data_hash"], cell["order"], cell["revision"])
        groups.setdefault((*map(str, place), memo[which]), []).append(cell)
    rows = []
    for _, cells in sorted(groups.items()):
        first, spec = cells[0], specs.get(cells[0]["algo"])
        params = unusual(first["params"], spec.defaults if spec else {}, first["task"])
        now = "" if spec is None or spec.revision == first["revision"] else f" (now {spec.revision})"
        finished = [cell for cell in cells if cell["status"] == "ok"]
        origins = [cell["provenance"] for cell in cells]
        rows.append(
            {
                "algo": first["algo"],
                "settings": params_text(params),
                "pool": first["pool"] if isinstance(first["pool"], str) else "",
                "data": first["data"],
                "order": first["order"],
                "revision": f"{first['revision']}{now}",
                "cells": len(finished),
                "failed": len(cells) - len(finished),
                "seconds": round(sum(cell["seconds"] for cell in finished), 3),
                "dates": _ends(str(origin.get("time", ""))[:10] for origin in origins),
                "machines": ", ".join(sorted({str(origin.get("host", "?")) for origin in origins})),
            }
        )
    return rows


def _ends(dates: Iterable[str]) -> str:
    known = sorted({date for date in dates if date})
    return " to ".join(dict.fromkeys((known[0], known[-1]))) if known else ""


def _chosen(cells: "pd.DataFrame", algos: Iterable[str], data: Iterable[str]) -> "pd.DataFrame":
    for column, names in (("algo", list(algos)), ("data", list(data))):
        held = set(cells[column])
        for name in names:
            if name not in held:
                has = f"it has {', '.join(sorted(held))}" if held else "it is empty"
                raise UserError(f"{column}={name}: the store holds none{suggest(name, held)}; {has}")
        cells = cells[cells[column].isin(names)] if names else cells
    return cells


def _failed(store: Store, algos: Iterable[str], data: Iterable[str]) -> list[dict[str, Any]]:
    algos, data = set(algos), set(data)
    return [
        line
        for line in store.failed()
        if (not algos or line["algo"] in algos) and (not data or line["data"] in data)
    ]


# -------------------------------------------------------------------- one flat table


def flat_table(store: Store, algos: Iterable[str] = (), data: Iterable[str] = ()) -> "pd.DataFrame":
    """Return the finished cells with one value per column; algos and data choose as in ``contents``.

    Hyperparameters stand under ``algo.NAME`` (those of a kernel under ``algo.kernel.NAME``), the pool's parts
    under ``pool.normalise`` and ``pool.kernels`` (JSON), where it ran under ``provenance.NAME``. Lists of
    numbers, one per kernel, stay lists. A hyperparameter that some learner lacks is empty there.
    """
    import pandas as pd

    cells = _chosen(store.cells(), algos, data)
    table: dict[str, list] = {}
    for name in cells:
        values = cells[name].tolist()
        if name in ("params", "provenance"):
            table |= _spread(values, "algo." if name == "params" else "provenance.")
        elif name == "pool_spec":
            specs = [value if isinstance(value, dict) else {} for value in values]
            table["pool.normalise"] = [spec.get("normalise") for spec in specs]
            table["pool.kernels"] = [json.dumps(spec["kernels"]) if spec else None for spec in specs]
        else:
            table[name] = values
    return pd.DataFrame({name: _one_kind(values) for name, values in table.items()})


def _spread(values: list[dict[str, Any]], prefix: str) -> dict[str, list]:
    from omkl.reports.sweep import flat

    rows = [dict(flat(value, prefix)) for value in values]
    return {
        name: [row.get(name) for row in rows] for name in dict.fromkeys(key for row in rows for key in row)
    }


def _one_kind(values: list) -> list:
    """Return values of which some are numbers and some are not as text, so that a column has one type."""
    from omkl.reports.rows import value_text

    kinds = {bool if isinstance(v, bool) else float if isinstance(v, int) else type(v) for v in values}
    kinds.discard(type(None))
    if len(kinds) > 1:
        return [None if value is None else value_text(value) for value in values]
    return (
        [list(map(float, v)) if v else v for v in values] if kinds == {list} and _floats(values) else values
    )


def _floats(lists: list) -> bool:
    numbers = [number for some in lists for number in some or ()]
    return any(isinstance(n, float) for n in numbers) and all(isinstance(n, (int, float)) for n in numbers)


# -------------------------------------------------------------------- merge


def merge(target: Store, sources: Iterable[Path]) -> Counter:
    """Copy the lines of other stores that the target lacks, and return how many of each folder.

    Of two lines of one cell the newest counts, as always. What is broken is skipped with a StoreWarning.
    Raises UserError where a source is no store, OmklError where one cannot be read or the target written.
    """
    stores = [Store(source) for source in sources]
    for source in stores:
        if not (source.path / "cells").is_dir():
            raise UserError(f"{source.path} is no store: it has no folder cells")
        if (target.path / "cells").exists() and os.path.samefile(source.path, target.path):
            raise UserError(f"{source.path} is the store itself; name the stores to copy from")
    copied: Counter = Counter()
    try:
        with contextlib.ExitStack() as whole:  # files get their names in reverse order, the curves first
            for folder in reversed(FOLDERS):  # read the cells first: a sweep may be writing
                (target.path / folder).mkdir(parents=True, exist_ok=True)
                name = target.path / folder / f"merged-{os.getpid()}-{uuid.uuid4().hex[:8]}.jsonl"
                write = whole.enter_context(_whole(name))
                known = {_digest(line.raw) for line in target.lines(folder)}
                for source in stores:
                    for line in source.lines(folder):
                        if (digest := _digest(line.raw)) not in known:
                            known.add(digest)
                            write(line.raw.rstrip() + b"\n")
                            copied[folder] += 1
    except OSError as error:
        raise target.refused(error) from error
    return copied


def _digest(raw: bytes) -> bytes:
    return hashlib.blake2b(raw.rstrip(), digest_size=16).digest()


@contextlib.contextmanager
def _whole(path: Path) -> Iterator[Any]:
    """Give a function that writes a file, which takes its name when it is whole, none when empty."""
    part = path.with_name(f".{path.name}.part")
    try:
        with open(part, "wb") as file:
            lock(file.fileno())
            yield file.write
            file.flush()
            os.fsync(file.fileno())
            empty = not file.tell()
        if empty:
            path.unlink(missing_ok=True)
        else:
            os.replace(part, path)
        sync_folder(path.parent)
    finally:
        part.unlink(missing_ok=True)


# -------------------------------------------------------------------- prune


def prune(store: Store, *, old: bool, torn: bool, really: bool) -> tuple[list[dict[str, Any]], list[Path]]:
    """Remove lines that no table uses; return rows of what (folder, what, lines), and the files left alone.

    These are the lines of a cell that was computed again, and its failures once it has finished; with ``old``
    the cells of learners whose revision is now higher; with ``torn`` the lines that cannot be read. Nothing
    changes unless ``really``. Files that a running sweep writes to are left alone.
    """
    found: Counter = Counter()
    busy = []
    removed_keys: set[str] = set()
    try:
        for folder in reversed(FOLDERS):
            spent = _spent(store, folder, old, torn, removed_keys)
            for path, lines in spent.items():
                if really and lines and not _rewrite(path, set(lines)):
                    busy.append(path)
                else:
                    found.update((folder, what) for what in lines.values())
            for part in (store.path / folder).glob(".*.part"):
                if not really or _remove(part):
                    found[folder, UNFINISHED] += 1
    except OSError as error:
        raise store.refused(error) from error
    rows = [
        {"folder": folder, "what": what, "lines": count} for (folder, what), count in sorted(found.items())
    ]
    return rows, busy


def _spent(store: Store, folder: str, old: bool, torn: bool, removed: set[str]) -> dict[Path, dict[int, str]]:
    """Return by file the numbers of the lines to remove, and why; adds old cells' keys to ``removed``."""
    revisions = _revisions() if old and folder == "cells" else {}
    memo: dict = {}
    spent: dict[Path, dict[int, str]] = {path: {} for path in store.files(folder)}
    best: dict[str, tuple[tuple[bool, str], Path, int, bool]] = {}
    for path, lines in spent.items():
        broken: list[str] = []
        for line in scan(path, folder, None, broken):
            if revisions:
                _, shared = decode_cell(line.raw, memo)
                if shared["revision"] < revisions.get(shared["algo"], 0):
                    removed.add(line.key)
            if line.key in removed:
                lines[line.number] = OLD
                continue
            failed = line.status == "failed"
            mine = ((not failed, line.time), path, line.number, failed)
            last = best.get(line.key, mine)
            winner, loser = (mine, last) if mine[0] >= last[0] else (last, mine)
            best[line.key] = winner
            if winner is not loser:
                since = SINCE_FINISHED if loser[3] and not winner[3] else SUPERSEDED
                spent[loser[1]][loser[2]] = since
        if torn:
            lines |= {int(place.rpartition(":")[2]): TORN for place in broken}
    return spent


def _revisions() -> dict[str, int]:
    from omkl.config import algo_specs

    return {spec.name: spec.revision for spec in algo_specs().values()}


def _rewrite(path: Path, without: set[int]) -> bool:
    """Write a file anew without some of its lines; False where another process writes to it."""
    with open(path, "rb") as file:
        if not lock(file.fileno()) or not os.path.samestat(os.fstat(file.fileno()), os.stat(path)):
            return False
        with _whole(path) as write:
            for number, raw in enumerate(file, 1):
                if number not in without:
                    write(raw)
    return True


def _remove(part: Path) -> bool:
    with open(part, "rb") as file:
        if not lock(file.fileno()):
            return False
        part.unlink()
    return True
