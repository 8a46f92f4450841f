"""What is around the package: its metadata, the Makefile, the README, the scripts."""

import ast
import importlib.metadata
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from support import ROOT, script
from support.stored_pages import payload

import omkl
from omkl.cli import main
from omkl.cli.parser import build_parser
from omkl.config import plan
from omkl.data import registry
from omkl.paths import conf_folder
from omkl.store.store import Store

TARGETS = ["help", "run", "test", "check", "bench", "tables", "clean"]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())


check_readme = script("check_readme")
README = (ROOT / "README.md").read_text(encoding="utf-8")
COMMANDS = [command for command in check_readme.commands(README) if command.words[0] == "omkl"]


# ------------------------------------------------------------------ package


def test_one_version(capsys):
    assert re.fullmatch(r"\d+\.\d+\.\d+", omkl.__version__)
    with pytest.raises(SystemExit):
        main(["--version"])
    assert capsys.readouterr().out == f"omkl {omkl.__version__}\n"
    try:
        installed = importlib.metadata.version("omkl")
    except importlib.metadata.PackageNotFoundError:
        pytest.skip("not installed: run from a bare checkout")
    assert installed == omkl.__version__


def test_the_wheel_takes_the_conf_folder_and_nothing_that_is_missing():
    forced = PROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]["force-include"]
    assert forced["conf"] == "omkl/conf"
    for source in forced:
        assert (ROOT / source).exists(), source
    assert not (ROOT / "omkl" / "conf").exists(), "conf has one home"
    assert conf_folder() == ROOT / "conf"
    for part in PROJECT["tool"]["hatch"]["build"]["targets"]["sdist"]["include"]:
        assert (ROOT / part).exists(), part


