"""A learner of omkl that has learnt nothing, with its members where it is a stack."""

import numpy as np

from omkl.config import members_of
from omkl.config.learners import LearnerSpec, check_classes
from omkl.others.estimator import Estimator
from omkl.others.names import UNNAMED, Names
from omkl.rounds.learner import Learner
from omkl.rounds.scaling import Scaling
from omkl.rounds.threads import Threads
from omkl.stacks.shared_features import features_key, groups_of
from omkl.stacks.stack import Members, Stack, shared_scalings


def new_learner(
    spec: LearnerSpec,
    params: dict,
    pool: dict | None,
    d: int,
    seed: int,
    *,
    block: int | None = None,
    rounds: int | None = None,
    classes: int = 2,
    threads: int | Threads = 1,
    scaling: Scaling | None = None,
    names: Names = UNNAMED,
) -> Learner:
    """Return a learner of omkl that has learnt nothing, with its members where it is a stack.

    As of a Learner. A member draws its random numbers from a seed that the stack's own draws; members of the
    same kernels, number of frequencies and scaling share it, and so their random features. Gaps are filled
    for each member as its scaling does, unless all rows are scaled before. names: of the data, which members
    of other packages see.
    """
    if not spec.is_stack:
        steps = [] if scaling is None else [scaling]
        return Learner(
            spec, params, pool, d, seed, block, rounds, threads=threads, classes=classes, steps=steps
        )
    settings = members_of(spec, spec.checked(params), d, classes)
    seeds = np.random.default_rng(seed).integers(2**63, size=len(settings)).tolist()
    scalings = [setting.scaling.get("scale") for setting in settings]
    keys = [
        features_key(each.spec, each.params, each.kernel_pool, word)
        for each, word in zip(settings, scalings, strict=True)
    ]
    for group in groups_of(keys):
        for i in group:
            seeds[i] = seeds[group[0]]
    members: list[Learner | Estimator] = []
    for one, own in zip(settings, seeds, strict=True):
        check_classes(one.spec, "these rows", classes)
        if one.spec.estimator:
            members.append(Estimator(one.spec, one.params, d, own, spec.tasks[0], classes, names=names))
        else:
            members.append(
                Learner(one.spec, one.params, one.kernel_pool, d, own, block, rounds, classes=classes)
            )
    gaps = None
    if scaling is not None and scaling.scale is None:
        gaps, scaling = scaling.gaps, scaling.without_gaps()
    shared = {word: Scaling(d, word, gaps=gaps) for word in shared_scalings(spec, scalings, gaps)}
    count = threads.count if isinstance(threads, Threads) else threads
    return Stack(
        spec,
        params,
        d,
        seed,
        Members(members, scalings, shared, count),
        block=block,
        rounds=rounds,
        classes=classes,
        steps=[] if scaling is None else [scaling],
    )
