"""Docstrings: what they explain is there, and their examples run."""

import ast
import doctest
import re

import pytest
from test_house import MODULES, nodes

import omkl

NAME = r"[a-z_][A-Za-z0-9_]*"
# "name: what it is", at the beginning of a line, or after a wide gap or a semicolon
EXPLAINED = re.compile(rf"(?:^|\s{{2,}}|; )((?:{NAME}, )*{NAME}): ", re.MULTILINE)
METHOD = re.compile(r"`([A-Z][a-z]\w*)\.(\w+)`")


def names_in(node):
    """All that a function or class calls something, or writes as a text."""
    for part in ast.walk(node):
        for field in ("id", "attr", "arg", "name"):
            if isinstance(name := getattr(part, field, None), str):
                yield name
        if isinstance(part, ast.Constant) and isinstance(part.value, str):
            yield part.value


def documented(path):
    """The functions and classes of a module with a docstring; not commands, whose docstring is their help."""
    for node in nodes(path):
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and ast.get_docstring(node):
            is_command = (
                isinstance(node, ast.FunctionDef) and node.args.args[:1] and node.args.args[0].arg == "args"
            )
            if not is_command:
                yield node


@pytest.mark.parametrize("module", MODULES)
def test_a_docstring_explains_what_is_there(module):
    """A parameter that was renamed, or is gone, is gone from the docstring, too."""
    for node in documented(MODULES[module]):
        known = {*names_in(node)}
        for match in EXPLAINED.finditer(ast.get_docstring(node)):
            gone = [name for name in match[1].split(", ") if name not in known]
            assert not gone, f"{module}.{node.name} explains {', '.join(gone)}"


def test_a_docstring_names_methods_that_are_there():
    members, imported = {}, set()
    for path in MODULES.values():
        for node in nodes(path):
            if isinstance(node, ast.ClassDef):
                members.setdefault(node.name, set()).update(names_in(node))
            elif isinstance(node, ast.ImportFrom):
                imported |= {alias.asname or alias.name for alias in node.names}
    for module, path in MODULES.items():
        for node in documented(path):
            for kind, name in METHOD.findall(ast.get_docstring(node)):
                assert kind in {*members, *imported}, f"{module}.{node.name} names {kind}, which is gone"
                assert name in members.get(kind, [name]), f"{module}.{node.name} names {kind}.{name}"


@pytest.mark.parametrize("name", ["refit", "kernel"])
def test_an_example_runs(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    examples = doctest.DocTestParser().get_examples(getattr(omkl, name).__doc__)
    assert examples
    for example in examples:
        example.options[doctest.ELLIPSIS] = True
    test = doctest.DocTest(examples, {"omkl": omkl}, name, None, 0, None)
    assert doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(test).failed == 0
