"""Room for a tile: the stored vectors and rows of a block that one thread works on together."""

from collections import namedtuple

import numpy as np

from omkl.engine.records import Record
from omkl.engine.vector_code import LANES

_PAIRS = 2048  # stored vectors x rows of a tile: its kernel values stay in the first-level cache


class Scratch(Record, namedtuple("Scratch", "squares K nearest chosen")):
    """Room for the kernel values of a tile.

    squares, K (J, R), nearest (R,), and the vectors picked from the tile, chosen (J,)
    """


class Tile(Record, namedtuple("Tile", "dots scratch few few_of")):
    """Room for one tile of work.

    dots (J, R) scratch        dot products and kernel values of J stored vectors with R rows
    few (S+1, R) few_of (R,)   rows that are summed plainly, side by side: ties.py
    """


def make_tile(R: int, slots: int) -> Tile:
    """Return room for tiles of R rows, of a block that lays out this many columns (and row 0)."""
    J = max(LANES, _PAIRS // R // LANES * LANES)
    scratch = Scratch(np.zeros((J, R)), np.zeros((J, R)), np.zeros(R), np.zeros(J, np.int64))
    return Tile(np.zeros((J, R)), scratch, np.zeros((slots, R)), np.zeros(R, np.int64))
