"""What a person who knows Hydra types where omkl has another word, and that word."""

import re
import shlex
from collections.abc import Iterable

_GRID = "`omkl sweep {words}` runs every combination of several values"
_SHOWN = "`omkl show {words}` prints what a run with these settings uses, every reference resolved"
_FOLDER = "a folder with YAML files of your own is --with DIR"
OPTIONS = {  # of a program of Hydra's
    ("--cfg", "-c", "--package", "-p", "--resolve", "--info", "-i"): _SHOWN,
    ("--multirun", "-m"): _GRID,
    ("--run", "-r"): "`omkl run {words}` runs once",
    ("--config-dir", "-cd", "--config-path", "-cp"): _FOLDER,
    ("--config-name", "-cn"): "settings=FILE names a file of learners with settings of their own",
    ("--hydra-help",): "`omkl help settings` explains all settings",
    ("--shell-completion", "-sc"): "`omkl completion SHELL` prints the script that completes words",
    ("--experimental-rerun",): "the same command, typed again, computes what is missing",
}
KEYS = {  # beginnings of words
    r"hydra[/.]launcher": "exec=NAME says where the cells run (loky, serial, dask, slurm)",
    r"hydra[/.]sweeper": "`omkl sweep` runs a grid of settings, and `omkl tune` searches for good ones",
    r"hydra\.mode": "`omkl run` runs once, and `omkl sweep` every combination of several values",
    r"hydra\.searchpath": _FOLDER,
    r"hydra\.(run|sweep|job|output_subdir)": "store=PATH names the folder of the results",
    r"hydra\b": "omkl has no settings of Hydra's own; `omkl help settings` shows those that there are",
    r"pool\.kernels\.\d": "the kernels are one list, such as 'pool.kernels=[{kind:gaussian,sigma:2}]'",
    r"\w+@[^=]*=": "omkl has no packages; algo=A,B runs two learners, algo.A.KEY=VALUE sets one",
    r"\w+/[^=]*=": "no key has a slash; `omkl help settings` shows the settings",
}


def of_option(option: str, words: Iterable[str]) -> str:
    """Return what to do in place of an option of Hydra's, empty for another one; words: the settings."""
    name = option.partition("=")[0]
    sentence = next((text for names, text in OPTIONS.items() if name in names), "")
    settings = shlex.join(word for word in words if "=" in word and word[0] != "-")
    return sentence.replace("{words}", settings or "KEY=VALUE ...")


def of_key(word: str) -> str:
    """Return what to do in place of a word whose key is one of Hydra's, empty for another one."""
    if word.startswith("+"):
        return f"every key has a value already, which a word replaces; write {word.lstrip('+')}"
    if word.startswith("~"):
        return "no key can be removed; leave the word out for its default (`omkl help settings`)"
    return next((text for key, text in KEYS.items() if re.match(key, word)), "")
