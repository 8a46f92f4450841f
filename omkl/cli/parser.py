"""The parser of the command line: commands, options, and their help."""

import argparse
import inspect
import math
import re
import textwrap
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import NoReturn

from omkl import __version__
from omkl.cli import (
    check_command,
    commands,
    help_texts,
    listing,
    model_commands,
)
from omkl.cli.messages import OK, emit
from omkl.errors import UserError, suggest
from omkl.experiments.lists import KINDS as LISTS
from omkl.figures.style import KINDS, STYLES, UNITS, inches, y_limits
from omkl.paths import conf_folder, documentation, extension, in_path, out_path
from omkl.reports.table import FORMATS

SORTS = ("mistakes", "seconds", "sv")


class Parser(argparse.ArgumentParser):
    """An argument parser whose error messages are one line, without the usage."""

    def error(self, message: str) -> NoReturn:
        """Raise UserError instead of printing the usage and exiting."""
        if match := re.match(r"argument COMMAND: invalid choice: '([^']*)' \(choose from (.*)\)", message):
            near = suggest(match[1], re.findall(r"\w+", match[2]))
            message = f"unknown command '{match[1]}'{near}"
        elif match := re.match(r"argument (\S+): invalid choice: '([^']*)' \(choose from (.*)\)", message):
            choices = re.findall(r"[^', ]+", match[3])
            message = (
                f"{match[1]} '{match[2]}'{suggest(match[2], choices)}: choose one of {', '.join(choices)}"
            )
        elif match := re.match(r"the following arguments are required: (\w+)$", message):
            known = [
                action.choices for action in self._actions if action.metavar == match[1] and action.choices
            ]
            message = f"{self.prog}: {match[1]} is missing"
            message += f": choose one of {', '.join(known[0])}" if known else ""
        raise UserError(f"{message}; see `{self.prog.removesuffix(' help')} --help`")


class MainParser(Parser):
    """The parser of `omkl` itself, whose help shows the commands in groups."""

    commands: dict[str, Parser]

    def format_help(self) -> str:
        """Return the help of `omkl --help`."""
        lines = ["usage: omkl COMMAND [KEY=VALUE ...] [options]", "", self.description or "", ""]
        lines += [help_texts.START]
        for group, names in help_texts.GROUPS.items():
            lines.append(f"{group}:")
            for name in names:
                text = " ".join((self.commands[name].description or "").split())
                text = text.partition(". ")[0].rstrip(".")
                own = textwrap.wrap(text[:1].lower() + text[1:], 66)
                lines += [f"  {name if not at else '':12}{line}" for at, line in enumerate(own)]
        lines += ["", help_texts.ENDS, f"Documentation: {documentation()}"]
        return "\n".join(lines) + "\n"


