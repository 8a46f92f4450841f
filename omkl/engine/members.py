"""What members of an ensemble without a knob share: rows scaled online, Gaussians' features, linear ones."""

import math

import numpy as np

from omkl.engine.features import linear_outputs
from omkl.engine.jit import compiled
from omkl.engine.lanes import fma, sincos
from omkl.engine.rank_one import gains, hold, leave

FIRST = 300  # rows from which widths and scales are read
FARTHEST = 10.0  # of a scaled feature
SINCOS_LIMIT = 1e5  # up to here sincos has the C library's accuracy


@compiled
def scale_row(stream, t, mean, m2, seen, known, x, new_mean, new_m2, new_known):
    """Fill x (2, d) with the row as it comes and scaled, and means, deviations and scales with this row."""
    raw, scaled = x[0], x[1]
    start, stop = stream.row(t)
    raw[:] = 0.0
    for k in range(start, stop):
        raw[stream.indices[k]] = stream.values[k]
    count, total, varying, largest = seen + 1.0, 0.0, 0, known[2]
    for j in range(raw.size):
        delta = raw[j] - mean[j]
        new_mean[j] = mean[j] + delta / count
        new_m2[j] = m2[j] + delta * (raw[j] - new_mean[j])
        variance = new_m2[j] / count
        scaled[j] = 0.0
        if variance > 0.0:
            scaled[j] = min(max((raw[j] - new_mean[j]) / math.sqrt(variance), -FARTHEST), FARTHEST)
            total += variance
            varying += 1
        largest = max(largest, abs(raw[j]))
    new_known[:] = known
    if seen < FIRST:
        new_known[0] = math.sqrt(2.0 * total)
        new_known[1] = math.sqrt(2.0 * varying)
        new_known[2] = largest


@compiled
def lift_row(F, stream, t, x, known, widths, variance, z):
    """Fill z with the Gaussians' features, those of x in all widths first, then those of x~."""
    D = F.V.shape[1] // 2
    F.p[:] = 0.0
    start, stop = stream.row(t)
    for k in range(start, stop):
        _add(F.p[:D], stream.values[k], F.V[stream.indices[k], :D])
    for j in range(x.shape[1]):
        if x[1, j] != 0.0:
            _add(F.p[D:], x[1, j], F.V[j, D:])
    scale = math.sqrt(variance / D)
    for r in range(2):
        p = F.p[r * D : (r + 1) * D]
        for w in range(len(widths)):
            own = z[len(widths) * r + w]
            width = known[r] * widths[w]
            over = 1.0 / width if width > 0.0 else 1.0
            for q in range(D):
                own[q], own[D + q] = sincos(p[q] * over)
            for q in range(D):
                if not abs(p[q] * over) < SINCOS_LIMIT:
                    own[q], own[D + q] = math.sin(p[q] * over), math.cos(p[q] * over)
            for q in range(2 * D):
                own[q] *= scale


@compiled
def _add(p, a, v):
    """p <- p + a v."""
    for q in range(p.size):
        p[q] = fma(a, v[q], p[q])


@compiled
def linear_gains(R, late, sigma, h, drift, keep, v):
    """`gains` of linear members, by the diagonal sigma where R has no room for the features; fill v."""
    if R.shape[-1] == h.shape[1]:
        k = gains(R, late, h, drift, keep)
        v[:] = linear_outputs(h, k)
        hold(v, R, late, k, drift, keep)
        return k
    k = np.empty(h.shape)
    for i in range(len(h)):
        for j in range(h.shape[1]):
            own = sigma[i, j] + drift
            k[i, j] = own * h[i, j]
            if keep:
                sigma[i, j] = own
    v[:] = linear_outputs(h, k)
    return k


@compiled
def linear_leave(R, late, sigma, k, divisor):
    """`leave` of linear members."""
    if R.shape[-1] == k.shape[1]:
        leave(late, k, divisor)
        return
    for i in range(len(k)):
        for j in range(k.shape[1]):
            sigma[i, j] = max(sigma[i, j] - k[i, j] * k[i, j] / divisor[i], 0.0)
