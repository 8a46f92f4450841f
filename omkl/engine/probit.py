"""Members of an ensemble that are linear in features, with a probit likelihood and Gaussian posteriors.

Throughout: mu, v (members,) mean and variance of theta_i . z_i before the label is known; s = sqrt(1 + v);
Phi, phi the normal distribution and density. Member i's probability of label +1 is Phi(mu_i / s_i).
"""

import math

import numpy as np

from omkl.engine.experts import discount_by
from omkl.engine.jit import compiled

FAR = -30.0  # below it Phi is computed by its asymptotic series


@compiled
def excess(w, mu, v):
    """P - 1/2 of the ensemble's P = sum_i w_i Phi(mu_i / s_i): exactly 0 where all mu are."""
    total = 0.0
    for i in range(w.size):
        total += w[i] * 0.5 * math.erf(mu[i] / math.sqrt(2.0 * (1.0 + v[i])))
    return total


@compiled
def learn_label(w, mu, v, y, share):
    """Update the members' weights, and return their steps and divisors for label y, (members,) each.

    u = y mu / s, rho = phi(u) / Phi(u): theta_i += step_i Sigma_i z_i, and Sigma_i loses
    (Sigma_i z_i)(Sigma_i z_i)' / divisor_i: the moments of the posterior (Minka 2001, section 3.2).
    w_i <- w_i Phi(u_i), of sum 1, and of that (1 - share) w_i + share / members
    """
    surprise, step, divisor = steps(mu, v, y)
    reweigh(w, surprise, share)
    return step, divisor


@compiled
def steps(mu, v, y):
    """-log Phi(u), steps and divisors of the members for label y, (members,) each: see ``learn_label``."""
    members = mu.size
    surprise, step, divisor = np.empty(members), np.empty(members), np.empty(members)
    for i in range(members):
        s = math.sqrt(1.0 + v[i])
        u = y * mu[i] / s
        surprise[i], rho = _probit(u)
        step[i] = y * rho / s
        taken = rho * (rho + u) / (1.0 + v[i])
        divisor[i] = 1.0 / taken if taken > 0.0 else math.inf
    return surprise, step, divisor


@compiled
def reweigh(w, surprise, share):
    """w_i <- w_i exp(-surprise_i), of sum 1, and of that (1 - share) w_i + share / members."""
    discount_by(w, math.exp(-1.0), surprise)
    for i in range(w.size):
        w[i] = (1.0 - share) * w[i] + share / w.size


@compiled
def _probit(u):
    """-log Phi(u), and phi(u) / Phi(u)."""
    log_phi = -0.5 * (u * u + math.log(2.0 * math.pi))
    if u >= FAR:
        log_Phi = math.log(0.5 * math.erfc(-u / math.sqrt(2.0)))
    else:
        w = 1.0 / (u * u)
        log_Phi = log_phi - math.log(-u) + math.log(1.0 - w * (1.0 - 3.0 * w * (1.0 - 5.0 * w)))
    return -log_Phi, math.exp(log_phi - log_Phi)


@compiled
def move(theta, step, g):
    """theta_i <- theta_i + step_i g_i."""
    for i in range(step.size):
        for j in range(g.shape[1]):
            theta[i, j] += step[i] * g[i, j]
