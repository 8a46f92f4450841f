"""`omkl check`: omkl's contracts, and the comparison with a naive twin, for the learners of a folder."""

import dataclasses
import hashlib
import importlib
import inspect
import os
import sys
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache, partial
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from omkl import conf
from omkl.config import LearnerSpec, learner_names, learner_spec, learner_specs
from omkl.data import Dataset, compact, find, registry
from omkl.data.orders import order as data_order
from omkl.errors import OmklError, UserError
from omkl.passes import run_pass, warm_up
from omkl.testing import kernel_check, twins
from omkl.testing.cases import assert_same, class_clouds, class_ties, clouds, dataset, numbers, ties, wdbc
from omkl.testing.contracts import CONTRACTS
from omkl.testing.definitions import lend
from omkl.testing.definitions import twins as twins_of

TWIN = "twin"  # of a learner that has none
ROWS = 397  # of a real set, compared with the twin
Check = Callable[[], Any]


class Finding(NamedTuple):
    """The outcome of a check; name: of the learner or kernel; fault: in one line, empty where it passed.

    result: ``ok``, ``failed``, or what could not be checked
    """

    name: str
    check: str
    fault: str

    @property
    def result(self) -> str:
        """What a table says."""
        return "failed" if self.fault else "no twin: not compared" if self.check == TWIN else "ok"


def learners_of_folder(folder: Path) -> dict[str, LearnerSpec]:
    """Return the learners of a folder of OMKL_PATH by name. Raises UserError for a faulty file."""
    conf_folder = folder / "conf" / "algo"
    return learner_specs([name for name in learner_names() if conf.file("algo", name).parent == conf_folder])


def twins_in(folder: Path) -> tuple[dict[str, twins.Twin], list[ModuleType]]:
    """Return the twins in ``tests/reference`` of a folder by learner, and their modules.

    Raises UserError, with the file's name, for a module that cannot be imported.
    """
    home, package = folder / "tests" / "reference", _package(folder)
    if package not in sys.modules:
        sys.modules[package] = ModuleType(package)
        sys.modules[package].__path__ = [str(home)]
        lend(package)
    twins_by_name = twins_of(package)
    return twins_by_name, [
        importlib.import_module(name) for name in {twin.__module__ for twin in twins_by_name.values()}
    ]


def _package(folder: Path) -> str:
    home = folder / "tests" / "reference"
    return f"omkl_twins_{hashlib.sha256(str(home).encode()).hexdigest()[:12]}"


def check(folder: Path, data: Iterable[str] = ()) -> Iterator[Finding]:
    """Yield the outcome of every check of every learner and kernel of a folder of OMKL_PATH.

    data: words of data sets on which kernels are checked, and learners compared with their twins, beside the
    folder's own. Raises UserError for a folder that is wrong (a YAML or module that cannot be read), and for
    data that nothing in it takes.
    """
    specs = learners_of_folder(folder)
    twins_by_name, modules = twins_in(folder)
    kernels, sets = kernel_check.kernels_of(folder), _sets(folder, data)
    compared = [spec for name, spec in specs.items() if name in twins_by_name]
    for word in data:
        if not kernels and not any(_takes(spec, sets[word]) for spec in compared):
            raise UserError(
                f"data={word}: the folder has no kernel, and no learner with a twin that takes these data"
            )
    yield from _of_kernels(kernels, folder, twins_by_name, sets)
    for name, spec in specs.items():
        try:
            warm_up([(spec, spec.usual(spec.tasks[0]))])
        except UserError as error:
            yield Finding(name, "compiles", str(error))
            continue
        checks = (
            _of_estimator(spec)
            if spec.estimator
            else _of_learner(spec, twins_by_name, _package(folder), sets)
        )
        with twins.sharing_rows(modules):
            for what, does in checks.items():
                yield Finding(name, what, _fault(does, folder))


def _sets(folder: Path, data: Iterable[str]) -> dict[str, Dataset]:
    """Return the data sets of these words and of a folder by word."""
    conf_folder = folder / "conf" / "data"
    names = [name for name in registry.registered_names() if conf.file("data", name).parent == conf_folder]
    return {word: compact(find(word).load()) for word in [*data, *names]}


def _takes(spec: LearnerSpec, data: Dataset) -> bool:
    """Whether a learner and its twin run on a data set: of the learner's tasks and classes, without gaps."""
    fits = data.task in spec.tasks and (data.n_classes == 2 or spec.classes == "many")
    return fits and bool(np.isfinite(data.values).all())


def _of_kernels(
    names: list[str], folder: Path, twins_by_name: Mapping[str, twins.Twin], sets: Mapping[str, Dataset]
) -> Iterator[Finding]:
    if names and (root := kernel_check.reference()) is not None:
        twins_by_name = {**twins_in(root)[0], **twins_by_name}
    for name in names:
        for what, does in kernel_check.checks_of(name, sets, twins_by_name):
            fault = _fault(does, folder)
            yield Finding(name, what, fault)
            if fault and what in ("compiles", "indices within bounds"):
                break  # so would all others, or end the process


