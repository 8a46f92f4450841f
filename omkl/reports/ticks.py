"""Labels of axes."""

from typing import Any


def plain_log(axis: Any) -> None:
    """Label an axis of a log scale with plain numbers: 0.6 and 10,000, not 6e-01 and 10^4."""
    from matplotlib.ticker import LogFormatter

    class Plain(LogFormatter):
        def __call__(self, x: float, pos: int | None = None) -> str:
            return plain_number(x) if super().__call__(x, pos) else ""  # which says where a label has room

    axis.set_major_formatter(Plain())
    axis.set_minor_formatter(Plain(minor_thresholds=(2, 0.5)))


def plain_number(value: float) -> str:
    """Return a number of an axis without an exponent: ``0.6``, ``10,000``."""
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.6f}".rstrip("0").rstrip(".")
