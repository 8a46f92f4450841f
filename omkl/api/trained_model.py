"""Trained learners from Python: `omkl.fit` and `omkl.load_model`."""

import math
import os
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from omkl.api.call import Call
from omkl.api.results import Shown
from omkl.config.parameters import params_text, value_text
from omkl.data.preparing.user_table import as_frame
from omkl.errors import UserError, counted, outside, path_error, without_controls
from omkl.files import check_writable
from omkl.models import new_data, predictions, saved_models
from omkl.reports.table import Table

OF_RUNS = {"reps", "yardsticks", "store", "exec", "delay"}  # keys that mean nothing where one pass is made


class Model(Shown):
    """A trained learner, with what it knows about its data.

    It takes a file, a frame (pandas, polars), an array (T, d) or a scipy sparse matrix, and one row as a
    Series, a dict or an array (d,), prepared as the data that it was trained on. An array has the columns of
    the features in their order. Rows that ``missing=drop`` leaves out have the prediction None (NaN where it
    is a number), and a warning counts them. In a notebook it is a table of what it holds.
    """

    inner = frozenset({"learns_labels", "trained"})

    def __init__(self, trained: saved_models.SavedModel, notes: Sequence[str] = ()) -> None:
        self.trained, self._notes = trained, list(notes)

    @property
    def notes(self) -> list[str]:
        """What is to be known of the data that it was trained on."""
        return self._notes

    def predict(self, data: Any, return_std: bool = False) -> Any:
        """Return the predictions (n,) for rows: classes, targets, or ``novel`` and ``usual``.

        return_std: also the standard deviations (n,) of the targets around them. Raises UserError for a
        learner that does not know them.
        """
        if return_std:
            of_parts, at = self._predicted(
                data, lambda rows: predictions.predictions_and_std(self.trained, rows)
            )
            return tuple(
                _of_rows(np.concatenate(pieces), *at, math.nan) for pieces in zip(*of_parts, strict=True)
            )
        of_parts, at = self._predicted(data, lambda rows: predictions.predict_rows(self.trained, rows).labels)
        labels = self._as_given([label for pieces in of_parts for label in pieces])
        return _of_rows(labels, *at, math.nan if self.trained.about["task"] == "regression" else None)

    def _as_given(self, labels: list[Any]) -> np.ndarray:
        """Return classes (n,) of the type that the learnt labels had; other predictions as they are."""
        about = self.trained.about
        if about["task"] != "classification":
            return np.asarray(labels)
        classes = about.get("classes") or ["-1", "1"]
        values = about.get("values_of_classes") or classes
        kinds = {type(value) for value in values}
        array = np.array(values, None if len(kinds) == 1 or kinds == {int, float} else object)
        place = {name: at for at, name in enumerate(classes)}
        return array[[place[label] for label in labels]]

    def decision_function(self, data: Any) -> np.ndarray:
        """Return the scores (n,) of rows; with more than two classes the lead of the predicted class."""
        scores, at = self._predicted(data, lambda rows: predictions.predict_rows(self.trained, rows).scores)
        return _of_rows(np.concatenate(scores), *at, math.nan)

    def predict_proba(self, data: Any) -> np.ndarray:
        """Return the probabilities (n, C) of the classes. Raises UserError for a learner that has none."""

        def of(rows: saved_models.Rows) -> np.ndarray:
            return np.column_stack(list(predictions.probabilities_of_classes(self.trained, rows).values()))

        shares, at = self._predicted(data, of)
        return _of_rows(np.concatenate(shares), *at, math.nan)

    def predict_interval(self, data: Any, share: float | None = None) -> np.ndarray:
        """Return the lower and upper ends (n, 2) of the intervals around the predictions for rows.

        Parameters
        ----------
        data
            As in `predict`.
        share
            Of the targets that the intervals are to hold, such as 0.9; None for that of ``interval=``, with
            which the model was trained. Without it the learner's densities say how wide they are.

        Returns
        -------
        Ends (n, 2), infinite while too few rows have been learnt (9 for 0.9). Raises UserError for a model
        without intervals.
        """

        def of(rows: saved_models.Rows) -> np.ndarray:
            return np.column_stack(list(predictions.intervals(self.trained, rows, share).values()))

        parts, at = self._predicted(data, of)
        return _of_rows(np.concatenate(parts), *at, math.nan)

    def score(self, data: Any, y: Any = None, label: str | None = None) -> float:
        """Return the share of right predictions for rows with labels; of a regression R².

        Parameters
        ----------
        data, y, label
            As in `update`. Rows whose label is missing do not count.
        """
        task = self.trained.about["task"]
        if task == "novelty":
            raise UserError(f"{self.trained.about['learner']}: no labels say what is novel; use predict")
        rows = list(self._rows(*_with_label(data, y, label), True))
        predicted = [predictions.predict_rows(self.trained, part) for part in rows]
        count, loss = sum(each.known for each in predicted), sum(each.loss for each in predicted)
        if not count:
            raise UserError("data: no row has a label, so there is no score")
        if task == "classification":
            return 1.0 - loss / count
        targets = np.concatenate([part.y[~np.isnan(part.y)] for part in rows if part.y is not None])
        spread = float(np.square(targets - targets.mean()).sum())
        if spread == 0.0:
            raise UserError(f"data: all targets are {targets[0]:g}, so there is no R²")
        return 1.0 - loss / spread

    def update(self, data: Any, y: Any = None, label: str | None = None) -> "Model":
        """Learn more rows in their order, and return the model.

        Parameters
        ----------
        data
            Rows with labels: a file, a frame with ``label``, or an array (n, d) with ``y``.
        y
            Labels (n,) of an array.
        label
            The name of the label's column of a frame.
        """
        data, y = _with_label(data, y, label)
        rows = list(self._rows(data, y, self.learns_labels))  # before any is learnt, as one may not fit
        for part in rows:
            self.trained = saved_models.update_model(self.trained, part)
        return self

    def save(self, path: str | Path) -> Path:
        """Write the model as a file, and return its path."""
        target = writable(path)
        try:
            saved_models.save_model(self.trained, target)
        except OSError as error:
            raise path_error(f"write {target}", error, "; the model was not saved") from None
        return target

    def described(self) -> dict[str, Any]:
        """Return what the model holds, as plain data: what `omkl show` prints."""
        return saved_models.description_of(self.trained)

    @property
    def summary(self) -> str:
        """What it has learnt, on one line."""
        facts = self.described()
        measure = next(key for key in ("mistakes", "loss", "flagged") if key in facts)
        error = f"{measure} {facts[measure]:.6g}"
        if measure == "loss":  # the sum of the squared errors, of which nobody knows the unit
            error = f"RMSE {math.sqrt(facts['loss'] / max(facts['rounds'], 1)):.6g}"
        stored = facts.get("support_vectors", {}).get("distinct")
        facts_told = [counted(facts["rounds"], "row"), error]
        facts_told += [counted(stored, "support vector")] if stored is not None else []
        return f"{facts['learner']}: {', '.join(facts_told)}"

    def report_table(self) -> Table:
        rows = [
            {"of the model": key.replace("_", " "), "": _text(value)}
            for key, value in self.described().items()
        ]
        return Table.of(rows)

    def __str__(self) -> str:
        order = self.trained.about.get("order")
        return f"omkl model, {self.summary}{f', order={order}' if order else ''}"

    @property
    def learns_labels(self) -> bool:
        """Whether rows must have labels to be learnt."""
        return self.trained.about["task"] != "novelty"

    def _predicted(
        self, data: Any, predict: Callable[[saved_models.Rows], Any]
    ) -> tuple[list[Any], tuple[np.ndarray, int]]:
        """Return what ``of`` gives for each part of the rows that are kept, and their places among n."""
        predictions, places, n = [], [], 0
        for rows in self._rows(data, None, False):
            predictions.append(predict(rows))
            places.append(rows.numbers - 1)
            n = rows.stop - 1
        return predictions, (np.concatenate(places), n)

    def _rows(self, data: Any, y: Any, labelled: bool) -> Iterator[saved_models.Rows]:
        if isinstance(data, str | Path):
            row_parts, tally = new_data.rows_of_file(self.trained, Path(data), labelled)
        else:
            row_parts, tally = new_data.rows_in_memory(self.trained, data, y, labelled)
        yield from row_parts
        for note in tally.notes:
            warnings.warn(note, stacklevel=outside())