def _fault(does: Check, folder: Path) -> str:
    """Return what is wrong as one line, with an exception's place in the folder; empty where nothing is."""
    try:
        does()
    except AssertionError as error:
        return " ".join(str(error).split())[:300] or "an assertion failed"
    except OmklError as error:
        return str(error)
    except Exception as error:  # whatever the user's code raises is the answer
        frames = traceback.extract_tb(error.__traceback__)
        places = [
            f"{at.filename}:{at.lineno}: " for at in frames if at.filename.startswith(f"{folder}{os.sep}")
        ]
        return f"{places[-1] if places else ''}{type(error).__name__}: {' '.join(str(error).split())[:300]}"
    return ""


# ------------------------------------------------------------------ learners of omkl's kind


def _of_learner(
    spec: LearnerSpec,
    twins_by_name: Mapping[str, twins.Twin],
    package: str,
    sets: Mapping[str, Dataset],
) -> dict[str, Check]:
    name = spec.name
    checks: dict[str, Check] = {what: partial(contract, name) for what, contract in CONTRACTS.items()}
    if name not in twins_by_name:
        return {TWIN: partial(_no_twin, name, package), **checks}
    streams: dict[str, tuple[Any, np.ndarray | None]] = {"wdbc": _some(wdbc()), "ties": _some(ties())}
    streams |= {edge: (twins.edge(edge), None) for edge in twins.EDGES}
    if "regression" in spec.tasks:
        streams |= {
            "small numbers": (numbers(clouds(150), 0.3, 0.1), None),
            "large numbers": (numbers(clouds(150), 20.0, 5.0), None),
            "numbers of equal rows": (numbers(ties(150), 0.3, 0.1), None),
        }
    if spec.classes == "many":
        of_classes = {"clouds": class_clouds(80, 3), "ties": class_ties(80, 3)}
        streams |= {f"{kind} of three classes": (data, None) for kind, data in of_classes.items()}
    streams |= {word: _some(data) for word, data in sets.items() if _takes(spec, data)}
    compared = {
        f"twin: {stream}": partial(
            _compare, name, twins_by_name[name], data, order, stream in ("wdbc", "ties")
        )
        for stream, (data, order) in streams.items()
    }
    return {**compared, **checks}


def _no_twin(name: str, package: str) -> None:
    """Raise AssertionError for a function of a twin's name that has another form."""
    form = f"{name}(X, y, kernels, *, <hyperparameters>, normalise, rng) -> Result"
    for module in [loaded for place, loaded in sys.modules.items() if place.startswith(f"{package}.")]:
        if inspect.isfunction(found := vars(module).get(name)):
            taken = f"{found.__name__}{inspect.signature(found)}"
            raise AssertionError(f"{module.__file__}: it takes {taken}, but must have the form {form}")


def _some(data: Dataset) -> tuple[Dataset, np.ndarray]:
    """Return up to ROWS rows of a set, chosen at random, and an order of arrival."""
    rows = np.random.default_rng(3).permutation(data.T)[:ROWS]
    keep = np.concatenate([np.arange(data.indptr[r], data.indptr[r + 1]) for r in rows])
    X = np.zeros((len(rows), data.d))
    X[np.repeat(np.arange(len(rows)), np.diff(data.indptr)[rows]), data.indices[keep]] = data.values[keep]
    some = dataset(X, data.y[rows], data.name)
    some = dataclasses.replace(some, task=data.task, classes=data.classes)
    return some, np.random.default_rng(4).permutation(len(rows))


def _compare(name: str, twin: twins.Twin, data: Any, order: np.ndarray | None, kernels: bool) -> None:
    order = np.arange(data.T) if order is None else order
    for word in twins.pools_of(name):
        for over in (
            twins.kernels_for(name) if kernels else [{} if data.n_classes == 2 else twins.small(name)]
        ):
            try:
                twins.assert_equal(name, data, order, twins.both(name, twin, data, order, word, **over))
            except AssertionError as error:
                kernel = over.get("kernel", {}).get("kind")
                used = kernel or (f"pool {word}" if learner_spec(name).kernels == "pool" else "")
                raise AssertionError(f"{error}{f' ({used})' if used else ''}") from None


# ------------------------------------------------------------------ estimators of other packages


def _of_estimator(spec: LearnerSpec) -> dict[str, Check]:
    """Return the checks of an estimator on two clouds, of which targets -1 and 1 make a regression."""
    task = spec.tasks[0]
    data = dataclasses.replace(clouds(), task=task)

    def curve() -> tuple[np.ndarray, np.ndarray]:
        figures = run_pass(spec, spec.usual(task), None, data, *data_order(data, "permuted", 1, 0))["curve"]
        return np.array(figures["t"]), np.array(figures["loss" if task == "regression" else "mistakes"])

    once = cache(curve)

    def repeats() -> None:
        assert_same({"errors": once()[1]}, {"errors": curve()[1]}, "in the same repetition")

    def predicts_first() -> None:
        errors = once()[1][0]  # as a mistake and as (0 - y)^2
        assert errors == 1, f"the first prediction errs by {errors}, not by 1: nothing has been learnt then"

    def learns() -> None:
        t, errors = once()
        half = len(t) // 2
        late, rows = errors[-1] - errors[half], t[-1] - t[half]
        assert late < rows / 2, f"{late:g} errors on the last {rows} rows of two clouds that overlap little"

    return {"same seed, same result": repeats, "predicts, then learns": predicts_first, "learns": learns}
