"""Threads that share the blocks of an expansion.

Each output is a sum of its own, so that rows need not wait. The results are the same to the last bit for any
number of threads. One thread alone walks through a block, round by round, and adds the vectors that are
stored meanwhile.
"""

import time
from concurrent.futures import ThreadPoolExecutor

from omkl.engine.expansion import Expansion, begin_block, open_rows
from omkl.engine.kernel_sums import Tile, make_tile
from omkl.engine.open_block import n_rows, whole_lanes
from omkl.engine.stream import Stream

WORTH = 512  # stored vectors from which on threads share a block: an estimate of what handing it over costs
ROWS = 64  # of a block for each thread
LOOKED_UP, MOST_LOOKED_UP = 192, 512  # the same, and of a block at most, where kernel values are looked up


def rows_of_block(count: int, looked_up: bool) -> int:
    """Return how many rows a block needs that this many threads share."""
    most = min(LOOKED_UP * count, MOST_LOOKED_UP) if looked_up and count > 1 else 0
    return max(ROWS * count, most)


class Threads:
    """A number of threads for the blocks of one learner.

    looked_up: whether kernel values are looked up, which allows larger blocks
    """

    def __init__(self, count: int, looked_up: bool = False) -> None:
        self.count, self.looked_up = count, looked_up
        self.rows_of_block = rows_of_block(count, looked_up)
        self._pool = ThreadPoolExecutor(count - 1) if count > 1 else None
        self._tiles: list[Tile] = []

    def renewed(self) -> "Threads":
        """Return as many new threads."""
        return Threads(self.count, self.looked_up)

    def prepare(self, E: Expansion, stream: Stream) -> None:
        """Load or compile what `open_block` calls, once, before a clock starts."""
        if not self._tiles:
            begin_block(E, stream, 0)
            self._tiles = [make_tile(whole_lanes(1), len(E.open.rows))]
            open_rows(E, stream, self._tiles[0], 0, 0)

    def open_block(self, E: Expansion, stream: Stream) -> float:
        """Open the block that starts at the stream's first round; returns the other threads' CPU seconds."""
        assert self._pool is not None, "one thread needs no help"
        begin_block(E, stream, 0)
        rows, slots = n_rows(E.open), len(E.open.rows)
        width = whole_lanes(-(-rows // self.count))
        if len(self._tiles) < self.count or self._tiles[0].doubtful_rows.shape != (slots, width):
            self._tiles = [make_tile(width, slots) for _ in range(self.count)]
        cuts = [(low, min(low + width, rows)) for low in range(0, rows, width)]
        others = [
            self._pool.submit(_timed, E, stream, tile, *cut)
            for cut, tile in zip(cuts[1:], self._tiles[1:], strict=False)
        ]
        open_rows(E, stream, self._tiles[0], *cuts[0])
        return sum(other.result() for other in others)


def _timed(E: Expansion, stream: Stream, tile: Tile, low: int, high: int) -> float:
    began = time.thread_time()
    open_rows(E, stream, tile, low, high)
    return time.thread_time() - began
