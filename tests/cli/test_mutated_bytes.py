"""Files whose bytes were changed: a result or a sentence, never an unexpected error, a hang or much memory.

Each case is drawn by a generator with a seed of its own, which a failure names.
"""

import gzip
import io
import resource
import signal
import warnings
import zipfile
from contextlib import contextmanager
from random import Random

import numpy as np
import pandas as pd
import pytest
from support.results_lines import line, sealed

from omkl import data
from omkl.cli import main
from omkl.errors import OmklError
from omkl.sklearn import OmkcDdClassifier
from omkl.store.lines import encode_curve
from omkl.store.store import Store

pytestmark = pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs an alarm")
SECONDS, MEMORY = 5.0, 500 * 2**20  # of CPU and bytes, of one case
SIGNS = b"\0\n\r\t ,;:\"'\\{}[]()#%?@=+-.0123456789eEnNaAxX\xff\xfe\xef\xbb\xbf\x80"
LONG = (b"9" * 400, b"," * 300, b'"', b"\n" * 200, b"1e999", b"nan", b"2024-13-45", b"\xe2\x80\xae", b"0:0")


def cases(few, many):
    """How many cases: a few in `make test`, many in `make test-all`."""
    return pytest.mark.parametrize("count", [few, pytest.param(many, marks=pytest.mark.slow)])


def mutated(raw, random):
    """Some bytes replaced, removed, repeated or put in, or the rest cut off."""
    made = bytearray(raw)
    for _ in range(random.choice((1, 1, 2, 4, 16))):
        at, size = random.randrange(len(made) + 1), random.choice((1, 1, 2, 8, 40))
        kind = random.randrange(6)
        if kind == 0:
            made[at : at + 1] = bytes([random.choice(SIGNS)])
        elif kind == 1:
            made[at : at + 1] = bytes([random.randrange(256)])
        elif kind == 2:
            del made[at : at + size]
        elif kind == 3:
            made[at:at] = made[at : at + size] * random.randrange(1, 4)
        elif kind == 4:
            made[at:at] = random.choice(LONG)
        else:
            del made[at + size * 10 :]
    return bytes(made)


@contextmanager
def watched(case):
    """Fail, with the case, on a hang, on much memory, and on any error but ours."""

    def late(*_):
        raise TimeoutError(f"case {case} took more than {SECONDS} s of CPU")

    before, peak = signal.signal(signal.SIGPROF, late), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    except OmklError as error:
        said = str(error)
        if "\n" in said or len(said) > 3000:
            raise AssertionError(f"case {case}: {said!r}") from error
    except Exception as error:
        raise AssertionError(f"case {case}: {type(error).__name__}: {error}") from error
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0.0)
        signal.signal(signal.SIGPROF, before)
    grown = 1024 * (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - peak)
    assert grown < MEMORY, f"case {case} took {grown} bytes"


# ------------------------------------------------------------------ tables


def tables():
    """A small file of each format."""
    random = np.random.default_rng(0)
    frame = pd.DataFrame({"a": random.normal(size=12).round(3), "b": range(12), "city": ["x", "y", "z"] * 4})
    frame["when"] = [f"2024-03-{day:02}" for day in range(1, 13)]
    frame["label"] = ["no", "yes"] * 6
    text = frame.to_csv(index=False).encode()
    packed, arrays = io.BytesIO(), io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.csv", text)
    np.savez(arrays, X=frame[["a", "b"]].to_numpy(), y=np.array([0, 1] * 6))
    return {
        "a.csv": text,
        "a.tsv": text.replace(b",", b"\t"),
        "a.csv.gz": gzip.compress(text, mtime=0),
        "a.csv.zip": packed.getvalue(),
        "a.libsvm": b"".join(b"%+d 1:%d 4:0.5\n" % (1 - 2 * (row % 2), row) for row in range(12)),
        "a.jsonl": frame.to_json(orient="records", lines=True).encode(),
        "a.arff": b"@relation r\n@attribute a numeric\n@attribute y {no,yes}\n@data\n" + b"1,no\n2,yes\n" * 6,
        "a.npz": arrays.getvalue(),
    }


TABLES = tables()


@cases(10, 7500)
@pytest.mark.parametrize("name", TABLES)
def test_any_bytes_of_a_table_are_read_or_refused(name, count, tmp_path, monkeypatch):
    monkeypatch.setenv("OMKL_CACHE", str(tmp_path / "cache"))
    path = tmp_path / name
    path.write_bytes(TABLES[name])
    assert data.find(str(path)).load().T > 0  # which imports what reads it
    for seed in range(count):
        path.write_bytes(mutated(TABLES[name], Random(f"{name} {seed}")))
        with watched(f"{name} {seed}"):
            dataset = data.find(str(path)).load()
            assert not np.isinf(dataset.values).any()  # NaN is a gap


