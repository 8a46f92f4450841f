"""How an estimator of another package is asked: its rows, what it says of them, how it learns them.

A pass knows one form of all of them (`Adapter`): those of scikit-learn's kind have ``partial_fit`` and
``predict``, those of river's ``learn_one`` and ``predict_one``. A Pipeline of scikit-learn learns step by
step (`Steps`), and any estimator with ``fit`` is fitted again as rows come (`Refit`). Each
call gets rows of its own, so that one that changes them changes nothing else.
"""

import contextlib
import inspect
import math
from collections import Counter
from collections.abc import Iterator
from statistics import fmean
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from omkl.errors import OmklError, counted
from omkl.others.names import Names, check_columns, check_labels, parameters_of
from omkl.others.traits import EACH_ROUND, Refit, last_step, of_river

if TYPE_CHECKING:
    from omkl.engine.stream import Stream


_NUMBERS = 2**22  # of the rows that are asked for at once
NUMBERED = ("xgboost",)  # packages whose classes must be 0, 1, 2, ...


class Saying(NamedTuple):
    """What an estimator says of a row before it is learnt.

    answer: the class as the estimator calls it, or the number predicted; None where it has none yet
    scores: of two classes the score of the second one, of more (C,); None without
    probabilities: (C,) in the order of the classes; None without
    variance: of the number around the prediction; None without
    """

    answer: Any = None
    scores: Any = None
    probabilities: Any = None
    variance: float | None = None


NOTHING = Saying()


class Adapter:
    """An estimator as a pass asks it.

    model: the estimator    labels (C,): what it is told the classes are; empty for numbers
    """

    def __init__(self, model: Any, name: str, d: int, classes: int, sparse: bool, names: Names) -> None:
        self.model, self.name, self.d, self.sparse = model, name, d, sparse
        self.labels = self._labels(names.labels_of(classes)) if classes else ()
        self.features = names.features

    def _labels(self, own: tuple[Any, ...]) -> tuple[Any, ...]:
        """Return what it is told the classes are; own: as the data call them."""
        return own

    def rows(self, stream: "Stream", start: int, stop: int) -> Any:
        """Return rounds start .. stop - 1 of a stream in the package's form."""
        raise NotImplementedError

    def said(self, rows: Any) -> list[Saying]:
        """Return what it says of rows."""
        raise NotImplementedError

    def learn(self, rows: Any, y: list[Any]) -> None:
        """Learn rows with these labels, or numbers."""
        raise NotImplementedError

    def unchanged(self, learn: bool) -> int:
        """Return how many rows it may be asked for at once; learn: they are learnt then."""
        return 1

    def why_unfitted(self) -> str:
        """Return why a whole pass did not fit it, empty where it did."""
        return ""


def adapter(model: Any, name: str, d: int, classes: int, sparse: bool, names: Names) -> Adapter:
    """Return the adapter of a model, as `learnable` returns it.

    classes: their number, 0 of a regression    sparse: whether rows hold their non-zero features alone
    Raises UserError for parameters that mean classes or columns which it does not see.
    """
    of_one_package = OfRiver if of_river(model) else OfScikitLearn
    kind = OfRefit if isinstance(model, Refit) else of_one_package
    found = kind(model, name, d, classes, sparse, names)
    own = names.labels_of(classes) if classes else ()
    for key, value in parameters_of(model):
        check_labels(name, key, value, own, found.labels)
        if names.renumbered:
            check_columns(name, key, value, names.features)
    return found


