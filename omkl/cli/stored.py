"""The commands on what there is: learners, data sets, configurations, stored results, saved models."""

import csv
import io
import json
import os
import sys
from argparse import Namespace
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from omkl.cli.output import OK, complain, print_result, print_status
from omkl.errors import OmklError, UserError, counted, path_error, suggest, without_controls
from omkl.paths import given, store_folder
from omkl.reports.table import Table
from omkl.reports.table_cells import as_data

if TYPE_CHECKING:
    from omkl.api.trained_model import Model
    from omkl.data.registered_data import Registered

LEAST = ("source", "yardstick", "label", "title")  # columns that a narrow terminal leaves out first
FILTERS = ("store", "algo", "data")
LEAST_OF_RESULTS = ("machines", "dates", "order", "revision", "failed")


def list_(args: Namespace, words: list[str]) -> int:
    """List learners, their groups, data sets, kernel pools, measures, or papers with what they show.

    Without a KIND, the kinds are listed.

    examples:
      omkl list algos
      omkl list kernels
    """
    from omkl.api.lists import list_rows, shown_of

    rows = list_rows(args.kind)
    print_result(Table.of(rows, shown_of(args.kind, rows), least=LEAST).render(args.format))
    return OK


def show(args: Namespace, words: list[str]) -> int:
    """Print what a run with these settings uses, with help and domains, or what a saved model holds.

    examples:
      omkl show algo=omkc_ss data=wdbc algo.beta=0.9
      omkl show model.omkl
    """
    word = words[0] if len(words) == 1 and "=" not in words[0] else ""
    if os.path.isfile(word) or word.endswith(".omkl"):
        from omkl.api.calls import load_model

        configuration = load_model(word).described()
    else:
        from omkl.config import resolved

        configuration = resolved(words)
    if args.format == "json":
        text = json.dumps(configuration, indent=1, ensure_ascii=False) + "\n"
    else:
        from omkl import yaml_files

        text = yaml_files.yaml_text(configuration, default_flow_style=None, allow_unicode=True, width=110)
    print_result(text)
    return OK


def data(args: Namespace, words: list[str]) -> int:
    """List, download, verify or locate data sets; or look at a file before a run.

    OMKL_DATA lists folders to look in, as PATH does; missing sets are downloaded to the cache and verified.
    OMKL_MIRROR (a URL) replaces the sets' own addresses, OMKL_OFFLINE=1 forbids downloads.

    `omkl data look FILE` takes the settings of your own table (label= drop= read.sep= ...) and shows
    how it is understood: each column, its values, what a run does with it, and the words that change this.

    examples:
      omkl data list
      omkl data look my.csv label=class missing=drop
      omkl data get german a9a
      omkl data verify          all that are present
      omkl data path wdbc
    """
    from omkl.api.lists import data_rows
    from omkl.data import registry

    if args.action == "look":
        return _look(args, words)
    names = dict.fromkeys(words or (registry.registered_names() if args.action in ("list", "verify") else ()))
    sets = list({ref.name: ref for ref in map(_registered, names)}.values())
    if args.action == "list":
        print_result(Table.of(data_rows(sets)).render(args.format))
        return OK
    if not words:
        sets = [ref for ref in sets if ref.state != "missing"]
    if not sets:
        raise UserError(f"omkl data {args.action} NAME ...: name the data sets; `omkl data list` shows them")
    code = OK
    for ref in sets:  # one that fails does not stop the others
        try:
            print_result(_data_line(args, ref))
        except OmklError as error:
            if args.debug:
                raise
            code = max(code, complain(error))
    return code


def _registered(name: str) -> "Registered":
    """Return a registered set. Raises UserError, for a set of a paper that is not public with the reason."""
    from omkl.data import registered, registry
    from omkl.publications.paper import paper_names, read_paper

    if not registry.is_name(name):
        for paper in map(read_paper, paper_names()):
            if name in paper.unavailable:
                raise UserError(f"{name}: no download: {paper.unavailable[name].how}")
    return registered(name)


def _look(args: Namespace, words: list[str]) -> int:
    from omkl.api.calls import look

    names = [word for word in words if "=" not in word or os.path.isfile(word)]
    if len(names) != 1:
        raise UserError("omkl data look FILE [KEY=VALUE ...]: name one file, or - for standard input")
    print_result(look(names[0], [word for word in words if word not in names]).render(args.format))
    return OK


