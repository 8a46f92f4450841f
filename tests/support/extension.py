"""A folder that extends omkl: a small compiled learner with its twin, and estimators of other packages."""

from pathlib import Path

from support import script

TINY = '''"""A perceptron on the features themselves."""

from numba import njit

from omkl.engine.stream import record_score, row


@njit(cache=True)
def tiny(stream, v, trace, learn, eta):
    """v (d,) its weights    eta step size"""
    for t in range(stream.T):
        start, stop = row(stream, t)
        f = 0.0
        for j in range(start, stop):
            f += v[stream.indices[j]] * stream.values[j]
        y = stream.y[t]
        record_score(trace, t, f, y)
        if learn and y * f <= 0.0:
            for j in range(start, stop):
                v[stream.indices[j]] += eta * y * stream.values[j]
'''
TWIN = '''"""The perceptron, round by round."""

import numpy as np

from .expansion import Expansions


def tiny(X, y, kernels, *, eta, normalise="none", rng=None):
    E, v = Expansions(None, 0, len(y)), np.zeros(X.shape[1])
    for t in range(len(y)):
        f = 0.0
        for value, weight in zip(X[t], v):
            f += value * weight
        E.record(f, y[t], [])
        if y[t] * f <= 0:
            v = v + eta * y[t] * X[t]
    return E.result()
'''
YAML = """
eta: {value: 0.5, domain: "(0, inf)", help: "step size"}
about:
  label: Tiny
  cite: "nobody"
  task: classification
  kernels: none
  revision: 1
  state: {v: {shape: [d]}}
"""


def estimator(target: str, task: str = "classification", **arguments: str) -> str:
    """The YAML of an estimator; arguments: value and domain by name."""
    blocks = [f'{name}: {{{block}, help: "an argument"}}' for name, block in arguments.items()]
    about = f"about: {{label: '{target}', cite: x, task: {task}, revision: 1, estimator: '{target}'}}"
    return "\n".join([*blocks, about, ""])


def write(folder: Path, files: dict[str, str]) -> Path:
    """Write files below a folder, which is returned."""
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def tiny(folder: Path, source: str = TINY, **more: str) -> Path:
    """Make a folder with the small learner and its twin."""
    files = {"algorithms/small.py": source, "conf/algo/tiny.yaml": YAML, "tests/reference/small.py": TWIN}
    return write(folder, files | more)


def page_examples() -> dict[str, str]:
    """The files of the worked examples of the README and of docs, but for the folders of their own."""
    readme = script("check_readme")
    texts = [page.read_text(encoding="utf-8") for page in readme.pages()]
    files = {name: text for page in texts for name, text in readme.example_files(page).items()}
    return {name: text for name, text in files.items() if not name.startswith(("mylearners/", "mykernels/"))}
