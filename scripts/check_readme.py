"""Run every omkl command of README.md and of docs, and compare what it prints with what its page says.

    python scripts/check_readme.py [--long] [--examples] [--list] [FILE ...]

A command is a line that starts with "omkl" in a ```bash block, or after "$ " in a ```console block. The
commands and the ```python blocks of a page run in order, in a folder of its own that holds only the data
files my.libsvm and targets.csv. The lines below a command in a console block must be in its output, except
for seconds; a line "..." replaces any lines. The first word of a comment after the command (two spaces and #)
can have a meaning:

    # long      only run with --long           # network   never run here
    # exit 2    must end with that exit code   # example   only run with --examples

A block such as ```yaml conf/pool/mine.yaml is a file of a worked example. --examples writes these files of
all pages into one copy of the checkout and runs the commands marked "example" there. A file for no folder of
the checkout (```yaml mine/conf/pool/p.yaml) is written before all commands of its page. A command whose data
are not on this machine is skipped, with a message. Nothing is downloaded.
"""

import argparse
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
OWN_FILE, OWN_TARGETS = "my.libsvm", "targets.csv"
SECONDS = re.compile(r"(?:<|\\textless\{\})?\b\d+\.\d{3}\b")  # no other column has three decimals


@dataclass
class Command:
    """One command of a page: its line number, text, words, comment, and the lines printed below it."""

    number: int
    text: str
    words: list[str]
    comment: str
    printed: list[str] = field(default_factory=list)

    @property
    def mark(self) -> str:
        """The first word of its comment."""
        return self.comment.split(" ")[0]

    @property
    def title(self) -> str:
        """Its text, or a short name for a python block."""
        return "python block" if self.words == ["python"] else self.text

    @property
    def exit_code(self) -> int:
        code = re.match(r"exit (\d+)", self.comment)
        return int(code[1]) if code else 0


def commands(text: str) -> list[Command]:
    """Return the omkl commands and python blocks of a Markdown text in order."""
    result: list[Command] = []
    for number, kind, lines in blocks(text):
        if kind == "python":
            result.append(Command(number, shlex.join(["python", "-c", "\n".join(lines)]), ["python"], ""))
        if kind not in ("console", "bash"):
            continue
        current = None
        for place, line in enumerate(lines, number + 1):
            if kind == "bash" or line.startswith("$ "):
                current = _command(place, line.removeprefix("$ "))
                result += [current] if current else []
            elif current is not None:
                current.printed.append(line)
    return result


def example_files(text: str) -> dict[str, str]:
    """Return the worked examples' files by path: the blocks whose info string names a file."""
    named = ((kind.partition(" ")[2].strip(), lines) for _, kind, lines in blocks(text))
    return {path: "\n".join([*lines, ""]) for path, lines in named if path}


def blocks(text: str) -> Iterator[tuple[int, str, list[str]]]:
    """Yield the fenced blocks as (line number of the fence, info string, lines).

    ValueError if a fence is not closed.
    """
    start, kind, lines = 0, "", []
    for number, line in enumerate(text.splitlines(), 1):
        if not line.startswith("```"):
            lines.append(line)
        elif not start:
            start, kind, lines = number, line[3:].strip(), []
        else:
            yield start, kind, lines
            start = 0
    if start:
        raise ValueError(f"line {start}: this fence is not closed")


def _command(number: int, line: str) -> Command | None:
    text, _, comment = line.partition("  #")
    words = shlex.split(text)
    if not words or words[0] not in ("omkl", "python"):
        return None
    return Command(number, text.strip(), words, comment.strip())


def missing(command: Command) -> str:
    """Return what this machine lacks to run a command, or an empty string."""
    from omkl.config import plan
    from omkl.data import registered, registry
    from omkl.paths import extended

    program, *words = [word for word in command.words if not word.startswith("-")]
    if program != "omkl" or not words:
        return ""
    kind, *words = words
    names: list[str] = []
    if kind in ("table", "claims") or (kind == "figure" and words and re.fullmatch(r"\w+/\w+", words[0])):
        return "" if os.environ.get("OMKL_DATA") else "the papers' data"
    if kind in ("run", "sweep", "figure", "bounds", "status") and command.exit_code == 0:
        settings = [word for word in words if "=" in word and not word.startswith("by=")]
        named = [Path(folder).resolve() for option, folder in pairwise(command.words) if option == "--with"]
        with extended(named):
            names = [ref.word for ref in plan(settings, sweep=kind in ("sweep", "figure")).data]
        if "order=authors" in words and not os.environ.get("OMKL_DATA"):
            return "the authors' orders"
    elif kind == "data":
        names = [word for word in words if registry.is_name(word)]
    absent = [name for name in names if registry.is_name(name) and registered(name).state == "missing"]
    return ", ".join(absent)


def differences(command: Command, output: str) -> Iterator[str]:
    """Yield the lines that the page shows below a command but the command did not print."""
    printed = {_bare(line) for line in output.splitlines()}
    for line in command.printed:
        if line.strip() not in ("", "...") and _bare(line) not in printed:
            yield line


def _bare(line: str) -> str:
    """Return a line without what differs between runs: the seconds and their width."""
    return re.sub(r"[\s-]+", " ", SECONDS.sub("s", line)).strip()


def run(command: Command) -> str:
    """Run a command in the current folder and return what is wrong, or an empty string."""
    done = subprocess.run(
        ["bash", "-c", command.text],
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        timeout=600,
    )
    if done.returncode != command.exit_code:
        ends = done.stdout[-2000:] + done.stderr[-2000:]
        return f"exit code {done.returncode}, not {command.exit_code}\n{ends}"
    lines = list(differences(command, done.stdout + done.stderr))
    if lines:
        return "\n".join(["not printed:", *lines, "printed:", done.stdout + done.stderr])
    return ""