def build_parser() -> MainParser:
    """Return the parser of all commands. It leaves the settings (KEY=VALUE) unparsed."""
    parser = MainParser(
        prog="omkl",
        description="Online learning with kernels: run, sweep and compare learners on data streams.",
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"omkl {__version__}")
    parser.add_argument("--debug", action="store_true", help="show the traceback of an error")
    subparsers = parser.add_subparsers(metavar="COMMAND", dest="command", parser_class=Parser)
    parser.commands = subparsers.choices  # type: ignore[assignment]

    def command(does: Callable[..., int], usage: str, epilog: str = "") -> Parser:
        name, text = does.__name__.rstrip("_"), inspect.getdoc(does) or ""
        sub = subparsers.add_parser(
            name,
            help=text[:1].lower() + text[1:].rstrip("."),
            description=text,
            usage=f"omkl {name} {usage}[options]",
            epilog=epilog,
            formatter_class=argparse.RawDescriptionHelpFormatter,
            allow_abbrev=False,
        )
        sub.add_argument("--debug", action="store_true", default=argparse.SUPPRESS, help="show tracebacks")
        text = "folder with learners, kernels, pools, data sets of your own (may be repeated; also OMKL_PATH)"
        sub.add_argument(
            "--with", type=_extension, action="append", default=[], dest="folders", metavar="DIR", help=text
        )
        sub.set_defaults(does=does, takes_words="..." in usage, parser=sub)
        return sub

    settings = "[KEY=VALUE ...] "
    executors = ", ".join(sorted(path.stem for path in (conf_folder() / "exec").glob("*.yaml")))
    keys = help_texts.KEYS.replace("{executors}", executors)  # KEYS has other braces
    sub = command(commands.run, settings, f"{keys}\n{help_texts.RUN}")
    _add_run_options(sub)
    _add_view(sub)
    _add_limits(sub)

    sub = command(commands.sweep, settings, f"{keys}\n{help_texts.SWEEP}")
    _add_run_options(sub)
    _add_view(sub)
    _add_look(sub, "file (.png, .pdf, .svg) or folder of the figure")

    sub = command(commands.tune, f"[PAGE] {settings}", f"{keys}\n{help_texts.TUNE}")
    _add_format(sub)
    text = "(of a page) these data sets only"
    sub.add_argument("--data", type=_names, default=(), metavar="A,B", help=text)
    text = "settings file to write, such as best.yaml; settings=best.yaml runs it"
    sub.add_argument("--out", type=out_path, metavar="FILE", help=text)
    _add_work_options(sub, fail_fast=False)

    sub = command(commands.figure, f"KIND|NAME {settings}", f"{keys}\n{help_texts.FIGURE}")
    sub.add_argument("kind", metavar="KIND", help=f"{', '.join(KINDS)}, or a paper's figure such as omkc/1")
    _add_look(sub, "file (.png, .pdf, .svg) or folder to write to")
    _add_selection(sub)
    _add_work_options(sub)

    sub = command(commands.report, f"[PAPER] {settings}", f"{keys}\n{help_texts.REPORT}")
    _add_by(sub)
    sub.add_argument("--all", action="store_true", help="everything that the store holds")
    text = "file (.html) or folder to write to (default: figures/local in the store)"
    sub.add_argument("--out", type=out_path, metavar="PATH", help=text)
    _add_selection(sub)

    sub = command(commands.table, f"NAME {settings}", help_texts.PAPER)
    sub.add_argument("name", metavar="NAME", help="such as bomkl/1")
    _add_selection(sub)
    _add_run_options(sub)

    sub = command(commands.claims, f"PAPER {settings}", help_texts.PAPER)
    sub.add_argument("paper", metavar="PAPER", help="such as omkc")
    _add_selection(sub)
    _add_run_options(sub)

    sub = command(commands.bounds, settings, f"{keys}\n{help_texts.BOUNDS}")
    _add_run_options(sub)
    text = "use at most N examples for each batch solution (default: 2000); memory: 32 N^2 bytes, and 8 N^2"
    text += " for each kernel of batch multiple kernel learning"
    sub.add_argument("--rows", type=_count, default=2000, metavar="N", help=text)

    sub = command(model_commands.fit, settings, f"{help_texts.FIT}\n{help_texts.MODEL}")
    sub.add_argument("--out", type=out_path, metavar="FILE", help="file of the model, such as model.omkl")

    sub = command(model_commands.predict, "MODEL FILE ", help_texts.MODEL)
    sub.add_argument("model", type=in_path, metavar="MODEL", help="a file that omkl fit saved")
    sub.add_argument(
        "file", type=in_path, metavar="FILE", help="rows like those that the model learnt; - is stdin"
    )
    sub.add_argument("--out", type=out_path, metavar="FILE", help="file to write (default: stdout)")
    text = "also the score of each class"
    sub.add_argument("--scores", action="store_true", help=text)
    text = "also the probability of each class, for learners that have them"
    sub.add_argument("--proba", action="store_true", help=text)
    _add_format(sub, ("csv", "json", "jsonl"))

    sub = command(model_commands.update, "MODEL FILE ... ", help_texts.MODEL)
    sub.add_argument("model", type=in_path, metavar="MODEL", help="a file that omkl fit saved")
    sub.add_argument(
        "files", type=in_path, nargs="+", metavar="FILE", help="labelled rows, learnt in this order"
    )
    sub.add_argument("--out", type=out_path, metavar="FILE", help="file to write (default: the model itself)")

    _add_format(command(commands.status, settings, keys))

    sub = command(listing.list_, "[KIND] ", help_texts.LIST)
    sub.add_argument("kind", metavar="KIND", nargs="?", choices=LISTS, help=", ".join(LISTS))
    _add_format(sub)

    _add_format(command(listing.show, settings, keys), ("yaml", "json"))

    sub = command(listing.data, "ACTION [NAME ...] [KEY=VALUE ...] ", help_texts.DATA)
    _add_choice(sub, "action", listing.DATA_ACTIONS)
    sub.add_argument("--force", action="store_true", help="get: download again, even if the data are present")
    _add_format(sub, of="list, look: ")

    sub = command(listing.results, "ACTION [FOLDER ...] [KEY=VALUE ...] ", help_texts.RESULTS)
    _add_choice(sub, "action", listing.RESULTS_ACTIONS)
    _add_format(sub, of="list, prune: ")
    sub.add_argument("--out", type=out_path, metavar="FILE", help="export: file to write, .csv or .parquet")
    text = "prune: also cells of older revisions; with --with DIR also of other sources of DIR's learners"
    sub.add_argument("--old", action="store_true", help=text)
    sub.add_argument("--torn", action="store_true", help="prune: also lines that cannot be read")
    text = "prune: remove the lines, instead of only listing them"
    sub.add_argument("--yes", action="store_true", help=text)

    _add_format(command(check_command.check, "[DIR ...] ", help_texts.CHECK))

    command(commands.compile_, "[algo=LEARNER,...] ", help_texts.COMPILE)

    sub = command(completion, "SHELL ", help_texts.COMPLETION)
    _add_choice(sub, "shell", ("bash", "zsh", "fish"))

    sub = command(help_, "[COMMAND] ")
    text = "such as run (default: all commands)"
    sub.add_argument("topic", metavar="COMMAND", nargs="?", choices=parser.commands, help=text)
    sub.set_defaults(main=parser)
    return parser


