"""Impossible paths, wherever a user may give one: exit code 2 and one line that names the path."""

import json
import os
import re
import stat
from threading import Thread

import pytest

from omkl.cli import main

LONG = "a" * 300
FIT = ["data=rows", "algo=arow"]
STORED = [*FIT, "yardsticks=[]", "reps=1", "store=st"]
WRITERS = {
    "m.omkl": ["fit", *FIT],
    "m.csv": ["predict", "model", "rows"],
    "x.csv": ["results", "export", "store=st"],
    "f.svg": ["figure", "curve", *STORED],
    "p.html": ["report", *STORED],
}
RUN = ["data=wdbc", "algo=majority", "yardsticks=[]", "reps=1"]


@pytest.fixture(autouse=True)
def place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("OMKL_STORE", "OMKL_MIRROR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("OMKL_OFFLINE", "1")
    (tmp_path / "st" / "cells").mkdir(parents=True)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["results", "export", "--out=", "store=st"], "--out: the path is missing"),
        (["results", "export", "--out=.", "store=st"], "--out .: the file's name must end in .csv"),
        (["results", "export", "--out=/", "store=st"], "--out /: the file's name must end in .csv"),
        (["results", "export", "--out=..", "store=st"], "--out ..: the file's name must end in .csv"),
        (["results", "export", f"--out={LONG}.csv", "store=st"], "--out 'aaa"),
        (["results", "export", "--out=no/x.csv", "store=st"], "cannot write no/x.csv"),
        (["results", "list", f"store={LONG}"], "store='aaa"),
        (["results", "prune", f"store={LONG}"], "store='aaa"),
        (["results", "merge", LONG, "store=st"], "File name too long"),
        (["results", "merge", "~nobody-here/x", "store=st"], "~nobody-here/x is not a results store"),
        (["run", *RUN, f"store={LONG}"], "store='aaa"),
        (["sweep", *RUN, f"store={LONG}"], "store='aaa"),
        (["status", *RUN, f"store={LONG}"], "store='aaa"),
        (["figure", "curve", *RUN, f"store={LONG}"], "store='aaa"),
        (["table", "bomkl/1", "data=wdbc", f"store={LONG}"], "store='aaa"),
        (["figure", "curve", *RUN, f"--out={LONG}"], "--out 'aaa"),
        (["figure", "curve", *RUN, f"--out={LONG}/"], "--out 'aaa"),
        (["figure", "curve", *RUN, "--out="], "--out: the path is missing"),
        (["sweep", *RUN, f"--out={LONG}.png"], "--out 'aaa"),
        (["figure", "omkc/1", f"--out={LONG}"], "--out 'aaa"),
        (["run", f"data={LONG}"], "data=aaa"),
        (["table", "bomkl/1", f"data=kdd08={LONG}"], "data=aaa"),
    ],
)
def test_a_path_that_cannot_be(words, said, capsys):
    assert_refused(words, said, capsys)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["run", *RUN, "store=file"], "the store file: Not a directory"),
        (["status", *RUN, "store=file/x"], "the store file/x: Not a directory"),
        (["results", "list", "store=file"], "file is not a results store"),
        (["fit", *FIT, "--out", "."], ". is a folder; a model is a file"),
        (["fit", *FIT, "--out", "file/x"], "/file is a file, not a folder"),
        (["update", "model", "rows", "--out", "file/x/y"], "/file is a file, not a folder"),
        (["update", "no/model", "rows"], "no/model: No such file or directory"),
        (["predict", "~nobody-here/x", "rows"], "~nobody-here/x: No such file or directory"),
        (["predict", "model", LONG], "File name too long"),
        (["predict", "model", "rows", "--out", "."], "cannot write .: Is a directory"),
        (["predict", "model", ""], "the path of a file is missing"),
        (["predict", "", "rows"], "the path of a file is missing"),
        (["predict", "model", "st"], "st: this is a folder"),
        (["show", "nosuch.omkl"], "nosuch.omkl: No such file or directory"),
        (["figure", "curve", *STORED, "--out", "file/x"], "the figure file/x.png: file is a file"),
        (["report", *STORED, "--out", "file/x.html"], "cannot write file/x.html: file is a file"),
    ],
)
def test_a_file_in_place_of_a_folder_and_the_reverse(words, said, capsys, tmp_path):
    (tmp_path / "file").write_text("")
    (tmp_path / "rows").write_text("1 1:1\n-1 1:2\n")
    assert main(["fit", *FIT, "--out", "model"]) == 0
    assert main(["run", *STORED]) == 0
    capsys.readouterr()
    before = sorted(path.name for path in tmp_path.iterdir())
    assert_refused(words, said, capsys)
    assert sorted(path.name for path in tmp_path.iterdir()) == before  # no folder was made


