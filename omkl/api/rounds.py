"""The rounds of a cell as a frame: the cell runs again, since the store holds sums of them alone."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from omkl.errors import UserError, suggest
from omkl.passes.cell import Cell, run_cell, stream_of

if TYPE_CHECKING:
    import pandas as pd


def chosen_cell(cells: Sequence[Cell], algo: str, data: str, rep: int) -> Cell:
    """Return the one cell of a learner on a data set in a repetition.

    algo: a learner's name or label, or a cell's key    algo, data: empty where there is one alone. Raises
    UserError where no cell, or several, are meant.
    """
    for what, word, names_of in (
        ("algo", algo, lambda cell: (cell.spec.name, cell.spec.label, cell.key)),
        ("data", data, lambda cell: (cell.data.name,)),
    ):
        found = [cell for cell in cells if not word or word in names_of(cell)]
        if not found:
            names = list(dict.fromkeys(names_of(cell)[0] for cell in cells))
            raise UserError(
                f"{what}={word}: no such cell{suggest(word, names) or '; there are ' + ', '.join(names)}"
            )
        cells = found
    reps = sorted({cell.rep for cell in cells})
    if not (found := [cell for cell in cells if cell.rep == rep or cell.key == algo]):
        raise UserError(f"rep={rep}: there are the repetitions {reps[0]} to {reps[-1]}")
    if len(found) > 1:
        kinds = ", ".join(dict.fromkeys(f"{cell.spec.name} on {cell.data.name}" for cell in found))
        raise UserError(
            f"rounds of {len(found)} cells ({kinds}): name the learner and the data, or give a key of .cells"
        )
    return found[0]


def rounds_of(cell: Cell) -> "pd.DataFrame":
    """Return the rounds of a cell, which runs again, as `Results.rounds` does."""
    import pandas as pd

    traces: list[Any] = []
    run_cell(cell, on_end=lambda _, trace: traces.append(trace))
    (trace,) = traces
    dataset, order = stream_of(cell)
    y = dataset.y[order]
    columns: dict[str, Any] = {"row": order, "score": trace.score}
    if dataset.task == "regression":
        columns |= {"prediction": trace.score, "label": y, "loss": np.square(trace.score - y)}
    elif dataset.task == "novelty":  # whose labels no learner reads
        columns["prediction"] = np.where(trace.mistake, "novel", "usual")
    else:
        predicted, label = trace.predicted, y.astype(np.int64)
        if predicted is None:  # of two classes: a mistake is the other one
            label = (y > 0).astype(np.int64)
            predicted = label ^ trace.mistake
        names = dataset.values_of_classes or dataset.classes or (-1, 1)
        kind = object if len(set(map(type, names))) > 1 else None
        classes = np.array(names, kind)
        columns |= {"prediction": classes[predicted], "label": classes[label]}
        columns["loss"] = trace.mistake.astype(np.int64)
    return pd.DataFrame(columns, index=pd.RangeIndex(1, len(order) + 1, name="round"))
