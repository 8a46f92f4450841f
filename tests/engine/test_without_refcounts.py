"""Functions that numba compiles without counting references: nothing behind them may make an array."""

import ast
from pathlib import Path

import pytest

import omkl

PACKAGE = Path(omkl.__file__).parent
MAKERS = {"empty", "zeros", "ones", "full", "array", "arange", "concatenate", "copy", "where"}

Place = tuple[str, str]  # a module and a name in it


def compiled_functions() -> tuple[dict[Place, ast.FunctionDef], dict[Place, Place]]:
    """The compiled functions of the engine and the learners, and where their modules' names come from."""
    nodes, imported = {}, {}
    for file in [
        file for room in ("engine", "algorithms", "stacks") for file in (PACKAGE / room).glob("*.py")
    ]:
        module = f"omkl.{file.parent.name}.{file.stem}"
        for node in ast.parse(file.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ImportFrom):
                imported |= {(module, name.name): (node.module, name.name) for name in node.names}
            elif isinstance(node, ast.FunctionDef) and node.decorator_list:
                nodes[module, node.name] = node
    return nodes, imported


NODES, IMPORTED = compiled_functions()
METHODS = [
    place
    for place, node in NODES.items()
    if any(ast.unparse(d).startswith("method(") for d in node.decorator_list)
]
WITHOUT = [
    place
    for place, node in NODES.items()
    if any("without_refcounts" in ast.unparse(d) for d in node.decorator_list)
]


def made_by(place: Place) -> set[str]:
    """What makes an array in this function, or in one that it calls; what is called by address is apart."""
    seen, todo, makes = {place}, [place], set()
    while todo:
        module, name = todo.pop()
        for part in ast.walk(NODES[module, name]):
            if isinstance(part, ast.Attribute) and part.attr in MAKERS:
                makes.add(f"{name}: {ast.unparse(part)}")
            for callee in called(part, module) - seen:
                seen.add(callee)
                todo.append(callee)
    return makes


def called(part: ast.AST, module: str) -> set[Place]:
    """The compiled functions that this may call: by name, or all methods of that name."""
    if not isinstance(part, ast.Call):
        return set()
    if isinstance(part.func, ast.Attribute):
        home = ".".join(IMPORTED.get((module, ast.unparse(part.func.value)), ()))
        if home:  # of an imported module
            return {(home, part.func.attr)} & NODES.keys()
        return {place for place in METHODS if place[1] == part.func.attr}
    callee = (module, ast.unparse(part.func))
    while callee in IMPORTED:  # a learner's names come from engine/api.py
        callee = IMPORTED[callee]
    return {callee} & NODES.keys()


@pytest.mark.parametrize("place", WITHOUT, ids=".".join)
def test_it_makes_no_array(place):
    assert made_by(place) == set()


def test_and_one_that_does_is_seen():
    assert made_by(("omkl.engine.expansion", "self_kernels")) == {"own_values: np.empty"}
    assert {"mistakes: np.empty", "weighted_vote: np.ones"} < made_by(("omkl.algorithms.omkc", "omkc_dd"))
    assert len(WITHOUT) > 30
