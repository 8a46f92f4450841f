"""What happens to a process while compiled code runs: forks, and Ctrl-C.

After a fork while threads use learners the child finds every state whole, and every lock free. A fork
copies locks as they are, and of all threads only its own. So a lock that another thread held would
stay locked in the child for ever. A learner has two. Whoever reads or changes it holds its ``lock`` for a
whole call. It holds its ``part`` while the state is between two rounds: for a part of a pass. A fork waits
for that.
"""

import os
import signal
import threading
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Protocol


class Locked(Protocol):
    """What a fork asks of a learner."""

    part: threading.RLock  # type: ignore[valid-type]

    def renew_locks(self) -> None:
        """Begin with new locks and threads, in a child."""


_learners: "weakref.WeakSet[Locked]" = weakref.WeakSet()
_stopped: list[Locked] = []  # those whose part a fork holds
_registry = threading.RLock()
_pending = False  # whether a fork waits, or is under way


def register(learner: Locked) -> None:
    """Let forks wait for this learner's parts."""
    with _registry:
        _learners.add(learner)


def give_way() -> None:
    """Let a fork that waits go first; called between two parts. A lock alone would not: it may be taken again
    by the thread that let it go, at once.
    """
    if _pending:
        with _registry:
            pass


def _before() -> None:
    global _pending
    _registry.acquire()
    _pending = True
    for learner in list(_learners):
        learner.part.acquire()  # type: ignore[attr-defined]
        _stopped.append(learner)


def _after_in_parent() -> None:
    global _pending
    while _stopped:
        _stopped.pop().part.release()  # type: ignore[attr-defined]
    _pending = False
    _registry.release()


def _after_in_child() -> None:
    global _pending, _registry
    while _stopped:
        _stopped.pop().renew_locks()
    _pending, _registry = False, threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before, after_in_parent=_after_in_parent, after_in_child=_after_in_child)


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
