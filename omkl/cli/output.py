"""What commands print, how they end, and their standard streams, which may be closed or full.

Results go to stdout, everything else to stderr. A result that cannot be printed ends the command with a
message; a message that nobody can read ends nothing.
"""

import errno
import io
import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager, redirect_stderr, redirect_stdout, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from omkl.errors import OmklError, UserError, counted, with_user_paths, without_controls

if TYPE_CHECKING:
    from omkl.store.outcome import Outcome

OK, FAILED, MISTAKE, INTERRUPTED = 0, 1, 2, 130


class OutputLost(Exception):
    """Stdout cannot be written; its text is the reason, empty where its reader has closed it."""


def print_status(text: str) -> None:
    """Print a message to stderr, which may contain a user's or a file's text."""
    print(f"omkl: {printable_line(with_user_paths(text))}", file=sys.stderr, flush=True)


def complain(error: OmklError) -> int:
    """Print an error to stderr, a user's mistake on one line; return its exit code."""
    text = str(error)
    print_status(text.replace("\n", "\\n") if isinstance(error, UserError) else text)
    return error.exit_code


def printable_line(text: str) -> str:
    """Return a message without control characters or huge lines.

    Line ends stay, because a message may list several things; other unprintable characters are escaped.
    """
    escaped = "".join(c if c.isprintable() or c == "\n" else ascii(c)[1:-1] for c in text)
    return "\n".join(
        line if len(line) <= 2000 else f"{line[:1500]} ... {line[-400:]}" for line in escaped.split("\n")
    )


def print_result(text: str) -> None:
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
        print_status(f"wrote {file}")


def say_failed(failed: list[dict], how: str = "") -> None:
    """Say which cells failed, and that the same command tries them again."""
    from omkl.runs.status import failures_text

    count = f"{counted(len(failed), 'cell')} failed{how}"
    print_status("\n  ".join([f"{count} (the same command tries again):", *failures_text(failed)]))


def end(interrupted: bool, failed: Iterable[dict], fail_fast: bool = False, done: str = "") -> int:
    """Say how a run ended, and return its exit code; done: what was done of it."""
    if interrupted:
        print_status(f"interrupted{done}; run the same command again to continue")
        return INTERRUPTED
    if failed := list(failed):
        say_failed(failed, "; the first ended the run" if fail_fast else "")
        return FAILED
    return OK


def end_run(outcome: "Outcome | None", fail_fast: bool = False) -> int:
    """Say how the run of an outcome ended, if there was one, and return its exit code."""
    if outcome is None:
        return OK
    done = f" with {len(outcome.cells)} of {outcome.requested} cells"
    return end(outcome.interrupted, outcome.failed, fail_fast, done)


# ------------------------------------------------------------------ the standard streams


def fill_closed() -> None:
    """Open what this process lacks of stdin, stdout and stderr: else files would get their numbers."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)  # takes the lowest free number


def discard(stream: Any) -> None:
    """Let nothing more be written to a stream, nor the rest of its buffer when the process ends."""
    with suppress(OSError, ValueError, AttributeError):  # not a file, or closed
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, stream.fileno())
        os.close(null)


@contextmanager
def prepared_streams() -> Iterator[None]:
    """Give the command a stdout that says why it cannot be written, and a stderr that needs no reader."""
    with ExitStack() as stack:
        if sys.stdout is None:
            stack.enter_context(redirect_stdout(_Closed()))
        heard = sys.stderr or stack.enter_context(open(os.devnull, "w", encoding="utf-8"))
        messages = stack.enter_context(redirect_stderr(_Messages(heard)))
        stack.callback(messages.flush)  # else the end of the process would fail
        for stream in (sys.stdout, sys.stderr):
            if hasattr(stream, "reconfigure"):
                stream.reconfigure(errors="replace")  # a terminal without ± still gets its table
        yield


class _Closed(io.TextIOBase):
    """Stands for a stdout that was closed before the command began."""

    def write(self, text: str) -> int:
        raise OSError(errno.EBADF, "it is closed")


class _Messages:
    """A stream that drops what cannot be written."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
        with self._dropping():
            return self._stream.write(text)
        return len(text)

    def flush(self) -> None:
        with self._dropping():
            self._stream.flush()

    @contextmanager
    def _dropping(self) -> Iterator[None]:
        try:
            yield
        except OSError:
            discard(self._stream)
