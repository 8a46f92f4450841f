"""The winner among a row's kernels: the one that has the largest weight when the pass ends."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from omkl.config.kernel_pools import kernel_pool
from omkl.config.settings_text import value_text
from omkl.reports.display import MISSING
from omkl.reports.rows import Parts

if TYPE_CHECKING:
    import pandas as pd

_TOGETHER = 2**22  # counts of rows and kernels that are in memory at once


def winners(parts: Parts, count: int, cells: "pd.DataFrame") -> list[str]:
    """Return of each of ``count`` rows the kernel that wins most of its cells, and how many where not all.

    parts: as of `by_count`. Of kernels with equal counts it is the one of the first cell. A learner with one
    kernel has that. MISSING where there are no kernels or no weights, or the learner chose some of the pool's
    kernels itself.
    """
    names = [MISSING] * count
    counts, best = (cells[name].to_numpy().astype(float) for name in ("n_weights", "heaviest"))
    alone = np.isnan(counts)
    counts = np.where(alone, 1, counts)
    best = np.where(alone | np.isnan(best), 0, best).astype(int)
    kinds, of = _kernels(parts, count, cells)
    sizes, most = np.array([*map(len, kinds)]), max(1, *map(len, kinds))
    same = np.array([[*map(texts.index, texts), *[0] * (most - len(texts))] for texts in kinds])
    for own, places in parts:
        for some in np.array_split(np.arange(len(own)), len(own) * most // _TOGETHER + 1):
            kind, line = of[own[some], None], np.arange(len(some))[:, None]
            good = (counts[places[some]] == sizes[kind]) & (sizes[kind] > 0)
            won = same[kind, np.where(good, best[places[some]], 0)]
            tally = np.bincount((line * most + won)[good], minlength=len(some) * most).reshape(-1, most)
            wins = np.where(good, np.take_along_axis(tally, won, 1), 0)
            first = won[line[:, 0], wins.argmax(axis=1)]
            made = (own[some], kind[:, 0], first, wins.max(axis=1), good.sum(axis=1))
            for at, texts, kernel, wins_of, whole in zip(*(one.tolist() for one in made), strict=True):
                if wins_of:
                    names[at] = kinds[texts][kernel] + (f" {wins_of}/{whole}" if wins_of < whole else "")
    return names


def _kernels(parts: Parts, count: int, cells: "pd.DataFrame") -> tuple[list[tuple[str, ...]], np.ndarray]:
    """Return the texts of the kernels of each kind of row, and each row's kind (R,)."""
    params, pools = cells["params"].to_numpy(), cells["pool_spec"].to_numpy()
    kinds: dict[tuple[str, ...], int] = {(): 0}
    known: dict[int, tuple[int, Any]] = {}  # with the kernels, whose id then stays theirs
    of = np.zeros(count, int)
    for own, places in parts:
        first = places[:, 0]
        for at, settings, spec in zip(
            own.tolist(), params[first].tolist(), pools[first].tolist(), strict=True
        ):
            pool = kernel_pool(settings, spec if isinstance(spec, dict) else None)
            kernels = pool["kernels"] if pool else None
            if id(kernels) not in known:
                kind = kinds.setdefault(tuple(map(_text, kernels or ())), len(kinds))
                known[id(kernels)] = kind, kernels
            of[at] = known[id(kernels)][0]
    return list(kinds), of


def _text(kernel: Mapping[str, Any]) -> str:
    usual = (("scale", 1.0), ("coef0", 0.0))
    return value_text({name: value for name, value in kernel.items() if (name, value) not in usual})
