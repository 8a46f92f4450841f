"""What is around the package: its metadata, the Makefile, the scripts."""

import ast
import importlib.metadata
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import url2pathname

import pytest
from support import ROOT, script
from support.stored_pages import files_in

import omkl
from omkl.cli import main
from omkl.paths import conf_folder
from omkl.store.store import Store

TARGETS = [
    "help",
    "run",
    "test",
    "test-all",
    "test-slow",
    "test-blas",
    "test-bounds",
    "test-pages",
    "check",
    "bench",
    "tables",
    "today",
    "docs",
    "clean",
]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())


# ------------------------------------------------------------------ package


def test_one_version(capsys):
    assert re.fullmatch(r"\d+\.\d+\.\d+", omkl.__version__)
    with pytest.raises(SystemExit):
        main(["--version"])
    assert capsys.readouterr().out == f"omkl {omkl.__version__}\n"
    try:
        installed = importlib.metadata.distribution("omkl")
    except importlib.metadata.PackageNotFoundError:
        pytest.skip("not installed: run from a bare checkout")
    origin = json.loads(installed.read_text("direct_url.json") or "{}")
    if "dir_info" in origin and Path(url2pathname(urlsplit(origin["url"]).path)) != ROOT:
        pytest.skip(f"the installed omkl is that of {origin['url']}, not these sources")
    assert installed.version == omkl.__version__, (
        f"these sources are {omkl.__version__}, but they were installed as {installed.version}: "
        "`touch pyproject.toml`, then `make test` installs them again"
    )


def test_the_wheel_takes_the_conf_folder_and_nothing_that_is_missing():
    forced = PROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]["force-include"]
    assert forced["conf"] == "omkl/conf"
    for source in forced:
        assert (ROOT / source).exists(), source
    assert not (ROOT / "omkl" / "conf").exists(), "conf has one home"
    assert conf_folder() == ROOT / "conf"
    for part in PROJECT["tool"]["hatch"]["build"]["targets"]["sdist"]["include"]:
        assert (ROOT / part).exists(), part


DEVELOPING = ("test", "browser", "docs")  # extras for contributors


