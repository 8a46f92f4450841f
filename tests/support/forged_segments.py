"""Segments whose content somebody else wrote, with checksums that fit."""

import io
import json
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from omkl.store import sealing
from omkl.store.segments import footer

Change = Callable[[Any, dict[str, Any]], Any]


def forge(path: Path, change: Change) -> Path:
    """Write a segment again after a change, under a name that fits, in place of the one given.

    change: of its table and of what its footer says; returns the table. Its checksums follow, unless "crc" is
    changed.
    """
    import pyarrow.parquet as pq

    table = pq.read_table(io.BytesIO(path.read_bytes()))
    known = json.loads(table.schema.metadata[b"omkl"])
    del known["crc"]
    table = change(table, known)
    if "crc" not in known:
        chunks = sealing._chunks(sealing._written(table, known))
        content = sealing._written(table, known)
        known["crc"] = [[zlib.crc32(content[a:b]) for a, b in row] for row in chunks]
    content = sealing._written(table, known)
    made = path.with_name(f"sealed-forged-{zlib.crc32(footer(content)):08x}.parquet")
    path.unlink()
    made.write_bytes(content)
    return made


def with_column(name: str, make: Callable[[list[Any], Any], Any]) -> Change:
    """The change that puts another column in place of one; make: of its values and pyarrow."""
    import pyarrow as pa

    def change(table: Any, known: dict[str, Any]) -> Any:
        place = table.schema.get_field_index(name)
        column = make(table.column(name).to_pylist(), pa)
        return table.set_column(place, name, column)

    return change


def saying(**said: Any) -> Change:
    """The change of what the footer says; None takes an entry away."""

    def change(table: Any, known: dict[str, Any]) -> Any:
        known.update(said)
        for name in [name for name, value in said.items() if value is None]:
            del known[name]
        return table

    return change


def words(values: list[Any], pa: Any) -> Any:
    """Texts as a segment holds them."""
    return pa.array(values, pa.string()).dictionary_encode()
