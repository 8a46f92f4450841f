"""Gaps filled, features and targets scaled while the stream runs, with what has been seen of them.

A feature's statistics are of its values other than 0, so that a row costs no more than it has of these; how
many rows had a 0 is known from the number of rows. A gap is NaN.
"""

import math

import numpy as np

from omkl.engine.jit import compiled, compiled_without_refcounts

FARTHEST = 10.0  # deviations of a scaled feature
DOUBTFUL = 3.0  # deviations with which a value beyond FARTHEST enters the statistics
KNOWN = 10  # rows before that is so
OUTLIER = 10.0  # ranges of the targets beyond these: a target further away counts as one there
SETTLED = 50  # targets after which that is so
FEW = 50.0  # of more than 1 value in so many beyond FARTHEST the feature is like that


@compiled_without_refcounts
def _with(k, a, b, x):
    """The statistics (k, a, b) of k values, their mean and squared deviations, with one value more."""
    delta = x - a
    a += delta / (k + 1.0)
    return k + 1.0, a, b + delta * (x - a)


@compiled_without_refcounts
def _of_all(k, a, b, n):
    """Mean and deviation of n values, of which n - k are 0."""
    mean = a * (k / n)
    return mean, math.sqrt(max(b + a * mean * (n - k), 0.0) / n)


@compiled_without_refcounts
def _scaled(x, place, width, centred):
    if not width > 0.0:
        return 0.0
    return (x - place) / width if centred else x / width


@compiled_without_refcounts
def _forget(stats, begun, n):
    """After 4, 8, 16, ... rows, drop the older statistics and begin new ones.

    stats (2, 4, d), begun (2,): of the rows since half of the rounds at least, and of those since the last
    power of 2: values other than 0, their mean, their squared deviations, how many values were doubtful; and
    how many rows there were before each
    """
    if n < 4 or n & (n - 1) != 0 or begun[1] == n:
        return
    begun[0], begun[1] = begun[1], n
    for i in range(stats.shape[1]):
        for j in range(stats.shape[2]):
            stats[0, i, j], stats[1, i, j] = stats[1, i, j], 0.0


@compiled_without_refcounts
def _held(stats, j, x, n, rows):
    """What of x enters the statistics, which are of so many rows, after n rows in all.

    Once KNOWN rows are known, a value more than FARTHEST deviations away is doubtful and enters as DOUBTFUL
    deviations; where more than 1 in FEW are, as FARTHEST: the feature is rarely not 0, or has another level.
    """
    if n < KNOWN:
        return x
    k, over = stats[0, 0, j], 1.0 / rows
    mean = stats[0, 1, j] * (k * over)
    variance = max(stats[0, 2, j] + stats[0, 1, j] * mean * (rows - k), 0.0) * over
    delta = x - mean
    if variance > 0.0 and delta * delta > FARTHEST * FARTHEST * variance:
        most = FARTHEST if stats[0, 3, j] > 2.0 + rows / FEW else DOUBTFUL
        return mean + math.copysign(most * math.sqrt(variance), delta)
    return x


@compiled_without_refcounts
def _note(stats, j, x, entered):
    """Add a value of feature j to both statistics, as it enters."""
    for s in range(2):
        if entered != 0.0:
            stats[s, 0, j], stats[s, 1, j], stats[s, 2, j] = _with(
                stats[s, 0, j], stats[s, 1, j], stats[s, 2, j], entered
            )
        if entered != x:
            stats[s, 3, j] += 1.0


@compiled
def has_gaps(order, indptr, values):
    """Whether one of these rows has a gap."""
    for t in range(order.size):
        for at in range(indptr[order[t]], indptr[order[t] + 1]):
            if math.isnan(values[at]):
                return True
    return False


@compiled_without_refcounts
def _see_value(means, j, x):
    """Add a value or a gap of feature j to its statistics: k values other than 0, their mean, the gaps."""
    if math.isnan(x):
        means[2, j] += 1.0
    else:
        means[0, j] += 1.0
        means[1, j] += (x - means[1, j]) / means[0, j]


@compiled
def see_values(order, indptr, indices, values, means):
    """Add rows to the statistics (3, d) by which gaps are filled."""
    for t in range(order.size):
        for at in range(indptr[order[t]], indptr[order[t] + 1]):
            _see_value(means, indices[at], values[at])


@compiled
def fill_gaps(order, indptr, indices, values, going_on, means, seen, new):
    """Fill the CSR matrix ``new`` with rows in this order, each gap with the mean of its feature so far.

    The mean is that of the values seen in the rows before; where there are none it is 0. going_on: whether a
    row counts as seen for those after it. means: of `see_values`, after ``seen`` rows. Returns how many
    values there are.
    """
    new_indptr, new_indices, new_values = new
    used, n = 0, float(seen)
    for t in range(order.size):
        for at in range(indptr[order[t]], indptr[order[t] + 1]):
            j, x = indices[at], values[at]
            if math.isnan(x):
                there = n - means[2, j]
                x = means[1, j] * (means[0, j] / there) if there > 0.0 else 0.0
            if going_on:
                _see_value(means, j, values[at])
            if x != 0.0:
                new_indices[used], new_values[used] = j, x
                used += 1
        new_indptr[t + 1] = used
        if going_on:
            n += 1.0
    return used


