"""The ``omkl`` command: from the words of the command line to an exit code.

parser says which commands and options there are, output how a command talks and ends; commands and stored are
what the commands do.
"""

import atexit
import gc
import os
import re
import shlex
import signal
import sys
import warnings
from argparse import Namespace
from collections.abc import Sequence
from typing import Any

from omkl import conf
from omkl.cli.output import (
    FAILED,
    INTERRUPTED,
    MISTAKE,
    OutputLost,
    complain,
    discard,
    fill_closed,
    prepared_streams,
    print_result,
    print_status,
)
from omkl.cli.parser import build_parser
from omkl.errors import OmklError, UserError, suggest
from omkl.paths import extended, safe_children
from omkl.reports.table_cells import fit_to_width

__all__ = ["command", "main", "seldom_collect"]
SETTINGS = ("algo", "data", "pool", "exec", "order", "reps", "seed", "store", "task", "label", "by")
_COMPUTING = ("run", "sweep", "tune", "table", "figure", "claims", "bounds")


def command() -> int:
    """Run the command of this process, which ends with it, and return its exit code."""
    fill_closed()
    seldom_collect()
    if "_ARGCOMPLETE" in os.environ:  # a shell completes a line
        from omkl.cli.completion import complete

        parser = build_parser()
        complete(parser, parser.commands.values())
    try:
        return main()
    finally:  # all is done but the workers' end, which Ctrl-C would interrupt with a traceback
        signal.signal(signal.SIGINT, signal.SIG_IGN)


def seldom_collect() -> None:
    """Let this process look for garbage less often, and not at its end.

    In a first run Python does so 350 times, nearly always among what libraries define, and once more at the
    end, 0.2 s of 1.3 s. A report with figures takes about three quarters of the CPU time.
    """
    gc.set_threshold(100_000, 10, 10)
    atexit.register(gc.freeze)


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code: 0 ok, 1 failed, 2 the user's mistake, 130 Ctrl-C."""
    argv = list(sys.argv[1:] if argv is None else argv)
    with prepared_streams():
        return _main(argv)


def _main(argv: list[str]) -> int:
    try:
        with warnings.catch_warnings():
            warnings.showwarning = _warn
            try:
                return _run_command(argv)
            except SystemExit:
                print_result("")  # the parser has printed help or the version
                raise
    except OutputLost as error:
        discard(sys.stdout)
        if reason := str(error):  # not by `omkl list data | head`, which ends without a message
            kept = "; finished cells are in the store" if argv[0] in _COMPUTING else ""
            print_status(f"cannot write to stdout: {reason}{kept}")
        return FAILED
    except (Exception, KeyboardInterrupt) as error:
        if "--debug" in argv:
            raise
        if isinstance(error, OmklError):
            return complain(error)
        if isinstance(error, KeyboardInterrupt):
            print_status("interrupted")
            return INTERRUPTED
        if limit := _short_of_memory(error):
            print_status(limit)
            return FAILED
        print_status(
            f"unexpected {type(error).__name__}: {error}; please report it, with the output of --debug"
        )
        if "numba" in sys.modules:
            from omkl.engine import numba_internals

            if fault := numba_internals.fault():
                print_status(f"this may be why: {fault}")
        return FAILED


NEEDED = 10**9  # bytes of addresses for a run of one process: libraries take a half


def _short_of_memory(error: BaseException) -> str:
    """Return the sentence of an error that a limit of memory explains, empty for any other error.

    Where no address is left, a library fails as if it was not there, and Python's parser as if a file was
    wrong.
    """
    try:
        import resource
    except ImportError:  # Windows
        limit = -1
    else:
        limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    if 0 <= limit < NEEDED:
        return (
            f"the address limit of this shell, {limit / 1e6:.0f} MB, is too small: raise it (ulimit -v) to "
            f"{NEEDED / 1e6:.0f} MB or more"
        )
    return "more memory is needed than there is" if isinstance(error, MemoryError) else ""


def _run_command(argv: list[str]) -> int:
    parser = build_parser()
    if argv and argv[0].startswith("-") and argv[0] not in ("-h", "--help", "--version", "--debug"):
        raise UserError(f"{argv[0]} comes after the command, as in `omkl run algo=omkc_ss -j 2`")
    argv = _with_columns(argv)
    args, words = parser.parse_known_args(argv)
    if args.command is None and words:
        raise UserError(f"unknown option {words[0]}; see `omkl --help`")
    if args.command is None:
        parser.print_help(sys.stderr)
        return MISTAKE
    words = [word for word in words if word != "--"]
    if args.takes_words:
        _refuse_spaces(words)
    _refuse_options(args, words, argv)
    if args.takes_words:
        _refuse_options_as_words(args, words)
    elif words:
        raise UserError(f"omkl {args.command} takes no {words[0]!r}; see `{args.parser.prog} --help`")
    args.line = shlex.join(["omkl", *argv])
    wide = getattr(args, "wide", True)
    with safe_children(), extended(args.folders), fit_to_width(wide):
        return args.does(args, words)


def _with_columns(argv: list[str]) -> list[str]:
    """Return the words, ``--columns -union`` as one: argparse would take -union for an option."""
    place = argv.index("--columns") if "--columns" in argv[:-1] else len(argv)
    if not any(re.match("-[a-z]", word) for word in argv[place + 1 : place + 2]):
        return argv
    return [*argv[:place], f"--columns={argv[place + 1]}", *argv[place + 2 :]]


def _refuse_spaces(words: list[str]) -> None:
    """Raise UserError for spaces around the sign of a setting."""
    place = next((place for place, word in enumerate(words) if word.startswith("=")), None)
    if place is not None:
        around = words[max(0, place - 1) : place + 2]
        near = "".join(around) if around[0] != words[place] and len(around) > 1 else "algo=omkc_ss"
        raise UserError(f"{' '.join(around)}: write no spaces around the sign, as in {near}")


def _refuse_options(args: Namespace, words: list[str], argv: list[str]) -> None:
    """Raise UserError for an option that the command does not have."""
    option = next((word for word in words if word.startswith("-") and word != "-"), None)  # - is stdin
    if option is None:
        return
    name, _, value = option.lstrip("-").partition("=")
    if args.takes_words and name in SETTINGS:
        after = [word for word in argv[argv.index(option) + 1 :][:1] if word in words and "=" not in word]
        value = value or "".join(after) or "VALUE"
        raise UserError(f"{option}: settings have no dashes; write {name}={value}")
    from omkl.config.hydra_words import of_option  # which imports all that a run needs

    if instead := of_option(option, words):
        raise UserError(f"{option}: {instead}")
    options = re.findall(r"(?<!\S)--?\w[\w-]*", args.parser.format_help())
    hint = suggest(option.partition("=")[0], options)
    raise UserError(f"unknown option {option}{hint}; see `{args.parser.prog} --help`")


def _refuse_options_as_words(args: Namespace, words: list[str]) -> None:
    """Raise UserError for a word such as jobs=2, whose key is no setting but an option of the command."""
    options = {name.lstrip("-"): action for action in args.parser._actions for name in action.option_strings}
    for word in words:
        key, equals, value = word.partition("=")
        action = options.get(key.replace("_", "-"))
        if not equals or action is None or key in conf.keys(args.command):
            continue
        name = action.option_strings[0]
        given = f"{name} {value or 'VALUE'}" if action.nargs != 0 else name
        raise UserError(f"{word}: {key} is an option, not a setting; write {given}")


def _warn(message: Warning | str, *_: Any, **__: Any) -> None:
    print_status(f"warning: {message}")
