"""The registered sets: every YAML is valid, and every shared set loads with the content of its YAML."""

import csv
import dataclasses
import os
import shutil

import numpy as np
import pytest

from omkl import data
from omkl.data import registry
from omkl.errors import UserError

NAMES = registry.registered_names()
UNVERIFIED = ("mushrooms", "susy_1m")  # no copy was at hand when their entries were written
CLASSIFIED = [name for name in NAMES if registry.entry(name).task == "classification"]
MANY = [name for name in CLASSIFIED if registry.entry(name).n_classes > 2]
CLASSES = [name for name in CLASSIFIED if name not in MANY]


@pytest.fixture(autouse=True)
def cache_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("OMKL_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("OMKL_OFFLINE", "1")
    monkeypatch.delenv("OMKL_MIRROR", raising=False)


@pytest.mark.parametrize("name", NAMES)
def test_entry_is_valid_and_complete(name):
    item = registry.entry(name)
    assert item.name == name
    assert item.T > 0 < item.d
    assert (item.nnz is None) == (item.content_hash is None) == (name in UNVERIFIED)
    assert item.nnz is None or 0 < item.nnz <= item.T * item.d
    others = item.task != "classification" or item.n_classes > 2 or name in UNVERIFIED
    assert (item.positive_share is None) == others
    assert item.positive_share is None or 0 < item.positive_share <= 1
    assert item.source.startswith(("http", "data/"))
    downloadable = any(form.files and all(file.urls for file in form.files) for form in item.forms)
    assert downloadable or any("no download" in note for note in item.notes)


def test_papers_names():
    files = {name: [file.name for file in registry.entry(name).forms[0].files] for name in NAMES}
    assert files["german"] == ["german.numer_scale"]
    assert files["german_numer"] == ["german.numer"]
    assert files["a9a"] == ["a9a", "a9a.t"]
    assert files["a9a_train"] == ["a9a"]
    assert files["codrna"] == ["cod-rna.t"]


def manifest(folder):
    """Rows of the shared manifests that are classification sets: file -> (T, d, positives per label)."""
    with open(folder / "MANIFEST.csv", encoding="utf-8", newline="") as file:
        rows = {
            row["file"]: (int(row["rows"]), int(row["features"]), float(row["positive_share"]))
            for row in csv.DictReader(file)
        }
    with open(folder / "MANIFEST_regression.csv", encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            if row["name"] in ("elec2", "weather", "spam_corpus"):
                positives = int(row["target_range"].partition("+1")[2].partition(":")[2].partition(",")[0])
                rows[row["file"]] = (int(row["rows"]), int(row["features"]), positives / int(row["rows"]))
    return rows


def test_every_shared_set_is_registered(shared_data):
    registered = {
        file.name + ".libsvm.xz"
        for name in NAMES
        for form in registry.entry(name).forms
        for file in form.files
    }
    assert set(manifest(shared_data)) <= registered


HERE = set(CLASSES) - {"adaraker_har", *UNVERIFIED}
STORED = [n for n in CLASSES if n in HERE and registry.entry(n).forms[0].format != "stream"]


@pytest.mark.parametrize("name", STORED)
def test_shared_set_loads_as_registered(shared_data, monkeypatch, name):
    monkeypatch.setenv("OMKL_DATA", str(shared_data))
    item, d = registry.entry(name), data.find(name).load()
    assert (d.name, d.T, d.d, d.nnz) == (name, item.T, item.d, item.nnz)
    assert d.content_hash == item.content_hash == data.content_hash(d.indptr, d.indices, d.values, d.y)
    assert d.positive_share == pytest.approx(item.positive_share, abs=6e-7)
    assert set(np.unique(d.y)) <= {-1.0, 1.0}
    assert np.all(d.values != 0)
    assert d.notes == item.notes
    known = manifest(shared_data)
    sets = [known[path.name] for path in data.registered(name).paths()]
    assert sum(T for T, _, _ in sets) == d.T
    assert max(width for _, width, _ in sets) == d.d
    assert sum(T * share for T, _, share in sets) == pytest.approx(d.T * d.positive_share, abs=0.1)
    if np.count_nonzero(np.diff(d.y)) == 1:
        assert item.remarks[-1].startswith("sorted by class")
    if item.file_order:  # a warning where it matters, not a note of each run
        assert not any("order=permuted" in note for note in d.notes)
        with pytest.warns(UserWarning, match="order=file streams long runs of one class"):
            data.order(d, "file", 1, 0)


@pytest.mark.parametrize("name", MANY)
def test_sets_of_many_classes_load_as_registered(shared_data, monkeypatch, name):
    monkeypatch.setenv("OMKL_DATA", str(shared_data))
    item, d = registry.entry(name), data.find(name).load()
    assert (d.T, d.nnz, d.d, d.content_hash) == (item.T, item.nnz, item.d, item.content_hash)
    assert (d.classes, np.unique(d.y).tolist()) == (item.classes, list(range(item.n_classes)))
    again = data.find(name).load()  # of the parsed copy
    assert (again.classes, again.notes) == (item.classes, item.notes)


def test_status_verify_and_path(shared_data, monkeypatch):
    monkeypatch.setenv("OMKL_DATA", f"/no/such/folder:{shared_data}")
    ref = data.registered("svmguide3")
    assert (ref.state, ref.is_downloadable, ref.to_be_downloaded) == ("file", True, False)
    assert ref.paths() == [shared_data / "svmguide3.libsvm.xz"]
    assert ref.verify() == registry.entry("svmguide3").content_hash == ref.load().content_hash


def test_missing_set_names_the_folders_that_were_searched(monkeypatch, tmp_path):
    monkeypatch.setenv("OMKL_DATA", "/no/such/folder")
    assert data.registered("a9a").state == "missing"
    ref = data.registered("a9a")
    for act in (ref.load, ref.paths, ref.verify):
        with pytest.raises(UserError, match=r"a9a not found.*a9a \+ a9a.t.*/no/such/folder, .*OFFLINE"):
            act()
    with pytest.raises(UserError, match="OMKL_DATA to a folder that holds susy_30k"):
        data.find("susy_30k").load()


def test_wdbc_needs_no_file(monkeypatch):
    monkeypatch.setenv("OMKL_DATA", "")
    assert data.registered("wdbc").state == "embedded"
    d = data.find("wdbc").load()
    assert d.content_hash == registry.entry("wdbc").content_hash == data.registered("wdbc").verify()
    assert (d.T, d.d, int((d.y == 1).sum())) == (569, 30, 212)  # 212 malignant
    assert data.registered("wdbc").paths() == [d.path]
    assert data.registered("wdbc").get() == []


@pytest.mark.parametrize("key", ["T", "nnz"])
def test_verify_compares_what_the_entry_says(monkeypatch, key):
    item = registry.entry("wdbc")
    wrong = dataclasses.replace(item, **{key: getattr(item, key) + 1})
    monkeypatch.setattr(registry, "entry", lambda name: wrong)
    with pytest.raises(UserError, match=rf"expected .*{key}=\d+.* got .*{key}=\d+"):
        data.registered("wdbc").verify()


def test_other_content_than_registered_is_refused(shared_data, monkeypatch, tmp_path):
    text = "-1 1:0.5\n+1 2:0.25\n"
    (tmp_path / "svmguide3.libsvm").write_text(text)
    monkeypatch.setenv("OMKL_DATA", f"{tmp_path}:{shared_data}")
    with pytest.raises(UserError) as caught:
        data.find("svmguide3").load()
    item = registry.entry("svmguide3")
    for part in (str(tmp_path / "svmguide3.libsvm"), item.content_hash, "T=1243, d=21", "T=2, d=2"):
        assert part in str(caught.value)
    with pytest.raises(UserError, match="not the registered content"):
        data.registered("svmguide3").verify()


def test_one_changed_digit_is_noticed_even_after_a_good_load(shared_data, monkeypatch, tmp_path):
    import lzma

    text = lzma.decompress((shared_data / "fourclass.libsvm.xz").read_bytes())
    path = tmp_path / "fourclass"
    monkeypatch.setenv("OMKL_DATA", str(tmp_path))
    path.write_bytes(text)
    data.find("fourclass").load()
    path.write_bytes(text.replace(b"178.000000", b"178.000001", 1))
    with pytest.raises(UserError, match="not the registered content"):
        data.find("fourclass").load()


GOOD = """
title: t
description: d
task: classification
T: 2
d: 1
nnz: 2
positive_share: 0.5
content_hash: "{hash}"
source: https://example.org
licence: none
forms:
  - format: libsvm
    files: [{{name: f, urls: [https://example.org/f]}}]
    labels: {{-1: -1, 1: 1}}
""".format(hash="0" * 64)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("", "", None),
        ("title: t", "titel: t", r"unknown key 'titel' \(did you mean 'title'\?\)"),
        ("licence: none", "", "'licence' is missing"),
        ("T: 2", "T: two", "T: must be a whole number, got 'two'"),
        ("T: 2", "T: true", "T: must be a whole number, got true"),
        ("0.5", "half", "positive_share: must be a finite number, got 'half'"),
        ("0" * 64, "0" * 63, "64 hexadecimal digits"),
        ("nnz: 2\n", "", "nnz and content_hash: give both, or neither"),
        (
            "task: classification",
            "task: regresion",
            r"task: must be one of .*, got 'regresion' \(did you mean 'regression'\?\)",
        ),
        ("task: classification", "task: regression", "labels: needed of a classification, whose"),
        ("    labels: {-1: -1, 1: 1}", "", r"forms\[1\]: labels: needed of a classification, whose"),
        ("format: libsvm", "format: libsvm\n    scale: {divide: 2}", "unknown key 'scale'"),
        ("libsvm", "libsmv", r"format: must be one of .*, got 'libsmv' \(did you mean 'libsvm'\?\)"),
        ("https://example.org/f", "file:///etc/passwd", "must be an address with https://"),
        ("{-1: -1, 1: 1}", "{-1: -1, 1: 2}", "map the source's labels to -1, 1"),
        ("{-1: -1, 1: 1}", "{-1: -1, 1: true}", "labels: 1: must be a whole number, got true"),
        ("format: libsvm", "format: labels_apart", "files: 2 needed for format labels_apart"),
        ("format: libsvm", "format: sklearn\n    dataset: faces", "dataset: 'faces'"),
        ("positive_share: 0.5", "classes: [a, b, c]", "map the source's labels to 0, 1, 2"),
        ("positive_share: 0.5", "classes: [a, b]", "three or more different classes"),
        ("positive_share: 0.5\n", "", "missing positive_share .of two classes. or classes"),
        ("title: t", "title: [", "malformed YAML"),
        ("title: t", "title: t\ntitle: u", "malformed YAML: the key 'title' is given twice"),
    ],
)
def test_yaml_is_read_strictly(tmp_path, monkeypatch, old, new, message):
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "mine.yaml").write_text(GOOD.replace(old, new, 1) if old else GOOD)
    monkeypatch.setattr("omkl.conf.conf_folder", lambda: tmp_path)
    if message is None:
        assert registry.entry("mine").forms[0].labels == {"-1": -1, "1": 1}
        return
    with pytest.raises(UserError, match=message) as caught:
        registry.entry("mine")
    assert "mine.yaml" in str(caught.value)


