"""The texts at the ticks of an axis of settings."""

import math
from collections.abc import Sequence

import numpy as np

from omkl.config.parameters import shown_text

_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def tick_texts(values: Sequence[float]) -> list[str]:
    """Return the texts of swept numbers on an axis, powers of ten where all are and reach far; "" for NaN."""
    powers = [math.log10(value) if value > 0 else math.nan for value in values]
    decades = len(powers) > 1 and all(power.is_integer() for power in powers)
    if decades and max(map(abs, powers)) > 2:
        return [f"10{str(round(power)).translate(_RAISED)}" for power in powers]
    return ["" if np.isnan(value) else shown_text(float(value)) for value in values]