def test_every_import_is_a_dependency():
    provided_by = {
        "dask": "distributed",
        "hydra": "hydra-core",
        "llvmlite": "numba",
        "sklearn": "scikit-learn",
        "threadpoolctl": "scikit-learn",
        "yaml": "omegaconf",
    }
    extras = PROJECT["project"]["optional-dependencies"]
    needed = PROJECT["project"]["dependencies"] + [
        word for extra, words in extras.items() if extra not in ("test", "browser") for word in words
    ]
    declared = {re.split(r"[<>=]", word)[0] for word in needed}
    found = set()
    for path in (ROOT / "omkl").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                found |= {alias.name.split(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.level == 0:
                found.add(node.module.split(".")[0])
    foreign = {provided_by.get(name, name) for name in found - sys.stdlib_module_names - {"omkl"}}
    assert foreign == declared


def test_the_supported_versions_are_said_alike_everywhere():
    assert PROJECT["project"]["requires-python"] == ">=3.11,<3.14"
    assert "(3, 11) <= sys.version_info[:2] <= (3, 13)" in (ROOT / "Makefile").read_text()
    assert "Python 3.11 to 3.13" in README


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
    assert re.findall(r"^make (\w+) +\S", done.stdout, re.M) == TARGETS
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


# ------------------------------------------------------------------ README


def test_the_readme_shows_every_command():
    shown = {command.words[1] for command in COMMANDS}
    assert shown >= {"run", "sweep", "figure", "list", "show", "data", "bench"}
    assert {option for command in COMMANDS for option in command.words if option.startswith("--")} >= {
        "--format",
        "--fresh",
        "--out",
    }


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: f"{command.number}: {command.text}")
def test_a_command_of_the_readme_is_valid(command, tmp_path, monkeypatch):
    """Parsed and planned, not run: scripts/check_readme.py runs them."""
    if command.mark in ("example", "exit") or "--help" in command.words:
        pytest.skip(
            "needs the worked example's files" if command.mark == "example" else "is a mistake, or help"
        )
    monkeypatch.chdir(tmp_path)
    Path("my.libsvm").write_text("1 1:1\n0 1:2\n")
    Path("targets.csv").write_text("1,0.5\n0,0.2\n")
    words = command.words[1:]
    if ">" in words:
        words = words[: words.index(">")]
    args, settings = build_parser().parse_known_args(words)
    assert not [word for word in settings if word.startswith("-")]
    if args.command == "show" and not any("=" in word for word in settings):
        assert len(settings) == 1  # a saved model
    elif args.command in ("run", "sweep", "figure", "report", "bounds", "show", "status", "fit"):
        assert plan(settings, sweep=args.command in ("sweep", "figure", "report")).reps > 0
    elif args.command == "results":
        assert args.action in ("list", "export", "merge", "prune", "reseal")
    elif args.command == "data":
        assert all(registry.is_name(word) for word in settings)
    else:
        assert settings == []


def test_the_readme_names_files_variables_and_targets_that_exist():
    used = set()
    for path in (ROOT / "omkl").rglob("*.py"):
        used |= set(re.findall(r'"(OMKL_[A-Z_]+)"', path.read_text(encoding="utf-8")))
    assert set(re.findall(r"^\| `(OMKL_[A-Z_]+)`", README, re.M)) == used
    for name in re.findall(r"`((?:scripts|conf|tests|omkl)/[\w./]+)`", README):
        assert (ROOT / name).exists(), name
    assert set(re.findall(r"(?:`|^)make (\w+)", README, re.M)) <= {*TARGETS, "alone"}
    assert not re.search(r"(?<![\w.])/(home|root|tmp|work|Users)/", README), "a path of someone's machine"


def test_the_files_of_the_worked_examples_are_where_they_belong():
    files = check_readme.example_files(README)
    assert {Path(name).parent.as_posix() for name in files} == {
        "omkl/algorithms",
        "conf/algo",
        "conf/pool",
        "conf/data",
        "tests/reference",
    }
    for name, content in files.items():
        assert not (ROOT / name).exists(), f"{name} exists by now: the README needs another example"
        if name.endswith(".py"):
            compile(content, name, "exec")


# ------------------------------------------------------------------ scripts


def test_check_readme_reads_blocks_and_comments():
    text = (
        "```console\n$ omkl list algos\nalgo  label\n...\n$ ls\nx\n```\n"
        "```bash\nomkl run data=wdbc 'algo.kernel={kind:linear}' > a.json  # long  why\nmake run\n```\n"
        "```python\nprint(1)\n```\n```yaml conf/pool/mine.yaml\nlabel: x\n```\n```\nomkl no\n```\n"
    )
    first, second, third = check_readme.commands(text)
    assert (first.number, first.text, first.printed) == (2, "omkl list algos", ["algo  label", "..."])
    assert second.words == ["omkl", "run", "data=wdbc", "algo.kernel={kind:linear}", ">", "a.json"]
    assert (second.mark, second.exit_code) == ("long", 0)
    assert third.text == "python -c 'print(1)'"
    assert check_readme.example_files(text) == {"conf/pool/mine.yaml": "label: x\n"}
    with pytest.raises(ValueError, match="line 1"):
        check_readme.commands("```bash\nomkl list algos\n")


def test_check_readme_sees_other_figures_but_not_other_seconds():
    command = check_readme.Command(1, "omkl run", ["omkl", "run"], "", ["wdbc  10.85 ± 0.78  <0.001  20/20"])
    assert not list(check_readme.differences(command, "x\nwdbc    10.85 ± 0.78   0.012   20/20\n"))
    assert list(check_readme.differences(command, "wdbc  10.86 ± 0.78  <0.001  20/20\n"))


@pytest.mark.parametrize(("words", "code"), [(["echo", "omkl"], 0), (["false"], 1), (["exit", "3"], 3)])
def test_check_readme_reports_a_command_that_fails(words, code):
    wrong = check_readme.run(check_readme.Command(1, " ".join(words), words, ""))
    assert wrong.startswith(f"exit code {code}") if code else wrong == ""
    assert check_readme.run(check_readme.Command(1, " ".join(words), words, f"exit {code}")) == ""


def test_tables_are_made_of_real_cells(tmp_path, monkeypatch, capsys):
    tables = script("tables")
    words = ["omkl", "--data", "wdbc", "--reps", "2", "--out", str(tmp_path), "-j", "1"]
    monkeypatch.setattr(sys, "argv", ["tables.py", *words])
    assert tables.main() == 0
    text = (tmp_path / "omkl.md").read_text(encoding="utf-8")
    assert "`omkl table omkl --reps 2 --data wdbc`" in text
    assert f"omkl {omkl.__version__}" in text
    made = Store(tmp_path).cells()
    assert re.search(
        rf"; {len(made)} of them run by this command, in \d+ s; learner time .* \d+ s$", text, re.M
    )
    cells = made.query("algo == 'perceptron'")
    shown = "{:.2f} ± {:.2f}".format(*100 * cells["mistake_rate"].agg(["mean", "std"]))
    assert re.search(rf"^\| +\| Perceptron \(yardstick\) +\|.*\| +{shown} ", text, re.M)
    table = tmp_path / "omkl" / "table-omkl"
    assert table.with_suffix(".csv").read_text().count("\nwdbc,") == len(made) / 2
    page = payload((tmp_path / "omkl.html").read_text(encoding="utf-8"))
    assert page["tables"]["s1-1"]["csv"] == table.with_suffix(".csv").read_text()
    assert r"\begin{tabular}" in table.with_suffix(".tex").read_text()
    assert tables.main() == 0
    assert "0 of them run by this command" in (tmp_path / "omkl.md").read_text(encoding="utf-8")
    monkeypatch.setattr(sys, "argv", ["tables.py", "omkr"])
    assert tables.main() == 2
    assert "unknown paper" in capsys.readouterr().err
