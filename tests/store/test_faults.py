"""The store: torn and broken lines, a full disk, two writers, a kill; no finished cell is lost."""

import errno
import json
import os
import random
import resource
import signal
import subprocess
import sys
import time
import warnings
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support import ROOT, TESTS
from support.results_lines import cell_files, line, read_quietly, sealed

from omkl.cli import main
from omkl.errors import OmklError
from omkl.store import upkeep
from omkl.store.lines import encode_cell, encode_curve
from omkl.store.store import Store, StoreWarning


@pytest.mark.parametrize("cut", [1, 9, 40, 73, 90, 300, 500, -2])
def test_a_torn_line_is_skipped_with_a_warning_that_names_it(tmp_path, cut):
    with Store(tmp_path) as store:
        for number in range(3):
            store.append(line(number))
    (path,) = cell_files(store)
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(lines[0] + lines[1][:cut] + b"\n" + lines[2])
    with pytest.warns(StoreWarning, match=rf"{path.name}:2$"):
        assert store.cells()["rep"].tolist() == [0, 2]
    assert read_quietly(store)["rep"].tolist() == [0, 2]  # the warning comes once
    path.write_bytes(lines[0] + lines[1][:cut])  # torn by a kill: nothing after it
    with pytest.warns(StoreWarning, match=rf"{path.name}:2$"):
        assert Store(tmp_path).done([line(n)["key"] for n in range(3)]) == {line(0)["key"]}


KEYS = [line(number)["key"].encode() for number in (0, 2)]
CHECKSUM = json.loads(encode_cell(line(0)))["crc32"].encode()
EDITS = [
    (b'"mistakes":30', b'"mistakes":20'),
    (b'"seconds":0.25', b'"seconds":0.2'),
    (b'"host":"here"', b'"host":"there"'),
    KEYS,
    (CHECKSUM, b"00000000"),
    (b'"crc32":"%s",' % CHECKSUM, b""),  # a line without its checksum is never believed
    (b'"crc32":"%s",' % CHECKSUM, b'"crc32":"",'),
    (b'"crc32":"%s"' % CHECKSUM, b'"crc32":null'),
]


@pytest.mark.parametrize(("was", "now"), EDITS)
def test_a_line_edited_by_hand_is_skipped_although_it_can_be_read(tmp_path, was, now):
    with Store(tmp_path) as store:
        store.append(line(0), {"t": [1]})
        store.append(line(1))
    (path,) = cell_files(store)
    first, second = path.read_bytes().splitlines(keepends=True)
    assert was in first
    for mistakes in (b'"mistakes":30', b'"mistakes":3'):  # with and without another count
        path.write_bytes(first.replace(was, now).replace(b'"mistakes":30', mistakes) + second)
        with pytest.warns(StoreWarning, match=rf"{path.name}:1$"):
            assert Store(tmp_path).cells()["rep"].tolist() == [1]
    with pytest.warns(StoreWarning, match=rf"{path.name}:1$"):
        assert Store(tmp_path).done(line(n)["key"] for n in range(3)) == {line(1)["key"]}
    (curves,) = store.files("curves")
    curves.write_bytes(curves.read_bytes().replace(b'"t":[1]', b'"t":[2]'))
    with pytest.warns(StoreWarning, match=r"curves.*:1$"):
        assert store.curves() == {}


def test_a_line_whose_fields_are_in_another_order_is_skipped(tmp_path):
    with Store(tmp_path) as store:
        store.append(line(1))
    (path,) = cell_files(store)
    path.write_text(json.dumps(json.loads(path.read_bytes()), sort_keys=True))
    with pytest.warns(StoreWarning, match=rf"{path.name}:1$"):
        assert Store(tmp_path).done([line(1)["key"]]) == set()


