"""Shared fixtures and marks. Real data are found through OMKL_DATA; without them a test skips and says so.

Two marks are set here, so that nobody has to think of them: ``data`` where a test uses real data, ``blas``
where its expected values come from BLAS, whose last digits depend on the processor (OPENBLAS_CORETYPE).
``--slow`` adds the tests that `make test` leaves out.
"""

import ast
import inspect
import os
import re
import signal
import subprocess
import sys
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import TypeGuard
from unittest import mock

import pytest

pytest_plugins = ["support.download_server"]
NOT_FOUND = "real data not found: set OMKL_DATA to the folder that holds MANIFEST.csv"
MADE_HERE = ("wdbc", "ties")  # sets of test_twins and test_bounds that every machine has
WITH_TWINS = ("test_twins.py", "test_many_classes.py")
BLAS = re.compile(r" @ |\blinalg\b|\.dot\(|einsum|omkl\.bounds|\bSVC\b")


LEFT_OUT = ("slow", "browser", "slurm_real")  # what only `make test-all` runs


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add --slow."""
    parser.addoption("--slow", action="store_true", help=f"also the tests marked {', '.join(LEFT_OUT)}")


def pytest_configure(config: pytest.Config) -> None:
    """Before the workers of a whole run start, compile every learner once, on all cores.

    A shell's background job ignores Ctrl-C, and so would tests and the processes that they start.
    """
    signal.signal(signal.SIGINT, signal.default_int_handler)
    is_whole = config.args_source is not config.ArgsSource.ARGS and not config.option.keyword
    if getattr(config.option, "numprocesses", None) and is_whole and not config.option.collectonly:
        subprocess.run([sys.executable, "-m", "omkl", "compile"], check=True, stdout=subprocess.DEVNULL)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print the CPU time of this process and of all that it started."""
    with suppress(ImportError):  # not on Windows
        import resource

        used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
        seconds = sum(own.ru_utime + own.ru_stime for own in used)
        terminalreporter.write_line(f"CPU time: {seconds / 60:.1f} minutes")


def data_folder() -> Path | None:
    """First folder of OMKL_DATA that exists and holds the manifest, or None."""
    for part in os.environ.get("OMKL_DATA", "").split(os.pathsep):
        if part and (Path(part) / "MANIFEST.csv").is_file():
            return Path(part)
    return None


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Folder with the real data sets; skips the test where it is not."""
    folder = data_folder()
    if folder is None:
        pytest.skip(NOT_FOUND)
    return folder


@pytest.fixture(scope="session", autouse=True)
def _one_thread_of_blas():
    """Twins solve small systems: the threads of BLAS would only wait for each other on all cores."""
    import scipy.linalg  # noqa: F401  (it has a BLAS of its own)
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1, "blas"):
        yield


@pytest.fixture(scope="session", autouse=True)
def _no_waiting_for_the_disk():
    """In the tests' own process fsync returns at once: nobody cuts the power. What is killed is a process."""
    with mock.patch.object(os, "fsync", return_value=None):
        yield


@pytest.fixture(autouse=True)
def _the_environment_as_it_was():
    """A kernel that a test defines adds its folder to OMKL_PATH, for the whole process."""
    with mock.patch.dict(os.environ):
        yield


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave out files without a test that uses BLAS where only such tests are to run: imports take long."""
    is_test = collection_path.name.startswith("test_") and collection_path.suffix == ".py"
    only = config.option.markexpr in ("blas", "blas and not data")
    if only and is_test and collection_path.name not in WITH_TWINS:
        return not any(_uses_blas(collection_path)) or None
    return None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Set the marks ``data`` and ``blas``, and leave out what only --slow runs."""
    if not config.option.slow:
        slow = [item for item in items if any(map(item.get_closest_marker, LEFT_OUT))]
        config.hook.pytest_deselected(items=slow)
        items[:] = [item for item in items if item not in set(slow)]
    for item in items:
        params = item.callspec.params if hasattr(item, "callspec") else {}
        if "shared_data" in item.fixturenames or params.get("data_name", "wdbc") not in MADE_HERE:
            item.add_marker("data")
        name = getattr(item, "originalname", item.name)
        helpers, own = _uses_blas(_oracle(item, params))
        if helpers or name in own:
            item.add_marker("blas")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    """Fail a test that asked for real data without the mark: `pytest -m data` would never run it."""
    report = yield
    if report.skipped and NOT_FOUND in str(report.longrepr) and not item.get_closest_marker("data"):
        report.outcome, report.longrepr = "failed", "this test uses real data: it needs the mark `data`"
    return report


def _oracle(item: pytest.Item, params: dict) -> Path:
    """Return the file that a test's expected values come from: its own, or its learner's twin."""
    import reference

    if item.path.name in WITH_TWINS and "twin" in item.name:
        twin = reference.TWINS.get(params.get("name"))
        return Path(inspect.getsourcefile(twin or reference))
    return item.path


@cache
def _uses_blas(path: Path) -> tuple[bool, set[str]]:
    """Return whether a file uses BLAS outside its test functions, and which of these use it."""
    lines = path.read_text(encoding="utf-8").splitlines()
    tests = [node for node in ast.parse("\n".join(lines)).body if _is_test(node)]
    first = {node.name: min(part.lineno for part in (node, *node.decorator_list)) - 1 for node in tests}
    own = {node.name: lines[first[node.name] : node.end_lineno] for node in tests}
    for node in tests:
        lines[first[node.name] : node.end_lineno] = [""] * len(own[node.name])
    using = {name for name, text in own.items() if BLAS.search("\n".join(text))}
    return bool(BLAS.search("\n".join(lines))), using


def _is_test(node: ast.stmt) -> TypeGuard[ast.FunctionDef]:
    return isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