@pytest.fixture
def stored(tmp_path, capsys):
    (tmp_path / "rows").write_text("1 1:1\n-1 1:2\n")
    assert main(["fit", *FIT, "--out", "model"]) == 0
    assert main(["run", *STORED]) == 0
    capsys.readouterr()


@pytest.mark.parametrize("name", WRITERS)
def test_a_link_stays_and_what_it_leads_to_is_replaced(stored, name, tmp_path):
    (tmp_path / "far").mkdir()
    file, link = tmp_path / "far" / "file", tmp_path / name
    file.write_text("before")
    file.chmod(0o640)
    link.symlink_to("far/file")
    assert main([*WRITERS[name], "--out", name]) == 0
    assert link.is_symlink()
    assert file.read_bytes() == link.read_bytes() != b"before"
    assert stat.S_IMODE(file.stat().st_mode) == 0o640
    assert [path.name for path in file.parent.iterdir()] == ["file"]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
@pytest.mark.parametrize("name", WRITERS)
def test_a_pipe_is_written_to(stored, name, tmp_path):
    assert main([*WRITERS[name], "--out", f"file-{name}"]) == 0
    os.mkfifo(tmp_path / name)
    read: list[bytes] = []
    reader = Thread(target=lambda: read.append((tmp_path / name).read_bytes()), daemon=True)
    reader.start()
    assert main([*WRITERS[name], "--out", name]) == 0
    reader.join(30)
    file = (tmp_path / f"file-{name}").read_bytes()
    assert read == [file.replace(b"file-", b"")]  # figures and reports hold the command
    assert stat.S_ISFIFO((tmp_path / name).stat().st_mode)


def test_the_longest_name_that_can_be(tmp_path, capsys):
    name = "b" * 251 + ".csv"
    assert main(["results", "export", f"--out={name}", "store=st"]) == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == [name, "st"]


@pytest.mark.parametrize("text", [LONG, "~nobody-here"])
@pytest.mark.parametrize("name", ["OMKL_STORE", "OMKL_CACHE", "OMKL_DATA", "OMKL_MIRROR"])
def test_one_in_the_environment(name, text, monkeypatch, capsys, tmp_path):
    words = {"OMKL_STORE": ["results", "list"], "OMKL_CACHE": ["data", "get", "a9a"]}
    monkeypatch.setenv("OMKL_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("OMKL_DATA", "")
    monkeypatch.setenv(name, text)
    assert_refused(words.get(name, ["data", "get", "a9a"]), f"{name}" if text == LONG else "", capsys)


def assert_refused(words, said, capsys):
    assert main(words) == 2
    out, err = capsys.readouterr()
    assert not out
    assert err.count("\n") == 1
    assert "unexpected" not in err
    assert said in err


def test_two_data_sets_of_one_name_are_told_apart(tmp_path, capsys):
    for folder, row in (("one", "1 1:1"), ("two", "1 1:2")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "my").write_text(f"{row}\n-1 1:3\n")
    words = ["algo=arow", "data=one/my,two/my", "yardsticks=[]", "reps=2", "store=st"]
    assert main(["run", *words, "--dry-run"]) == 0
    planned = re.findall(r"^my \(\w{6}\)  arow", capsys.readouterr().out, re.M)
    assert len(set(planned)) == 2
    assert main(["status", *words, "--format", "json"]) == 0
    counts = [(row["data"], row["cells"]) for row in json.loads(capsys.readouterr().out)]
    assert counts == [(name.removesuffix("  arow"), 2) for name in planned]