BROKEN = {
    "not json": b"hello",
    "not utf-8": b'{"key":"\xff"}',
    "no checksum": json.dumps(line(1)).encode(),
    "nested too deep": b"[" * 100_000,
    "two lines in one": encode_cell(line(1))[:-1] * 2,
    # with a checksum that fits, as a later version may write them
    "no seconds": sealed({k: v for k, v in line(1).items() if k != "seconds"}),
    "no figures": sealed(line(1, "failed") | {"status": "ok"}),
    "params not an object": sealed(line(1) | {"params": 3}),
    "no learner": sealed({k: v for k, v in line(1).items() if k != "algo"}),
    "rep not a number": sealed(line(1) | {"rep": "one"}),
    # the types of the fields are right, what is in them is not
    "no rounds": sealed(line(1) | {"T": 0}),
    "counts of one row": sealed(line(1) | {"confusion": [1, 2]}),
    "counts that are no square": sealed(line(1) | {"confusion": [[1, 2], [3]]}),
    "counts of texts": sealed(line(1) | {"confusion": [["1"]]}),
    "no counts": sealed(line(1) | {"confusion": []}),
    "counts of no classes": sealed(line(1) | {"confusion": {"true": [0], "predicted": [0], "counts": [1]}}),
    "a class too many": sealed(
        line(1) | {"confusion": {"classes": 1, "true": [1], "predicted": [0], "counts": [1]}}
    ),
    "weights of texts": sealed(line(1) | {"weights": ["0.5"]}),
    "sizes of texts": sealed(line(1) | {"n_sv_per_kernel": [None]}),
    "an empty pool": sealed(line(1) | {"pool_spec": {}}),
    "a pool without kernels": sealed(line(1) | {"pool_spec": {"normalise": "none", "kernels": []}}),
    "a kernel without a kind": sealed(line(1) | {"pool_spec": {"normalise": "none", "kernels": [{}]}}),
    "an unknown task": sealed(line(1) | {"task": "ranking"}),
    "a seed that is none": sealed(line(1) | {"permutation_seed": "seven"}),
    "part of a part": sealed(line(1) | {"rounds": [3]}),
    "a load that is a text": sealed(line(1) | {"provenance": {"load": "high"}}),
    "versions that are a text": sealed(line(1) | {"provenance": {"versions": "1.0"}}),
}
ODD_CURVES = [
    {"t": ["1"], "mistakes": [1]},
    {"t": [1, 2], "mistakes": [1]},
    {"t": [], "mistakes": []},
    {"t": 3},
    {"mistakes": [1]},
    {"t": [1], "mistakes": [None]},
    {"t": [1], "mistakes": [1], "weights_t": [1], "weights": [["a"]]},
    {"t": [1], "mistakes": [1], "weights_t": [1, 2], "weights": [[0.5, 0.5]]},
    {"t": [1], "mistakes": [1], "weights_t": [1, 2], "weights": [[0.5, 0.5], [1.0]]},
    {"t": [1], "mistakes": [1], "weights_t": 2, "weights": None},
    {"t": [1], "mistakes": [1], "weights_t": [1], "weights": [0.5]},
]


@pytest.mark.parametrize("curve", ODD_CURVES, ids=str)
def test_an_odd_curve_with_the_right_checksum_is_skipped_and_named(tmp_path, curve):
    with Store(tmp_path) as store:
        store.append(line(1), {"t": [1], "mistakes": [1]})
    (path,) = store.files("curves")
    path.write_bytes(path.read_bytes() + encode_curve(line(0)["key"], "", curve))
    with pytest.warns(StoreWarning, match=rf"{path.name}:2$"):
        assert [*store.curves()] == [line(1)["key"]]


def test_one_odd_line_ends_no_report(tmp_path, capsys):
    with Store(tmp_path) as store:
        for number in range(2):
            store.append(line(number), {"t": [100], "mistakes": [30]})
    odd = b"".join(sealed(line(9) | change) for change in ({"T": 0}, {"pool_spec": {}}, {"task": "later"}))
    (tmp_path / "cells" / "later.jsonl").write_bytes(odd)
    for words in (["list"], ["export"]):
        assert main(["results", *words, f"store={tmp_path}"]) == 0
        told = capsys.readouterr().err
        assert all(f"later.jsonl:{number}" in told for number in (1, 2, 3))


