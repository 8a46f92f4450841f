"""The commands of saved models: fit, predict and update; `omkl show` shows one."""

import csv
import io
import json
import os
import sys
from argparse import Namespace
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from omkl.cli.messages import OK, emit, say
from omkl.errors import UserError, path_error, without_controls
from omkl.files import check_writable

if TYPE_CHECKING:
    from omkl.runs.models import Model

OF_RUNS = {"reps", "yardsticks", "store", "exec"}  # keys that mean nothing to `omkl fit`


def fit(args: Namespace, words: list[str]) -> int:
    """Train one learner on one data set and save it as a model."""
    from omkl.config import plan as make_plan
    from omkl.runs import models

    if args.out is None:
        raise UserError("omkl fit: the file of the model is missing; add --out model.omkl")
    for key in sorted({word.partition("=")[0].partition(".")[0] for word in words} & OF_RUNS):
        raise UserError(f"omkl fit makes one pass and stores no cells; leave out {key}=")
    plan = make_plan([*words, "yardsticks=[]"])
    target = _target(args.out)
    model = models.fit(plan)
    data = plan.data[0]
    for note in data.notes:
        say(f"{data.name}: {note}")
    _save(model, target)
    return OK


def update(args: Namespace, words: list[str]) -> int:
    """Let a saved model learn the rows of more files, in their order."""
    from omkl.runs import models

    model = models.load(args.model)
    target = _target(args.out or args.model)
    for name in args.files:
        parts, doubts = models.rows_of(model, name, model.about["task"] != "novelty")
        for rows in parts:
            model = models.update(model, rows)
        for note in doubts.notes:
            say(note)
    _save(model, target)
    return OK


def predict(args: Namespace, words: list[str]) -> int:
    """Predict the rows of a file with a saved model: their number, label and score, one line for each row.

    Rows that the preparation leaves out have neither label nor score. The file is read in parts.
    """
    from omkl.files import replacing
    from omkl.runs import models

    model = models.load(args.model)
    if args.scores and model.about["task"] != "classification":
        raise UserError(f"--scores are those of classes; {args.model} is for {model.about['task']}")
    errors = models.Errors(model.about["task"])
    parts, doubts = models.rows_of(model, args.file, False)
    records = (models.predict(model, rows, errors, args.scores) for rows in parts)
    texts = _written(records, args.format)
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


def _target(out: str | Path) -> Path:
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


def _save(model: "Model", path: Path) -> None:
    from omkl.runs import models

    try:
        models.save(model, path)
    except OSError as error:
        raise path_error(f"write {path}", error, "; the model was not saved") from None
    known = models.described(model)
    measure = next(key for key in ("mistakes", "loss", "flagged") if key in known)
    stored = known.get("support_vectors", {}).get("distinct")
    parts = [f"{known['rounds']} rows", f"{measure} {known[measure]:.6g}"]
    parts += [f"{stored} support vectors"] if stored is not None else []
    print(f"{known['learner']}: {', '.join(parts)}; saved {path}", file=sys.stderr)
