"""An estimator of scikit-learn's or river's kind as a learner: in each round it predicts, then it learns.

It is an object of a call (see objects), or a YAML of a folder of OMKL_PATH names it, ``estimator:
module:Class``. The module is a file of that folder, or
of an installed package; its class has ``partial_fit`` and ``predict``, or ``learn_one`` and ``predict_one``.
A module of the folder may have a function in its place, which returns such an object.

The score is what ``decision_function`` gives, else the predicted label as +1 or -1, times how much more
probable it is where ``predict_proba_one`` says so, or the predicted number; of more than two classes it is
the margin of the true class. Before the first row has been learnt it is 0, as
that of our own learners.
"""

import hashlib
import importlib.metadata
import importlib.util
import inspect
import json
import sys
import time
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from omkl import conf
from omkl.config.learners import LearnerSpec, learner_specs
from omkl.engine.numba_cache import hash_of, sources
from omkl.engine.stream import Stream, Trace, make_trace
from omkl.errors import OmklError, UserError, counted, suggest
from omkl.learning.objects import ObjectSpec, distributions, learnable, packages_of, takes_many
from omkl.learning.scaling import Scaling, in_units

_LEAST = 1e-12  # score of a label that is predicted without being more probable
FEW = 10  # rows after which an estimator may still have nothing to predict
REVISION = 2  # of this module: raise it when it makes other results


