"""Completion by argcomplete, which knows commands, options and choices; ours are the settings and the names.

Imported only to complete a line or to print a shell's script.
"""

import argparse
import os
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from argcomplete import CompletionFinder, shellcode, split_line
from argcomplete.completers import BaseCompleter

from omkl import conf
from omkl.errors import OmklError
from omkl.figures.style import KINDS
from omkl.paths import extended
from omkl.tasks import MEASURES

Words = dict[str, str]  # what can come next, with its meaning


def script(shell: str) -> str:
    """Return the script for bash, zsh or fish; a word that ends with a dot gets no space, either."""
    text = shellcode(["omkl"], shell=shell).replace("[=/:]", "[=/:.]")
    if shell != "zsh":
        return text
    begun = "${(j: :)words[1,CURRENT-1]}"  # $BUFFER may begin with `cd x && ` or `OMKL_DATA=x `
    text = text.replace('"$BUFFER"', f'"{begun} $PREFIX"')
    return text.replace('"$CURSOR"', f'"$(( ${{#{begun}}} + ${{#PREFIX}} + 1 ))"')


def complete(
    parser: argparse.ArgumentParser, commands: Iterable[argparse.ArgumentParser], **output: Any
) -> None:
    """Write the words that can come next on the shell's line, and end the process."""
    for command in commands:
        if command.get_default("takes_words"):
            command.add_argument("words", nargs="*")
    Finder()(parser, always_complete_options=False, default_completer=Completer(), **output)


class Finder(CompletionFinder):
    """argcomplete's finder, which offers nothing where a file or the command is at fault."""

    def collect_completions(
        self,
        active_parsers: list[argparse.ArgumentParser],
        parsed_args: argparse.Namespace,
        cword_prefix: str,
    ) -> list[str]:
        """Return the words that begin like the one at the cursor."""
        parser: Any = active_parsers[-1]
        typed = split_line(os.environ["COMP_LINE"], int(os.environ["COMP_POINT"]))[3][1:]
        if parser is self._parser and not all(word.startswith("-") for word in typed):
            return []  # an unknown command
        parsed_args.words = typed  # argparse keeps only those before an option, and offers none after it
        parser.active_actions = parser.active_actions or [a for a in parser._actions if a.dest == "words"]
        try:
            with extended(getattr(parsed_args, "folders", [])):
                return super().collect_completions(active_parsers, parsed_args, cword_prefix)
        except (OmklError, OSError, ValueError, KeyError, TypeError, AttributeError):
            return []


class Completer(BaseCompleter):
    """Completes the arguments without choices."""

    def __call__(
        self, *, prefix: str, action: argparse.Action, parser: argparse.ArgumentParser, parsed_args: Any
    ) -> Words:
        """Return the words of an option or a positional argument."""
        match action.dest:
            case "words":
                return _words(prefix, parsed_args)
            case "topic":
                return dict.fromkeys([*parsed_args.main.commands, "settings", *conf.options("algo")], "")
            case "name" | "kind" | "paper":
                return _of_papers(parsed_args.command)
            case "out" | "model" | "file" | "files" | "folders":
                return _paths(prefix)
        return {}


def _of_papers(command: str) -> Words:
    """Return the papers with claims, or the numbers of their tables or figures."""
    papers = conf.read_all("paper")
    if command == "claims":
        return {name: "" for name, paper in papers.items() if paper.get("claims")}
    return (dict.fromkeys(KINDS, "") if command == "figure" else {}) | {
        name if number == "only" else f"{name}/{number}": str(item.get("title", ""))
        for name, paper in papers.items()
        for number, item in (paper.get(f"{command}s") or {}).items()
    }


def _measures() -> Words:
    """Return the measures by which learners can be compared."""
    return {
        measure.word: measure.meaning for measure in MEASURES.values() if measure.tasks and measure.better
    }


def _paths(text: str) -> Words:
    """Return the paths that begin like this, folders with a slash at their end."""
    head, slash, start = text.rpartition("/")
    folder = Path(head + slash or ".").expanduser()
    paths = sorted(folder.iterdir()) if folder.is_dir() else []
    shown = (path for path in paths if path.name.startswith(start) and (start or path.name[0] != "."))
    return {f"{head}{slash}{path.name}{'/' if path.is_dir() else ''}": "" for path in shown}