@pytest.mark.parametrize("name", BROKEN)
def test_a_line_broken_by_hand_is_skipped_with_a_warning_and_prune_removes_it(tmp_path, name):
    with Store(tmp_path) as store:
        store.append(line(5), {"t": [1]})
    (path,) = cell_files(store)
    good = path.read_bytes()
    path.write_bytes(BROKEN[name].rstrip() + b"\n\n" + good)  # an empty line is no line
    store.files("curves")[0].open("ab").write(b"half a line")
    for read in (store.cells, store.failed, lambda: store.done([line(5)["key"]])):
        with warnings.catch_warnings(record=True):
            warnings.simplefilter("always")
            read()
    with pytest.warns(StoreWarning, match=rf"{path.name}:1$"):
        assert Store(tmp_path).cells()["rep"].tolist() == [5]
    upkeep.prune(store, old=False, torn=True, really=True)
    assert path.read_bytes() == b"\n" + good
    assert len(store.curves()) == 1


OLD = b'{"key":"%s","crc32":"01234567","status":"ok"}\n' % (b"0" * 64)


@pytest.mark.parametrize("name", ["a.jsonl", "sealed.parquet"])
def test_a_store_of_an_earlier_version_is_refused_in_one_sentence(tmp_path, monkeypatch, capsys, name):
    store = tmp_path / "s"
    (store / "cells").mkdir(parents=True)
    (store / "cells" / name).write_bytes(OLD)
    run = ["algo=majority", "data=wdbc", "reps=1", "yardsticks=[]"]
    commands = [["run", *run], ["run", *run, "--fresh"], ["status", *run]]
    commands += [
        ["results", *more] for more in (["list"], ["export"], ["prune", "--yes"], ["merge", "other"])
    ]
    with Store(tmp_path / "other") as other:
        other.append(line(1))
    monkeypatch.chdir(tmp_path)
    for words in commands:
        assert main([*words, f"store={store}"]) == 2
        assert capsys.readouterr().err == (
            f"omkl: {store / 'cells' / name} was written by an earlier version of omkl, whose results this "
            f"one does not read: choose another folder with store=PATH, or delete {store}\n"
        )
        assert (store / "cells" / name).read_bytes() == OLD
        assert len(list(store.glob("*/*.jsonl"))) == (name == "a.jsonl")


@pytest.mark.parametrize(
    ("number", "cure"), [(errno.ENOSPC, "Make room, or choose another"), (errno.EROFS, "Choose another")]
)
def test_room_is_asked_for_where_there_is_none(tmp_path, monkeypatch, number, cure):
    def fails(*args):
        raise OSError(number, os.strerror(number))

    with Store(tmp_path) as store:
        monkeypatch.setattr("omkl.store.store.os.open", fails)
        with pytest.raises(OmklError) as error:
            store.append(line(1))
    assert f"{os.strerror(number)}. The finished cells are safe. {cure} folder with store=PATH, and" in str(
        error.value
    )


@pytest.mark.slow
@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_any_bytes_in_the_store_cost_at_most_their_own_lines(tmp_path, data):
    with Store(tmp_path) as store:
        store.append(line(1), {"t": [1]})
    for folder in ("cells", "curves"):
        (tmp_path / folder / "zz.jsonl").write_bytes(data.draw(st.binary(max_size=200)))
    whole = cell_files(store)[0].read_bytes()
    at = data.draw(st.integers(0, len(whole) - 1))
    damaged = whole[:at] + data.draw(st.binary(max_size=3)) + whole[at + data.draw(st.integers(0, 5)) :]
    (tmp_path / "cells" / "zy.jsonl").write_bytes(damaged)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", StoreWarning)
        assert line(1)["key"] in set(store.cells()["key"])
        assert store.curves([line(1)["key"]]) == {line(1)["key"]: {"t": [1]}}
        store.failed()
    for path in cell_files(store):
        path.unlink()


