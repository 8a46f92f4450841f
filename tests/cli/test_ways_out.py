"""A paper's data set is missing: the message names the ways to provide it, and each of them works."""

import lzma

import pytest
from support.download_server import BODY

from omkl.cli import main
from omkl.data import registry
from omkl.publications import Selection, find_item
from omkl.publications.selection import plans_of

TABLE = ["table", "bomkl/1", "reps=1"]
WAYS = ("`omkl data get mine` downloads it", "OMKL_DATA", "OMKL_MIRROR")


def work(word="mine"):
    paper, item = find_item("tables", "bomkl/1")
    return plans_of(paper, [item], Selection(data=(word,), reps=1))


def is_there(word="mine"):
    """Whether the table's cells can be run on the set; what they read is checked against its hash."""
    chosen = work(word)
    if chosen.missing:
        return False
    loaded = [ref.load() for part in chosen.parts for ref in part.plan.data]
    return {(data.name, data.content_hash) for data in loaded} == {
        ("mine", registry.entry("mine").content_hash)
    }


@pytest.mark.parametrize("offline", [True, False])
def test_the_message_names_them_all(mine, server, monkeypatch, capsys, offline):
    server.modes["/f"] = "404"
    if offline:
        monkeypatch.setenv("OMKL_OFFLINE", "1")
    assert main([*TABLE, "data=mine"]) == 2
    out, err = capsys.readouterr()
    assert not out
    assert err.count("\n") == 1
    assert len(err) < 1000
    for way in WAYS:
        assert way in err
    assert ("OMKL_OFFLINE forbids that now" in err) is offline
    assert (f"{server.url}/f: the server answered 404" in err) is not offline


def test_a_run_names_them_too(mine, monkeypatch, capsys):
    monkeypatch.setenv("OMKL_OFFLINE", "1")
    monkeypatch.setenv("OMKL_MIRROR", "")  # empty is unset
    assert main(["run", "data=mine"]) == 2
    err = capsys.readouterr().err
    assert err.count("\n") == 1
    assert all(way in err for way in WAYS)


@pytest.mark.parametrize("offline", [False, True])
def test_the_network_or_a_folder_without_it(mine, tmp_path, monkeypatch, offline):
    if offline:
        monkeypatch.setenv("OMKL_OFFLINE", "1")
        assert not is_there()
        (tmp_path / "own").mkdir()
        (tmp_path / "own" / "mine.t.xz").write_bytes(lzma.compress(BODY))
        monkeypatch.setenv("OMKL_DATA", str(tmp_path / "own"))
    assert is_there()


def test_a_mirror_as_a_url(mine, server, monkeypatch):
    server.files["/mirror/mine.t"] = server.files.pop("/f")
    monkeypatch.setenv("OMKL_MIRROR", f"{server.url}/mirror")
    assert is_there()


def test_a_file_is_given_for_a_set_that_cannot_be_had_alone(mine, capsys):
    assert main([*TABLE, "data=mine=mine.t"]) == 2
    assert (
        "no file can be given for it, but for kdd08 and susy; put the set's own file"
        in capsys.readouterr().err
    )


def test_what_stands_in_for_a_set_that_cannot_be_had_is_compared_under_its_name(tmp_path, capsys):
    import json

    file = tmp_path / "cup.libsvm"
    file.write_text("".join(f"{'-' * (i % 2)}1 1:{i % 7} 2:{i % 5}\n" for i in range(30)))
    words = [
        f"data=kdd08={file}",
        "--format",
        "json",
        "-q",
        f"store={tmp_path / 'store'}",
        "exec=serial",
    ]
    assert main([*TABLE, *words]) == 0
    rows = json.loads(capsys.readouterr().out)["summary"]
    assert {row["data"] for row in rows} == {"kdd08"}
    assert next(row for row in rows if row["label"] == "OMKC(U)")["mistake_pct_published"] == 0.66
