"""Ctrl-C, while compiled code is called."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def ctrl_c_later() -> Iterator[None]:
    """Delay Ctrl-C until the end.

    Numba runs Python code while it takes a random generator apart for compiled code. It does not expect an
    exception in there, such as Ctrl-C raises: the process crashes. Only the main thread ever sees one.
    """
    main = threading.current_thread() is threading.main_thread()
    before: Any = signal.getsignal(signal.SIGINT) if main else None
    if not callable(before):  # ignored, as in a shell's background jobs
        yield
        return
    pressed: list[tuple[int, Any]] = []
    signal.signal(signal.SIGINT, lambda *event: pressed.append(event))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
        if pressed:
            before(*pressed[0])
