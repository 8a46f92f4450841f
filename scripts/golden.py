"""The golden record: what the commands of tests/golden/commands.txt do, and a digest of each learner.

    python scripts/golden.py               compare with tests/golden/*.txt; a difference ends with exit code 1
    python scripts/golden.py --write       write the record again: a commit names and explains each change
    python scripts/golden.py run models    these sections only (``learners`` is the digest)

Kept are numbers (mistakes, #SV, measures), exit codes, the first line of each message and the files written;
times, machines and the layout of tables are not. Numbers have six digits, so that the record is the same on
every processor. Everything runs in this process, in folders that are removed at the end.
"""

import argparse
import difflib
import hashlib
import io
import json
import math
import os
import re
import shlex
import shutil
import sys
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import chdir, redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

import numpy as np

HOME = Path(__file__).resolve().parents[1] / "tests" / "golden"
JSON = {"run", "sweep", "tune", "table", "claims", "bounds", "list", "status", "check"}
JSON_ACTIONS = {"data look", "data list", "results list", "results prune"}
JOBS = {"run", "sweep", "tune", "table", "claims", "bounds"}
CELL = [
    *("data", "algo", "label", "settings", "pool", "order", "rep", "T", "m", "mistakes", "mse"),
    *("n_sv_sum", "n_sv_union", "n_sv_combined", "n_sv_per_kernel", "weights", "confusion"),
    *("kappa_temporal", "auc", "log_loss", "brier", "ece", "mae", "r2", "nlpd", "coverage"),
    *("test_rate", "averaged_rate", "test_rmse", "averaged_rmse"),
]
ROW = [
    *("data", "label", "settings", "kernel", "pool", "order", "T", "m", "reps", "asked", "marked", "best"),
    *("p_value", "common", "default_mean", "tuned_mean", "params"),
]
HIDDEN = re.compile(
    r"second|time|memory|load|commit|version|machine|date|hash|provenance|origin|^hits|^key$|seed|cite|source|found"
    r"|^min|^max|^peak|dims|^command$"
)


# ---------------------------------------------------------------- the inputs


def make_inputs() -> None:
    """Write the inputs of every section into the current folder."""
    rng = np.random.default_rng(5)
    X = rng.integers(-1, 3, (220, 4)) * (rng.random((220, 4)) < 0.6)
    _libsvm("ties.libsvm", X, rng.choice([-1, 1], 220))
    label = rng.integers(1, 4, 150)
    _libsvm(
        "three.libsvm", np.round(rng.normal(size=(150, 5)) + 1.5 * (label[:, None] == np.arange(5)), 3), label
    )
    X = np.round(rng.normal(size=(240, 3)), 4)
    _csv("train.csv", ["a", "b", "c", "y"], X[:160], np.where(X[:160, 0] * X[:160, 1] > 0, "good", "bad"))
    _csv("test.csv", ["a", "b", "c", "y"], X[160:], np.where(X[160:, 0] * X[160:, 1] > 0, "good", "bad"))
    X = np.round(rng.uniform(0, 2, size=(200, 4)), 4)
    _csv(
        "numbers.csv", ["u", "v", "w", "z", "target"], X, np.round(np.sin(3 * X[:, 0]) + X[:, 1] * X[:, 2], 5)
    )
    rows = (json.dumps({"p": p, "q": q, "class": "abc"[c]}) for p, q, c in _rows_of_words(rng))
    _write("rows.jsonl", rows)
    _words("words.csv", rng)
    shutil.copytree(HOME / "own", "own")
    for name, text in TEXTS.items():
        _write(name, text.splitlines())
    _csv(
        "own/data/odd.csv", ["a", "b", "label"], np.round(rng.normal(size=(80, 2)), 3), rng.choice([0, 1], 80)
    )


