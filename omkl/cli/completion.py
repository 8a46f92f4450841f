"""``omkl completion``: the words that can come next, for the completion of bash, zsh and fish.

The scripts call the command itself, with the line up to the cursor.
"""

import argparse
import re
import shlex
from argparse import Namespace
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from omkl import conf
from omkl.cli.messages import OK, emit
from omkl.errors import OmklError
from omkl.paths import extended, extension
from omkl.reports.figure_style import KINDS
from omkl.tasks import MEASURES

Word = tuple[str, str]  # and its meaning
SCRIPTS = {
    "bash": """\
_omkl() {
    mapfile -t COMPREPLY < <("$1" completion bash "${COMP_LINE:0:COMP_POINT}" "$COMP_WORDBREAKS" 2>/dev/null)
    case "${COMPREPLY[0]-}" in *[=./]) compopt -o nospace 2>/dev/null ;; esac
}
complete -o default -F _omkl omkl
""",
    "zsh": """\
#compdef omkl
_omkl() {
    local line
    local -a done_words done_texts open_words open_texts
    for line in "${(@f)$("${words[1]}" completion zsh "${(j: :)words[1,CURRENT-1]} $PREFIX" 2>/dev/null)}"; do
        case "${line%%$'\\t'*}" in
            '') ;;
            *[=./]) open_words+=("${line%%$'\\t'*}"); open_texts+=("${line//$'\\t'/  }") ;;
            *) done_words+=("${line%%$'\\t'*}"); done_texts+=("${line//$'\\t'/  }") ;;
        esac
    done
    (( $#done_words )) && compadd -Q -l -d done_texts -a done_words
    (( $#open_words )) && compadd -Q -l -S '' -d open_texts -a open_words
}
compdef _omkl omkl
""",
    "fish": """\
function __omkl_words
    set -l words (commandline -op)
    $words[1] completion fish (commandline -cp) 2>/dev/null
end
complete -c omkl -f -a '(__omkl_words)'
""",
}


def completion(args: Namespace, words: list[str]) -> int:
    """Print the script that completes omkl's words in a shell."""
    if args.typed is None:
        emit(SCRIPTS[args.shell])
        return OK
    try:
        found = candidates(args.typed, args.parsers)
    except (OmklError, OSError, ValueError, KeyError, TypeError, AttributeError):
        found = []  # a faulty conf file: nothing to suggest
    if args.shell != "bash":
        emit("".join(f"{word}\t{text}\n" if text else f"{word}\n" for word, text in found))
        return OK
    breaks = set(args.breaks) & set("=:")  # bash completes what follows the last of these
    start = max((args.typed.rfind(sign) for sign in breaks), default=-1) + 1
    start = max(0, start - (len(args.typed) - len(_current(args.typed))))
    emit("".join(f"{word[start:]}\n" for word, _ in found))
    return OK


def candidates(line: str, parsers: dict[str, argparse.ArgumentParser]) -> list[Word]:
    """Return the words that the last word of a line can become, none where the line cannot be read.

    parsers: of the commands, by name.
    """
    current = _current(line)
    try:
        words = shlex.split(line.removesuffix(current))[1:]
    except ValueError:  # inside quotes
        return []
    folders = [words[place + 1] for place, word in enumerate(words[:-1]) if word == "--with"]
    plain = [word for word in words if not word.startswith("-") and word not in folders]
    if not plain:
        return _begun(current, ((name, sub.description or "") for name, sub in parsers.items()))
    if plain[0] not in parsers:
        return []
    with extended(extension(folder, "--with ") for folder in folders):
        return _begun(current, _next(parsers[plain[0]], plain, words[-1], current))


def _current(line: str) -> str:
    return re.split(r"(?<!\\)\s", line)[-1]


def _begun(current: str, words: Iterable[Word]) -> list[Word]:
    return [(word, text) for word, text in words if word.startswith(current)]


def _next(parser: argparse.ArgumentParser, plain: list[str], last: str, current: str) -> Iterator[Word]:
    """Yield what can follow; plain: the words so far that are no options; last: of all words."""
    options = {name: action for action in parser._actions for name in action.option_strings}
    if (action := options.get(last)) and action.nargs != 0:
        yield from _of_action(action, plain, current)
        return
    if current.startswith("-"):
        name, equals, _ = current.partition("=")
        if equals and name in options:
            yield from (
                (f"{name}={word}", text)
                for word, text in _of_action(options[name], plain, current[len(name) + 1 :])
            )
        else:
            yield from ((name, action.help or "") for name, action in options.items())
        return
    positional = [action for action in parser._actions if not action.option_strings]
    given = [word for word in plain[1:] if "=" not in word]
    if "=" in current:
        yield from _values(plain, *current.split("=", 1))
    elif len(given) < len(positional) or (positional and positional[-1].nargs == "+"):
        yield from _of_action(positional[min(len(given), len(positional) - 1)], plain, current)
    elif plain[:2] == ["data", "look"]:
        yield from _keys(plain, current) if len(given) > 1 else _paths(current)
    elif plain[0] == "data":
        yield from _names("data")
    elif parser.get_default("takes_words"):
        yield from _keys(plain, current)


