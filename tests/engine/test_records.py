"""Records: what compiled code reads is what Python holds, wherever a record or a copy of it lies."""

import copy
import pickle
import threading
from collections import namedtuple
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from numba import njit, typeof
from numba.core.errors import TypingError

from omkl.engine.jit import compiled
from omkl.engine.records import Record, method


class Counted(Record):
    """Records with counts."""


class Inner(Counted, namedtuple("Inner", "name counts")):
    """A record in another."""


class Outer(Record, namedtuple("Outer", "absent whole share pair matrix inner last")):
    """One field of each kind."""


def outer(**fields):
    inner = Inner(None, np.arange(3))
    usual = Outer(None, -7, 0.25, (3, 4), np.arange(6.0).reshape(2, 3), inner, np.array([True, False]))
    return usual._replace(**fields)


@compiled
def read(record, out):
    out[0] = record.whole
    out[1] = record.share
    out[2] = 10 * record.pair[0] + record.pair[1]
    out[3] = record.matrix[1, 2]
    out[4] = record.matrix.size
    out[5] = record.inner.counts[-1]
    out[6] = record.last[0]
    out[7] = record.matrix[:, 1].sum()
    out[8] = record.matrix.T[2, 0]


@compiled
def write(record):
    record.matrix[0, 0] = 8.0
    record.inner.counts[1] += 5


@compiled
def has(record):
    return record.absent is not None, record.inner.name is not None


def values(record):
    out = np.zeros(9)
    read(record, out)
    return out.tolist()


def test_every_kind_of_field_is_read():
    assert values(outer()) == [-7, 0.25, 34, 5, 6, 2, 1, 5, 2]
    assert has(outer()) == (False, False)
    assert has(outer(absent=np.zeros(1))) == (True, False)


def test_strides_and_other_types_are_read():
    every_second = np.arange(24.0).reshape(4, 6)[::2, ::2]
    assert values(outer(matrix=every_second))[3:5] == [16, 6]
    assert values(outer(matrix=every_second))[7:] == [2 + 14, 4]
    backwards = np.arange(6.0).reshape(2, 3)[::-1]
    assert values(outer(matrix=backwards))[3] == 2
    assert values(outer(matrix=np.arange(6, dtype=np.int32).reshape(2, 3)))[3] == 5
    frozen = np.arange(6.0).reshape(2, 3)
    frozen.flags.writeable = False
    assert values(outer(matrix=frozen))[3] == 5


def test_what_compiled_code_writes_is_seen():
    record = outer()
    write(record)
    assert record.matrix[0, 0] == 8.0
    assert record.inner.counts.tolist() == [0, 6, 2]


def test_a_changed_record_lies_elsewhere():
    record = outer()
    before = values(record)
    wider = record._replace(matrix=np.full((5, 7), 2.0), inner=Inner(None, np.array([9])))
    assert values(wider)[3:6] == [2, 35, 9]
    assert values(record) == before


def test_copies_take_their_own_arrays():
    record = outer()
    values(record)  # its words are laid out now
    for other in (copy.deepcopy(record), pickle.loads(pickle.dumps(record))):
        record.matrix[1, 2] = 77.0
        assert values(other)[3] == 5.0
        assert values(record)[3] == 77.0
        record.matrix[1, 2] = 5.0
    assert copy.copy(record).address != record.address


def test_types_are_those_of_the_fields():
    assert typeof(outer()) == typeof(outer(whole=3, matrix=np.zeros((9, 9))))
    assert typeof(outer()) != typeof(outer(matrix=np.zeros((9, 9), np.float32)))
    assert typeof(outer()) != typeof(outer(absent=np.zeros(1)))
    assert typeof(Inner(None, np.zeros(2))) != typeof(Inner(np.zeros(2), None))
    frozen = np.zeros((2, 3))
    frozen.flags.writeable = False
    for other in (
        frozen,
        np.zeros((2, 3), np.float32),
        np.zeros((2, 3), order="F"),
        np.zeros((2, 6))[:, ::2],
    ):
        assert typeof(outer(matrix=other)) != typeof(outer())
    assert typeof(outer(whole=0.5)) != typeof(outer())


def test_what_a_record_cannot_hold_is_refused():
    with pytest.raises(TypeError, match=r"Outer\.whole is of type bool, which a record cannot hold"):
        typeof(outer(whole=True))
    with pytest.raises(TypeError, match=r"Outer\.pair is of type Tuple\(int64, unicode_type\)"):
        typeof(outer(pair=(1, "two")))


def test_threads_that_lay_out_a_record_at_once_get_one_address():
    for _ in range(200):
        record, start = outer(), threading.Barrier(4)

        def address(record=record, start=start):
            start.wait()
            return record.address

        with ThreadPoolExecutor(4) as pool:
            assert len({future.result() for future in [pool.submit(address) for _ in range(4)]}) == 1


class Unreadable(Record, namedtuple("Unreadable", "counts")):
    """A record in whose property Ctrl-C is pressed."""

    @property
    def address(self):
        raise KeyboardInterrupt


@compiled
def first_count(record):
    return record.counts[0]


def test_an_exception_while_a_record_is_read_is_raised():
    with pytest.raises(KeyboardInterrupt):
        first_count(Unreadable(np.arange(3)))


@method(Counted)
@compiled
def total(record, factor, more=None):
    whole = factor * record.counts.sum()
    if more is not None:
        whole += more.size
    return whole


@method(Outer)
@compiled
def tallied(record, times=1):
    return record.inner.total(times) + record.inner.total(more=record.last, factor=0)


@compiled
def methods_called(record):
    return record.tallied(), record.tallied(2), record.inner.total(3)


@njit
def methods_called_by_a_user(record):
    return record.tallied(), record.tallied(2), record.inner.total(3)


@pytest.mark.parametrize("function", [methods_called, methods_called_by_a_user, methods_called.py_func])
def test_methods_are_called_in_compiled_code_as_in_python(function):
    assert function(outer()) == (3 + 2, 6 + 2, 9)


def test_a_record_without_that_method_is_an_error():
    @njit
    def wrong(record):
        return record.totals()

    with pytest.raises(TypingError, match="Unknown attribute 'totals'"):
        wrong(outer())


@compiled
def with_or_without(record):
    if record.absent is not None:
        return record.absent.no_such_attribute  # typed, this is an error
    inner = record.inner
    name = inner.name
    if name is None:
        return 0
    return name.no_such_attribute


@njit
def with_or_without_by_a_user(record):
    return 0 if record.inner.name is None else record.inner.name.no_such_attribute


@compiled
def either(record, other):
    return other if record is None else record  # of numba's type Optional, of two that may be None


@compiled
def of_either(record):
    return with_or_without(either(record, None))


@pytest.mark.parametrize("function", [with_or_without, with_or_without_by_a_user, of_either])
def test_code_behind_a_field_that_is_none_is_not_typed(function):
    assert function(outer()) == 0
    with pytest.raises(TypingError, match="no_such_attribute"):
        function(outer(absent=np.zeros(1), inner=Inner(np.zeros(1), np.arange(3))))