class OfScikitLearn(Adapter):
    """One with ``partial_fit`` and ``predict``: rows (n, d), a frame where the columns have names."""

    def __init__(self, model: Any, name: str, d: int, classes: int, sparse: bool, names: Names) -> None:
        super().__init__(model, name, d, classes, sparse, names)
        takes = inspect.signature(model.partial_fit).parameters
        self._first = {"classes": np.array(self.labels)} if "classes" in takes and classes else {}
        self._with_std = not classes and _takes(model, "predict", "return_std")
        method = getattr(type(last_step(model)), "predict", None)
        self._predicts_by_score = getattr(method, "__qualname__", "") == "LinearClassifierMixin.predict"

    def _given(self, rows: Any) -> Any:
        """Return rows that it may change, with the names of the columns."""
        if self.features is None or self.sparse:
            return rows.copy()
        import pandas as pd

        return pd.DataFrame(rows.copy(), columns=pd.Index(self.features), copy=False)

    def rows(self, stream: "Stream", start: int, stop: int) -> Any:
        if self.sparse:
            import scipy.sparse as sp

            spans = [slice(*stream.indptr[i : i + 2]) for i in stream.order[start:stop]]
            indptr = np.cumsum([0, *(span.stop - span.start for span in spans)])
            values = np.concatenate([stream.values[span] for span in spans])
            indices = np.concatenate([stream.indices[span] for span in spans])
            return sp.csr_matrix((values, indices, indptr), shape=(stop - start, self.d))
        X = np.zeros((stop - start, self.d))
        for x, i in zip(X, stream.order[start:stop].tolist(), strict=True):
            a, b = stream.indptr[i], stream.indptr[i + 1]
            x[stream.indices[a:b]] = stream.values[a:b]
        return X

    def said(self, rows: Any) -> list[Saying]:
        n, P, variances = rows.shape[0], None, None
        try:
            scores = self._of_classes("decision_function", rows) if self.labels else None
            if scores is not None and self._predicts_by_score:
                from omkl.engine.conventions import chosen_of_two

                chosen = scores.argmax(axis=1) if scores.ndim > 1 else chosen_of_two(scores)
                answers = np.array(self.labels)[chosen]
            else:
                answers, variances = self._predicted(rows)
            if self.labels:
                P = self._of_classes("predict_proba", rows)
        except (ValueError, AttributeError) as error:
            if type(error).__name__ != "NotFittedError":
                raise
            return [NOTHING] * n
        if answers.size != n:
            raise OmklError(f"{self.name} gives {counted(answers.size, 'answer')} for {counted(n, 'row')}")
        columns = [[None] * n if each is None else each for each in (scores, P, variances)]
        return [Saying(*each) for each in zip(answers.tolist(), *columns, strict=True)]

    def _predicted(self, rows: Any) -> tuple[np.ndarray, Any]:
        """Return the answers (n,) for rows, and the variances (n,) around them; None without."""
        if self._with_std:
            try:
                means, std = self.model.predict(self._given(rows), return_std=True)
                return np.ravel(means), np.square(np.ravel(std))
            except ValueError as error:  # of an estimator that has none with its parameters
                if type(error).__name__ == "NotFittedError":
                    raise
                self._with_std = False
        return np.ravel(self.model.predict(self._given(rows))), None

    def _of_classes(self, method: str, rows: Any) -> Any:
        """Return the numbers (n, C) of a method for rows, (n,) of two classes' scores; None without.

        Their columns are those of the model's ``classes_``: a Refit may not have met all of them.
        """
        asked, places = getattr(self.model, method, None), self._places()
        if asked is None:
            return None
        n, is_score = rows.shape[0], method == "decision_function"
        if is_score and len(places) < len(self.labels):
            return None  # a class without a score would have the one of 0
        values = np.asarray(asked(self._given(rows)))
        if is_score and len(places) == 2:
            return (np.ravel(values) if places == [0, 1] else -np.ravel(values)) if values.size == n else None
        if values.shape != (n, len(places)):
            return None
        of_all_classes = np.zeros((n, len(self.labels)))
        of_all_classes[:, places] = values
        return of_all_classes

    def _places(self) -> list[int]:
        """Return the classes that the columns of the model's numbers are of."""
        numbers = {label: c for c, label in enumerate(self.labels)}
        try:
            return [numbers[label] for label in np.asarray(last_step(self.model).classes_).tolist()]
        except (AttributeError, KeyError, TypeError):  # it says none, or in words of its own
            return [*range(len(self.labels))]

    def learn(self, rows: Any, y: list[Any]) -> None:
        self.model.partial_fit(self._given(rows), np.array(y), **self._first)
        self._first = {}


class OfRiver(Adapter):
    """One with ``learn_one`` and ``predict_one``: rows are dicts by the names or the numbers of columns.

    One that is for two classes alone is told that they are False and True.
    """

    def __init__(self, model: Any, name: str, d: int, classes: int, sparse: bool, names: Names) -> None:
        super().__init__(model, name, d, classes, sparse, names)
        self._columns = self.features or range(d)
        self._with_std = not classes and _takes(model, "predict_one", "with_dist")

    def _labels(self, own: tuple[Any, ...]) -> tuple[Any, ...]:
        return own if len(own) > 2 or getattr(self.model, "_multiclass", False) else (False, True)

    def rows(self, stream: "Stream", start: int, stop: int) -> list[dict[Any, float]]:
        dicts, columns = [], self._columns
        for i in stream.order[start:stop].tolist():
            a, b = stream.indptr[i], stream.indptr[i + 1]
            x = {} if self.sparse else dict.fromkeys(columns, 0.0)
            x.update(
                (columns[at], value)
                for at, value in zip(stream.indices[a:b].tolist(), stream.values[a:b].tolist(), strict=True)
            )
            dicts.append(x)
        return dicts

    def said(self, rows: list[dict[Any, float]]) -> list[Saying]:
        return [self._said(x) for x in rows]

    def _said(self, x: dict[Any, float]) -> Saying:
        if self._with_std:
            try:
                density = self.model.predict_one(dict(x), with_dist=True)
                return Saying(density.mu, variance=density.sigma**2)
            except (NotImplementedError, ValueError):  # of a model that has none with its parameters
                self._with_std = False
        return Saying(self.model.predict_one(dict(x)), None, self._probabilities(x))

    def _probabilities(self, x: dict[Any, float]) -> Any:
        asked = getattr(self.model, "predict_proba_one", None) if self.labels else None
        if asked is None:
            return None
        try:
            shares = asked(dict(x))
        except NotImplementedError:  # of a part of it, such as a model that votes
            return None
        P = np.array([float(shares.get(label, 0.0)) for label in self.labels])
        return P if P.sum() > 0.0 else None

    def learn(self, rows: list[dict[Any, float]], y: list[Any]) -> None:
        for x, label in zip(rows, y, strict=True):
            self.model.learn_one(dict(x), label)


