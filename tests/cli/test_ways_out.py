"""A paper's data set is missing: the message names the ways to provide it, and each of them works."""

import lzma

import pytest
from support.download_server import BODY

from omkl.cli import main
from omkl.data import from_json, registered, registry
from omkl.errors import UserError
from omkl.publications import Selection, find_item
from omkl.publications.selection import plans_of

TABLE = ["table", "bomkl/1", "reps=1"]
WAYS = ("`omkl data get mine` downloads it", "OMKL_DATA", "OMKL_MIRROR", "data=mine=PATH", "content hash")


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
    assert all(way in err for way in WAYS[:3])


@pytest.mark.parametrize("variable", ["", "OMKL_DATA", "OMKL_MIRROR"])
def test_the_network_or_a_folder_without_it(mine, tmp_path, monkeypatch, variable):
    if variable:
        monkeypatch.setenv("OMKL_OFFLINE", "1")
        assert not is_there()
        packed = variable == "OMKL_DATA"
        name, content = ("mine.t.xz", lzma.compress(BODY)) if packed else ("mine.t", BODY)
        (tmp_path / "own").mkdir()
        (tmp_path / "own" / name).write_bytes(content)
        monkeypatch.setenv(variable, str(tmp_path / "own"))
    assert is_there()


def test_a_mirror_as_a_url(mine, server, monkeypatch):
    server.files["/mirror/mine.t"] = server.files.pop("/f")
    monkeypatch.setenv("OMKL_MIRROR", f"{server.url}/mirror")
    assert is_there()


def test_the_sets_own_file_under_any_name_or_its_folder(mine, tmp_path, monkeypatch):
    monkeypatch.setenv("OMKL_OFFLINE", "1")
    file = tmp_path / "as I call it.xz"
    file.write_bytes(lzma.compress(BODY))
    assert is_there(f"mine={file}")
    (ref,) = work(f"mine={file}").parts[0].plan.data
    assert ref.files == [file]
    assert from_json(ref.to_json()).files == [file]
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "mine.t").write_bytes(BODY)
    assert is_there(f"mine={tmp_path / 'folder'}")


def test_a_given_file_goes_before_a_wrong_one_on_the_search_path(mine, tmp_path, monkeypatch):
    (tmp_path / "mine.t").write_text("1 1:1\n-1 2:1\n")
    monkeypatch.setenv("OMKL_DATA", str(tmp_path))
    assert "not the registered content" in work().how["mine"]
    (tmp_path / "good").write_bytes(BODY)
    assert is_there(f"mine={tmp_path / 'good'}")


def test_a_file_that_is_not_the_set_is_refused(mine, tmp_path, capsys):
    file = tmp_path / "mine.t"
    file.write_bytes(BODY.replace(b"0.5", b"0.25", 1))
    (tmp_path / "empty").mkdir()
    for path, said in (
        (file, f"{file}: not the registered content of mine: expected {mine.content_hash}"),
        (tmp_path, f"{file}: not the registered content of mine"),
        (tmp_path / "empty", "holds no mine.t"),
        (tmp_path / "gone", "name a file of the set, or its folder"),
    ):
        assert main([*TABLE, f"data=mine={path}"]) == 2
        err = capsys.readouterr().err
        assert said in err
        assert err.count("\n") == 1
    assert main([*TABLE, f"data=mine_={file}"]) == 2
    assert "did you mean 'mine'" in capsys.readouterr().err


def test_what_several_files_make_is_given_as_a_folder(tmp_path):
    (tmp_path / "one").write_text("1 1:1\n")
    with pytest.raises(UserError, match=r"holds no a9a \+ a9a.t; name a file of the set"):
        registered("a9a").read_from(tmp_path / "one")
    with pytest.raises(UserError, match="drift is not read from files"):
        registered("drift").read_from(tmp_path / "one")


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
