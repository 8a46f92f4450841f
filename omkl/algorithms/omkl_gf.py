"""Ensembles on random features of several kernels: OMKL-GF.

Throughout: m Gaussian kernels; z (m, 2D) features of x_t, z_i . z_i = 1.
"""

import math

import numpy as np

from omkl.engine.api import any_of, compiled, discount_by, gradient_step, linear_outputs
from omkl.engine.methods import Features, Stream, Trace

SETTLED = 1e-4  # squared error below which the authors' code of OMKL-GF draws no more


@compiled
def omkl_gf(
    stream: Stream,
    F: Features,
    theta,
    w,
    number,
    chosen,
    q,
    settled,
    trace: Trace,
    rng,
    learn,
    draws,
    lam,
    variant,
):
    """Multi-kernel learning that looks at some kernels only: OMKL-GF of Ghari and Shen (2020) with J = 1.

    `draws` kernels (M), drawn with replacement, predict and learn   number (1,) rounds learnt so far
    theta (m, 2D) parameters   w (m,) weights, held at sum 1
    eta = 1 / sqrt(t), the share of uniform draws and the step   p (m,) probabilities of a draw, (1 - eta) w +
    eta / m   chosen (m,) 1 where a kernel is drawn   q (m,) probability of that, 1 - (1 - p)^draws
    theta_i <- theta_i - eta (2 (f_i - y) z_i + 2 lam theta_i), w_i <- w_i exp(-eta (loss_i + lam
    ||theta_i||^2) / q_i) of the new theta_i
    Deviations: variant=authors has two slips of their code. Their search for the drawn kernel ends one
    further (but not behind the last), so that kernel 0 never is drawn; and after the first squared error
    below 1e-4 (settled (1,)) the kernels and q stay as they are.
    """
    for t in range(stream.T):
        y = stream.y[t]
        z = F.lift(stream, t)
        f = linear_outputs(theta, z)
        eta = 1.0 / math.sqrt(number[0] + 1.0)
        now, odds = chosen.copy(), q.copy()
        if settled[0] == 0 or not any_of(chosen):  # none is chosen only in a forged model
            p = (1.0 - eta) * w + eta / w.size
            now[:] = 0
            for _ in range(draws):
                now[_drawn(rng, p, variant)] = 1
            for i in range(w.size):
                odds[i] = 1.0 - (1.0 - p[i]) ** draws
        total, score = 0.0, 0.0
        for i in range(w.size):
            if now[i]:
                total += w[i]
                score += w[i] * f[i]
        score /= total
        trace.record(t, score, y)
        if not learn:
            continue
        number[0] += 1
        chosen[:], q[:] = now, odds
        loss = np.zeros(w.size)
        for i in range(w.size):
            if now[i]:
                theta_i = theta[i : i + 1]
                gradient_step(theta_i, z[i : i + 1], eta, 2.0 * lam, np.full(1, 2.0 * (f[i] - y)))
                loss[i] = eta * ((f[i] - y) * (f[i] - y) + lam * linear_outputs(theta_i, theta_i)[0]) / q[i]
        discount_by(w, math.exp(-1.0), loss)
        if variant == "authors" and (score - y) * (score - y) < SETTLED:
            settled[0] = 1


@compiled
def _drawn(rng, p, variant):
    """One kernel, by one uniform number: the first whose cumulated probability is not below it."""
    u, cumulated, i = rng.random(), p[0], 0
    while u > cumulated and i < p.size - 1:
        i += 1
        cumulated += p[i]
    return min(i + 1, p.size - 1) if variant == "authors" else i