def _of_action(action: argparse.Action, plain: list[str], current: str) -> Iterator[Word]:
    """Yield the values of an option or of a positional argument."""
    before = current[: current.rfind(",") + 1]
    if action.choices is not None:
        yield from ((str(name), "") for name in action.choices)
    elif action.dest == "by":
        yield from _measures()
    elif action.dest in ("data", "algo"):
        yield from ((f"{before}{name}", text) for name, text in _names(action.dest))
    elif action.dest in ("out", "model", "file", "files", "folders"):
        yield from _paths(current)
    elif action.dest in ("name", "paper", "kind"):
        group = {"table": "tables", "figure": "figures", "claims": "claims"}[plain[0]]
        yield from ((kind, "") for kind in KINDS if group == "figures")
        for paper, title in _names("paper"):
            items = conf.read("paper", paper).get(group) or {}
            if group == "claims":
                yield from ([(paper, title)] if items else [])
            else:
                yield from (
                    (paper if number == "only" else f"{paper}/{number}", str(item.get("title", "")))
                    for number, item in items.items()
                )


# ------------------------------------------------------------------ settings


def _keys(plain: list[str], current: str) -> Iterator[Word]:
    """Yield the keys that are not given yet; parts of algo, pool and exec once their group is typed."""
    given = {word.partition("=")[0] for word in plain[1:]}
    for key, own in settings_of(plain[0]).items():
        if key not in given:
            yield f"{key}=", str(own["help"])
        if key in ("algo", "pool", "exec") and current.startswith(key):
            yield from (
                (f"{part}=", text)
                for part, (text, _) in _parts(key, plain).items()
                if part not in given and (part.count(".") < 2 or current.startswith(part[: part.rindex(".")]))
            )
            chosen = _chosen(key, plain) if key == "algo" else []
            yield from (
                (f"algo.{name}.", "of this learner alone")
                for name in chosen
                if len(chosen) > 1 and not current.startswith(f"algo.{name}.")
            )


def settings_of(command: str) -> dict[str, Any]:
    """Return the keys that a command takes, with their blocks."""
    return conf.keys() | (conf.read("", "tune") if command == "tune" else {})


def _parts(group: str, plain: list[str]) -> dict[str, tuple[str, Any]]:
    """Return the meaning and the block of each part of a group, of the names that were chosen."""
    if group == "pool":
        normalise: Any = sorted({conf.read("pool", name)["normalise"] for name, _ in _names("pool")})
        block = {"domain": normalise, "help": "how kernel values are normalised"}
        return {
            "pool.normalise": (block["help"], block),
            "pool.kernels": ("a list of kernels", {"domain": ""}),
        }
    parts: dict[str, tuple[str, Any]] = {}
    chosen = _chosen(group, plain)
    for name in chosen:
        for part, block in conf.read(group, name).items():
            if part != "about" and isinstance(block, dict):
                meaning = str(block.get("help", "")), block
                parts.setdefault(f"{group}.{part}", meaning)
                parts |= {f"algo.{name}.{part}": meaning} if group == "algo" else {}
    return parts


def _chosen(group: str, plain: list[str]) -> list[str]:
    """Return the known names that the line gives to a group, else those of config.yaml."""
    given = [word.partition("=")[2] for word in plain if word.startswith(f"{group}=")]
    names = re.findall(r"\w+", given[-1]) if given else [conf.usual()[group]]
    known = [name for name, _ in _names(group)]
    return [name for name in names if name in known] or ([] if not given or group == "exec" else known)


def _values(plain: list[str], key: str, text: str) -> Iterator[Word]:
    """Yield KEY=VALUE words; of a list, with the names that are there already."""
    group, config = key.partition(".")[0], settings_of(plain[0])
    block = config.get(key) or _parts(group, plain).get(key, ("", {}))[1] if group in config else {}
    domain = block.get("domain")
    before = text[: max(text.rfind(","), text.rfind("[")) + 1] if domain in ("names", "columns") else ""
    there = {*re.findall(r"\w+", before), *before.strip("[").split(",")}
    names: Iterable[Word] = []
    if domain in ("columns", "column or null"):
        from omkl.cli.file_columns import columns_of

        names = [(name, "column") for name in columns_of(plain)]
    elif key in ("algo", "data", "pool", "exec"):
        names = _names(key)
    elif key == "yardsticks":
        names = [(n, "") for n, own in conf.read_all("algo").items() if own["about"].get("yardstick")]
    elif key == "measure" or (key == "by" and plain[0] == "tune"):
        names = _measures()
    elif isinstance(domain, list):
        names = [(str(choice), "") for choice in domain]
    elif domain == "bool":
        names = [("true", ""), ("false", "")]
    elif isinstance(block.get("value"), int | float | str):
        names = [(str(block["value"]), "default")]
    if key == "algo":
        names = [*names, *((name, text) for name, text in conf.read("", "groups").items())]
    yield from ((f"{key}={before}{name}", text) for name, text in names if name not in there)
    if key in ("data", "store", "settings"):
        yield from ((f"{key}={before}{path}", "") for path, _ in _paths(text[len(before) :]))


def _measures() -> list[Word]:
    """Return the measures by which learners can be compared."""
    return [(own.word, own.meaning) for own in MEASURES.values() if own.tasks and own.better]


def _paths(text: str) -> Iterator[Word]:
    """Yield the paths that begin like this, folders with a slash at their end."""
    folder, _, start = text.rpartition("/")
    place = Path(folder + "/" if "/" in text else ".").expanduser()
    for path in sorted(place.glob("*")) if place.is_dir() else []:
        if path.name.startswith(start) and path.name.startswith(".") == start.startswith("."):
            yield f"{folder}/{path.name}"[0 if "/" in text else 1 :] + ("/" if path.is_dir() else ""), ""


def _names(group: str) -> list[Word]:
    """Return the names of a group's options."""
    return [(name, "") for name in conf.options(group)]
