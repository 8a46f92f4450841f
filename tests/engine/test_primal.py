"""A linear kernel alone: its weight vector makes the mistakes of the sum over the stored vectors."""

import numpy as np
import pytest
from support.engine_cases import Dataset, case_stream, clouds, dataset, matrix_of, one_pass, ties

from omkl.config import learner_spec
from omkl.engine.open_block import STOP
from omkl.engine.primal import primal
from omkl.engine.stream import part
from omkl.learning import learner
from omkl.resources.resource import Setup
from omkl.resources.size import pass_seconds

pytestmark = pytest.mark.slow

LINEAR = {"kernel": {"kind": "linear"}}


def plain_perceptron(data: Dataset) -> tuple[np.ndarray, int]:
    """Which rounds err, outputs being sums over the stored rows; how many the weights alone get wrong."""
    stored, errs, v, otherwise = [], [], [0.0] * data.d, 0
    for x, label in zip(matrix_of(data).tolist(), data.y.tolist(), strict=True):
        f = 0.0
        for a, z in stored:
            f += a * product(z, x)
        errs.append(label * f <= 0)
        otherwise += (label * product(v, x) <= 0) != errs[-1]
        if errs[-1]:
            stored.append((label, x))
            v = [p + label * q for p, q in zip(v, x, strict=True)]
    return np.array(errs), otherwise


def product(x: list[float], z: list[float]) -> float:
    total = 0.0
    for p, q in zip(x, z, strict=True):
        total += p * q
    return total


def cancelling(seed: int) -> Dataset:
    """Rows of few decimal fractions: sums cancel up to rounding, and their order decides the rest."""
    rng = np.random.default_rng(seed)
    return dataset(rng.choice([0.0, 0.1, 0.2, 0.3, 0.7, -0.1], (300, 2)), rng.choice([-1.0, 1.0], 300))


@pytest.mark.parametrize("seed", range(4))
def test_where_rounding_decides_the_sum_over_the_stored_vectors_does(seed):
    data = cancelling(seed)
    expected, otherwise = plain_perceptron(data)
    after, trace = one_pass("perceptron", data, **LINEAR)
    np.testing.assert_array_equal(trace.mistake, expected)
    np.testing.assert_array_equal(after.classifiers.origin[: expected.sum()], np.flatnonzero(expected))
    assert otherwise > 0


@pytest.mark.parametrize("scale", [1.0, 1e-160, 1e60])
def test_mistakes_do_not_depend_on_the_scale_of_the_features(scale):
    data = dataset(scale * matrix_of(clouds()), clouds().y)
    expected, _ = plain_perceptron(data)
    np.testing.assert_array_equal(one_pass("perceptron", data, **LINEAR)[1].mistake, expected)


def test_only_a_linear_kernel_alone_has_weights():
    data = ties()
    E = one_pass("perceptron", data, **LINEAR)[0].classifiers
    n = E.size[0]
    np.testing.assert_array_equal(primal(E).v, E.A[0, :n] @ matrix_of(data)[E.origin[:n]])
    assert E.open.rounds[STOP] == 0  # no block was opened
    for more in ({"degree": 2}, {"degree": 1, "coef0": 1.0}, {"degree": 1, "scale": 2.0}):
        other, _ = one_pass("perceptron", data, kernel={"kind": "polynomial", **more})
        assert primal(other.classifiers).v.size == 0


@pytest.mark.parametrize("threads", [1, 2])
def test_a_pass_in_parts_and_with_threads_is_the_same(threads, monkeypatch):
    monkeypatch.setattr(learner, "WORTH", 0)
    data, spec, kernels = cancelling(9), learner_spec("perceptron"), {"kernels": [LINEAR["kernel"]]}
    _, trace = one_pass("perceptron", data, **LINEAR)
    own = learner.Learner(spec, LINEAR, {"normalise": "none", **kernels}, data.d, 1, 16, threads=threads)
    stream = case_stream(data)
    parts = [own.run(part(stream, start, start + 75))[0] for start in range(0, data.T, 75)]
    np.testing.assert_array_equal(np.concatenate([made.score for made in parts]), trace.score)
    assert own.classifiers.open.rounds[STOP] == 0


def test_the_estimated_time_is_that_of_rows_alone():
    spec = learner_spec("perceptron")

    def seconds(kernel: dict, classes: int = 2) -> float:
        pool = {"normalise": "none", "kernels": [kernel]}
        return pass_seconds(spec.state, Setup({}, pool, 8, classes=classes), 10**5, 8 * 10**5)

    assert seconds({"kind": "linear"}) < 0.1 < 1.0 < seconds({"kind": "gaussian", "sigma": 1.0})
    assert seconds({"kind": "linear"}, classes=3) > 1.0