def _write(name: str, lines: Iterable[str]) -> None:
    Path(name).parent.mkdir(parents=True, exist_ok=True)
    Path(name).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def _libsvm(name: str, X: np.ndarray, y: np.ndarray) -> None:
    rows = (" ".join(f"{j + 1}:{v:g}" for j, v in enumerate(x) if v) for x in X)
    _write(name, (f"{int(label):+d} {row}" for label, row in zip(y, rows, strict=True)))


def _csv(name: str, header: list[str], X: np.ndarray, y: np.ndarray) -> None:
    rows = [",".join([*(f"{v:g}" for v in x), str(label)]) for x, label in zip(X, y, strict=True)]
    _write(name, [",".join(header), *rows])


def _rows_of_words(rng: np.random.Generator) -> Iterator[tuple[float, str, int]]:
    for _ in range(120):
        c = int(rng.integers(3))
        yield round(float(rng.normal() + c), 3), ("red", "green", "blue")[int(rng.integers(3))], c


def _words(name: str, rng: np.random.Generator) -> None:
    """A table as people have it: an id, words, gaps, a date, numbers with gaps, a class in words."""
    lines = ["id,amount,colour,since,rate,paid"]
    for t in range(130):
        amount, rate = rng.normal(50, 20), rng.uniform()
        colour = ("red", "green", "deep blue")[int(rng.integers(3))]
        paid = amount + 30 * (colour == "red") + 20 * rng.normal() > 60
        cells = [f"r{t}", f"{amount:.2f}", colour, f"2024-{1 + t % 12:02}-{1 + t % 28:02}", f"{rate:.3f}"]
        if t % 11 == 3:
            cells[1 + t % 2 * 3] = ""
        lines.append(",".join([*cells, "yes" if paid else "no"]))
    _write(name, lines)


TEXTS = {
    "nan.libsvm": "+1 1:1\n-1 1:nan\n",
    "broken.libsvm": "+1 1:1\n-1 1:2 1:\n",
    "empty.libsvm": "",
    "ragged.csv": "a,b,y\n1,2,yes\n3,no\n4,5,no\n",
    "own/kernels/cauchy.py": '''"""The Cauchy kernel."""


def cauchy(product, norm2, other_norm2, sigma):
    """1 / (1 + ||x - x'||^2 / sigma^2)."""
    return 1.0 / (1.0 + max(norm2 + other_norm2 - 2.0 * product, 0.0) / sigma**2)
''',
    "own/conf/kernel/cauchy.yaml": """sigma: {value: 1.0, domain: "(0, inf)", help: "width"}
about: {formula: "1 / (1 + ‖x − x'‖² / sigma²)", cite: "Basak (2008)"}
""",
    "own/conf/pool/narrow.yaml": """label: two Gaussians
normalise: none
kernels: [{kind: gaussian, sigma: [1, 64]}]
""",
    "own/centres.py": '''"""The nearest of the two classes' means, as an estimator of another package."""

import numpy as np


class NearestMean:
    def __init__(self, pull):
        self.pull, self.sums, self.counts = pull, None, np.zeros(2)

    def partial_fit(self, X, y, classes=None):
        self.sums = np.zeros((2, X.shape[1])) if self.sums is None else self.sums
        for x, label in zip(X, y):
            self.sums[int(label > 0)] += x
            self.counts[int(label > 0)] += 1
        return self

    def decision_function(self, X):
        means = self.sums / np.maximum(self.counts + self.pull, 1)[:, None]
        return ((X - means[0]) ** 2 - (X - means[1]) ** 2).sum(axis=1)

    def predict(self, X):
        return np.where(self.decision_function(X) > 0, 1.0, -1.0)
''',
    "own/conf/algo/nearest_mean.yaml": """pull: {value: 1.0, domain: "[0, inf)", help: "rows of zeros"}
about: {label: Nearest mean, cite: x, task: classification, revision: 1, estimator: "centres:NearestMean"}
""",
    "own/conf/data/odd.yaml": """title: "Odd"
description: "Two columns and a class."
task: classification
T: 80
d: 2
source: "https://example.org"
licence: "CC0"
forms:
- format: table
  files: [odd.csv]
  labels: {0: -1, 1: 1}
""",
    "own/conf/data/rare.yaml": """title: "Rare"
description: "Two columns; nothing is known of the rows."
task: novelty
T: 80
d: 2
source: "https://example.org"
licence: "CC0"
forms:
- format: table
  files: [odd.csv]
""",
}


