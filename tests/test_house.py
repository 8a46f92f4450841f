"""The layout of omkl/: which folder may import which, drawn from the sources."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import omkl

PACKAGE = Path(omkl.__file__).resolve().parent
GROUND = {"conf", "errors", "files", "paths", "schema", "seeds", "settings", "tasks", "typed", "yaml_files"}
# Imports point downwards: a folder may import itself and what stands in a line above its own.
LAYERS = (
    {"ground"},
    {"data", "engine"},
    {"state"},
    {"algorithms", "config"},
    {"rounds", "store"},
    {"others"},
    {"stacks"},
    {"passes"},
    {"models"},
    {"estimators"},
    {"reports", "river", "runs", "sklearn", "testing"},
    {"figures", "theorems"},
    {"publications"},
    {"pages"},
    {"api"},
    {"cli"},
)
# reports reads cells and never runs one; config and data know nothing of what runs; nothing below compiles.
FORBIDDEN = {
    "algorithms": {"data", "config"},
    "config": {"engine", "algorithms"},
    "reports": {"passes", "algorithms", "engine"},
    "store": {"engine", "algorithms", "data"},
}


@cache
def nodes(path: Path) -> list[ast.AST]:
    """Return all nodes of a file."""
    return list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))


def modules() -> dict[str, Path]:
    """Return every module of the package by its dotted name."""
    found = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = ("omkl", *path.relative_to(PACKAGE).with_suffix("").parts)
        found[".".join(parts).removesuffix(".__init__")] = path
    return found


MODULES = modules()


def module_of(name: str) -> str:
    """Return the module that a dotted name lies in, "" where it is none of ours."""
    while name and name not in MODULES:
        name = name.rpartition(".")[0]
    return name


def imports(path: Path) -> Iterator[tuple[str, int]]:
    """Yield the modules of omkl that a file imports, at the top or inside a function, with the line."""
    for node in nodes(path):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}:{node.lineno}: imports are written with the whole name"
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        else:
            continue
        for name in names:
            if name.split(".")[0] == "omkl" and (module := module_of(name)) != "omkl":
                yield module, node.lineno


def folder_of(module: str) -> str:
    """Return the folder that a module stands in, ``ground`` for those that stand in none."""
    parts = module.split(".")
    return parts[1] if (PACKAGE / parts[1]).is_dir() else "ground"


@cache
def arrows() -> list[tuple[str, str, str]]:
    """Return (place, importing module, imported module) of all imports between our modules."""
    found = []
    for module, path in MODULES.items():
        if module in ("omkl", "omkl.__main__"):
            continue
        for target, line in imports(path):
            if target != module:
                found.append((f"{path.relative_to(PACKAGE.parent)}:{line}", module, target))
    return found


RANK = {folder: rank for rank, layer in enumerate(LAYERS) for folder in layer}


def points_up(module: str, target: str) -> bool:
    """Whether an import goes to a folder beside or above its own, or to one that its folder must not use."""
    one, other = folder_of(module), folder_of(target)
    return one != other and (RANK[other] >= RANK[one] or other in FORBIDDEN.get(one, ()))


def test_the_folders_are_those_of_the_layout():
    folders = {path.name for path in PACKAGE.iterdir() if (path / "__init__.py").exists()}
    loose = {path.stem for path in PACKAGE.glob("*.py")} - {"__init__", "__main__"}
    assert folders == set(RANK) - {"ground"}
    assert loose == GROUND


def test_imports_point_downwards():
    upward = [
        f"{place}: {module} imports {target}"
        for place, module, target in arrows()
        if points_up(module, target)
    ]
    assert not upward, "these imports point up:\n  " + "\n  ".join(upward)


def test_reading_knows_nothing_of_preparing():
    """omkl/data: a source becomes a table in one room, and a table numbers in the other."""
    back = [place for place, module, target in arrows() if ".reading" in module and ".preparing" in target]
    assert not back


def test_no_modules_import_one_another_in_a_circle():
    graph: dict[str, set[str]] = {module: set() for module in MODULES}
    for _, module, target in arrows():
        graph[module].add(target)
    circles = circles_of(graph)
    assert not circles, "import circles:\n  " + "\n  ".join(" -> ".join(circle) for circle in circles)


def circles_of(graph: dict[str, set[str]]) -> list[list[str]]:
    """Return for each module that can reach itself a shortest way back, each circle once."""
    circles: dict[frozenset[str], list[str]] = {}
    for start in graph:
        ways, seen = [[start]], {start}
        while ways:
            way = ways.pop(0)
            if start in graph[way[-1]]:
                circles.setdefault(frozenset(way), [*way, start])
                break
            for target in sorted(graph[way[-1]] - seen):
                seen.add(target)
                ways.append([*way, target])
    return list(circles.values())


# Folders with modules of the same names: a theorem in one named after its learner, say.
NAMED_AFTER = (
    ("omkl.algorithms", "omkl.theorems"),
    ("omkl.engine", "omkl.testing.definitions"),
    ("omkl.river", "omkl.sklearn"),
)


def test_a_module_of_learners_is_found_by_its_functions_alone():
    """Imported by its name, its compiled code would lie beside the engine's, where no hash tells its age."""
    everywhere = [*MODULES.values(), *Path(__file__).parent.rglob("*.py")]
    rooms = (PACKAGE / "algorithms", PACKAGE / "stacks")
    outside = [path for path in everywhere if path.parent not in rooms]
    compiled = r"omkl\.(algorithms\.|stacks\.(stacking|stack_of_|error_scale))"
    named = re.compile(rf"^\s*(from|import) {compiled}", re.M)
    assert not [str(path) for path in outside if named.search(path.read_text(encoding="utf-8"))]


