"""What commands print, and how they end: results go to stdout, everything else to stderr."""

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from omkl.errors import OmklError, UserError, called, counted, without_controls

if TYPE_CHECKING:
    from omkl.runs.runner import Outcome

OK, FAILED, MISTAKE, INTERRUPTED = 0, 1, 2, 130


class OutputLost(Exception):
    """Stdout cannot be written; its text is the reason, empty where its reader has closed it."""


def say(text: str) -> None:
    """Print a message to stderr, which may contain a user's or a file's text."""
    print(f"omkl: {printable(called(text))}", file=sys.stderr, flush=True)


def complain(error: OmklError) -> int:
    """Print an error to stderr, a user's mistake on one line; return its exit code."""
    text = str(error)
    say(text.replace("\n", "\\n") if isinstance(error, UserError) else text)
    return error.exit_code


def printable(text: str) -> str:
    """Return a message without control characters or huge lines.

    Line ends stay, because a message may list several things; other unprintable characters are escaped.
    """
    escaped = "".join(c if c.isprintable() or c == "\n" else ascii(c)[1:-1] for c in text)
    return "\n".join(
        line if len(line) <= 2000 else f"{line[:1500]} ... {line[-400:]}" for line in escaped.split("\n")
    )


def emit(text: str) -> None:
    """Print a result to stdout at once, so that a closed pipe or a full disk is noticed here.

    Control characters are escaped.
    """
    try:
        sys.stdout.write(without_controls(text))
        sys.stdout.flush()
    except BrokenPipeError as error:
        raise OutputLost from error
    except OSError as error:
        raise OutputLost(error.strerror or str(error)) from error


def say_written(files: list[Path]) -> None:
    """Say which files were written."""
    for file in files:
        say(f"wrote {file}")


def say_failed(failed: list[dict], how: str = "") -> None:
    """Say which cells failed, and that the same command tries them again."""
    from omkl.runs.status import failures_text

    count = f"{counted(len(failed), 'cell')} failed{how}"
    say("\n  ".join([f"{count} (the same command tries again):", *failures_text(failed)]))


def end(outcome: "Outcome | None", fail_fast: bool = False) -> int:
    """Say how a run ended, if there was one, and return its exit code."""
    if outcome and outcome.interrupted:
        done = len(outcome.cells)
        say(f"interrupted with {done} of {outcome.requested} cells; run the same command again to continue")
        return INTERRUPTED
    if outcome and outcome.failed:
        say_failed(outcome.failed, "; the first ended the run" if fail_fast else "")
        return FAILED
    return OK


def end_races(interrupted: bool, failed: Iterable[dict]) -> int:
    """Say how races and what they report ended, and return the exit code."""
    if interrupted:
        say("interrupted; run the same command again to continue")
        return INTERRUPTED
    if failed := list(failed):
        say_failed(failed)
    return FAILED if failed else OK