def _data_line(args: Namespace, ref: "Registered") -> str:
    from omkl.data.registry import UNVERIFIED

    if args.action == "verify":
        found = ref.verify()
        return f"{ref.name}: {'ok' if ref.entry.content_hash else UNVERIFIED}, sha256 {found}\n"
    if args.action == "path":
        return "".join(f"{path}\n" for path in ref.paths())
    files = ref.get(force=args.force)
    without_files = "is generated" if ref.state == "generated" else "comes with scikit-learn"
    note = "" if ref.entry.content_hash else f" ({UNVERIFIED})"
    return f"{ref.name}: {' '.join(map(str, files)) or without_files}{note}\n"


# -------------------------------------------------------------------- stored results


def results(args: Namespace, words: list[str]) -> int:
    """List, export, merge or prune stored results.

      list    show what the store holds: learners x data x settings, cells, revisions, dates, machines
      export  write all cells as one flat table: CSV to stdout, or --out FILE.csv
      merge   copy the lines of other stores (folders) that this one lacks; the newer of two results counts
      prune   remove what no table uses: superseded lines, failures that succeeded later (only with --yes)

    settings: store=PATH (else OMKL_STORE, else ./results); list and export: algo=NAME,... data=NAME,...

    examples:
      omkl results list
      omkl results list store=/mnt/big/results algo=omkc_dd --format csv
      omkl results export data=wdbc,german --out cells.csv
      omkl results merge /mnt/node1/results /mnt/node2/results store=all
      omkl results prune --old
    """
    from omkl.reports import store_contents
    from omkl.store import upkeep
    from omkl.store.store import Store

    folders = [word for word in words if "=" not in word] if args.action == "merge" else []
    filters = FILTERS if args.action in ("list", "export") else ("store",)
    others = [word for word in words if word not in folders]
    chosen = _chosen_words(others, f"omkl results {args.action}", filters)
    store = Store(store_folder(next(iter(chosen["store"]), None)))
    if args.action == "merge":
        if not folders:
            raise UserError("omkl results merge FOLDER ...: name the stores to copy from")
        copied = upkeep.merge(store, [given(folder, "") for folder in folders])
        print_result(
            f"{store.path}: {counted(copied['cells'], 'line')} of cells and "
            f"{counted(copied['curves'], 'curve')} copied\n"
        )
        return OK
    if not (store.path / "cells").is_dir():
        raise UserError(
            f"{store.path} is not a results store (it has no cells/ folder); name one with store=PATH"
        )
    if args.action == "list":
        rows = store_contents.contents(store, chosen["algo"], chosen["data"])
        print_result(Table.of(rows, least=LEAST_OF_RESULTS).render(args.format))
    elif args.action == "export":
        cells = store_contents.flat_table(store, chosen["algo"], chosen["data"])
        if args.out is None:
            print_result(store_contents.as_csv(cells))
        else:
            path = store_contents.export(cells, args.out)
            print_status(
                f"wrote {path}: {counted(len(cells), 'cell')}, {counted(len(cells.columns), 'column')}"
            )
    else:
        from omkl.passes.source import sources_of_others

        sources = sources_of_others() if args.old else {}
        rows, busy = upkeep.prune(store, old=args.old, torn=args.torn, really=args.yes, sources=sources)
        if rows or args.format == "json":
            print_result(Table.of(rows).render(args.format))
        for path in busy:
            print_status(f"{path}: left unchanged, because a run is writing to it")
        if rows:
            undone = "nothing was removed; add --yes to remove these lines"
            print_status("these lines were removed" if args.yes else undone)
        elif not busy:
            print_status(f"{store.path} has no such lines; there is nothing to remove")
    return OK


# ------------------------------------------------------------------ saved models


def fit(args: Namespace, words: list[str]) -> int:
    """Train one learner on one data set and save it as a model.

    A model keeps the learner, its hyperparameters and kernels, and how the table was prepared, so that new
    rows are prepared in the same way. Scores are those that the next round of the run would have had.

    examples:
      omkl fit algo=omkc_ss data=my.csv label=class --out model.omkl
      omkl predict model.omkl new.csv --out predicted.csv
      omkl update model.omkl more.csv
      omkl show model.omkl
    """
    from omkl.api.call import Call
    from omkl.api.trained_model import trained, writable

    if args.out is None:
        raise UserError("omkl fit: the file of the model is missing; add --out model.omkl")
    target = writable(args.out)
    model = trained(Call(words), to_save=True)
    for note in model.notes:
        print_status(note)
    return _save_model(model, target)