def _with_label(data: Any, y: Any, label: str | None) -> tuple[Any, Any]:
    """Return rows, and the labels that are a column of them where its name is given."""
    if hasattr(data, "columns") and label is not None and y is None:
        data = as_frame(data)
        if label not in data.columns:
            raise UserError(f"label={label}: no such column")
        y = data[label]
    return data, y


def trained(call: Call, to_save: bool = False) -> Model:
    """Train the one learner of a call on its one data set; to_save: refuse one that no file can hold."""
    keys = {word.partition("=")[0].partition(".")[0] for word in (*call.words, *call.values)}
    for key in sorted(keys & OF_RUNS):
        raise UserError(f"omkl fit makes one pass and stores no cells; leave out {key}=")
    plan = replace(call, values={**call.values, "yardsticks": []}).plan()
    if to_save:
        saved_models.check_savable(plan)
    plan.warn_of_data()
    model = saved_models.fit_model(plan)
    notes = [note for ref in plan.data for note in plan.notes_on(ref)]
    return Model(model, [without_controls(note) for note in notes if note not in plan.doubts])


def writable(out: str | Path) -> Path:
    """Return where a model is to be saved. Raises UserError, before anything is learnt, where none can be."""
    path = Path(out)
    if path.is_dir():
        raise UserError(f"{path} is a folder; a model is a file")
    above = next(folder for folder in path.absolute().parents if os.path.exists(folder))
    if not above.is_dir():
        raise UserError(f"cannot write {path}: {above} is a file, not a folder")
    try:
        check_writable(path)
    except OSError as error:
        raise path_error(f"write {path}", error) from None
    return path


def _of_rows(values: np.ndarray, places: np.ndarray, n: int, gap: float | None) -> np.ndarray:
    """Return values (n, ...) of all rows from those of the rows that are kept; gap: of the others."""
    if len(places) == n:
        return values
    of_all = np.full((n, *values.shape[1:]), gap, object if gap is None else float)
    of_all[places] = values
    return of_all


def _text(value: Any) -> str:
    if isinstance(value, dict):
        return params_text(value)
    if isinstance(value, list) and value and isinstance(value[0], dict):
        return "; ".join(value_text(item) for item in value)
    return ", ".join(map(str, value)) if isinstance(value, list) else value_text(value)
