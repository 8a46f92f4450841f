"""Scaling while the stream runs, as it is said: means and deviations of rows so far, computed anew.

Features are scaled by the rows since half of the rounds: of those that began with a power of 2, the last but
one. Once 10 rows are known, what is more than 10 deviations away is doubtful and enters as 3 deviations, or
as 10 where more than 1 in 50 are doubtful (and more than two). Scaled values are held in [-10, 10].
"""

import math
import statistics


def scaled_rows(rows, centred):
    """Rows (lists of numbers), each scaled with those up to it."""
    columns = [scaled_column(column, centred) for column in zip(*rows, strict=True)]
    return [list(row) for row in zip(*columns, strict=True)]


def scaled_column(values, centred):
    """The values of a feature, each scaled with those before it and itself."""
    entered, doubtful, made = [], [], []
    for n, x in enumerate(values):
        powers = [0, 0, *(2**i for i in range(2, 60) if 2**i <= n)]  # when statistics began, so far
        before = entered[powers[-2] :]
        place, width = place_and_width(before)
        held, rows, so_far = x, len(before), sum(doubtful[powers[-2] :])
        if n >= 10 and width > 0 and abs(x - place) > 10 * width:
            held = place + math.copysign((10 if so_far > 2 + rows / 50 else 3) * width, x - place)
        entered.append(held)
        doubtful.append(held != x)
        place, width = place_and_width([*before, held])
        value = 0.0 if width == 0 else (x - place) / width if centred else x / width
        made.append(min(max(value, -10.0), 10.0))
    return made


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