# ---------------------------------------------------------------- what is kept of a command


def sections() -> dict[str, list[str]]:
    """The commands of each section of commands.txt."""
    found: dict[str, list[str]] = {}
    for line in (HOME / "commands.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("== "):
            found[line[3:]] = []
        elif line and not line.startswith("#"):
            found[[*found][-1]].append(line)
    return found


def record_of(section: str) -> list[str]:
    """Run a section's commands in a folder of its own, and return its lines of the record."""
    lines = [f"== {section}"]
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        make_inputs()
        before = set(_files())
        for command in sections()[section]:
            lines += ["", f"$ omkl {command}", *_run(command)]
            lines += [f"file {name}" for name in sorted({*_files()} - before)]
            before = set(_files())
    return lines


def _files() -> Iterator[str]:
    """Files below the current folder, without the store's own and the estimator's compiled ones."""
    for path in Path().rglob("*"):
        if path.is_file() and not {"cells", "curves", "locks", "__pycache__", "runs"} & {*path.parts}:
            yield path.as_posix()


def _run(command: str) -> list[str]:
    from omkl.cli import main

    words = shlex.split(command)
    name = next(word for word in words if not word.startswith("-") and word != "own")
    action = " ".join(words[:2])
    as_json = (
        (name in JSON or action in JSON_ACTIONS) and "--format" not in words and "--dry-run" not in words
    )
    words += ["--format", "json"] if as_json else []
    words += ["-j", "1", "-q"] if name in JOBS else []
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        try:
            code = main(words)
        except SystemExit as end:
            code = end.code
    lines = [f"exit {code}"]
    said = [line for line in err.getvalue().splitlines() if line.startswith("omkl: ") and "load" not in line]
    lines += [f"says {_masked(line[6:])}" for line in said[:1]]
    text = out.getvalue()
    if text.startswith(("{", "[")):
        return lines + _of_json(json.loads(text))
    if text:
        lines += [f"prints {_masked(text.splitlines()[0])}"]
    if "predict" in words[:1]:
        lines += [f"rows {len(text.splitlines())} {_digest(_masked(text).split())}"]
    return lines


def _masked(text: str) -> str:
    """The text without this run's folder and times."""
    text = text.replace(str(Path.cwd()), ".").replace(os.path.realpath("."), ".")
    text = re.sub(r"\b\d+(\.\d+)? (s|seconds|min|MiB|GB|kB)\b", "N \\2", text)
    return re.sub(r"\btime \d+(\.\d+)?", "time N", text)


def _of_json(made: Any) -> list[str]:
    if isinstance(made, list):
        return [_line("row", row, [*row]) for row in made]
    lines = [_line("row", row, [*ROW, *_measured(row)]) for row in made.pop("summary", ())]
    lines += [_line("cell", cell, CELL) for cell in made.pop("cells", ())]
    lines += [
        _line("tuned", row, [*ROW, "algo", "trials", "failed", "rounds"]) for row in made.pop("tuned", ())
    ]
    return lines + [f"value {name}={_text(value)}" for name, value in _flat(made) if _is_shown(name, value)]


def _flat(made: dict, within: str = "") -> Iterator[tuple[str, Any]]:
    """Names and values of nested mappings, such as algo.omkc_ss.hyperparameters.beta.value."""
    for name, value in made.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{within}{name}.")
        elif name not in ("notes", "rule", "meaning", "help"):
            yield f"{within}{name}", value


def _measured(row: dict) -> list[str]:
    measure = row.get("measure") or "mistake_pct"
    return [f"{measure}_mean", f"{measure}_std", "n_sv_sum_mean"]


def _line(kind: str, row: dict, keys: Iterable[str]) -> str:
    shown = (f"{key}={_text(row[key])}" for key in keys if _is_shown(key, row.get(key)))
    return f"{kind} {' '.join(shown)}"


def _is_shown(key: str, value: Any) -> bool:
    return value not in (None, "", [], {}) and (key in CELL or key in ROW or not HIDDEN.search(key))


def _text(value: Any) -> str:
    """A value in one word or a few; long ones as a digest."""
    if isinstance(value, float):
        return "0" if abs(value) < 1e-12 else f"{value:.6g}"
    if isinstance(value, list | dict):
        text = json.dumps(_rounded(value), ensure_ascii=False, separators=(",", ":"))
        return text if len(text) <= 70 else f"#{_digest([text])}"
    text = _masked(str(value))
    return text if len(text) <= 200 else f"#{_digest([text])}"


def _rounded(value: Any) -> Any:
    if isinstance(value, float):
        return _text(value)
    if isinstance(value, dict):
        return {key: _rounded(own) for key, own in value.items() if not HIDDEN.search(key)}
    return [_rounded(own) for own in value] if isinstance(value, list) else value


def _digest(words: Iterable[str]) -> str:
    return hashlib.sha256("\n".join(words).encode()).hexdigest()[:12]


# ---------------------------------------------------------------- the learners' digest


SETTINGS: list[tuple[str, dict[str, Any]]] = [  # which take other ways through a learner
    ("adamkl", {"kept": True, "eta0": 1.0}),
    ("adaraker", {"kept": True, "eta0": 1.0}),
    ("alma", {"alpha": 1.0}),
    ("arow_features", {"full": False, "D": 1000}),
    ("norma_novelty", {"loss": "logistic", "nu": 0.1}),
    ("omklp_da1", {"beta": None}),
]


def learners() -> list[str]:
    """A line for each learner and stream: its mistakes or error, and a hash of its curve and state."""
    from omkl.config import learner_names, learner_spec

    lines = ["== learners"]
    for name, over in [*((name, {}) for name in learner_names()), *SETTINGS]:
        for stream in _streams(learner_spec(name)):
            lines.append(_learner_line(name, over, *stream))
    return lines


def _streams(spec: Any) -> Iterator[tuple[str, np.ndarray, np.ndarray, int]]:
    """Name, rows (T, d), labels (T,) and number of classes (0: targets) of what a learner is run on."""
    rng = np.random.default_rng(11)
    grid = (rng.integers(-1, 3, (260, 4)) * (rng.random((260, 4)) < 0.6)).astype(float)
    sign = rng.choice([-1.0, 1.0], 260)
    cloud = rng.normal(size=(260, 5)) + 0.7 * sign[:, None]
    if "classification" in spec.tasks or "novelty" in spec.tasks:
        yield "ties", grid, sign, 2
        yield "clouds", cloud, sign, 2
    if spec.classes == "many":
        label = rng.integers(4, size=160)
        yield "four classes", rng.normal(size=(160, 5)) + 1.5 * (label[:, None] == np.arange(5)), label, 4
        yield "three classes of ties", grid[:160], rng.integers(3, size=160), 3
    if "regression" in spec.tasks:
        yield "numbers", cloud, np.sin(cloud[:, 0]) + 0.3 * cloud[:, 1], 0
        yield "grid", grid, 0.5 * grid[:, 0] - 0.1 * grid[:, 1] * grid[:, 2], 0


def _learner_line(
    name: str, over: dict[str, Any], stream_name: str, X: np.ndarray, y: np.ndarray, classes: int
) -> str:
    from omkl.config import learner_spec
    from omkl.config.parameters import params_text
    from omkl.engine.stream import make_stream
    from omkl.stacks.new_learner import new_learner
    from omkl.testing import cases

    task = "classification" if classes else "regression"
    spec = learner_spec(name)
    usual = spec.tasks[0] if task not in spec.tasks else task
    params = {**spec.usual(usual), **cases.kernel_of(name), **over}
    if spec.budget:
        params[spec.budget] = min(params[spec.budget], 30)
    pool = cases.pool_for(spec, params, cases.MIXED)
    how = {"classes": classes} if classes > 2 else {}
    learner = new_learner(spec, params, pool, X.shape[1], 7, rounds=len(X), **how)
    stream = make_stream(*cases.csr_of(X), y, np.arange(len(X)), *([classes] if classes > 2 else []))
    trace, _ = learner.run(stream)
    figure = f"mistakes={int(trace.mistake.sum())}" if classes else f"mse={_mse(trace.score, y)}"
    state = {**cases.traced(trace), **cases.state(learner)}
    kept = sorted(key for key in state if key in ("mistake", "score", "predicted", "n_sv_sum", "A", "n_sv"))
    weights = [] if learner.weights is None else learner.weights
    words = [_array(state[key]) for key in kept] + [_array(np.asarray(weights, float))]
    which = f"{name} {params_text(over)}" if over else name
    return f"{which} | {stream_name} | {figure} sv={_sv(learner)} {_digest(words)}"


def _mse(score: np.ndarray, y: np.ndarray) -> str:
    return f"{float(np.mean((score - y) ** 2)):.6g}"


def _sv(learner: Any) -> int:
    return 0 if learner.classifiers is None else int(np.sum(learner.classifiers.n_sv))


def _array(array: np.ndarray) -> str:
    """An array's numbers with six digits; what is rounding of its largest is 0."""
    if array.dtype.kind != "f":
        return ",".join(map(str, array.ravel().tolist()))
    far = float(np.abs(array[np.isfinite(array)]).max(initial=0.0))
    return ",".join(
        "0" if math.isfinite(v) and abs(v) <= 1e-9 * far else f"{v:.6g}" for v in array.ravel().tolist()
    )


# ---------------------------------------------------------------- the script


def differences(section: str) -> list[str]:
    """Lines in which the record and what happens now differ; none if they agree."""
    now = learners() if section == "learners" else record_of(section)
    kept = _kept().get(section, [])
    return list(difflib.unified_diff(kept, now, f"record: {section}", f"now: {section}", lineterm="", n=2))


def _kept() -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for name in ("record.txt", "learners.txt"):
        path = HOME / name
        for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else ():
            if line.startswith("== "):
                found[line[3:]] = []
            found[[*found][-1]].append(line)
    return {section: _stripped(lines) for section, lines in found.items()}


def _stripped(lines: list[str]) -> list[str]:
    while lines and not lines[-1]:
        lines.pop()
    return lines


def main() -> int:
    """Compare or write the record."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("sections", nargs="*", help=f"{', '.join([*sections(), 'learners'])} (default: all)")
    parser.add_argument("--write", action="store_true", help="write the record again")
    args = parser.parse_args()
    if unknown := sorted({*args.sections} - {*sections(), "learners"}):
        parser.error(f"no such section: {', '.join(unknown)}")
    wanted = args.sections or [*sections(), "learners"]
    if not args.write:
        lines = [line for section in wanted for line in differences(section)]
        print("\n".join(lines) if lines else "the record and what happens now agree")
        return 1 if lines else 0
    kept = _kept()
    for section in wanted:
        kept[section] = learners() if section == "learners" else record_of(section)
    texts = {"record.txt": [*sections()], "learners.txt": ["learners"]}
    for name, own in texts.items():
        text = "\n\n\n".join("\n".join(kept[section]) for section in own if section in kept)
        (HOME / name).write_text(text + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    os.environ.pop("OMKL_DATA", None)  # what the record says must not depend on the data that a machine has
    sys.exit(main())