# ------------------------------------------------------------------ stores

ODD = (0, -1, 1.5, 10**18, 1e300, None, True, "", "x", "nan", [], [1], ["a"], [[1]], {}, {"kind": 1}, [None])


def with_odd_part(value, random):
    """A value of JSON with one of its parts, or itself, replaced or removed."""
    if isinstance(value, dict | list) and value and random.random() < 0.8:
        made = value.copy()
        key = random.choice([*value]) if isinstance(value, dict) else random.randrange(len(value))
        if random.random() < 0.1:
            del made[key]
        else:
            made[key] = with_odd_part(value[key], random)
        return made
    return random.choice(ODD)


def commands_say(words, capsys, case):
    """Run a command: it ends with 0 or one of our messages."""
    code = main(words)
    said = capsys.readouterr().err
    assert code in (0, 1, 2), case
    assert "omkl: unexpected" not in said, f"{case}: {said}"


@cases(20, 12_000)
def test_any_insides_of_a_store_s_line_are_skipped_or_shown(count, tmp_path, capsys):
    usual = line(0, confusion=[[40, 10], [20, 30]], auc=0.7)
    usual["provenance"] |= {"versions": {"omkl": "1"}, "cores": 2, "cpu": "here"}
    with Store(tmp_path) as store:
        store.append(line(1), {"t": [100], "mistakes": [30]})
    path = tmp_path / "cells" / "odd.jsonl"
    for words in ("list", "export"):
        commands_say(["results", words, f"store={tmp_path}"], capsys, "as it is")
    for seed in range(count):
        random, field = Random(f"store {seed}"), None
        while field in (None, "key", "status"):
            field = random.choice([*usual])
        odd = {**usual, field: with_odd_part(usual[field], random)}
        case = f"store {seed}: {field} = {odd[field]!r}"
        with watched(case):
            try:
                path.write_bytes(sealed(odd))
            except (ValueError, TypeError, AttributeError):
                continue  # no line has such a part
            for words in ("list", "export"):
                commands_say(["results", words, f"store={tmp_path}"], capsys, case)


@cases(20, 6000)
def test_any_bytes_of_a_store_cost_their_line_alone(count, tmp_path):
    with Store(tmp_path) as store:
        store.append(line(1), {"t": [1], "mistakes": [0]})
    raw = {"cells": sealed(line(0)), "curves": encode_curve(line(0)["key"], "", {"t": [1], "mistakes": [1]})}
    for seed in range(count):
        random = Random(f"bytes {seed}")
        with watched(f"bytes {seed}"):
            for folder, content in raw.items():
                (tmp_path / folder / "odd.jsonl").write_bytes(mutated(content, random))
            store = Store(tmp_path)
            assert line(1)["key"] in set(store.cells()["key"])
            assert line(1)["key"] in store.curves()
            store.failed()


# ------------------------------------------------------------------ settings and models

SETTINGS = b"""settings:
- omkc_dd(beta=0.9, label=slow)
- norma(kernel=gaussian(sigma=2), eta=0.1)
- arow(r=0.1)
"""


@cases(20, 10_000)
def test_any_bytes_of_a_settings_file_are_read_or_refused(count, tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("OMKL_OFFLINE", "1")
    path = tmp_path / "best.yaml"
    words = ["run", "--dry-run", "data=wdbc", f"settings={path}", f"store={tmp_path}"]
    path.write_bytes(SETTINGS)
    assert main(words) == 0
    for seed in range(count):
        path.write_bytes(mutated(SETTINGS, Random(f"settings {seed}")))
        with watched(f"settings {seed}"):
            commands_say(words, capsys, f"settings {seed}")


@cases(20, 12_000)
def test_any_bytes_of_a_model_are_read_or_refused(count, tmp_path, capsys):
    random = np.random.default_rng(0)
    X = random.normal(size=(30, 2))
    model, path = OmkcDdClassifier(random_state=0).fit(X, X[:, 0] > 0), tmp_path / "a.omkl"
    model.to_file(path)
    whole = path.read_bytes()
    OmkcDdClassifier.from_file(path).predict(X)
    for seed in range(count):
        path.write_bytes(mutated(whole, Random(f"model {seed}")))
        with watched(f"model {seed}"):
            OmkcDdClassifier.from_file(path).predict(X)