def test_conf_folder_prefers_the_package(tmp_path, monkeypatch):
    from omkl import paths

    for place in ("pkg/conf/data", "conf/data"):
        (tmp_path / place).mkdir(parents=True)
    monkeypatch.setattr(paths, "__file__", str(tmp_path / "pkg" / "paths.py"))
    find = paths.conf_folder.__wrapped__  # it is looked for once in a process
    assert find() == tmp_path / "pkg" / "conf"
    shutil.rmtree(tmp_path / "pkg" / "conf")
    assert find() == tmp_path / "conf"
    shutil.rmtree(tmp_path / "conf")
    with pytest.raises(Exception, match="the conf folder is missing"):
        find()


def test_names_follow_the_folders_of_the_user(tmp_path, monkeypatch):
    folder = tmp_path / "conf" / "data"
    folder.mkdir(parents=True)
    os.utime(folder, (1, 1))  # long ago, so that what is read of it is kept
    monkeypatch.setenv("OMKL_PATH", str(tmp_path))
    assert not registry.is_name("mine")
    assert not registry.is_name("mine")
    (folder / "mine.yaml").write_text("title: x\n")
    assert "mine" in registry.registered_names()
    monkeypatch.delenv("OMKL_PATH")
    assert "mine" not in registry.registered_names()