# ------------------------------------------------------------------ settings


def _words(prefix: str, args: argparse.Namespace) -> Words:
    """Return the words after a command: KEY= of what is not given yet, KEY=VALUE, or names."""
    given = {key: value for key, equals, value in (word.partition("=") for word in args.words) if equals}
    plain = [word for word in args.words if not word.startswith("-") and "=" not in word]
    key, equals, text = prefix.partition("=")
    if plain[:2] == ["data", "look"]:
        given["data"] = "".join(plain[2:3])
    if equals:
        settings = _settings(args.command, key, given)
        return {f"{key}={value}": meaning for value, meaning in _values(key, text, settings).items()}
    if plain[0] == "data" and (plain[1] != "look" or not given["data"]):
        return _paths(prefix) if plain[1] == "look" else dict.fromkeys(conf.options("data"), "")
    words = _paths(prefix) if args.command in ("check", "results") else {}  # which take folders
    for name, block in _settings(args.command, prefix, given).items():
        owner = name.rpartition(".")[0]
        if "." not in owner or prefix.startswith(f"{owner}."):
            words |= {f"{name}=": str(block["help"])} if name not in given else {}
        elif len(_chosen("algo", given)) > 1:
            words[f"{owner}."] = "of this learner alone"
    return words


def _settings(command: str, prefix: str, given: Words) -> dict[str, Any]:
    """Return the blocks of a command's keys, and of the parts of the group that the word names."""
    settings = dict(conf.keys(command))
    if command in ("run", "sweep", "report", "figure"):
        settings["by"] = {"help": "measure by which rows are compared, or that a figure shows"}
    if command in ("table", "claims"):
        settings |= {key: conf.keys("run")[key] for key in ("data", "reps", "algo")}
    group = next((group for group in conf.GROUPS if prefix.startswith(group)), "")
    if group == "pool":
        kinds = sorted({pool["normalise"] for pool in conf.read_all("pool").values()})
        settings["pool.normalise"] = {"domain": kinds, "help": "how kernel values are normalised"}
        settings["pool.kernels"] = {"help": "a list of kernels"}
    for name in _chosen(group, given) if group in ("algo", "exec") else ():
        for part, block in conf.read(group, name).items():
            if part != "about":
                settings.setdefault(f"{group}.{part}", block)
                settings |= {f"algo.{name}.{part}": block} if group == "algo" else {}
    return settings


def _chosen(group: str, given: Words) -> list[str]:
    """Return the names that the line or config.yaml gives to a group; of a group of learners, all."""
    all_names = conf.options(group)
    names = [name for name in re.findall(r"\w+", given.get(group, conf.usual()[group])) if name in all_names]
    return names or (all_names if group == "algo" else [])


def _values(key: str, text: str, settings: dict[str, Any]) -> Words:
    """Return the values of a key; of a list, with those that are there already."""
    block = settings.get(key, {})
    domain, value = block.get("domain"), block.get("value")
    before = text[: max(text.rfind(","), text.rfind("[")) + 1] if domain == "names" else ""
    values: Words = {}
    if key.removesuffix("s") in conf.GROUPS:  # also pools= of omkl tune
        values = dict.fromkeys(conf.options(key.removesuffix("s")), "")
        values |= conf.read("", "groups") if key == "algo" else {}
    elif key == "yardsticks":
        learners = conf.read_all("algo").items()
        values = {name: "" for name, learner in learners if learner["about"].get("yardstick")}
    elif key == "by":
        values = _measures()
    elif isinstance(domain, list) or domain == "bool":
        values = {str(choice): "" for choice in (domain if domain != "bool" else ("true", "false"))}
    elif isinstance(value, int | float | str):
        values = {str(value): "default"}
    if key in ("data", "store", "settings"):
        values |= _paths(text[len(before) :])
    there = before.strip("[").split(",")
    return {f"{before}{name}": meaning for name, meaning in values.items() if name not in there}
