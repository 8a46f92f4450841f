"""Writes the pages that are made from conf/ and results/ before Sphinx reads the folder; git ignores them."""

import re
from collections.abc import Iterator
from pathlib import Path

from sphinx.application import Sphinx

from hooks import coverage, learners, notebook, references
from hooks.tables import ROOT, markdown
from omkl.data import registry
from omkl.store.fields import FIELDS, NOTHING
from omkl.tasks import TASK_ERROR, listed_measures

_RESULTS = ROOT / "results"
_RELATIVE = re.compile(r"!?\[[^]]*\]\((?P<target>(?!https?:|#|/)[^)\s]+)\)(?: · )?")


def generated() -> Iterator[tuple[str, str]]:
    """Yield the file and the text of every generated page."""
    yield from learners.pages()
    yield from _papers()
    yield "coverage.md", coverage.page()
    yield "datasets.md", _datasets()
    yield "fields.md", _fields()
    yield "measures.md", _measures()
    yield "references.md", references.page()
    yield "notebook.md", notebook.page(ROOT / "docs" / "notebook.ipynb")
    for name in ("CHANGELOG", "CONTRIBUTING"):
        if (ROOT / f"{name}.md").is_file():
            yield f"{name.lower()}.md", _of_root((ROOT / f"{name}.md").read_text(encoding="utf-8"))


def _of_root(text: str) -> str:
    """Links of a file of the checkout's folder as they are on the site; those to other files become text."""
    text = re.sub(r"\]\(docs/([\w/-]+\.md)", r"](\1", text)
    return re.sub(r"\[([^]]+)\]\((?!http|#|[\w/-]+\.md)[^)]+\)", r"\1", text)


def _papers() -> Iterator[tuple[str, str]]:
    """The pages of results/, whose pictures and tables are copied as they are."""
    for path in sorted(_RESULTS.glob("*.md")):
        text = _RELATIVE.sub(_of_results, path.read_text(encoding="utf-8"))
        yield f"papers/{path.name}", text


def _of_results(link: re.Match[str]) -> str:
    """A link to a file next to a page of results/; the page's own tables as Markdown are left out."""
    whole, target = link[0], link["target"]
    if target.endswith(".md"):
        return "" if "/" in target else whole
    return whole.replace(target, f"../../results/{target}") if (_RESULTS / target).is_file() else whole


def _datasets() -> str:
    text = ["# Data sets", ""]
    entries = [registry.entry(name) for name in registry.registered_names()]
    text += [
        f"{len(entries)} registered data sets, from `conf/data`. [Data](data.md) says how to use them.",
        "",
    ]
    for task, many, title in (
        ("classification", False, "Two classes"),
        ("classification", True, "Three and more classes"),
        ("regression", False, "Numbers"),
        ("novelty", False, "Novelty detection"),
    ):
        own = [entry for entry in entries if entry.task == task and (entry.n_classes > 2) == many]
        if not own:
            continue
        last = "classes" if many else "positive %"
        head = ["name", "what it is", "examples", "features", "nonzero %", last]
        rows = [
            [
                f"[{entry.name}](#data-{entry.name.replace('_', '-')})",
                entry.title,
                f"{entry.T:,}",
                f"{entry.d:,}",
                "" if entry.nnz is None else f"{100 * entry.nnz / (entry.T * entry.d):.1f}",
                str(entry.n_classes) if many else _percent(entry.positive_share),
            ]
            for entry in own
        ]
        text += [f"## {title}", "", *markdown(head, rows), ""]
    text += ["## Sources and licences", ""]
    for entry in entries:
        text += [
            f"(data-{entry.name.replace('_', '-')})=",
            f"**{entry.name}**: {_sentence(entry.description)}",
        ]
        text += [f"Source: {_linked(entry.source)}. Licence: {_linked(_sentence(entry.licence))}"]
        text += [f"Note: {_sentence(note)}" for note in entry.remarks]
        text.append("")
    return "\n".join(text)


