"""The winner among a row's kernels: the one that has the largest weight when the pass ends."""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from omkl.config.kernel_pools import kernel_pool
from omkl.config.settings_text import value_text
from omkl.reports.display import MISSING

WEIGHED = ("weights", "params", "pool_spec")  # the columns of the cells that it takes


def winner(cells: Iterable[Mapping[str, Any]]) -> str:
    """Return the kernel that wins most repetitions, with their number where it does not win all.

    cells: with WEIGHED. A learner with one kernel has that. MISSING where
    there are no kernels or no weights, or the learner chose some of the pool's kernels itself.
    """
    won: Counter[str] = Counter()
    for cell in cells:
        pool = kernel_pool(cell["params"], cell["pool_spec"] if isinstance(cell["pool_spec"], dict) else None)
        kernels = pool["kernels"] if pool else []
        weights = cell["weights"] if isinstance(cell["weights"], list) else [1.0]
        if kernels and len(weights) == len(kernels):
            best = max(range(len(weights)), key=lambda i: abs(weights[i]))
            won[_text(kernels[best])] += 1
    if not won:
        return MISSING
    name, count = won.most_common(1)[0]
    return name if count == won.total() else f"{name} {count}/{won.total()}"


def _text(kernel: Mapping[str, Any]) -> str:
    usual = (("scale", 1.0), ("coef0", 0.0))
    return value_text({name: value for name, value in kernel.items() if (name, value) not in usual})