def test_every_import_is_a_dependency():
    provided_by = {
        "arff": "liac-arff",
        "dask": "distributed",
        "hydra": "hydra-core",
        "lazy_loader": "lazy-loader",
        "llvmlite": "numba",
        "markdown_it": "markdown-it-py",
        "sklearn": "scikit-learn",
        "threadpoolctl": "scikit-learn",
        "yaml": "omegaconf",
    }
    extras = PROJECT["project"]["optional-dependencies"]
    optional = {extra: words for extra, words in extras.items() if extra not in DEVELOPING}
    assert optional.pop("all") == [f"omkl[{','.join(sorted(optional))}]"]
    needed = PROJECT["project"]["dependencies"] + [word for words in optional.values() for word in words]
    declared = {re.split(r"[<>=]", word)[0] for word in needed}
    found = set()
    for path in (ROOT / "omkl").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                found |= {alias.name.split(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.level == 0:
                found.add(node.module.split(".")[0])
    foreign = {provided_by.get(name, name) for name in found - sys.stdlib_module_names - {"omkl"}}
    assert foreign | {"python-calamine"} == declared  # which pandas imports, by its name


def test_the_version_is_that_of_the_changelog_and_of_the_citation():
    headings = re.findall(
        r"^## (\S+)(.*)$", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE
    )
    assert omkl.__version__ == next(
        version for version, note in headings if not note and version != "Unreleased"
    )
    assert f"\nversion: {omkl.__version__}\n" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")


def test_the_supported_versions_are_said_alike_everywhere():
    assert PROJECT["project"]["requires-python"] == ">=3.11,<3.14"
    assert "(3, 11) <= sys.version_info[:2] <= (3, 13)" in (ROOT / "Makefile").read_text()
    assert "Python 3.11 to 3.13" in (ROOT / "README.md").read_text(encoding="utf-8")


def test_licence():
    assert PROJECT["project"]["license"] == {"text": "MIT"}
    assert (ROOT / "LICENSE").read_text().startswith("MIT License\n")


# ------------------------------------------------------------------ Makefile and CI


@pytest.fixture
def make():
    """Run make in a copy of nothing but Makefile and pyproject.toml, never in the checkout."""
    if shutil.which("make") is None:
        pytest.skip("make is not installed")

    def run(folder, *words):
        for name in ("Makefile", "pyproject.toml"):
            shutil.copy(ROOT / name, folder)
        environment = {
            k: v for k, v in os.environ.items() if k not in ("MAKEFLAGS", "MAKELEVEL", "VENV", "ARGS")
        }
        return subprocess.run(
            ["make", "--no-print-directory", *words],
            cwd=folder,
            env=environment,
            capture_output=True,
            text=True,
            timeout=60,
        )

    return run


@pytest.mark.parametrize("words", [[], ["help"]])
def test_make_lists_every_target(make, tmp_path, words):
    done = make(tmp_path, *words)
    assert done.returncode == 0, done.stderr
    assert re.findall(r"^make ([\w-]+) +\S", done.stdout, re.M) == TARGETS
    phony = re.search(r"^\.PHONY: (.*)$", (ROOT / "Makefile").read_text(), re.M)[1]
    assert phony.split() == TARGETS


@pytest.mark.parametrize("target", TARGETS)
def test_every_target_can_be_made(make, tmp_path, target):
    done = make(tmp_path, "--dry-run", target)
    assert done.returncode == 0, done.stderr
    assert ("-m venv" in done.stdout) is (target not in ("help", "clean"))


def test_an_unsuitable_python_is_refused_in_words(make, tmp_path):
    done = make(tmp_path, "run", "PYTHON=false")
    assert done.returncode == 2
    assert "omkl needs Python 3.11 to 3.13" in done.stderr
    assert not (tmp_path / ".venv").exists()


def test_clean_keeps_results(make, tmp_path):
    kept = ["results/cells/a.jsonl", "results/omkc.md", "omkl/cli/parser.py"]
    gone = [".venv/bin/python", "build/wheel/x.whl", "dist/x", ".ruff_cache/x", "omkl/data/__pycache__/x.pyc"]
    for name in [*kept, *gone, "tests/x.py", "scripts/x.py"]:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("x")
    done = make(tmp_path, "clean")
    assert done.returncode == 0, done.stderr
    assert all((tmp_path / name).exists() for name in kept)
    assert not any((tmp_path / name).exists() for name in gone)


def test_ci_can_be_run():
    path = ROOT / ".ci" / "run"
    assert os.access(path, os.X_OK)
    assert path.read_text().startswith("#!/usr/bin/env bash\n")
    if shutil.which("bash"):
        assert subprocess.run(["bash", "-n", path], timeout=30).returncode == 0


# ------------------------------------------------------------------ scripts


@pytest.mark.slow
def test_tables_are_made_of_real_cells(tmp_path, monkeypatch, capsys):
    tables = script("tables")
    words = ["omkl", "--data", "wdbc", "--reps", "2", "--out", str(tmp_path), "-j", "1"]
    monkeypatch.setattr(sys, "argv", ["tables.py", *words])
    assert tables.main() == 0
    text = (tmp_path / "omkl.md").read_text(encoding="utf-8")
    assert "`omkl table omkl reps=2 data=wdbc`" in text
    assert f"omkl {omkl.__version__}" in text
    made = Store(tmp_path).cells()
    assert re.search(rf"^{len(made)} cells; learner time of all together \d+ s\.$", text, re.M)
    cells = made.query("algo == 'perceptron'")
    shown = "{:.2f} ± {:.2f}".format(*100 * cells["mistake_rate"].agg(["mean", "std"]))
    assert re.search(rf"^\| +\| Perceptron \(yardstick\) +\|.*\| +{shown} ", text, re.M)
    table = tmp_path / "omkl" / "table-omkl"
    assert table.with_suffix(".csv").read_text().count("\nwdbc,") == len(made) / 2
    files = files_in((tmp_path / "omkl.html").read_text(encoding="utf-8"))
    assert files["table-omkl.csv"] == table.with_suffix(".csv").read_text()
    assert r"\begin{tabular}" in table.with_suffix(".tex").read_text()
    assert tables.main() == 0
    assert (tmp_path / "omkl.md").read_text(encoding="utf-8") == text  # all from the store
    monkeypatch.setattr(sys, "argv", ["tables.py", "omkr"])
    assert tables.main() == 2
    assert "unknown paper" in capsys.readouterr().err
