"""A page for each learner, made from its YAML, its function and the tables of results/; no list is kept."""

import ast
import functools
import inspect
import re
import textwrap
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

from hooks import references
from hooks.tables import markdown, results_of
from omkl.algorithms import function
from omkl.api.learner_help import (
    KERNELS,
    TASK,
    command_of,
    first_sentence,
    memory_of,
    of_tasks,
    predicts,
)
from omkl.config import learner_names, learner_specs
from omkl.config.learners import LearnerSpec
from omkl.config.parameters import texts
from omkl.estimators.arguments import class_name


def pages() -> Iterator[tuple[str, str]]:
    """Yield the file and the text of every learner's page and of the page that lists them."""
    specs = learner_specs()
    yield "learners/index.md", _index(specs)
    for spec in specs.values():
        yield f"learners/{spec.name}.md", _page(spec)


def _code(spec: LearnerSpec) -> Any:
    compiled = function(spec.function)
    return getattr(compiled, "py_func", compiled)


def _module(spec: LearnerSpec) -> ModuleType:
    module = inspect.getmodule(_code(spec))
    assert module is not None
    return module


def _family(module: ModuleType) -> str:
    """The heading of a module: the first line of its docstring without the authors."""
    first = (inspect.getdoc(module) or module.__name__).splitlines()[0]
    return re.split(r": | \(|\.$|;", first)[0]


def _index(specs: dict[str, LearnerSpec]) -> str:
    families: dict[str, list[LearnerSpec]] = {}
    for spec in specs.values():
        families.setdefault(_family(_module(spec)), []).append(spec)
    text = ["# Learners", "", f"{len(specs)} learners in {len(families)} families."]
    text += ["[Which learner for which problem](../choose.md) helps to choose.", ""]
    for title in sorted(families, key=lambda title: (_place(families[title]), title.lower())):
        rows = [_entry(spec) for spec in families[title]]
        head = ["learner", "in tables", "what it does", "for", "memory"]
        text += [f"## {title}", "", *markdown(head, rows), ""]
    return "\n".join(text)


def _place(family: list[LearnerSpec]) -> tuple[bool, ...]:
    """Where a family stands: nothing to choose first, then pools before one kernel, and yardsticks last."""
    return (
        all(spec.yardstick for spec in family),
        not any(spec.kernels == "none" for spec in family),
        not any("classification" in spec.tasks for spec in family),
        not any(spec.kernels == "pool" for spec in family),
        not any(memory_of(spec) == "grows" for spec in family),
    )


def _entry(spec: LearnerSpec) -> list[str]:
    does = _escaped(spec.summary and first_sentence(spec))
    return [f"`{spec.name}`", spec.label, does, ", ".join(predicts(spec)), memory_of(spec)]


def _page(spec: LearnerSpec) -> str:
    own, around = _sections(_code(spec)), _sections(_module(spec))
    classes = " and ".join(f"`{class_name(spec.name, task)}`" for task in spec.tasks)
    role = "; tables show it below the learners, as a yardstick" if spec.yardstick else ""
    text = [f"# {spec.name}", "", _escaped(spec.summary), ""]
    text += [f"* In tables: {spec.label}{role}"]
    text += [f"* For {' and '.join(predicts(spec))}, on {KERNELS[spec.kernels]}"]
    text += ["* Draws random numbers of its own"] if spec.stochastic else []
    text += [f"* Memory: {memory_of(spec)}"]
    code = Path(inspect.getfile(_code(spec)))
    text += [f"* Code: `{code.relative_to(code.parents[2])}`"]
    text += [f"* From Python: {classes} of [`omkl.sklearn` and `omkl.river`](../estimators.md)", ""]
    text += ["```bash", command_of(spec), "```", ""]
    text += ["## Definition", "", own["summary"], "", *_plain(around["body"]), *_plain(own["body"])]
    text += ["```python", _source(spec), "```", ""]
    text += ["The helpers are those of `omkl/engine`; their names say what they do.", ""]
    text += ["## Hyperparameters", "", *_hyperparameters(spec)]
    if spec.setup:
        text += [f"`{spec.setup}` sets its kernels: {_sections(function(spec.setup, False))['summary']}", ""]
    deviations = [*_plain(own["deviations"]), *_plain(around["deviations"])]
    text += ["## Deviations from the paper", "", *(deviations or ["The docstring names none.", ""])]
    text += ["## Memory and time", "", *_cost(spec)]
    text += ["## Reference", "", f"{spec.cite[0].upper()}{spec.cite[1:]}.", ""]
    text += [f"* {references.line(entry)}" for entry in references.cited(spec.cite)]
    text += ["", "## Results", "", *results_of(spec.name)]
    return "\n".join([*text, ""])


