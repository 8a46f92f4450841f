"""Ctrl-C that comes while a learner is called."""

import os
import signal
import subprocess
import sys
import threading

import pytest

from omkl.rounds.guards import ctrl_c_kept, ctrl_c_later

pytestmark = pytest.mark.skipif(os.name != "posix", reason="a process sends itself signals")


@pytest.fixture(autouse=True)
def heeded():
    """Ctrl-C raises KeyboardInterrupt, also where these tests are a shell's background job."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def press() -> None:
    """Press Ctrl-C; Python's handler runs before this returns."""
    signal.raise_signal(signal.SIGINT)


@ctrl_c_later()
def pressed_twice(done: list) -> None:
    press()
    press()
    done.append("all of it")


def test_ctrl_c_waits_for_the_end():
    done = []
    with pytest.raises(KeyboardInterrupt):
        pressed_twice(done)
    assert done
    with pytest.raises(KeyboardInterrupt):  # as before
        press()


@ctrl_c_later()
def pressed_and_failed() -> None:
    press()
    raise ValueError


def test_ctrl_c_is_not_lost_where_the_call_fails():
    with pytest.raises(KeyboardInterrupt):
        pressed_and_failed()


@ctrl_c_later()
def pressed_within(done: list) -> None:
    pressed_twice(done)
    done.append("the rest")


def test_ctrl_c_waits_for_the_end_of_what_is_around():
    done = []
    for _ in range(2):
        with pytest.raises(KeyboardInterrupt):
            pressed_within(done)
    assert done == ["all of it", "the rest"] * 2


def test_a_handler_of_ones_own_is_called_and_stays():
    events = []
    signal.signal(signal.SIGINT, lambda number, frame: events.append(number))
    with ctrl_c_later():
        press()
        assert events == []
    assert events == [signal.SIGINT]
    press()
    assert len(events) == 2


def test_an_ignored_ctrl_c_stays_ignored():
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with ctrl_c_later():
        press()
    assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN


def test_other_threads_leave_signals_alone():
    seen = []
    before = signal.getsignal(signal.SIGINT)

    def call():
        with ctrl_c_later():
            seen.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=call)
    thread.start()
    thread.join()
    assert seen == [before]


class Cleared:
    """Ctrl-C is pressed while it is cleared away."""

    def __del__(self) -> None:
        press()


def test_a_ctrl_c_that_python_drops_is_raised_by_the_check(capsys):
    before = sys.unraisablehook
    with ctrl_c_kept() as check:
        check()
        Cleared()
        with pytest.raises(KeyboardInterrupt):
            check()
    assert sys.unraisablehook is before
    assert capsys.readouterr().err == ""


def test_other_faults_that_python_drops_are_told_as_before(monkeypatch):
    events = []
    monkeypatch.setattr(sys, "unraisablehook", events.append)
    signal.signal(signal.SIGINT, faulty)
    with ctrl_c_kept() as check:
        Cleared()
        check()
    assert [event.exc_type for event in events] == [ValueError]


def faulty(number, frame) -> None:
    raise ValueError


WHILE_TAKEN_APART = """
import ctypes, signal
import numpy as np
from omkl.config import learner_spec, pool
from omkl.engine.stream import make_stream
from omkl.passes import Learner

signal.signal(signal.SIGINT, signal.default_int_handler)
cast = ctypes.cast

def pressed(*arguments):  # numba casts the generator's functions
    signal.raise_signal(signal.SIGINT)
    return cast(*arguments)

spec = learner_spec("omkc_ss")
learner = Learner(spec, spec.usual("classification"), pool("paper16"), 2, seed=1)
stream = make_stream(np.arange(4), np.array([0, 1, 0]), np.ones(3), np.array([1.0, -1.0, 1.0]), np.arange(3))
learner.run(stream)
ctypes.cast = pressed
try:
    learner.run(stream)
except KeyboardInterrupt:
    print("interrupted")
"""


@pytest.mark.slow
def test_ctrl_c_while_a_generator_is_taken_apart():
    process = subprocess.run([sys.executable, "-c", WHILE_TAKEN_APART], capture_output=True, text=True)
    assert (process.returncode, process.stdout) == (0, "interrupted\n"), process.stderr
