"""Scaling while the stream runs, as it is said: means and deviations of rows so far, computed anew.

Features are scaled by the rows since half of the rounds: of those that began with a power of 2, the last but
one. Once 10 rows are known, what is more than 10 deviations away is doubtful and enters as 3 deviations, or
as 10 where more than 1 in 50 are doubtful (and more than two). Scaled values are held in [-10, 10].
Or features become ranks among the last 300 rows. In sparse rows what is 0 stays 0.
"""

import math
import statistics


def are_dense(rows):
    """Of each row whether it is dense: one value in eight is not 0 in the first 1, 2, 4, ... or 256 rows.

    A first row is 0 in any case.
    """
    made = []
    for n in range(len(rows)):
        first = rows[: max(2**i for i in range(9) if 2**i <= max(n, 1))]
        made.append(8 * sum(x != 0 for row in first for x in row) >= len(first) * len(rows[0]))
    return made


def scaled_rows(rows):
    """Rows (lists of numbers), each scaled with those up to it."""
    return _by_column(rows, scaled_column)


def ranked_rows(rows):
    """Rows (lists of numbers, NaN for gaps) as normal scores of ranks among the 300 rows before."""
    return _by_column(rows, ranked_column)


def _by_column(rows, made):
    dense = are_dense(rows)
    columns = [made(column, dense) for column in zip(*rows, strict=True)]
    return [list(row) for row in zip(*columns, strict=True)]


def ranked_column(values, dense):
    """Phi^-1 of the ranks of a feature's values; of a sparse row less that of 0."""
    made = []
    for n, x in enumerate(values):
        before = [old for old in values[max(0, n - 300) : n] if not math.isnan(old)]

        def score(x, before=before):
            below, equal = sum(old < x for old in before), sum(old == x for old in before)
            return statistics.NormalDist().inv_cdf((below + equal / 2 + 1 / 2) / (len(before) + 1))

        made.append(0.0 if math.isnan(x) else score(x) - (0.0 if dense[n] else score(0.0)))
    return made


def scaled_column(values, dense):
    """The values of a feature, each scaled with those before it and itself."""
    entered, doubtful, made = [], [], []
    for n, x in enumerate(values):
        powers = [0, 0, *(2**i for i in range(2, 60) if 2**i <= n)]  # when statistics began, so far
        before = entered[powers[-2] :]
        place, width = place_and_width(before)
        held, rows, so_far = x, len(before), sum(doubtful[powers[-2] :])
        if n >= 10 and width > 0 and abs(x - place) > 10 * width and (dense[n] or x != 0):
            held = place + math.copysign((10 if so_far > 2 + rows / 50 else 3) * width, x - place)
        entered.append(held)
        doubtful.append(held != x)
        place, width = place_and_width([*before, held])
        value = 0.0 if width == 0 else (x - place) / width if dense[n] else x / width
        made.append(min(max(value, -10.0), 10.0))
    return made


def scaled(values):
    """The last of these values, scaled with all of them; 0 where they are all the same."""
    place, width = place_and_width(values)
    if width == 0:
        return 0.0
    return (values[-1] - place) / width


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