class Estimator:
    """An estimator with what `run_pass` uses of a Learner; one pass is all that it makes.

    spec: its LearnerSpec; params: its arguments; d: number of features; seed: its ``random_state`` or
    ``seed``, where it takes one; classes: their number; scaling: of its rows and targets. Raises UserError as
    `make` does.
    """

    m, weights, classifiers = 0, None, None

    def __init__(
        self,
        spec: LearnerSpec,
        params: Mapping[str, Any],
        d: int,
        seed: int,
        task: str,
        classes: int = 2,
        scaling: Scaling | None = None,
    ) -> None:
        self.scaling = scaling
        self.spec, self.d, self.is_regression, self.classes = spec, d, task == "regression", classes
        self.model = make_estimator(spec, params, seed, classes)
        self.name = f"{spec.name} ({spec.estimator})"
        kind = self._of_sklearn if hasattr(self.model, "partial_fit") else self._of_river
        self._row, self._score, self._learn = kind()
        self._silent = 0  # predictions that are None
        self._learnt = False  # a first row, before which nothing is predicted

    @np.errstate(all="ignore")  # what divides by 0 in a package's first rounds is its own
    def run(self, stream: Stream, learn: bool = True, on_part: Any = None) -> tuple[Trace, float]:
        """Run the rounds of a stream; learn=False only scores them. Returns the trace, and CPU seconds.

        on_part: called with the number of rounds done, at most 100 times. Raises OmklError for predictions
        that are none.
        """
        many, part = stream.label is not None, -(-stream.T // 100)
        trace = make_trace(stream.T, classes=self.classes if many else 0)
        began = time.thread_time()
        given, units = stream, None
        if self.scaling is not None:
            stream, units = self.scaling.scaled(given, learn)
        seconds = time.thread_time() - began
        order, indptr = stream.order.tolist(), stream.indptr.tolist()
        labels = (stream.label if many else stream.y).tolist()
        began = time.thread_time()
        for t, y in enumerate(labels):
            x = self._row(stream, indptr[order[t]], indptr[order[t] + 1])
            if many:
                found = self._score(x) if self._learnt else None
                trace.predicted[t], f = self._judged(found, y)
                if t < len(trace.class_scores):
                    own = np.arange(self.classes) == (-1 if found is None else found)
                    trace.class_scores[t] = found if isinstance(found, np.ndarray) else own
            else:
                f = self._score(x) if self._learnt else 0.0
            trace.score[t], trace.mistake[t] = f, not (f if many else y * f) > 0
            if learn:
                self._learn(x, y)
                self._learnt = True
            if on_part is not None and (t + 1) % part == 0:
                on_part(t + 1)
        if FEW < stream.T == self._silent + 1:
            raise OmklError(f"{self.name} predicts None for every row; predict_one must return a prediction")
        if learn and self.scaling is not None:
            self.scaling.see(given)
        seconds += time.thread_time() - began
        if units is not None:
            in_units(trace, units, given.y, self.spec)
        return trace, seconds

    def _judged(self, found: Any, y: int) -> tuple[int, float]:
        """Return the class predicted and the margin of class y: its score less that of its strongest rival.

        found: the scores (C,) of all classes, or the class predicted, None where there is none yet
        """
        if found is None:
            return 0, 0.0
        if isinstance(found, np.ndarray):
            return int(found.argmax()), float(found[y] - np.delete(found, y).max())
        if found not in range(self.classes):
            raise OmklError(
                f"{self.name} predicts {found!r}, which is not one of the classes 0 to {self.classes - 1}"
            )
        return int(found), 1.0 if found == y else -1.0

    # What the two kinds of estimators need: a row, its score (of many classes see _judged), learning it.

    def _of_sklearn(self) -> tuple[Callable, Callable, Callable]:
        model, d, is_regression = self.model, self.d, self.is_regression
        takes_classes = "classes" in inspect.signature(model.partial_fit).parameters and not is_regression
        many = self.classes > 2
        first = {"classes": np.arange(self.classes) if many else np.array([-1, 1])} if takes_classes else {}
        scores = None if is_regression else getattr(model, "decision_function", None)

        def row(stream: Stream, start: int, stop: int) -> Any:
            if self.spec.sparse:
                import scipy.sparse as sp

                parts = (stream.values[start:stop].copy(), stream.indices[start:stop].copy())
                return sp.csr_matrix((*parts, [0, stop - start]), shape=(1, d))
            x = np.zeros((1, d))
            x[0, stream.indices[start:stop]] = stream.values[start:stop]
            return x

        def score(x: Any) -> Any:
            value = np.ravel((scores or model.predict)(x))
            if many and scores and value.size == self.classes:
                return value
            if many and scores:
                value = np.ravel(model.predict(x))
            if value.size != 1:
                raise OmklError(f"{self.name} gives {counted(value.size, 'number')} for one row")
            return value[0] if many else float(value[0])

        def learn(x: Any, y: float) -> None:
            model.partial_fit(x, np.array([y if is_regression else int(y)]), **first)
            first.clear()

        return row, score, learn

    def _of_river(self) -> tuple[Callable, Callable, Callable]:
        model, every = self.model, range(self.d)
        as_given = self.is_regression or self.classes > 2
        probabilities = None if as_given else getattr(model, "predict_proba_one", None)

        def row(stream: Stream, start: int, stop: int) -> dict[int, float]:
            own = stream.indices[start:stop].tolist(), stream.values[start:stop].tolist()
            x = {} if self.spec.sparse else dict.fromkeys(every, 0.0)
            x.update(zip(*own, strict=True))
            return x

        def score(x: dict[int, float]) -> Any:
            value = model.predict_one(x)
            self._silent += value is None
            if self.classes > 2:
                return value
            if value is None:
                return 0.0
            if not isinstance(value, bool | np.bool_):
                return float(value)
            sign = 1.0 if value else -1.0
            if not probabilities:
                return sign
            try:
                shares = probabilities(x)
            except NotImplementedError:  # of a part of it, such as a model that votes
                return sign
            return sign * max(abs(shares.get(True, 0.0) - shares.get(False, 0.0)), _LEAST)

        def learn(x: dict[int, float], y: float) -> None:
            model.learn_one(x, y if as_given else y > 0)

        return row, score, learn


def make_estimator(spec: LearnerSpec, params: Mapping[str, Any], seed: int, classes: int = 2) -> Any:
    """Return a new object of the estimator. Raises UserError, with the YAML's name, where there is none.

    classes: their number; many are an error where the estimator says that it is for two
    """
    if isinstance(spec, ObjectSpec):
        return learnable(spec.fresh(params, seed), f"algo={spec.name}")
    where, target = conf.file("algo", spec.name), estimator_class(spec)
    known = inspect.signature(target).parameters
    any_name = any(one.kind is inspect.Parameter.VAR_KEYWORD for one in known.values())
    for name in [] if any_name else params.keys() - known.keys():
        raise UserError(f"{where}: {spec.estimator} has no argument '{name}'{suggest(name, known)}")
    seeds = [name for name in ("random_state", "seed") if name in known and name not in params]
    try:
        made = target(**params, **dict.fromkeys(seeds[:1], seed % 2**32))
    except (ImportError, TypeError, ValueError) as error:  # the first of a package that its function imports
        raise UserError(f"{where}: {spec.estimator}: {error}") from None
    made = learnable(made, f"{where}: {spec.estimator}")
    if classes > 2 and not takes_many(made):
        raise UserError(f"{where}: {spec.estimator} is for two classes, the data have {classes}")
    return made


@cache
def _loaded(estimator: str, where: Path) -> Any:
    name, _, attribute = estimator.partition(":")
    own = _own_module(name, where)
    module = _imported(name, where)
    target = getattr(module, attribute, None)
    if not inspect.isclass(target) and not (own and inspect.isfunction(target)):
        known = [key for key, value in vars(module).items() if inspect.isclass(value)]
        raise UserError(f"{where}: {name} has no class '{attribute}'{suggest(attribute, known)}")
    return target


def estimator_class(spec: LearnerSpec) -> Any:
    """Return the class of an estimator, or the function of its folder. Raises UserError where it is not."""
    return _loaded(str(spec.estimator), conf.file("algo", spec.name))


def code_identity(spec: LearnerSpec) -> str:
    """Return what decides an estimator's results beside its arguments, for the keys of its cells.

    This is its name and the versions of its packages: that of an installed module, or those that the folder's
    module imports, with a hash of the source then.
    """
    where = conf.file("algo", spec.name)
    name = str(spec.estimator).partition(":")[0]
    parts, tops = [f"estimator {REVISION}", str(spec.estimator)], [name.partition(".")[0]]
    if own := _own_module(name, where):
        files = sources(own)
        parts.append(hash_of(files))
        tops = sorted(packages_of(files))
    names = {each for top in tops for each in distributions().get(top, [])}
    return "; ".join([*parts, *(f"{each} {importlib.metadata.version(each)}" for each in sorted(names))])


def _own_module(name: str, where: Path) -> Path | None:
    """Return the file of a module of the folder that a YAML is in, None for one of an installed package."""
    own = where.parents[2].joinpath(*name.split(".")).with_suffix(".py")
    top = name.partition(".")[0]
    installed = importlib.util.find_spec(top)
    if own.is_file() and installed is not None:
        other = installed.origin or f"the package {top}"
        raise UserError(f"{where}: about.estimator: {name} is {own} and {other}; rename the file")
    if own.is_file():
        return own
    if installed is None or top not in distributions():
        raise UserError(
            f"{where}: about.estimator: there is no {name}, neither an installed package nor the file {own}"
        )
    return None


def _imported(name: str, where: Path) -> ModuleType:
    """Return a module; those of a folder are in a package of that folder, so that names do not clash."""
    own = _own_module(name, where)
    if own:
        package = f"omkl_folder_{hashlib.sha256(str(where.parents[2]).encode()).hexdigest()[:12]}"
        if package not in sys.modules:
            sys.modules[package] = ModuleType(package)
            sys.modules[package].__path__ = [str(where.parents[2])]
        name = f"{package}.{name}"
    try:
        return importlib.import_module(name)
    except (Exception, SystemExit) as error:
        why = f"cannot be imported: {type(error).__name__}: {error}"
        raise UserError(f"{own or f'{where}: about.estimator: {name}'}: {why}") from error


def sources_of_others() -> dict[str, str]:
    """Return what the learners of the user's folders are made of, by learner."""
    return {name: source(spec) for name, spec in learner_specs().items() if not conf.of_omkl("algo", name)}


def source(spec: LearnerSpec) -> str:
    """Return what tells a folder's learner from others of its name, empty for one of ours.

    Of a compiled learner it is a hash of its module, of those that this imports, and of what its YAML says
    about its function and state; of an estimator see `code_identity`.
    """
    if isinstance(spec, ObjectSpec):
        spec.check_versions()
        return spec.source
    if conf.of_omkl("algo", spec.name):
        return ""
    if spec.estimator:
        return code_identity(spec)
    from omkl.algorithms import function

    state = {name: resource.written() for name, resource in spec.state.items()}
    said = [spec.function, spec.setup, spec.draws_as, spec.kernels, state]
    digest = hashlib.sha256(json.dumps(said, sort_keys=True).encode())
    folder = conf.file("algo", spec.name).parents[2] / "algorithms"
    for name in filter(None, (spec.function, spec.setup)):
        compiled = function(name, name == spec.function)
        module = Path(getattr(compiled, "py_func", compiled).__code__.co_filename)
        if module.parent == folder:  # a function of ours has a revision
            digest.update(hash_of(sources(module)).encode())
    return digest.hexdigest()