def _fields() -> str:
    """The fields of a cell's line, from the table of which the store makes it."""
    kinds = {str: "text", int: "whole number", float: "number", dict: "object", list: "list", NOTHING: "null"}
    rows = [
        [
            f"`{field.name}`",
            " or ".join(kinds[kind] for kind in field.types if not (kind is int and float in field.types)),
            field.meaning + (f" ({field.unit})" if field.unit else ""),
            "yes" if field.key else "",
            f"`{field.mean[0]}_mean`, `{field.mean[0]}_std`" if field.mean else "",
        ]
        for field in FIELDS
    ]
    head = ["field", "type", "meaning", "part of the key", "columns of a summary"]
    text = "A line of `results/cells/*.jsonl` has these fields; a failed cell has `error` and `traceback` in"
    text += " place of its figures. `Store.cells` returns them as columns of these names."
    return "\n".join(["# The fields of a cell", "", text, "", *markdown(head, rows), ""])


def _measures() -> str:
    """The measures, from the table of which columns, marks and figures are made."""
    made = {
        "scores": "scores",
        "probabilities": "probabilities, of learners that give them",
        "variance": "variances, of learners that report them",
        "intervals": "intervals, where `interval=` asks for them",
        "test": "rows held out (test=)",
        "counts": "confusion matrix",
        "mistakes": "mistakes",
    }
    text = [
        "# Measures",
        "",
        "Scores are those before the updates. `--columns +NAME` shows a measure in the table "
        "of a run, `by=NAME` compares and marks its rows by it, in `omkl tune` tunes by it, "
        "in `omkl figure` draws it, and claims of a paper's YAML name its column. JSON, CSV and "
        "[Results](python.md) have all of them.",
        "",
    ]
    for task, title in (("classification", "Classes"), ("regression", "Numbers")):
        rows = [
            [
                f"`{own.word}`",
                f"{own.header}: {own.meaning}",
                own.formula,
                own.unit,
                own.better,
                made[own.of],
                "yes" if own.label else "",
                f"`{own.name}_mean`",
            ]
            for own in listed_measures()
            if task in own.tasks
        ]
        head = ["name", "what it is", "formula", "unit", "better", "made from", "curve", "column"]
        text += [f"## {title}", "", *markdown(head, rows), ""]
        text += [f"Rows are compared by `{TASK_ERROR[task].word}` unless another measure is named.", ""]
    text += [
        "Each measure of a pass exists for the rows of `test=` too, of the last hypothesis (`test_auc`) "
        "and of the averaged one (`averaged_auc`). `by=auc` shows both beside the AUC of the pass.",
        "",
        "A registered regression set is shown in MSE x 1e3, as papers print it: its target was scaled "
        "for that. Your own data are shown in RMSE, in the target's units; `--columns +mae,+r2` adds others.",
        "",
        "What is made from the confusion matrix, and RMSE, is computed when cells are read; the rest is kept "
        "when a pass ends. Cells of older versions lack it: tables show a dash and a note, and `--fresh` "
        "runs such cells again. A measure without a value, such as the AUC of a stream of one class, is "
        "left out. `--columns +class_errors,+f1` shows the error and F1 of each class.",
        "",
    ]
    return "\n".join(text)


def _percent(share: float | None) -> str:
    return "" if share is None else f"{100 * share:.1f}"


def _linked(text: str) -> str:
    return re.sub(r"(https?://[^\s;,)]*[^\s;,.)])", r"<\1>", text)


def _sentence(text: str) -> str:
    return f"{text.rstrip('. ')}."


def _write(app: Sphinx) -> None:
    made = dict(generated())
    for name, text in made.items():
        path = Path(app.srcdir) / name
        path.parent.mkdir(exist_ok=True)
        if not path.is_file() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
    for folder in ("learners", "papers"):
        for path in (Path(app.srcdir) / folder).glob("*.md"):
            if f"{folder}/{path.name}" not in made:
                path.unlink()


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("config-inited", lambda app, config: _write(app))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
