"""What happens to a process while compiled code runs: forks, and Ctrl-C.

A fork copies locks as they are, and of all threads only its own: a lock that another thread held would stay
locked in the child for ever. So a child begins with new ones.
"""

import os
import signal
import sys
import threading
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Protocol


class Locked(Protocol):
    """What a fork asks of a learner."""

    def renew_locks(self) -> None:
        """Begin with new locks and threads, in a child."""


_learners: "weakref.WeakSet[Locked]" = weakref.WeakSet()


def register(learner: Locked) -> None:
    """Give this learner new locks in a child."""
    _learners.add(learner)


def _after_in_child() -> None:
    for learner in list(_learners):
        learner.renew_locks()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_in_child)


_later = False  # whether the main thread delays it already: a member of a stack


@contextmanager
def ctrl_c_later() -> Iterator[None]:
    """Delay Ctrl-C until the end.

    Numba runs Python code while it takes a random generator apart for compiled code. It does not expect an
    exception in there, such as Ctrl-C raises: the process crashes. Only the main thread ever sees one.
    """
    global _later
    main = threading.current_thread() is threading.main_thread()
    if not main or _later:
        yield
        return
    before: Any = signal.getsignal(signal.SIGINT)
    if not callable(before):  # ignored, as in a shell's background jobs
        yield
        return
    pressed: list[tuple[int, Any]] = []
    signal.signal(signal.SIGINT, lambda *event: pressed.append(event))
    _later = True
    try:
        yield
    finally:
        _later = False
        signal.signal(signal.SIGINT, before)
        if pressed:
            before(*pressed[0])


@contextmanager
def ctrl_c_kept() -> Iterator[Callable[[], None]]:
    """Yield a function that raises the KeyboardInterrupt which Python has dropped meanwhile, if any.

    What is raised while an object is cleared away (``__del__``, a weak reference's callback) goes no further.
    """
    before, dropped = sys.unraisablehook, False

    def note(event: Any) -> None:
        nonlocal dropped
        if issubclass(event.exc_type, KeyboardInterrupt):
            dropped = True
        else:
            before(event)

    def check() -> None:
        if dropped:
            raise KeyboardInterrupt

    sys.unraisablehook = note
    try:
        yield check
    finally:
        sys.unraisablehook = before