def help_(args: argparse.Namespace, words: list[str]) -> int:
    """Print the help of a command, or of all commands."""
    emit((args.main.commands[args.topic] if args.topic else args.main).format_help())
    return OK


def completion(args: argparse.Namespace, words: list[str]) -> int:
    """Print the script that completes omkl's words in a shell."""
    from omkl.cli.completion import script

    emit(script(args.shell))
    return OK


def _add_choice(parser: Parser, name: str, choices: Iterable[str]) -> None:
    parser.add_argument(name, choices=choices, metavar=name.upper(), help=", ".join(choices))


def _add_format(parser: Parser, formats: Sequence[str] = FORMATS, of: str = "") -> None:
    text = of + "format of stdout (default: %(default)s)"
    parser.add_argument("--format", choices=formats, default=formats[0], help=text)
    if "table" in formats:
        text = of + "do not fit the table to the terminal; all columns, nothing wrapped"
        parser.add_argument("--wide", action="store_true", help=text)


def _add_run_options(parser: Parser) -> None:
    _add_format(parser)
    _add_work_options(parser)


def _add_by(parser: Parser) -> None:
    text = "measure by which rows are compared and marked, such as auc, kappa or mae (default: the error)"
    parser.add_argument("--by", default="", metavar="MEASURE", help=text)


def _add_view(parser: Parser) -> None:
    text = "order of the rows of each data set (default: that of the command)"
    parser.add_argument("--sort", choices=SORTS, help=text)
    _add_by(parser)
    text = "columns of the table: learner,mistakes,sv or +kernel,-union; kernel: that of the largest weight"
    parser.add_argument("--columns", type=_columns, default=(), metavar="A,B", help=text)