def update(args: Namespace, words: list[str]) -> int:
    """Let a saved model learn the rows of more files, in their order.

    examples:
      omkl update model.omkl more.csv
    """
    from omkl.api.calls import load_model
    from omkl.api.trained_model import writable
    from omkl.models import new_data, saved_models

    model = load_model(args.model)
    target = writable(args.out or args.model)
    for name in args.files:
        row_parts, tally = new_data.rows_of_file(model.trained, name, model.learns_labels)
        rows = list(row_parts)  # before any of them is learnt, as one of them may not fit
        for note in tally.notes:
            print_status(note)
        for part in rows:
            saved_models.update_model(model.trained, part)
    return _save_model(model, target)


def _save_model(model: "Model", path: Path) -> int:
    model.save(path)
    print(f"{model.summary}; saved {path}", file=sys.stderr)
    return OK


def predict(args: Namespace, words: list[str]) -> int:
    """Predict the rows of a file with a saved model: their number, label and score, one line for each row.

    Rows that the preparation leaves out have neither label nor score. The file is read in parts.
    Scores are those that the next round of the run would have had.

    examples:
      omkl predict model.omkl new.csv --out predicted.csv
      omkl predict gp.omkl new.csv --interval 0.95      # columns low and high
    """
    from omkl.files import check_writable, replacing
    from omkl.models import new_data, predictions, saved_models

    if args.out is not None:
        try:
            check_writable(Path(args.out))
        except OSError as error:
            raise path_error(f"write {args.out}", error) from None
    model = saved_models.load_saved(args.model)
    task = model.about["task"]
    if args.scores and task != "classification":
        raise UserError(f"--scores prints the scores of classes, but {args.model} is for {task}")
    if args.interval is not None:
        predictions.interval_level(model, args.interval)
    errors = predictions.Errors(task)
    row_parts, tally = new_data.rows_of_file(model, args.file, False)

    def predicted() -> Iterator[list[dict[str, Any]]]:
        for rows in row_parts:
            errors.add(prediction := predictions.predict_rows(model, rows))
            scores = predictions.scores_of_classes(model, rows) if args.scores else {}
            shares = predictions.probabilities_of_classes(model, rows) if args.proba else {}
            more = {f"score {name}": values for name, values in scores.items()}
            more |= {f"P {name}": share for name, share in shares.items()}
            more |= predictions.intervals(model, rows, args.interval) if args.interval is not None else {}
            yield predictions.records(rows, prediction, more)

    texts = _written(predicted(), args.format, predictions.columns_of_model(model, args.scores, args.proba))
    if args.out is None:
        for text in texts:
            print_result(text)
    else:
        with replacing(Path(args.out)) as file:
            for text in texts:
                file.write(without_controls(text).encode())
    for note in [*tally.notes, *filter(None, [str(errors)])]:
        print_status(note)
    return OK


def _written(record_parts: Iterable[list[dict[str, Any]]], fmt: str, columns: list[str]) -> Iterator[str]:
    """Yield the records of all parts as text in this format; columns: of CSV without any record."""
    before, at = "[", -1  # of JSON's next record
    for at, records in enumerate(record_parts):
        if fmt == "csv":
            text = io.StringIO()
            writer = csv.writer(text, lineterminator="\n")
            writer.writerows([map(as_data, records[0])] if not at else [])
            writer.writerows(
                [repr(value) if isinstance(value, float) else as_data(value) for value in record.values()]
                for record in records
            )
            yield text.getvalue()
            continue
        lines = [json.dumps(record, ensure_ascii=False) for record in records]
        if fmt == "jsonl":
            yield "".join(f"{line}\n" for line in lines)
        else:
            yield f"{before}\n " + ",\n ".join(lines)
            before = ","
    if fmt == "csv" and at < 0:
        text = io.StringIO()
        csv.writer(text, lineterminator="\n").writerow(columns)
        yield text.getvalue()
    if fmt == "json":
        yield "[\n]\n" if at < 0 else "\n]\n"


def _chosen_words(words: list[str], command: str, keys: tuple[str, ...]) -> dict[str, list[str]]:
    """Return the values of the words store=, algo= and data=. Raises UserError for any other word."""
    chosen: dict[str, list[str]] = {key: [] for key in FILTERS}
    for word in words:
        key, equals, value = word.partition("=")
        if not equals or key not in keys:
            raise UserError(f"{word}: {command} takes {', '.join(keys)}{suggest(key, keys)}")
        if not value or chosen[key]:
            raise UserError(f"{word}: " + ("given twice" if chosen[key] else "the value is missing"))
        chosen[key] = [value] if key == "store" else [part for part in value.split(",") if part]
    return chosen
