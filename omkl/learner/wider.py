"""A learner for more features than it began with: streams of rows whose columns come and go (river)."""

from typing import Any

import numpy as np

from omkl.config.state import ArrayForm, FeaturesForm
from omkl.engine.budget_record import Budget
from omkl.engine.expansion_record import Expansion
from omkl.engine.features import Features, further_frequencies
from omkl.engine.open_block import close, wider_block
from omkl.learner.learner import Learner
from omkl.learner.resources import Setup


def widen(learner: Learner, d: int) -> None:
    """Let a learner go on with d features, at least as many as it has; the new ones were 0 so far.

    Predictions for rows without the new features stay as they are. The frequencies of random features are
    drawn for the new columns as for a set of that many.
    """
    with learner.lock, learner.part:
        if d <= learner.d:
            return
        setup = Setup(learner.params, learner.pool, d, classes=learner.classes)
        for name, form in learner.forms.items():
            if name in learner.state:
                learner.state[name] = _wider(form, learner.state[name], setup, learner)
        learner.d = d


def _wider(form: Any, resource: Any, setup: Setup, learner: Learner) -> Any:
    if isinstance(resource, Expansion | Budget):
        close(resource.open)
        resource = resource._replace(open=wider_block(resource.open, setup.d))
        return resource if isinstance(resource, Expansion) else resource._replace(dense=np.zeros(setup.d))
    if isinstance(resource, Features) and isinstance(form, FeaturesForm) and setup.pool is not None:
        kind = form.drawn(setup.params)
        more = further_frequencies(setup.pool["kernels"], resource, setup.d, kind, learner.state["rng"])
        return resource._replace(V=np.concatenate([resource.V, more]))
    if isinstance(form, ArrayForm) and "d" in form.shape:
        array = np.zeros(setup.shape(form), resource.dtype)
        array[:] = setup.number(form.fill)
        if form.diagonal is not None:
            np.fill_diagonal(array, setup.number(form.diagonal))
        array[tuple(slice(side) for side in resource.shape)] = resource
        return array
    return resource
