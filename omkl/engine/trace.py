"""Writing a round into the trace."""

from numba import njit

from omkl.engine.conventions import is_mistake


@njit(cache=True)
def record_score(trace, t, score, y):
    """Note the score of round t and whether it errs on label y."""
    trace.score[t] = score
    trace.mistake[t] = is_mistake(y, score)


@njit(cache=True)
def record(trace, t, score, y, E):
    """Note round t of a learner that combined all classifiers of the expansion E."""
    record_score(trace, t, score, y)
    trace.n_sv_union[t] = E.size[0]
    trace.n_sv_sum[t] = E.size[1]
    trace.n_sv_combined[t] = E.size[1]


@njit(cache=True)
def record_combined(trace, t, score, y, E, c):
    """Note round t of a learner that combined only the classifiers with c (m,) true."""
    record(trace, t, score, y, E)
    combined = 0
    for i in range(c.size):
        if c[i]:
            combined += E.n_sv[i]
    trace.n_sv_combined[t] = combined
