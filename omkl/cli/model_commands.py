"""The commands of saved models: fit, predict and update; `omkl show` shows one."""

import csv
import io
import sys
from argparse import Namespace
from pathlib import Path
from typing import TYPE_CHECKING

from omkl import experiments as front
from omkl.cli.messages import OK, emit, say
from omkl.errors import UserError, without_controls

if TYPE_CHECKING:
    from omkl.experiments.trained_model import Model


def fit(args: Namespace, words: list[str]) -> int:
    """Train one learner on one data set and save it as a model."""
    if args.out is None:
        raise UserError("omkl fit: the file of the model is missing; add --out model.omkl")
    target = front.writable(args.out)
    model = front.trained(front.Call(words))
    for note in model.notes:
        say(note)
    return _save(model, target)


def update(args: Namespace, words: list[str]) -> int:
    """Let a saved model learn the rows of more files, in their order."""
    from omkl.runs import models

    model = front.load_model(args.model)
    target = front.writable(args.out or args.model)
    for name in args.files:
        new = models.rows_of(model.trained, name, model.learns_labels)
        for note in new.notes:
            say(note)
        models.update(model.trained, new)
    return _save(model, target)


def predict(args: Namespace, words: list[str]) -> int:
    """Predict the rows of a file with a saved model: their number, label and score as CSV.

    Rows that the preparation leaves out have neither label nor score.
    """
    from omkl.files import write_text
    from omkl.runs import models

    model = models.load(args.model)
    new = models.rows_of(model, args.file, False)
    for note in new.notes:
        say(note)
    made = models.predict(model, new)
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    table.writerow(["row", "label", "score"])
    rows = zip(new.numbers.tolist(), made.labels, made.scores.tolist(), strict=True)
    filled = {number: (label, repr(value)) for number, label, value in rows}
    table.writerows((number, *filled.get(number, ("", ""))) for number in range(1, new.total + 1))
    if args.out is None:
        emit(text.getvalue())
    else:
        write_text(Path(args.out), without_controls(text.getvalue()))
    if made.errors:
        say(made.errors)
    return OK


def _save(model: "Model", path: Path) -> int:
    model.save(path)
    print(f"{model.summary}; saved {path}", file=sys.stderr)
    return OK
