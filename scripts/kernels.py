"""What kernels cost, look like, and win: the numbers and the picture of docs/kernels.md.

    python scripts/kernels.py cost [--rows N]     the time of one perceptron's pass, in times of a Gaussian's
    python scripts/kernels.py picture             writes docs/pictures/kernels.png

The passes of all kinds take turns, so that what else a machine does meets each of them alike; a ratio is the
median of the turns'. A kernel of a folder (the Cauchy kernel of the page) and a Gram matrix are among them.
"""

import argparse
import tempfile
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
import scipy.sparse as sp

import omkl.data
from omkl.config import learner_spec
from omkl.config.kernel_kinds import check_kernel
from omkl.data.dataset import Dataset, content_hash
from omkl.engine.kernels import make_pool
from omkl.engine.slot_values import kernel_matrix
from omkl.passes import run_pass
from omkl.paths import extended
from omkl.rounds.needs import fitted

ROOT = Path(__file__).resolve().parent.parent
TURNS, REPS = 7, 5
KERNELS: dict[str, dict[str, Any]] = {
    "gaussian": {"sigma": 0.5},
    "laplacian": {"sigma": 0.5},
    "matern32": {"sigma": 0.5},
    "rational_quadratic": {"sigma": 0.5, "alpha": 1.0},
    "periodic": {"period": 2.0, "length": 1.0},
    "polynomial": {"degree": 3, "coef0": 1.0},
    "linear": {},
    "cosine": {},
    "tanimoto": {},
    "sigmoid": {"scale": 1.0, "coef0": -1.0},
    "locally_periodic": {"sigma": 1.0, "period": 1.0, "length": 1.0},
    "periodic_each": {"period": 2.0, "length": 1.0},
    "ard": {"sigma": 0.5},
    "bounded": {"sigma": 0.5, "length": 1.0},
    "intersection": {},
    "jaccard": {},
    "chi2": {"gamma": 2.0},
}
SETS = ("wdbc", "ionosphere", "magic04", "splice")
CAUCHY = """def cauchy(product, norm2, other_norm2, sigma):
    square = max(norm2 + other_norm2 - 2.0 * product, 0.0)
    return 1.0 / (1.0 + square / sigma**2)
"""
CAUCHY_CONF = (
    'sigma: {value: 1.0, domain: "(0, inf)", help: width}\nabout: {formula: "1 / (1 + r² / sigma²)"}\n'
)


def in_unit(name: str, rows: int) -> Dataset:
    """Return the first rows of a permutation of a set, each feature scaled to [0, 1]."""
    data = omkl.data.find(name).load()
    order = omkl.data.order(data, "permuted", 1, 0)[0][:rows]
    X = sp.csr_matrix((data.values, data.indices, data.indptr), (data.T, data.d)).toarray()[order]
    low, high = X.min(0), X.max(0)
    X = sp.csr_matrix((X - low) / np.where(high > low, high - low, 1.0))
    arrays = (X.indptr.astype(np.int64), X.indices.astype(np.int32), X.data, data.y[order])
    return Dataset(name, *arrays, data.d, "classification", content_hash(*arrays))


def one_pass(kernel: dict, data: Dataset, order: np.ndarray) -> dict[str, Any]:
    """Return the figures of a perceptron's pass."""
    spec = learner_spec("perceptron")
    return run_pass(spec, spec.usual("classification") | {"kernel": kernel}, None, data, order, 1)


