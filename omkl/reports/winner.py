"""The winner among a row's kernels: the one that has the largest weight when the pass ends."""

from collections import Counter
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from omkl.config.kernel_pools import kernel_pool
from omkl.config.settings_text import value_text
from omkl.reports.display import MISSING

if TYPE_CHECKING:
    import pandas as pd


class Winners:
    """The kernels of the largest weights; cells: with ``n_weights`` and ``heaviest``, or ``weights``."""

    def __init__(self, cells: "pd.DataFrame") -> None:
        self._params, self._pools = cells["params"].to_numpy(), cells["pool_spec"].to_numpy()
        if "heaviest" in cells:
            counts, best = (cells[name].to_numpy().astype(float) for name in ("n_weights", "heaviest"))
            alone = np.isnan(counts)
            self._counts = np.where(alone, 1, counts)
            self._best = np.where(alone | np.isnan(best), 0, best).astype(int)
        else:
            weights = [value if isinstance(value, list) else [1.0] for value in cells["weights"]]
            self._counts = np.array([len(own) for own in weights])
            self._best = np.array(
                [max(range(len(own)), key=_size_in(own), default=0) for own in weights], int
            )

    def of(self, cells: list[int]) -> str:
        """Return the kernel that wins most of some cells of one setting, and how many where not all.

        A learner with one kernel has that. MISSING where there are no kernels or no weights, or the learner
        chose some of the pool's kernels itself.
        """
        if not cells:
            return MISSING
        spec = self._pools[cells[0]]
        pool = kernel_pool(self._params[cells[0]], spec if isinstance(spec, dict) else None)
        kernels = pool["kernels"] if pool else []
        best = self._best[cells][self._counts[cells] == len(kernels)] if kernels else ()
        won: Counter[str] = Counter()
        for at, count in Counter(map(int, best)).items():
            won[_text(kernels[at])] += count
        if not won:
            return MISSING
        name, count = won.most_common(1)[0]
        return name if count == won.total() else f"{name} {count}/{won.total()}"


def _size_in(weights: list[float]) -> Callable[[int], float]:
    return lambda at: abs(weights[at])


def _text(kernel: Mapping[str, Any]) -> str:
    usual = (("scale", 1.0), ("coef0", 0.0))
    return value_text({name: value for name, value in kernel.items() if (name, value) not in usual})
