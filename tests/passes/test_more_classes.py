"""Classes that come while a learner learns: its state is what it was, with room for them."""

import numpy as np
import pytest

from omkl.config import learner_specs, pool
from omkl.engine.stream import make_stream
from omkl.passes.packing import pack, unpack, with_classes
from omkl.testing.cases import fresh_learner

MANY = [name for name, spec in learner_specs().items() if spec.takes(3) and not spec.setup]
ROWS = 40


def stream(classes):
    """Three clouds in the plane, of which a learner for more classes sees no other."""
    rng = np.random.default_rng(3)
    y = rng.integers(3, size=ROWS).astype(float)
    X = rng.normal(size=(ROWS, 2)) + 2 * np.column_stack([y == 1, y == 2])
    indptr, indices = np.arange(0, 2 * ROWS + 1, 2), np.tile(np.arange(2, dtype=np.int32), ROWS)
    return make_stream(indptr, indices, X.ravel(), y, np.arange(ROWS), classes)


@pytest.mark.parametrize("name", MANY)
def test_room_for_classes(name):
    learner = fresh_learner(name, pool("gauss3"), 2, rounds=ROWS, classes=3)
    early, fresh = with_classes(learner, 5), fresh_learner(name, pool("gauss3"), 2, rounds=ROWS, classes=5)
    for one, other in zip(early.run(stream(5))[0], fresh.run(stream(5))[0], strict=True):
        np.testing.assert_array_equal(one, other)
    learner.run(stream(3))
    late = with_classes(learner, 5)
    (header, before), (_, after) = pack(learner), pack(late)
    assert (header["classes"], late.classes) == (3, 5)
    for key, array in before.items():
        kept = after[key][tuple(map(slice, array.shape))]
        np.testing.assert_array_equal(kept, array)
    trace, _ = late.run(stream(5))
    assert set(trace.predicted) <= set(range(5))
    assert np.isfinite(trace.score).all()


def test_a_number_of_classes_that_the_learner_does_not_take_is_refused():
    header, arrays = pack(fresh_learner("perceptron", None, 2, rounds=ROWS, classes=3))
    for wrong in (1, 3.0, "3", None, 10**6):
        with pytest.raises(ValueError, match="classes must be a number that perceptron takes"):
            unpack({**header, "classes": wrong}, arrays)
    header, arrays = pack(fresh_learner("alma", None, 2, rounds=ROWS))
    with pytest.raises(ValueError, match="classes must be a number that alma takes"):
        unpack({**header, "classes": 3}, arrays)
