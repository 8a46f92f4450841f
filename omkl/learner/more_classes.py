"""A learner for more classes than it began with: streams whose labels are not known beforehand (river)."""

import numpy as np

from omkl.config.state import ArrayForm
from omkl.engine.budget_record import Budget
from omkl.engine.saved_arrays import Arrays
from omkl.learner.learner import Learner
from omkl.learner.saved import snapshot, unpack


def with_classes(learner: Learner, classes: int) -> Learner:
    """Return a learner of more than two classes with room for further ones, which begin where all began.

    Their numbers are those after the known ones. The state of the learner given is not used further.
    """
    header, arrays = snapshot(learner)
    fresh = Learner(learner.spec, learner.params, learner.pool, learner.d, 0, learner.block, classes=classes)
    padded: Arrays = {}
    for name, array in arrays.items():
        resource, _, part = name.partition(".")
        form = learner.forms[resource]
        if isinstance(form, ArrayForm) and form.classes:
            array = np.concatenate([array, fresh.state[resource][len(array) :]])
        elif isinstance(learner.state[resource], Budget) and part == "A":
            array = np.pad(array, [(0, 0), (0, 0), (0, classes - array.shape[-1])])
        padded[name] = array
    return unpack({**header, "classes": classes}, padded)
