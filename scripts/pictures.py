"""Draw the pictures of docs/field.md and docs/scaling.md from runs of the tool; writes docs/pictures/*.png.

    python scripts/pictures.py           those of docs/field.md
    python scripts/pictures.py scaling   that of docs/scaling.md (needs OMKL_DATA)

The pictures are committed, because the first run compiles the learners. Seeds are fixed, so that a picture
only changes when a learner does.
"""

import sys
from pathlib import Path

import matplotlib
import matplotlib.ticker

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

import omkl.data
from omkl.config import learner_spec, pool
from omkl.config.words import learner_setting
from omkl.engine.stream import make_stream
from omkl.passes import Learner
from omkl.passes.one_pass import whole_pass
from omkl.sklearn import OmkcDdClassifier, PerceptronClassifier

FOLDER = Path(__file__).resolve().parent.parent / "docs" / "pictures"
GAUSSIANS = [2.0**k for k in range(-6, 7)]  # the sigmas of paper16
MEDIAN, ROWS = "krls_t(kernel=gaussian(sigma=1 median))", 3000  # of draw_scaling
STEP = 10  # rounds between two points of the weights' curves


def moons(T: int = 300) -> tuple[np.ndarray, np.ndarray]:
    """Return two interleaved half circles with noise: X (T, 2) and labels (T,) -1 or +1, in random order."""
    rng = np.random.default_rng(3)
    angle, y = np.pi * rng.random(T), rng.choice([-1, 1], T)
    X = np.column_stack([np.cos(angle) + (y > 0), y * -np.sin(angle) + 0.5 * (y > 0)])
    return X + rng.normal(scale=0.18, size=X.shape), y


def draw_pool() -> plt.Figure:
    """What one pass over the same 300 examples gives with one kernel each, and with all sixteen."""
    X, y = moons()
    models = {
        f"one Gaussian, σ = {sigma:.3g}": PerceptronClassifier(kernel={"kind": "gaussian", "sigma": sigma})
        for sigma in (1 / 64, 0.5, 8)
    }
    models["sixteen kernels: OMKC(D,D)"] = OmkcDdClassifier()
    figure, axes = plt.subplots(1, len(models), figsize=(9, 2.6), sharex=True, sharey=True)
    grid = np.meshgrid(np.linspace(-1.6, 2.6, 60), np.linspace(-1.6, 2.1, 60))
    points = np.column_stack([part.ravel() for part in grid])
    for axis, (title, model) in zip(axes, models.items(), strict=True):
        model.fit(X, y)
        side = (model.decision_function(points) > 0).reshape(grid[0].shape)
        axis.contourf(*grid, side, levels=[-0.5, 0.5, 1.5], colors=["#d8e6f3", "#f9e3cf"])
        for label, colour, mark in ((-1, "#0072b2", "o"), (1, "#d55e00", "^")):
            axis.scatter(*X[y == label].T, s=5, c=colour, marker=mark, linewidths=0)
        axis.set_title(f"{title}\n{100 * model.mistakes_ / len(y):.0f} % mistakes", fontsize=8)
        axis.set_xticks([])
        axis.set_yticks([])
    return figure


def draw_weights() -> plt.Figure:
    """The sixteen weights of OMKC(D,D) during one pass over wdbc."""
    data, spec = omkl.data.find("wdbc").load(), learner_spec("omkc_dd")
    rows, seed = omkl.data.order(data, "permuted", 1, 0)
    learner = Learner(spec, spec.usual(data.task), pool("paper16"), data.d, seed=seed)
    weights = [learner.weights.copy()]
    for start in range(0, data.T, STEP):
        part = make_stream(data.indptr, data.indices, data.values, data.y, rows[start : start + STEP])
        learner.run(part)
        weights.append(learner.weights.copy())
    rounds = np.minimum(STEP * np.arange(len(weights)), data.T)
    figure, axis = plt.subplots(figsize=(7, 2.8))
    names = [f"Gaussian, σ = {sigma:g}" for sigma in GAUSSIANS] + [
        f"polynomial, degree {p}" for p in (1, 2, 3)
    ]
    curves = np.array(weights).T
    best = np.argsort(-curves.max(axis=1))[:4]
    for number, (name, curve) in enumerate(zip(names, curves, strict=True)):
        place = int(np.flatnonzero(best == number)[0]) if number in best else None
        colour = "0.75" if place is None else ["#0072b2", "#d55e00", "#009e73", "#cc79a7"][place]
        axis.plot(
            rounds,
            curve,
            color=colour,
            lw=0.8 if place is None else 1.6,
            label=name if place is not None else None,
        )
    axis.set(xlabel="examples seen", ylabel="weight", ylim=(0, None), xlim=(0, data.T))
    axis.legend(frameon=False, fontsize=8, loc="center left", bbox_to_anchor=(1, 0.5))
    return figure


def draw_scaling() -> plt.Figure:
    """Mistakes of one learner in one pass over four data sets, scaled in three ways."""
    spec, names = learner_spec("krls_t"), ("spambase", "svmguide3", "ionosphere", "codrna_unit")
    params = spec.usual("classification") | {"kernel": learner_setting(MEDIAN).params["kernel"]}
    figure, axes = plt.subplots(1, len(names), figsize=(9, 2.6))
    styles = {"none": ("0.5", ":"), "online": ("#0072b2", "-"), "ranks": ("#d55e00", "--")}
    for axis, name in zip(axes, names, strict=True):
        data = omkl.data.find(name).load()
        rows, seed = omkl.data.order(data, "permuted", 1, 0)
        for word, (colour, line) in styles.items():
            scaling = {} if word == "none" else {"scale": word}
            trace = whole_pass(spec, params, None, data, rows[:ROWS], seed, scaling=scaling).trace
            rounds = 1 + np.arange(trace.mistake.size)
            axis.plot(rounds, 100 * np.cumsum(trace.mistake) / rounds, line, color=colour, label=word)
        axis.set(title=name, xlabel="examples seen", ylim=(0, 50), xlim=(0, None))
        axis.xaxis.set_major_locator(matplotlib.ticker.MaxNLocator(3))
    axes[0].set_ylabel("mistakes so far, %")
    axes[0].legend(frameon=False, fontsize=8, title="scale=")
    return figure


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    matplotlib.rcParams["font.size"] = 9
    pictures = {"pool": draw_pool, "weights": draw_weights}
    for name, draw in ({"scaling": draw_scaling} if "scaling" in sys.argv else pictures).items():
        figure = draw()
        figure.tight_layout()
        path = FOLDER / f"{name}.png"
        figure.savefig(path, dpi=130)
        plt.close(figure)
        print(f"{path}, {path.stat().st_size} bytes")


if __name__ == "__main__":
    main()