def costs(rows: int) -> None:
    """Print the seconds of a pass with each kernel, and in times of the Gaussian's of the same turn."""
    data = in_unit("magic04", rows)
    every = np.arange(data.T)
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        for path, text in (("kernels/cauchy.py", CAUCHY), ("conf/kernel/cauchy.yaml", CAUCHY_CONF)):
            (folder / path).parent.mkdir(parents=True)
            (folder / path).write_text(text, encoding="utf-8")
        X = sp.csr_matrix((data.values, data.indices, data.indptr), (data.T, data.d))
        gaussian = check_kernel({"kind": "gaussian", "sigma": 0.5})
        np.save(folder / "k.npy", kernel_matrix(make_pool([gaussian]), 0, X, every, every))
        with extended([folder]):
            kernels = {kind: check_kernel({"kind": kind, **given}) for kind, given in KERNELS.items()}
            kernels["cauchy (folder)"] = check_kernel({"kind": "cauchy", "sigma": 0.5})
            kernels["precomputed"] = check_kernel({"kind": "precomputed", "file": str(folder / "k.npy")})
            found: dict[str, list[tuple[float, int]]] = {name: [] for name in kernels}
            for turn in range(TURNS + 1):
                for name, kernel in kernels.items():
                    figures = one_pass(kernel, data, every)
                    if turn:  # the first compiles
                        found[name].append((figures["seconds"], figures["pairs"]))
    usual = np.array([seconds / pairs for seconds, pairs in found["gaussian"]])
    print(f"{data.T} rows of magic04 in [0, 1], d = {data.d}, a perceptron, {TURNS} turns")
    print(f"{'kernel':<20} {'seconds':>8} {'ns a pair':>9} {'times a Gaussian':>17}")
    for name, each in found.items():
        per_pair = np.array([seconds / pairs for seconds, pairs in each])
        seconds = np.median([seconds for seconds, _ in each])
        print(
            f"{name:<20} {seconds:8.4f} {1e9 * np.median(per_pair):9.2f} {np.median(per_pair / usual):17.2f}"
        )


def picture() -> plt.Figure:
    """Each kind in one dimension, around 0.5, and the mistakes of a perceptron with it on four sets."""
    figure, axes = plt.subplots(3, 6, figsize=(10, 5))
    x = np.linspace(0.0, 2.0, 401)
    for axis, (kind, given) in zip(axes.flat, KERNELS.items(), strict=False):
        X = sp.csr_matrix(np.column_stack([x, np.full(401, 0.3)]))
        pool = fitted({"kernels": [check_kernel({"kind": kind, **given})]}, 2, X.indices, X.data, 401)
        K = kernel_matrix(make_pool(pool["kernels"]), 0, X, np.array([100]), np.arange(401))
        axis.plot(x, K[0], color="#0072b2", linewidth=1.2)
        axis.axvline(0.5, color="0.8", linewidth=0.6, zorder=0)
        axis.set_title(kind, fontsize=8)
        axis.tick_params(labelsize=6)
    places = axes.flat[len(KERNELS) :]
    rates = {name: mistakes(name) for name in SETS}
    for axis in places:
        axis.set_axis_off()
    text = "fewest mistakes, mean of 5 orders\n\n"
    for name, own in rates.items():
        first, second = sorted(own, key=lambda kind: own[kind])[:2]
        text += f"{name}: {first} {own[first]:.1f} %,\n   {second} {own[second]:.1f} %"
        text += f" (gaussian {own['gaussian']:.1f})\n"
    said = places[0].text(-0.2, 1.1, text, fontsize=7, va="top")
    said.set_in_layout(False)  # it goes on over the next place
    return figure


def mistakes(name: str) -> dict[str, float]:
    """Return the mistakes of a perceptron with each kernel in percent, the mean of some orders."""
    data = in_unit(name, 1000)
    made = {}
    for kind, given in KERNELS.items():
        kernel = check_kernel({"kind": kind, **given})
        orders = [np.random.default_rng(rep).permutation(data.T) for rep in range(REPS)]
        made[kind] = 100 * float(np.mean([one_pass(kernel, data, order)["mistake_rate"] for order in orders]))
    print(name, {kind: round(rate, 2) for kind, rate in sorted(made.items(), key=lambda item: item[1])})
    return made


def main() -> None:
    """Measure, or draw."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("action", choices=("cost", "picture"))
    parser.add_argument("--rows", type=int, default=4000)
    args = parser.parse_args()
    if args.action == "cost":
        costs(args.rows)
        return
    figure = picture()
    figure.tight_layout()
    figure.savefig(ROOT / "docs" / "pictures" / "kernels.png", dpi=130)


if __name__ == "__main__":
    main()