def test_lines_are_made_durable_once_in_a_while_and_when_the_store_is_closed(tmp_path, monkeypatch):
    """After a power cut only what was given to fsync is sure to be there."""
    synced = []
    monkeypatch.setattr(os, "fsync", lambda file: synced.append(os.fstat(file).st_ino))
    monkeypatch.setattr("omkl.store.store.SYNC_SECONDS", 0.0)
    with Store(tmp_path) as store:
        store.append(line(0), {"t": [1]})
        both = [path.stat().st_ino for folder in ("curves", "cells") for path in store.files(folder)]
        assert synced[-2:] == both
        monkeypatch.setattr("omkl.store.store.SYNC_SECONDS", float("inf"))
        synced.clear()
        store.append(line(1), {"t": [1]})
        assert synced == []
    assert synced == both  # a curve before the line that implies it


def test_a_full_disk_is_a_clear_error_and_loses_nothing(tmp_path):
    # a limit on file size fails a write in the middle, as a full disk does; Python ignores the signal
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    store = Store(tmp_path)
    written = 0
    resource.setrlimit(resource.RLIMIT_FSIZE, (5000, limits[1]))
    try:
        with pytest.raises(OmklError, match=r"cannot write to the store .*too large"):  # noqa: PT012
            while True:
                store.append(line(written))
                written += 1
        (path,) = cell_files(store)
        assert path.stat().st_size < 5000
        assert read_quietly(store)["rep"].tolist() == list(range(written))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert 2 < written < 20
    with store:  # there is room again
        store.append(line(written))
    assert sorted(read_quietly(store)["rep"]) == list(range(written + 1))


@pytest.fixture
def small_disk(tmp_path):
    """A disk of 128 KiB, which a call makes larger."""

    def mount(options: str) -> None:
        command = ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(tmp_path)]
        if os.geteuid() or subprocess.run(command, capture_output=True).returncode:
            pytest.skip("cannot mount a tmpfs here")

    mount("size=128k")
    yield tmp_path, lambda: mount("remount,size=1m")
    subprocess.run(["umount", "-l", str(tmp_path)], check=True)


def test_a_disk_that_is_full_is_a_clear_error_and_the_store_goes_on_with_more_room(small_disk):
    path, enlarge = small_disk
    store, curve = Store(path), {"t": list(range(300))}
    written = 0
    with pytest.raises(OmklError, match=r"cannot write to the store .*No space left on device.*are safe"):  # noqa: PT012
        while True:
            store.append(line(written), curve)
            written += 1
    assert written > 20
    for again in (store, Store(path)):  # it is still full
        with pytest.raises(OmklError, match="No space left"):
            again.append(line(written), {"t": list(range(30_000))})
    cells = read_quietly(Store(path))
    assert cells["rep"].tolist() == list(range(written))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert len(store.curves()) >= written
    enlarge()
    with store:
        store.append(line(written), curve)
    assert sorted(read_quietly(store)["rep"]) == list(range(written + 1))


def test_a_half_written_line_that_cannot_be_taken_back_does_not_spoil_the_next(tmp_path, monkeypatch):
    write, calls = os.write, []

    def half(file, data):
        calls.append(file)
        if len(calls) == 2:
            return write(file, data[:50])
        if len(calls) == 3:
            raise OSError(28, "No space left on device")
        return write(file, data)

    def no_truncate(file, size):
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(os, "write", half)
    monkeypatch.setattr(os, "ftruncate", no_truncate)
    with Store(tmp_path) as store:
        store.append(line(1))
        with (
            pytest.warns(StoreWarning, match="half-written"),
            pytest.raises(OmklError, match="No space left"),
        ):
            store.append(line(2))
        store.append(line(3))
    assert len(calls) == 4
    with pytest.warns(StoreWarning, match=r":2$"):
        assert sorted(store.cells()["rep"]) == [1, 3]


