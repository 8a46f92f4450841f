"""Draw Figure 3 of Kivinen, Smola and Williamson (2004): what NORMA flags as novel among the USPS digits.

    python scripts/novelty.py          writes results/norma/figure-3.png and .pdf

One pass over usps_train as stored, with the paper's settings. The panels are the first margin errors in order
of arrival, with the scores f(x) - rho that they had then, and the digits of lowest score at the end, of both
parts of the data.
"""

from pathlib import Path
from typing import NamedTuple

import numpy as np
from matplotlib.figure import Figure as MplFigure

import omkl.data
from omkl.config import learner_spec
from omkl.data import Dataset
from omkl.engine.stream import make_stream
from omkl.figures.figure import Figure
from omkl.figures.style import PAGE, FigureStyle, in_style
from omkl.passes.warm import warm_up_once
from omkl.rounds.learner import Learner

FILE = Path(__file__).resolve().parent.parent / "results" / "norma" / "figure-3"
SHOWN = 50  # digits of each panel
ACROSS, SIDE = 6, 16  # digits of a row, pixels of a side
WIDE, TALL = SIDE + 4, SIDE + 10  # pixels of a digit with its score
SETTING = {"kernel": {"kind": "gaussian", "sigma": 8.0}, "nu": 0.01, "eta": 1.0, "step": "sqrt"}


class Digits(NamedTuple):
    """Digits: rows (n,) of the data set from 0, images (n, d), scores (n,) f(x) - rho."""

    rows: np.ndarray
    images: np.ndarray
    scores: np.ndarray


class Novelties(NamedTuple):
    """The digits of each panel; novelties: rows of the pass that were flagged; fraction: their share."""

    first: Digits
    train: Digits
    test: Digits
    novelties: np.ndarray
    fraction: float


def novelties() -> Novelties:
    """Return what norma_novelty flags in one pass. Raises UserError for data that are not available."""
    spec = learner_spec("norma_novelty")
    params = {**spec.defaults, **SETTING}
    warm_up_once([(spec, params)])
    train, test = omkl.data.find("usps_train").load(), omkl.data.find("usps_test").load()
    pool = {"normalise": "none", "kernels": [params["kernel"]]}
    learner = Learner(spec, params, pool, max(train.d, test.d), seed=0)
    trace = _pass(learner, train)
    novel = np.flatnonzero(trace.mistake)
    first = _digits(train, novel[:SHOWN], trace.score)
    worst = []
    for dataset in (train, test):
        score = _pass(learner, dataset, learn=False).score
        worst.append(_digits(dataset, np.argsort(score, kind="stable")[:SHOWN], score))
    return Novelties(first, *worst, novel, novel.size / train.T)


def _pass(learner: Learner, dataset: Dataset, learn: bool = True):
    rows = np.arange(dataset.T)
    stream = make_stream(dataset.indptr, dataset.indices, dataset.values, dataset.y, rows)
    return learner.run(stream, learn=learn)[0]


def _digits(dataset: Dataset, rows: np.ndarray, scores: np.ndarray) -> Digits:
    images = np.zeros((len(rows), dataset.d))
    for image, row in zip(images, rows, strict=True):
        part = slice(dataset.indptr[row], dataset.indptr[row + 1])
        image[dataset.indices[part]] = dataset.values[part]
    return Digits(rows, images, scores[rows])


def draw(found: Novelties) -> MplFigure:
    """Draw the three panels."""
    panels = {"first margin errors": found.first, "worst of train": found.train, "worst of test": found.test}
    drawn = MplFigure(figsize=(PAGE, 4.6), layout="constrained")
    for axes, (title, panel) in zip(drawn.subplots(1, len(panels)), panels.items(), strict=True):
        sheet = np.full((-(-SHOWN // ACROSS) * TALL, ACROSS * WIDE), np.nan)
        for at, (row, image, score) in enumerate(zip(*panel, strict=True)):
            top, left = at // ACROSS * TALL + 2, at % ACROSS * WIDE + 2
            sheet[top : top + SIDE, left : left + SIDE] = image.reshape(SIDE, SIDE)
            # f is 0 before anything is stored: no score of the first digit
            text = (
                "–"
                if panel is found.first and row == 0
                else f"{round(1000 * score, 1) + 0.0:.1f}".replace("-", "−")
            )
            axes.text(left + SIDE / 2, top + SIDE, text, ha="center", va="top", fontsize=6)
        axes.imshow(sheet, cmap="gray_r", interpolation="nearest")
        axes.set_axis_off()
        axes.set_title(title)
    return drawn


if __name__ == "__main__":
    found = novelties()
    with in_style(FigureStyle(width=PAGE, title=False)):  # the page has it
        print(*Figure("figure-3", lambda: draw(found), 3, "Novelties among the USPS digits").write(FILE))
    print(f"{100 * found.fraction:.2f} % of the pass novel")
