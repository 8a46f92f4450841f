"""The commands of saved models: fit, predict and update; `omkl show` shows one."""

import csv
import io
import json
import sys
from argparse import Namespace
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from omkl import experiments as front
from omkl.cli.messages import OK, emit, say
from omkl.errors import UserError, path_error, without_controls

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
        parts, doubts = models.rows_of(model.trained, name, model.learns_labels)
        rows = list(parts)  # before any of them is learnt, as one of them may not fit
        for note in doubts.notes:
            say(note)
        for part in rows:
            models.update(model.trained, part)
    return _save(model, target)


def predict(args: Namespace, words: list[str]) -> int:
    """Predict the rows of a file with a saved model: their number, label and score, one line for each row.

    Rows that the preparation leaves out have neither label nor score. The file is read in parts.
    """
    from omkl.files import check_writable, replacing
    from omkl.runs import models

    if args.out is not None:
        try:
            check_writable(Path(args.out))
        except OSError as error:
            raise path_error(f"write {args.out}", error) from None
    model = models.load(args.model)
    if args.scores and model.about["task"] != "classification":
        raise UserError(
            f"--scores prints the scores of classes, but {args.model} is for {model.about['task']}"
        )
    errors = models.Errors(model.about["task"])
    parts, doubts = models.rows_of(model, args.file, False)

    def predicted() -> Iterator[list[dict[str, Any]]]:
        for rows in parts:
            errors.add(made := models.predict(model, rows))
            scores = models.scores_of_classes(model, rows) if args.scores else {}
            shares = models.probabilities_of_classes(model, rows) if args.proba else {}
            more = {f"score {name}": values for name, values in scores.items()}
            yield models.records(rows, made, more | {f"P {name}": own for name, own in shares.items()})

    texts = _written(predicted(), args.format)
    if args.out is None:
        for text in texts:
            emit(text)
    else:
        with replacing(Path(args.out)) as file:
            for text in texts:
                file.write(without_controls(text).encode())
    for note in [*doubts.notes, *filter(None, [str(errors)])]:
        say(note)
    return OK


def _written(parts: Iterable[list[dict[str, Any]]], fmt: str) -> Iterator[str]:
    """Yield the records of all parts as text in this format."""
    count = 0
    for records in parts:
        if fmt == "csv":
            text = io.StringIO()
            table = csv.writer(text, lineterminator="\n")
            if not count:
                table.writerow(records[0])
            table.writerows(
                [repr(value) if isinstance(value, float) else value for value in record.values()]
                for record in records
            )
            yield text.getvalue()
        else:
            lines = [json.dumps(record, ensure_ascii=False) for record in records]
            start = ("[" if not count else ",") + "\n " if fmt == "json" else ""
            yield start + (",\n " if fmt == "json" else "\n").join(lines) + ("" if fmt == "json" else "\n")
        count += len(records)
    if fmt == "json":
        yield "\n]\n"


def _save(model: "Model", path: Path) -> int:
    model.save(path)
    print(f"{model.summary}; saved {path}", file=sys.stderr)
    return OK
