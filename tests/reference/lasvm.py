"""LaSVM (Bordes, Ertekin, Weston, Bottou 2005) without bias: gradients computed afresh in every step."""

from .slots import Slots


class Dual(Slots):
    """alpha_s in [0, C], a_s = y_s alpha_s."""

    def gradients(self):
        return [self.y[j] - self.f(0, j) for j in self.held[0]]

    def step(self, s, C):
        j = self.held[0][s]
        g = self.y[j] - self.f(0, j)
        alpha = self.y[j] * (self.a[0][s] + g / self.kappa(0, j, j))
        alpha = 0.0 if alpha <= 1e-9 * C else C if alpha >= C * (1 - 1e-9) else alpha
        self.a[0][s] = self.y[j] * alpha


def lasvm(X, y, kernels, *, C, normalise="none", rng=None):
    """Process the example, reprocess the stored one with the largest gradient, forget the useless."""
    E = Dual(X, y, kernels, normalise, len(y))
    for t in range(len(y)):
        f = E.f(0, t)
        E.record(f, y[t], [True])
        if 1 - y[t] * f > 1e-9 and E.kappa(0, t, t) > 0:
            E.append(0, t, 0.0)
            E.step(len(E.a[0]) - 1, C)
        g = E.gradients()
        alpha = [y[j] * a for j, a in zip(E.held[0], E.a[0], strict=True)]
        able = [
            s
            for s, j in enumerate(E.held[0])
            if abs(g[s]) >= 1e-3 and (alpha[s] < C if y[j] * g[s] > 0 else alpha[s] > 0)
        ]
        if able:
            largest = max(abs(g[s]) for s in able)
            E.step(min(s for s in able if abs(g[s]) >= largest * (1 - 1e-9)), C)
        g = E.gradients()
        keep = [s for s, j in enumerate(E.held[0]) if E.a[0][s] != 0 or y[j] * g[s] > 1e-9]
        E.a[0], E.held[0] = [E.a[0][s] for s in keep], [E.held[0][s] for s in keep]
        E.n_sv[0] = len(keep)
    E.weights.w = None
    return E.finish()