def pages() -> list[Path]:
    """Return the README and the pages of docs that are written by hand."""
    found = sorted([*ROOT.glob("docs/*.md"), *ROOT.glob("docs/tutorials/*.md")])
    return [ROOT / "README.md", *(path for path in found if path.relative_to(ROOT).as_posix() not in made())]


def made() -> list[str]:
    """Return the pages and folders of docs that a build makes, as .gitignore names them."""
    lines = (ROOT / ".gitignore").read_text(encoding="utf-8").splitlines()
    return [line.rstrip("/") for line in lines if line.startswith("docs/")]


def _ours(file: str) -> bool:
    """Whether a file of a worked example belongs into a folder of the checkout."""
    return (ROOT / file).parent.exists()


def main() -> int:
    """Check the pages; return 0, or 1 if a command failed or printed something else."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False
    )
    parser.add_argument("files", nargs="*", type=Path, metavar="FILE", help="default: the README and docs")
    parser.add_argument("--long", action="store_true", help="also run the commands marked # long")
    parser.add_argument("--examples", action="store_true", help="run only the worked examples")
    parser.add_argument("--list", action="store_true", help="list the commands and run nothing")
    args = parser.parse_args()
    texts = {path.resolve(): path.read_text(encoding="utf-8") for path in args.files or pages()}
    selected = {
        path: [command for command in commands(text) if (command.mark == "example") == args.examples]
        for path, text in texts.items()
    }
    if args.list:
        for path, listed in selected.items():
            for command in listed:
                comment = f"  # {command.comment}" if command.comment else ""
                print(f"{path.name}:{command.number}: {command.title}{comment}")
        return 0
    files = {path: example_files(text) for path, text in texts.items()}
    examples = {name: file for own in files.values() for name, file in own.items() if _ours(name)}
    before = dict(os.environ)
    began, failed, skipped = time.perf_counter(), 0, 0
    with tempfile.TemporaryDirectory() as name:
        for number, (path, listed) in enumerate(selected.items()):
            if not listed:
                continue
            folder = Path(name, "examples" if args.examples else str(number))
            if not folder.is_dir():
                folder.mkdir()
                os.environ.clear()
                os.environ.update(before)
                os.chdir(folder)
                _set_up(folder, examples if args.examples else {})
            for name_of_file, content in files[path].items():
                if not _ours(name_of_file):
                    Path(name_of_file).parent.mkdir(parents=True, exist_ok=True)
                    Path(name_of_file).write_text(content, encoding="utf-8")
            print(path.relative_to(ROOT) if path.is_relative_to(ROOT) else path, flush=True)
            for command in listed:
                why = _unable(command, args.long, args.examples)
                if why:
                    skipped += 1
                    print(f"         skipped {command.title}  ({why})", flush=True)
                else:
                    failed += not _checked(path.name, command)
        os.chdir(ROOT)
    total = sum(map(len, selected.values()))
    took = time.perf_counter() - began
    print(f"{total} commands, {failed} failed, {skipped} skipped, {took:.0f} s")
    return 1 if failed else 0


def _unable(command: Command, long: bool, example: bool) -> str:
    """Return why a command is skipped, or an empty string."""
    if command.mark == "network":
        return "needs the network"
    if command.mark == "long" and not long:
        return "long"
    absent = "" if example else missing(command)
    return f"needs {absent}" if absent else ""


def _checked(page: str, command: Command) -> bool:
    """Run a command, say how it went, and return whether it did and printed what its page says."""
    began = time.perf_counter()
    wrong = run(command)
    took = f"{time.perf_counter() - began:5.1f} s"
    print(f"{took}  {'FAILED ' if wrong else 'ok     '} {command.title}", flush=True)
    if wrong:
        print(f"{page} line {command.number}: {wrong}", file=sys.stderr, flush=True)
    return not wrong


def _set_up(folder: Path, files: dict[str, str]) -> None:
    """Set the environment of the commands; files of examples go into a copy of the checkout."""
    for name in ("OMKL_STORE", "OMKL_MIRROR"):
        os.environ.pop(name, None)
    os.environ["OMKL_OFFLINE"] = "1"
    os.environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    data = [str(ROOT / part) for part in os.environ.get("OMKL_DATA", "").split(os.pathsep) if part]
    _write_own_files()
    if files:
        copy = folder / "checkout"
        for part in ("omkl", "conf", "tests"):
            shutil.copytree(ROOT / part, copy / part, ignore=shutil.ignore_patterns("__pycache__"))
        shutil.copy(ROOT / "pyproject.toml", copy)
        for path, content in files.items():
            (copy / path).write_text(content, encoding="utf-8")
        shutil.move(OWN_FILE, copy)
        data.append(str(copy))
        os.environ |= {"PYTHONPATH": str(copy), "OMKL_CACHE": str(folder / "cache")}
        os.chdir(copy)
    if data:
        os.environ["OMKL_DATA"] = os.pathsep.join(data)


def _write_own_files() -> None:
    """Write the pages' own data files: wdbc as LIBSVM text with labels 0 and 1, and regression targets."""
    import numpy as np
    from sklearn.datasets import dump_svmlight_file, load_breast_cancer, load_diabetes

    dump_svmlight_file(*load_breast_cancer(return_X_y=True), OWN_FILE, zero_based=False)
    X, y = load_diabetes(return_X_y=True)
    np.savetxt(OWN_TARGETS, np.column_stack([X, y / y.max()]), delimiter=",")


if __name__ == "__main__":
    sys.exit(main())