@pytest.mark.parametrize("place", ["file", "file/below"])
def test_an_unwritable_place_is_a_clear_error(tmp_path, place):
    (tmp_path / "file").touch()
    store = Store(tmp_path / place)
    with pytest.raises(OmklError, match="cannot write to the store"):
        store.open()
    with pytest.raises(OmklError, match="cannot write to the store"):
        store.append(line(1))


WRITER = """
import sys
sys.path.insert(0, {here!r})
from support.results_lines import line
from omkl.store import Store
first, count, path = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
with Store(path) as store:
    for number in range(first, first + count):
        store.append(line(number), {{"t": [number]}})
        print(number, flush=True)
"""


def writer(first: int, count: int, path: Path) -> subprocess.Popen:
    return subprocess.Popen(
        [sys.executable, "-c", WRITER.format(here=str(TESTS)), str(first), str(count), str(path)],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )


@pytest.mark.slow
def test_two_processes_at_once_lose_no_line(tmp_path):
    processes = [writer(0, 400, tmp_path), writer(300, 400, tmp_path)]  # 100 cells by both
    outputs = [process.communicate()[0].split() for process in processes]
    assert [len(numbers) for numbers in outputs] == [400, 400]
    store = Store(tmp_path)
    assert sorted(read_quietly(store)["rep"]) == list(range(700))
    assert len(store.curves()) == 700
    assert sum(len(path.read_bytes().splitlines()) for path in cell_files(store)) == 800


@pytest.mark.slow
def test_a_writer_killed_at_any_moment_loses_nothing_it_had_finished(tmp_path):
    moments = random.Random(5)
    acknowledged = set()
    for round_ in range(6):
        process = writer(10_000 * round_, 10_000, tmp_path)
        acknowledged |= {int(process.stdout.readline()) for _ in range(moments.randint(1, 300))}
        time.sleep(moments.uniform(0, 0.002))  # between two lines, or within one
        process.send_signal(signal.SIGKILL)
        acknowledged |= {int(number) for number in process.communicate()[0].splitlines()[:-1]}
    store = Store(tmp_path)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", StoreWarning)  # the line being written may be torn
        kept = set(store.cells()["rep"])
        assert acknowledged <= kept
        assert {line(n)["key"] for n in kept} <= store.curves().keys()  # a cell implies its curve
    assert len(acknowledged) > 6  # so kills came between and inside writes, not only before


def test_a_write_that_a_kill_cuts_short_costs_its_own_line_only(tmp_path):
    """Each of five writers dies in the middle of one of its writes: of a curve, or of a cell."""
    finished = 0
    for cut, writes in ((0, 1), (1, 2), (200, 3), (700, 4), (-2, 6)):
        child = os.fork()
        if child == 0:
            write, count = os.write, 0

            def torn(file, data, cut=cut, writes=writes, write=write):
                nonlocal count
                count += 1
                if count == writes:
                    write(file, data[:cut])
                    os.kill(os.getpid(), signal.SIGKILL)
                return write(file, data)

            os.write = torn
            store = Store(tmp_path)
            for number in range(9):
                store.append(line(finished + number), {"t": [1]})
            os._exit(0)
        assert os.WIFSIGNALED(os.waitpid(child, 0)[1])
        finished += (writes - 1) // 2
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", StoreWarning)
        assert sorted(Store(tmp_path).cells()["rep"]) == list(range(finished))
        assert len(Store(tmp_path).curves()) >= finished


def test_a_forked_process_writes_its_own_file(tmp_path):
    with Store(tmp_path) as store:
        store.append(line(1))
        child = os.fork()
        if child == 0:
            try:
                store.append(line(2))
            finally:
                os._exit(0)
        os.waitpid(child, 0)
        store.append(line(3))
    assert len(cell_files(store)) == 2
    assert sorted(read_quietly(store)["rep"]) == [1, 2, 3]
