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
    for file in [*(PACKAGE / "engine").glob("*.py"), *(PACKAGE / "algorithms").glob("*.py")]:
        module = f"omkl.{file.parent.name}.{file.stem}"
        for node in ast.parse(file.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ImportFrom):
                imported |= {(module, name.name): (node.module, name.name) for name in node.names}
            elif isinstance(node, ast.FunctionDef) and node.decorator_list:
                nodes[module, node.name] = node
    return nodes, imported


NODES, IMPORTED = compiled_functions()
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
            if isinstance(part, ast.Call) and isinstance(part.func, ast.Name):
                callee = (module, part.func.id)
                callee = IMPORTED.get(callee, callee)
                if callee in NODES and callee not in seen:
                    seen.add(callee)
                    todo.append(callee)
    return makes


@pytest.mark.parametrize("place", WITHOUT, ids=".".join)
def test_it_makes_no_array(place):
    assert made_by(place) == set()


def test_and_one_that_does_is_seen():
    assert made_by(("omkl.engine.expansion", "self_kernels")) == {"own_values: np.empty"}
    assert len(WITHOUT) > 30
