"""Scaling while the stream runs, as it is said: the mean and deviation of all rows so far, computed anew."""

import math
import statistics


def scaled_rows(rows, centred):
    """Rows (lists of numbers), each scaled with those up to it."""
    return [scaled_row(rows[:t], row, centred) for t, row in enumerate(rows)]


def scaled_row(before, row, centred):
    """One row, after these."""
    return [scaled([*(old[j] for old in before), x], centred) for j, x in enumerate(row)]


def scaled(values, centred=True):
    """The last of these values, scaled with all of them; 0 where they are all the same."""
    place, width = place_and_width(values)
    if width == 0:
        return 0.0
    return (values[-1] - place) / width if centred else values[-1] / width


def place_and_width(values):
    if not values:
        return 0.0, 0.0
    return statistics.fmean(values), math.sqrt(statistics.pvariance(values))


def scaled_targets(y):
    """The targets, each scaled with those up to it, and (place, width) of those before it."""
    return [scaled(y[: t + 1]) for t in range(len(y))], [place_and_width(y[:t]) for t in range(len(y))]


def filled_rows(rows):
    """Rows with NaN for gaps, each gap the mean of its feature's values in the rows before, or 0."""
    made = []
    for t, row in enumerate(rows):
        before = [[old[j] for old in rows[:t] if not math.isnan(old[j])] for j in range(len(row))]
        means = [statistics.fmean(values) if values else 0.0 for values in before]
        made.append([mean if math.isnan(x) else x for x, mean in zip(row, means, strict=True)])
    return made