@compiled
def see_rows(order, indptr, indices, values, centred, stats, begun, seen):
    """Add rows to the statistics of their features, which ``seen`` rows made."""
    d, n = stats.shape[2], seen
    for t in range(order.size):
        at, stop, j = indptr[order[t]], indptr[order[t] + 1], -1
        _forget(stats, begun, n)
        while True:
            j = j + 1 if centred else (indices[at] if at < stop else d)
            if j >= d:
                break
            x = 0.0
            if at < stop and indices[at] == j:
                x = values[at]
                at += 1
            _note(stats, j, x, _held(stats, j, x, n, float(n - begun[0])))
        n += 1


@compiled
def scale_rows(
    order,
    indptr,
    indices,
    values,
    centred,
    going_on,
    stats,
    begun,
    seen,
    new_indptr,
    new_indices,
    new_values,
    first,
    used,
):
    """Append rows in this order to a CSR matrix, each scaled with what has been seen and itself.

    stats, begun: see `_forget`; they are of the rows since half of the rounds, of which there are ``seen``
    going_on: whether a row counts as seen for those after it. A feature that has not varied is 0, others are
    held in [-FARTHEST, FARTHEST]. Without centring, what is 0 stays 0. first, used: rows and values that the
    matrix has; returns how many values it has then.
    """
    d, n = stats.shape[2], seen
    for t in range(order.size):
        at, stop, j = indptr[order[t]], indptr[order[t] + 1], -1
        _forget(stats, begun, n)
        rows = float(n - begun[0])
        while True:
            j = j + 1 if centred else (indices[at] if at < stop else d)
            if j >= d:
                break
            x = 0.0
            if at < stop and indices[at] == j:
                x = values[at]
                at += 1
            entered = _held(stats, j, x, n, rows)
            k, a, b = stats[0, 0, j], stats[0, 1, j], stats[0, 2, j]
            if entered != 0.0:
                k, a, b = _with(k, a, b, entered)
            if going_on:
                _note(stats, j, x, entered)
            place, width = _of_all(k, a, b, rows + 1.0)
            value = min(max(_scaled(x, place, width, centred), -FARTHEST), FARTHEST)
            if value != 0.0:
                new_indices[used], new_values[used] = j, value
                used += 1
        new_indptr[first + t + 1] = used
        if going_on:
            n += 1
    return used


@compiled
def scale_targets(y, going_on, stats, new, place, width, unit):
    """Fill ``new`` (T,) with targets scaled with those seen, themselves included.

    place, width (T,): what a prediction f is worth in the targets' units, place + width f: of those seen
    before it. unit (T,): the width with this target. stats (3,): as of a feature, their number first
    going_on: as of `scale_rows`
    """
    k, a, b = stats[0], stats[1], stats[2]
    for t in range(y.size):
        place[t], width[t] = 0.0, 0.0
        if k > 0.0:
            place[t], width[t] = _of_all(k, a, b, k)
        more, c, e = _with(k, a, b, y[t])
        own, unit[t] = _of_all(more, c, e, more)
        new[t] = _scaled(y[t], own, unit[t], True)
        if going_on:
            k, a, b = more, c, e
    stats[0], stats[1], stats[2] = k, a, b


@compiled
def see_target(target, y):
    """Count target y in ``target`` (4,): the sum of those so far, least, largest, and their number."""
    target[1], target[2] = (min(target[1], y), max(target[2], y)) if target[3] > 0.0 else (y, y)
    target[0] += y
    target[3] += 1.0


@compiled
def within_reach(target, y):
    """y, held within OUTLIER ranges of the targets around these; their mean is the range of equal ones."""
    if target[3] < SETTLED:
        return y
    extent = target[2] - target[1]
    most = OUTLIER * (extent if extent > 0.0 else abs(target[0] / target[3]))
    return min(max(y, target[1] - most), target[2] + most) if most > 0.0 else y


@compiled
def targets_less_mean(y, target, going_on):
    """Each target (T,), held within reach, less the mean of those before it; 0 in the first round.

    target: of `see_target`, before these rounds    going_on: as of `scale_rows`
    """
    seen, less = target.copy(), np.zeros(y.size)
    for t in range(y.size):
        held = within_reach(seen, y[t])
        if seen[3] > 0.0:
            less[t] = held - seen[0] / seen[3]
        if going_on:
            see_target(seen, held)
    return less
