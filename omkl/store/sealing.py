"""Writing a segment (segments.py says what that is) of finished lines."""

import io
import json
import uuid
import zlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from omkl.store.frames import extra
from omkl.store.keys import dumps
from omkl.store.lines import Line, split_line
from omkl.store.segments import (
    CODED,
    EXTRA,
    FORM,
    GROUP,
    NUMBERS,
    PLACES,
    SUFFIX,
    TEXTS,
    WORDS,
    About,
    footer,
    place,
)

if TYPE_CHECKING:
    import pyarrow as pa


def encode(folder: str, lines: Sequence[Line], about: About) -> tuple[str, bytes]:
    """Return a segment of lines of "cells" or "curves": the name that it must have, and its content."""
    import pyarrow as pa

    parts = [split_line(line.raw) for line in lines]
    columns = {
        "key": pa.array([bytes.fromhex(line.key) for line in lines], pa.binary(32)),
        "crc": pa.array([part.crc for part in parts], pa.uint32()),
        "text": pa.array([part.text for part in parts], pa.binary()),
        "tail": pa.array([part.tail for part in parts], pa.binary()).dictionary_encode(),
        "time": pa.array([line.time for line in lines], pa.string()),
        "file": pa.array([line.place[0] for line in lines], pa.string()).dictionary_encode(),
        "number": pa.array([line.place[1] for line in lines], pa.int32()),
    }
    if folder == "cells":
        columns |= _fields(lines)
    table = pa.table(columns)
    known = {"form": FORM, "folder": folder, "covers": about.covers, "replaces": about.replaces}
    content = _written(table, known)  # twice: only then are the checksums of its columns known
    chunks = _chunks(content)
    content = _written(table, known | {"crc": [[zlib.crc32(content[a:b]) for a, b in row] for row in chunks]})
    assert _chunks(content) == chunks  # only the footer has changed
    return f"sealed-{uuid.uuid4().hex[:12]}-{zlib.crc32(footer(content)):08x}{SUFFIX}", content


def _fields(lines: Sequence[Line]) -> "dict[str, pa.Array]":
    import pyarrow as pa

    memo: dict[int, dict[str, str | None]] = {}  # lines share their shared fields
    texts: dict[str, list[str | None]] = {name: [] for name in TEXTS}
    made = []
    for own, shared in (line.fields for line in lines):
        if id(shared) not in memo:
            values = {**shared, "origin": shared["provenance"]}
            memo[id(shared)] = {
                name: None if values.get(name) is None else dumps(values[name]) for name in TEXTS
            }
        for name, text in memo[id(shared)].items():
            texts[name].append(text)
        made.append(extra(own, shared) | {name: own.get(name) for name in ("status", "permutation_seed")})
    columns = {name: pa.array(values, pa.string()).dictionary_encode() for name, values in texts.items()}
    for name in WORDS:
        columns[name] = pa.array([one[name] for one in made], pa.string()).dictionary_encode()
    columns["hits"] = pa.array([one["hits"] for one in made], pa.binary())
    for name in (*NUMBERS, *PLACES):
        source = made if name in EXTRA else [line.fields[0] for line in lines]
        if (array := _exact([one.get(name) for one in source], name)) is not None:
            columns[name] = array
    return columns


def _exact(values: list[Any], name: str) -> "pa.Array | None":
    """Return numbers as a column of one type, None where there is none that holds them exactly."""
    import pyarrow as pa

    kinds = set(map(type, values)) - {type(None)}
    if not kinds <= {int} and kinds != {float}:
        return None
    try:
        number = pa.int32() if name in PLACES else pa.int64()
        return pa.array(values, pa.float64() if kinds == {float} else number)
    except (OverflowError, pa.ArrowInvalid):
        return None


def _written(table: "pa.Table", known: dict[str, Any]) -> bytes:
    import pyarrow.parquet as pq

    sink = io.BytesIO()
    pq.write_table(
        table.replace_schema_metadata({"omkl": json.dumps(known)}),
        sink,
        row_group_size=GROUP,
        compression="zstd",
        use_dictionary=list(CODED),
        dictionary_pagesize_limit=2**26,
        write_statistics=False,
        store_schema=True,
    )
    return sink.getvalue()


def _chunks(content: bytes) -> list[list[tuple[int, int]]]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    meta = pq.read_metadata(pa.BufferReader(content))
    return [
        [place(meta, group, at) for at in range(meta.num_columns)] for group in range(meta.num_row_groups)
    ]
