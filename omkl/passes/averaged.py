"""The averaged hypothesis of a pass, (1/T) sum_t f_t, f_t that which predicts in round t.

This is online-to-batch conversion: section 6 of Hoi et al. 2013, Corollary 5 of Kivinen et al. 2004. It is
known for learners whose classifiers are expansions of terms a_r kappa(x_r, .) that never change (``average:
fixed`` in conf/algo), or that shrink by 1 - eta_t lam in every round t (``average: shrunk``). So it is the
same expansion with other coefficients, which the learner's own rule combines, with its last weights.
"""

from typing import Any

import numpy as np

from omkl.engine.stream import Stream
from omkl.passes.late_labels import labels_known
from omkl.passes.packing import pack, unpack
from omkl.rounds.learner import Learner
from omkl.rounds.scaling import Scaling

_LEAST_LOG = -650.0  # of what is left of the oldest term: below it, coefficients underflow


def averaged_hypothesis(learner: Learner, learnt: Stream, delay: int = 1) -> Learner | None:
    """Return a learner with the averaged coefficients, None where they are not known.

    They are not where terms leave (a window), where an offset is learnt beside them, and where the oldest
    terms have shrunk to nothing. Where targets are scaled online, f_t is in the targets' units, those before
    round t: place_t + width_t times what the learner computes. Where labels come in batches, f_t is what was
    learnt before the batch of round t.
    """
    kind, name = learner.spec.average, learner.stores
    if kind is None or name is None or learner.resources[name].record != "Expansion":
        return None
    if learner.params.get("offset"):
        return None
    header, arrays = pack(learner)
    born, width = arrays[f"{name}.origin"], np.ones(learnt.T)
    predicted_by = labels_known(learnt.T, delay)  # the round before which f_t was learnt
    scaling = learner.scaling
    if scaling is None or not scaling.renews:  # else rows are numbered by their rounds
        place = np.zeros(int(learnt.order.max(initial=0)) + 1, np.int64)
        place[learnt.order] = np.arange(learnt.T)
        born = place[born]
    if scaling is not None and scaling.target == "online":
        units = Scaling(0, target="online").scaled(learnt, True)[1]
        assert units is not None
        width = units.width[predicted_by]
        header = header | {"scaling": scaling.header() | {"target": "standard"}}  # whose units are fixed
        arrays = arrays | {".targets": np.array([1.0, units.place[predicted_by].mean(), 1.0])}
    width = np.bincount(predicted_by, width, learnt.T)  # of all rounds that a hypothesis predicted
    # the hypotheses that have the term of a round, weighed: those of the rounds after it
    counted = np.append(np.cumsum(width[:0:-1])[::-1], 0.0)
    A = arrays[f"{name}.A"]
    if kind == "shrunk":
        shrink = _shrinkage(learner.params, learnt.T)
        if not (shrink > 0.0).all():
            return None
        logs = np.cumsum(np.log(shrink))
        left = logs[-1] - logs  # the logarithm of what is left of the term of each round
        if left[born].min(initial=0.0) < _LEAST_LOG:
            return None
        for r in range(learnt.T - 1, 0, -1):
            counted[r - 1] = width[r] + shrink[r] * counted[r]
        A = A * np.resize(arrays["scale."], len(A))[:, None] / np.exp(left[born])
        arrays = arrays | {"scale.": np.ones_like(arrays["scale."])}
    A = A * (counted[born] / learnt.T)
    averaged = {f"{name}.A": A, f"{name}.max_abs_coefficient": np.abs(A).max(axis=1, initial=0.0)}
    return unpack(header, arrays | averaged)


def _shrinkage(params: dict[str, Any], T: int) -> np.ndarray:
    """Return 1 - eta_t lam (T,) of the rounds of a pass."""
    eta, falls = params["eta"], params["step"] == "sqrt"
    if eta is None:  # as omkl.engine.losses.rate_of_pass
        eta = 1.0 if falls else 1.0 / np.sqrt(T)
    return 1.0 - params["lam"] * eta / (np.sqrt(np.arange(1.0, T + 1.0)) if falls else np.ones(T))