def _sections(of: Any) -> dict[str, str]:
    """Split a docstring into its first sentence, its deviations, and the rest."""
    text = inspect.getdoc(of) or ""
    text = re.sub(r" \(ALGORITHMS\.md section \d+\)", "", text)  # notes that are not public
    body, _, deviations = text.partition("Deviations:")
    first, _, rest = body.partition("\n\n")
    deviations, _, after = deviations.partition("\n\n")
    if deviations.strip().lower().rstrip(".") in ("", "none"):
        deviations = ""
    rest = "\n\n".join(part for part in (rest.strip("\n"), after.strip("\n")) if part)
    return {"summary": _escaped(" ".join(first.split())), "body": rest, "deviations": deviations.strip()}


def _plain(text: str) -> list[str]:
    """Prose as paragraphs; a legend, whose columns are three spaces apart, and formulas as written."""
    shown: list[str] = []
    for paragraph in filter(None, re.split(r"\n\s*\n", text)):
        if paragraph.startswith("|"):
            shown += [*paragraph.splitlines(), ""]
        elif "   " in paragraph or "<-" in paragraph:
            shown += ["```text", *textwrap.dedent(paragraph).splitlines(), "```", ""]
        else:
            words = _escaped(" ".join(paragraph.split()))
            letter = words[1:2] == " "  # a legend such as "f (1,) output": a letter keeps its case
            shown += [words if letter else words[0].upper() + words[1:], ""]
    return shown


def _escaped(text: str) -> str:
    """Return a docstring as Markdown: marks are escaped; ``code``, learners and files are code."""
    parts = re.split(r"``(.+?)``", text)
    for place in range(0, len(parts), 2):
        parts[place] = re.sub(r"(?<![\w/])(?:\w+/)*\w+\.py\b", r"``\g<0>``", parts[place])
        parts[place] = re.sub(r"(?<![\w./])[a-z0-9]+(?:_[a-z0-9]+)+(?![\w/]|\.\w)", _as_learner, parts[place])
    parts = re.split(r"``(.+?)``", "``".join(parts))
    parts[::2] = [re.sub(r"([*_<>\[\]|`])", r"\\\1", part) for part in parts[::2]]
    parts[1::2] = [f"`{part}`" for part in parts[1::2]]
    return "".join(parts)


def _as_learner(match: re.Match[str]) -> str:
    return f"``{match[0]}``" if match[0] in learner_names() else match[0]


@functools.cache
def _source_of(path: str) -> ast.Module:
    return ast.parse(Path(path).read_text(encoding="utf-8"))


def _source(spec: LearnerSpec) -> str:
    """The learner's function without its docstring, which the page shows by itself."""
    path = str(inspect.getsourcefile(_code(spec)))
    lines = Path(path).read_text(encoding="utf-8").splitlines()
    node = next(
        n for n in _source_of(path).body if isinstance(n, ast.FunctionDef) and n.name == spec.function
    )
    head = lines[node.lineno - 1 : node.body[0].lineno - 1]
    return "\n".join([*head, *lines[node.body[0].end_lineno : node.end_lineno]])


def _hyperparameters(spec: LearnerSpec) -> list[str]:
    if not spec.hyperparameters:
        return ["It has none.", ""]
    rows = []
    for name, own in spec.hyperparameters.items():
        domain = ", ".join(map(str, own.domain)) if isinstance(own.domain, list) else own.domain
        searched = ", ".join(f"`{text}`" for text in texts(own.search)) if own.search else "–"
        rows.append(
            [f"`algo.{name}`", f"`{of_tasks(own.value)}`", f"`{domain}`", searched, _escaped(own.help)]
        )
    rules = [f"`{rule}` must hold." for rule in spec.require]
    for task, allowed in spec.only.items():
        rules += [f"For {TASK[task]}, `{name}` is {' or '.join(map(str, v))}." for name, v in allowed.items()]
    if spec.pool != "any":
        rules.append(f"Its kernels are {spec.pool}.")
    return [
        *markdown(["name", "default", "domain", "`omkl tune` searches", "meaning"], rows),
        "",
        *([" ".join(rules), ""] if rules else []),
    ]


def _cost(spec: LearnerSpec) -> list[str]:
    """What the declared state says about memory, which is also what an ordinary round passes over."""
    rows = [[f"`{name}`", *resource.described()] for name, resource in spec.state.items()]
    rows = [row for row in rows if row[1]]
    text = [*markdown(["part", "what it is", "numbers of 8 bytes"], rows), ""]
    bounded = not any(resource.unlimited({}) for resource in spec.state.values())
    legend = "m: kernels, d: features of an example (its nonzero ones where the data are sparse)"
    legend += ", n: examples stored so far" if not bounded else ""
    text += [f"An ordinary round passes at most once over what is stored. ({legend}.)", ""]
    return text