def test_a_module_s_name_stands_once():
    homes: dict[str, list[str]] = {}
    for module, path in MODULES.items():
        if path.name not in ("__init__.py", "__main__.py"):
            folder, _, name = module.rpartition(".")
            homes.setdefault(name, []).append(folder)
    shared = {name: folders for name, folders in homes.items() if len(folders) > 1}
    assert not {name: folders for name, folders in shared.items() if tuple(folders) not in NAMED_AFTER}


def test_a_circle_and_an_upward_arrow_are_found():
    assert circles_of({"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"a"}}) == [["a", "b", "c", "a"]]
    assert points_up("omkl.engine.kernels", "omkl.data.reading.numbered")
    assert points_up("omkl.reports.rows", "omkl.runs.cells")
    assert points_up("omkl.store.lines", "omkl.runs.cells")
    assert not points_up("omkl.cli.parser", "omkl.runs.cells")


def _text_without_encoding(path: Path) -> Iterator[int]:
    """Yield the lines of a file that open text and leave its encoding to the system."""
    for node in nodes(path):
        if not isinstance(node, ast.Call) or any(own.arg in ("encoding", None) for own in node.keywords):
            continue
        if isinstance(node.func, ast.Attribute) and node.func.attr in ("read_text", "write_text"):
            yield node.lineno
        if isinstance(node.func, ast.Name) and node.func.id == "open":
            mode = node.args[1] if len(node.args) > 1 else ast.Constant("r")
            if not (isinstance(mode, ast.Constant) and "b" in mode.value):
                yield node.lineno


def test_every_text_file_is_opened_with_its_encoding(tmp_path):
    """On Windows it would else be that of the country."""
    (tmp_path / "a.py").write_text("open(p)\nopen(p, 'w')\nopen(p, 'rb')\np.read_text()\n", encoding="utf-8")
    assert list(_text_without_encoding(tmp_path / "a.py")) == [1, 2, 4]
    sources = [*PACKAGE.rglob("*.py"), *(PACKAGE.parent / "scripts").glob("*.py")]
    found = [f"{path.name}:{line}" for path in sources for line in _text_without_encoding(path)]
    assert found == []
