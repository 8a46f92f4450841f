"""The digits of USPS that NORMA flags as novel: Figure 3 of Kivinen, Smola, Williamson (2004), its numbers.

One pass over the training part as stored, then both parts scored without learning.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from omkl.data import Dataset
    from omkl.engine.stream import Trace
    from omkl.learner.learner import Learner

SHOWN = 50
SETTING = {"kernel": {"kind": "gaussian", "sigma": 8.0}, "nu": 0.01, "eta": 1.0, "step": "sqrt"}


class Panel(NamedTuple):
    """Digits: rows (n,) of the data set from 0, images (n, d), scores (n,) f(x) - rho."""

    rows: np.ndarray
    images: np.ndarray
    scores: np.ndarray


@dataclass(frozen=True)
class Novelties:
    """first: the margin errors in order of arrival, with the scores they had then; train, test: the worst at
    the end, worst first; novelties: rows of the pass that were flagged as novel; fraction: their share;
    seconds: of the pass, learner time.
    """

    first: Panel
    train: Panel
    test: Panel
    novelties: np.ndarray
    fraction: float
    seconds: float


def novelties() -> Novelties:
    """Return the novelties of norma_novelty in one pass over the training part, and the worst of both parts.

    Raises UserError for data that are not available.
    """
    from omkl import data
    from omkl.config import learner_spec
    from omkl.learner.cell import warm_up
    from omkl.learner.learner import Learner

    spec = learner_spec("norma_novelty")
    params = {**spec.defaults, **SETTING}
    warm_up([(spec, params)])
    learned, unseen = data.load("usps_train"), data.load("usps_test")
    pool = {"normalise": "none", "kernels": [params["kernel"]]}
    learner = Learner(spec, params, pool, max(learned.d, unseen.d), seed=0)
    trace, seconds = _pass(learner, learned)
    novel = np.flatnonzero(trace.mistake)
    first = _panel(learned, novel[:SHOWN], trace.score)
    worst = [_worst(learner, dataset) for dataset in (learned, unseen)]
    return Novelties(first, worst[0], worst[1], novel, novel.size / learned.T, seconds)


def _pass(learner: "Learner", dataset: "Dataset", learn: bool = True) -> "tuple[Trace, float]":
    from omkl.engine.stream import make_stream

    rows = np.arange(dataset.T)
    stream = make_stream(dataset.indptr, dataset.indices, dataset.values, dataset.y, rows)
    return learner.run(stream, learn=learn)


def _worst(learner: "Learner", dataset: "Dataset") -> Panel:
    score = _pass(learner, dataset, learn=False)[0].score
    return _panel(dataset, np.argsort(score, kind="stable")[:SHOWN], score)


def _panel(dataset: "Dataset", rows: np.ndarray, scores: np.ndarray) -> Panel:
    from scipy.sparse import csr_matrix

    shape = (dataset.T, dataset.d)
    images = csr_matrix((dataset.values, dataset.indices, dataset.indptr), shape=shape)[rows].toarray()
    return Panel(rows, images, scores[rows])
