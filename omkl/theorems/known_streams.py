"""What is known of generated streams beside their examples: means of classes, targets without noise."""

from typing import TYPE_CHECKING

import numpy as np

from omkl.data import streams
from omkl.data.orders import stream_entry

if TYPE_CHECKING:
    from omkl.data import DataRef


def known_centres(data: "DataRef", kind: str, rep: int) -> tuple[int, np.ndarray] | None:
    """Return the trials between two changes of a generated stream of two classes, and its means.

    None where nobody knows them: other data, and rows in another order than they came.
    """
    item = stream_entry(data.name, data.content_hash)
    if kind != "file" or item is None or item.forms[0].dataset in streams.NUMBERS:
        return None
    name = item.forms[0].dataset
    return streams.EVERY[name], streams.realised(name, rep + 1)[1]


def known_targets(data: "DataRef", kind: str, rep: int) -> np.ndarray | None:
    """Return the targets without noise (T,), in file order, of the data that a repetition streams.

    None where nobody knows them: all data but the generated streams of a regression.
    """
    item = stream_entry(data.name, data.content_hash)
    if item is None or item.forms[0].dataset not in streams.NUMBERS:
        return None
    return streams.realised(item.forms[0].dataset, rep + 1 if kind == "file" else 1)[1]
