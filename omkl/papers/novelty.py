"""What NORMA finds novel among the USPS digits: the numbers of Figure 3 of Kivinen, Smola, Williamson (2004).

One pass over the training part as stored, then both parts scored without learning.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from omkl.data import Dataset
    from omkl.engine.stream import Stream
    from omkl.learner.learner import Learner

SHOWN = 50
SETTING = {"kernel": {"kind": "gaussian", "sigma": 8.0}, "nu": 0.01, "eta": 1.0, "step": "sqrt"}


@dataclass(frozen=True)
class Panel:
    """Digits: rows (n,) of the data set from 0, images (n, d), labels (n,), scores (n,) f(x) - rho."""

    rows: np.ndarray
    images: np.ndarray
    labels: np.ndarray
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


def novelties(train: str = "usps_train", test: str = "usps_test", **over: Any) -> Novelties:
    """Return what norma_novelty finds in one pass over ``train``, and what is left on both sets after it.

    over: hyperparameters other than those of ``SETTING``. Raises UserError for data that are not available.
    """
    from omkl import data
    from omkl.config import learner_spec
    from omkl.learner.job import warm_up
    from omkl.learner.learner import Learner

    spec = learner_spec("norma_novelty")
    params = {**spec.defaults, **SETTING, **over}
    warm_up([(spec, params)])
    learned, unseen = data.load(train), data.load(test)
    pool = {"normalise": "none", "kernels": [params["kernel"]]}
    learner = Learner(spec, params, pool, max(learned.d, unseen.d), seed=0)
    trace, seconds = learner.run(_stream(learned))
    novel = np.flatnonzero(trace.mistake)
    return Novelties(
        first=_panel(learned, novel[:SHOWN], trace.score),
        train=_worst(learner, learned),
        test=_worst(learner, unseen),
        novelties=novel,
        fraction=novel.size / learned.T,
        seconds=seconds,
    )


def _stream(dataset: "Dataset") -> "Stream":
    from omkl.engine.stream import make_stream

    rows = np.arange(dataset.T)
    return make_stream(dataset.indptr, dataset.indices, dataset.values, dataset.y, rows)


def _worst(learner: "Learner", dataset: "Dataset") -> Panel:
    score = learner.run(_stream(dataset), learn=False)[0].score
    return _panel(dataset, np.argsort(score, kind="stable")[:SHOWN], score)


def _panel(dataset: "Dataset", rows: np.ndarray, scores: np.ndarray) -> Panel:
    images = np.zeros((rows.size, dataset.d))
    for image, row in zip(images, rows, strict=True):
        part = slice(dataset.indptr[row], dataset.indptr[row + 1])
        image[dataset.indices[part]] = dataset.values[part]
    return Panel(rows, images, dataset.y[rows].astype(int), scores[rows])
