"""Budget online multiple kernel learning: randomized budget perceptrons.

A component of online multiple kernel classification: Lu, Hoi, Sahoo, "Budget online multiple kernel
learning", section 4.3. In every round the same single-kernel learner updates every kernel, with a budget of
its own; the prediction is Hedge's weighted vote. With a pool of one kernel it is the single-kernel learner.

Throughout: m kernels; B the classifiers, at most `budget` stored vectors in each, kernel i's in slots s;
f (m,) outputs f_i(x_t); z (m,) true where kernel i errs; w (m,) Hedge weights; gamma in (0, 1) their
discount; a coefficients; k (slots, m) kernel values kappa_i(x_s, x_t).
"""

from omkl.engine.api import compiled, discount, mistakes
from omkl.engine.methods import Budget, Stream, Trace


@compiled
def bomkc_rbp(stream: Stream, B: Budget, w, trace: Trace, rng, learn, gamma):
    """Randomised budget perceptron (Cavallanti, Cesa-Bianchi, Gentile 2007): a random vector makes room."""
    for t in range(stream.T):
        y = stream.y[t]
        f = B.outputs(stream, t)
        trace.record(t, B.weighted_vote(w, f), y, B)
        if not learn:
            continue
        z = mistakes(y, f)
        discount(w, gamma, z)
        for i in range(f.size):
            if z[i]:
                s = B.used(i) if B.has_room(i) else int(rng.random() * B.budget())
                B.add(stream, t, i, s, y)
