"""The standard streams of a command: they may be closed, or their disk may be full.

A result that cannot be printed ends the command with a message. A message that nobody can read ends nothing.
"""

import errno
import io
import os
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, redirect_stderr, redirect_stdout, suppress
from typing import Any, TextIO


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
        messages = stack.enter_context(redirect_stderr(_Messages(heard)))  # type: ignore[type-var]
        stack.callback(messages.flush)  # else the end of the process would fail
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
        try:
            return self._stream.write(text)
        except OSError:
            discard(self._stream)
            return len(text)

    def flush(self) -> None:
        try:
            self._stream.flush()
        except OSError:
            discard(self._stream)