def _takes(model: Any, method: str, name: str) -> bool:
    """Whether a method of a model, or of the last step of one, has an argument of this name."""
    asked = getattr(last_step(model), method, None)
    return callable(asked) and name in inspect.signature(asked).parameters


class OfRefit(OfScikitLearn):
    """One that is fitted again as rows come, on the last ones.

    This is in each round below EACH_ROUND rows, then when rows have grown by a factor. A fit of a
    classification waits until there are two classes in the window. Before the first fit it answers the class
    that was most frequent so far (of equal ones the first), or the mean. Rows up to the next fit are
    predicted in one call.
    """

    _predicts_by_score = False

    def __init__(self, model: Refit, name: str, d: int, classes: int, sparse: bool, names: Names) -> None:
        Adapter.__init__(self, model.model, name, d, classes, sparse, names)
        self._with_std = not classes and _takes(model.model, "predict", "return_std")
        self._grow, self._window = model.grow, model.window
        self._X: list[Any] = []
        self._y: list[Any] = []
        self._least = model.first
        self._seen, self._due, self._fitted = 0, model.first, 0  # rows: seen, of the next fit, of the last
        self._counts: Counter[Any] = Counter()  # of labels, or numbers, before the first fit
        self._changed = 0  # the last row whose label is not that of the row before, from 1; 0 without

    def _labels(self, own: tuple[Any, ...]) -> tuple[Any, ...]:
        of_numbers = type(last_step(self.model)).__module__.partition(".")[0] in NUMBERED
        return tuple(range(len(own))) if of_numbers else own

    def unchanged(self, learn: bool) -> int:
        most = _NUMBERS // max(self.d, 1)
        if learn:
            most = min(most, self._due - self._seen if self._fitted else 1)
        return max(1, most)

    def said(self, rows: Any) -> list[Saying]:
        if self._fitted:
            with self._few():
                return super().said(rows)
        before = self._counts.most_common(1)[0][0] if self.labels else fmean(self._counts.elements())
        return [Saying(before)] * rows.shape[0]

    def learn(self, rows: Any, y: list[Any]) -> None:
        for label in y:
            self._seen += 1
            if self._y and label != self._y[-1]:
                self._changed = self._seen
            self._y.append(label)
            if not self._fitted:
                self._counts[label] += 1
        self._X.append(rows)
        if self._window is not None and len(self._y) > 2 * self._window:
            self._cut()
        first = 1 if self._window is None else max(1, self._seen - self._window + 1)  # row of the window
        if self._seen < self._due or (self.labels and self._changed <= first):
            return
        X, labels = self._cut()
        self._fitted, self._due = self._seen, self._seen + 1
        if self._seen >= EACH_ROUND:
            self._due = max(self._due, math.ceil(self._grow * self._seen))
        with self._few():
            self.model.fit(self._given(X), np.array(labels))

    @contextlib.contextmanager
    def _few(self) -> Iterator[None]:
        """Say in an error what helps an estimator that asks for more rows than it was fitted on."""
        try:
            yield
        except ValueError as error:
            if self._fitted >= EACH_ROUND:
                raise
            raise OmklError(
                f"{self.name}, fitted on {counted(self._fitted, 'row')}: {error}; omkl.refit(model, first=N) "
                "fits from N rows on"
            ) from error

    def why_unfitted(self) -> str:
        if self._fitted or not (self.labels and self._changed and self._seen > self._least):
            return ""
        return (
            f"was never fitted: no window of {self._window} rows held two classes when a fit was due; "
            "choose a larger window, or window=None for all rows"
        )

    def _cut(self) -> tuple[Any, list[Any]]:
        """Keep the rows of the window alone, and return them and their labels."""
        if self.sparse:
            import scipy.sparse as sp

            X = sp.vstack(self._X, format="csr")
        else:
            X = np.concatenate(self._X)
        start = 0 if self._window is None else max(0, len(self._y) - self._window)
        self._X, self._y = [X[start:]], self._y[start:]
        return self._X[0], self._y