def _add_limits(parser: Parser) -> None:
    for option, text in (
        (
            "--fail-above",
            "exit code 1 if a learner's mean is larger, such as mistakes=12 (%%) or log_loss=0.4",
        ),
        ("--fail-below", "exit code 1 if a learner's mean is smaller, such as auc=0.9"),
    ):
        parser.add_argument(option, type=_limits, action="extend", default=[], metavar="MEASURE=N", help=text)


def _add_selection(parser: Parser) -> None:
    own = "(of a paper's table, figure or claims) "
    parser.add_argument("--reps", type=_count, metavar="N", help=own + "at most N repetitions")
    parser.add_argument("--data", type=_names, default=(), metavar="A,B", help=own + "these data sets only")
    text = own + "learners in addition to its own"
    parser.add_argument("--algo", type=_names, default=(), metavar="A,B", help=text)
    text = own + "two repetitions of its small data sets, or of its smallest one if none is small"
    parser.add_argument("--quick", action="store_true", help=text)
    text = own + "all repetitions, also of data sets that otherwise get fewer because they take long"
    parser.add_argument("--full", action="store_true", help=text)


def _add_look(parser: Parser, out: str) -> None:
    parser.add_argument("--out", type=out_path, metavar="PATH", help=out)
    text = f"width of the figure, such as 3.3in ({', '.join(UNITS)}); text keeps its size"
    parser.add_argument("--width", type=inches, metavar="W", help=text)
    text = "look of the figure; paper: serifs, 300 dpi (default: %(default)s)"
    parser.add_argument("--style", choices=STYLES, default=STYLES[0], help=text)
    text = "limits of the y axis, as in 10:30"
    parser.add_argument("--ylim", type=y_limits, metavar="LOW:HIGH", help=text)
    text = "no title and no line below the figure, where LaTeX sets the caption"
    parser.add_argument("--no-title", action="store_true", help=text)


def _add_work_options(parser: Parser, fail_fast: bool = True) -> None:
    text = "worker processes (default: one per core)"
    parser.add_argument("-j", "--jobs", type=_count, metavar="N", help=text)
    text = "run nothing: print the cells, those that are done, and an estimate of time and memory"
    parser.add_argument("--dry-run", action="store_true", help=text)
    text = "also run the cells that the store already holds"
    parser.add_argument("--fresh", action="store_true", help=text)
    if fail_fast:
        text = "end the run at the first cell that fails"
        parser.add_argument("--fail-fast", action="store_true", help=text)
    parser.add_argument("-q", "--quiet", action="store_true", help="no progress bar")


def _extension(text: str) -> Path:
    return extension(text, "--with ")


def _names(text: str) -> tuple[str, ...]:
    return tuple(name for part in text.split(",") if (name := part.strip()))


def _columns(text: str) -> tuple[str, ...]:
    names = _names(text)
    if not names or not all(name.strip("+-") for name in names):
        raise UserError(f"--columns {text!r}: name columns, as in learner,mistakes,sv or +kernel,-union")
    adds = names[0][0] == "+"  # +auc,kappa adds both
    return tuple(f"+{name}" if adds and name[0] not in "+-" else name for name in names)


def _limits(text: str) -> list[tuple[str, float]]:
    limits = []
    for part in _names(text) or ("",):
        name, _, value = part.partition("=")
        try:
            limits.append((name, float(value)))
        except ValueError:
            raise argparse.ArgumentTypeError(
                f"must be MEASURE=NUMBER, such as mistakes=12, got {part!r}"
            ) from None
        if not (name and math.isfinite(limits[-1][1])):
            raise argparse.ArgumentTypeError(f"must be MEASURE=NUMBER, such as mistakes=12, got {part!r}")
    return limits


def _count(text: str, most: int = 999_999) -> int:
    if not (text.isascii() and text.isdecimal() and len(text) < 7) or not 1 <= int(text) <= most:
        raise argparse.ArgumentTypeError(f"must be a whole number from 1 to {most}, got {text!r}")
    return int(text)
