"""Sums of kernel values for more than two classes: every stored vector serves two rows of its kernel."""

from omkl.engine.arith import fma
from omkl.engine.jit import compiled


@compiled
def raise_values(squared, picked, rows, steps, bases, K):
    """K <- K squared that often, or times its base that often."""
    for q in range(picked):
        k, base, left = K[q], bases[q], steps
        while squared and left >= 2:
            for r in range(rows):
                power = k[r] * k[r]
                k[r] = power * power
            left -= 2
        for _ in range(left):
            for r in range(rows):
                k[r] = k[r] * (k[r] if squared else base[r])


@compiled
def add_to_classes(a, rival, label, at, first, picked, chosen, low, rows, K, fused, F, G, tracked):
    """F[at + label_j] += a_j K_j, F[at + rival_j] -= a_j K_j, j = first + chosen[q], left to right.

    fused: by fused multiply-adds; polynomials sum as by definition. G adds |a_j| K_j to both where tracked.
    """
    for q in range(picked):
        j = first + chosen[q]
        c, k = a[j], K[q]
        if c == 0.0:
            continue
        up, down = F[at + label[j], low : low + rows], F[at + rival[j], low : low + rows]
        if fused and tracked:
            s, g, h = abs(c), G[at + label[j], low : low + rows], G[at + rival[j], low : low + rows]
            for r in range(rows):
                up[r] = fma(c, k[r], up[r])
                down[r] = fma(-c, k[r], down[r])
                g[r] = fma(s, k[r], g[r])
                h[r] = fma(s, k[r], h[r])
        elif fused:
            for r in range(rows):
                up[r] = fma(c, k[r], up[r])
                down[r] = fma(-c, k[r], down[r])
        else:
            for r in range(rows):
                up[r] = up[r] + c * k[r]
                down[r] = down[r] - c * k[r]
