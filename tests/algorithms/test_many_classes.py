"""More than two classes: every learner of `about.classes: many` against its naive twin."""

import numpy as np
import pytest
from reference import MANY
from support.class_cases import assert_as_the_twin, class_pass, clouds, ties, twin_pass
from support.engine_cases import COSINE, MIXED

from omkl.config import learner_names, learner_spec

NAMES = [name for name in learner_names() if learner_spec(name).classes == "many"]
STREAMS = {
    "clouds of 3": (*clouds(120, 3), 3, MIXED),
    "clouds of 5": (*clouds(150, 5, seed=1), 5, MIXED),
    "ties of 3": (*ties(120, 3), 3, MIXED),
    "ties of 5, cosine": (*ties(120, 5, seed=1), 5, COSINE),
}


def test_every_learner_for_many_classes_has_a_twin():
    assert set(NAMES) == set(MANY)


@pytest.mark.parametrize("stream", STREAMS)
@pytest.mark.parametrize("name", NAMES)
def test_learner_equals_its_twin(name, stream):
    X, label, C, given = STREAMS[stream]
    learner, trace = class_pass(name, X, label, C, given)
    result = twin_pass(MANY[name], name, X, label, C, given)
    assert_as_the_twin(learner, trace, result)
    assert 0 < trace.mistake.sum() < len(label)
    np.testing.assert_array_equal(trace.mistake | (trace.predicted == label), True)
