"""The papers' sets as their sources publish them.

Files of those formats, made from the shared data, are downloaded from a server, and must give the registered
content. Whether the addresses hold such files is not tested: the tests have no network.
"""

import bz2
import csv
import dataclasses
import io
import lzma
import zipfile

import numpy as np
import pytest
from scipy import sparse
from scipy.io import savemat
from support.workbooks import xls, xlsx

from omkl import data
from omkl.data import registry
from omkl.data.reading.numbered import read_libsvm, read_npz, undense
from omkl.errors import UserError

MAT = {name: f"adaraker_{name}" for name in ("air", "tom", "twitter", "energy", "har")}


@pytest.fixture
def serve(server, monkeypatch):
    """Let the addresses of a set lead to the server; return what puts files there, by an address's end."""
    original = registry.entry

    def moved(name):
        item = original(name)
        forms = [
            dataclasses.replace(
                form, files=tuple(dataclasses.replace(file, urls=links(file)) for file in form.files)
            )
            for form in item.forms
        ]
        return dataclasses.replace(item, forms=tuple(forms))

    def links(file):
        return tuple(
            dataclasses.replace(link, url=f"{server.url}/{link.url.partition('://')[2]}")
            for link in file.urls
        )

    monkeypatch.setattr(registry, "entry", moved)

    def put(name, **bodies):
        """Serve bodies at the set's addresses that end with their names, in which __ is a point."""
        ends = {end.replace("__", "."): body for end, body in bodies.items()}
        for form in moved(name).forms:
            for file in form.files:
                for link in file.urls:
                    path = link.url.removeprefix(server.url)
                    body = next((body for end, body in ends.items() if path.endswith(end)), None)
                    if body is not None:
                        server.files[path] = body

    return put


def zipped(**members):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name.replace("__", ".").replace("___", "/"), content)
    return out.getvalue()


def mat(X, y, **others):
    out = io.BytesIO()
    savemat(out, {"X": X, "y": y} | others, do_compression=True)
    return out.getvalue()


def table(shared_data, name):
    """Header and rows of a shared table."""
    with lzma.open(shared_data / name, "rt", newline="") as file:
        header, *rows = csv.reader(file)
    return header, rows


def got(name):
    """Download a set; its content is compared on the way."""
    data.registered(name).get()
    loaded = data.find(name).load()
    assert loaded.content_hash == registry.entry(name).content_hash
    return loaded


@pytest.mark.parametrize("name", MAT.values())
def test_matlab_files_of_the_adaraker_authors(shared_data, serve, name):
    X, y = read_npz(shared_data / f"{name}.npz")
    file = registry.entry(name).forms[-1].files[0].name.replace(".", "__")
    serve(name, **{file: mat(X.T, y.reshape(1, -1))})  # an example is a column there
    got(name)


def test_istanbul_from_the_workbook_or_the_matlab_file(shared_data, serve, server):
    X, y = read_npz(shared_data / "istanbul_exchange.npz")
    head = [["", "TL BASED", "USD BASED", "imkb_x"], ["date", "ISE", "ISE", "SP", "DAX", "FTSE"]]
    rows = [
        [39818 + i, 0.01 * i, own, *values] for i, (own, values) in enumerate(zip(y, X.tolist(), strict=True))
    ]
    serve("istanbul", data_akbilgic__xlsx=xlsx(head + rows))
    got("istanbul")


def test_air_from_the_workbook_in_the_archive(shared_data, serve, server):
    header, rows = table(shared_data, "airquality_uci.csv.xz")
    cells = []
    for i, row in enumerate(rows):
        hours, minutes = map(int, row[1].split(":")[:2])
        cells.append([38056 + i // 24, (60 * hours + minutes) / 1440 * (1 + 1e-16), *map(float, row[2:])])
    book = xlsx([header, *cells])
    rounded = b"Date;Time\n"
    serve("air", **{"air+quality.zip": zipped(AirQualityUCI__csv=rounded, AirQualityUCI__xlsx=book)})
    got("air")
    assert server.requests == ["/archive.ics.uci.edu/static/public/360/air+quality.zip"]


def test_energy_and_airfoil_and_naval_from_text(shared_data, serve):
    header, rows = table(shared_data, "energydata_complete.csv.xz")
    quoted = "\n".join(",".join(f'"{field}"' for field in row) for row in [header, *rows])
    serve("energy", energydata_complete__csv=quoted.encode())
    got("energy")
    _, rows = table(shared_data, "airfoil.csv.xz")
    serve("airfoil", **{"noise.zip": zipped(airfoil_self_noise__dat="\n".join(map("\t".join, rows)))})
    got("airfoil")
    _, rows = table(shared_data, "naval_propulsion.csv.xz")
    lines = "\n".join("   ".join(f"{float(field):.7e}" for field in row) for row in rows)
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("UCI CBM Dataset/README.txt", "-")
        archive.writestr("UCI CBM Dataset/data.txt", lines)
    serve("naval", **{"plants.zip": out.getvalue()})
    got("naval")


def test_concrete_from_the_old_workbook(shared_data, serve):
    header, rows = table(shared_data, "concrete.csv.xz")
    book = xls([header, *([float(field) for field in row] for row in rows)])
    serve("concrete", **{"strength.zip": zipped(Concrete_Data__xls=book)})
    got("concrete")


@pytest.mark.parametrize(("name", "part"), [("usps", "train"), ("usps_t", "test"), ("usps_test", "test")])
def test_digits_of_the_libsvm_site_count_from_1(shared_data, serve, name, part):
    rows = read_libsvm([shared_data / f"usps_{part}.libsvm.xz"])
    lines = [
        f"{int(y) + 1} {' '.join(f'{j}:{value:.6g}' for j, value in enumerate(x, 1))}\n"
        for x, y in zip(undense(rows), rows.labels, strict=True)
    ]
    serve(name, **{registry.entry(name).forms[-1].files[0].name: bz2.compress("".join(lines).encode(), 1)})
    got(name)


def test_susy_30k_from_a_sparse_matlab_array(shared_data, serve):
    rows = read_libsvm([shared_data / "susy_30k.libsvm.xz"])
    X = sparse.csc_matrix(undense(rows))
    serve("susy_30k", SUSY__mat=mat(X, rows.labels.reshape(-1, 1), title="SUSY"))
    got("susy_30k")


@pytest.mark.slow
def test_spam_corpus_has_a_line_of_numbers_for_each_mail(serve, server, monkeypatch, tmp_path):
    rng = np.random.default_rng(1)
    X, y = (rng.random((120, 39916)) < 0.01).astype(int), (rng.random(120) < 0.3).astype(int)
    lines = "\n".join(" ".join(map(str, row)) for row in X)
    body = zipped(spam__data=lines, spam__labels="\n".join(map(str, y)))
    serve("spam_corpus", **{"spam.zip": body})
    with pytest.raises(UserError, match=r"not the registered content of spam_corpus.* got \w+ \(T=120, d=39"):
        data.registered("spam_corpus").get()
    form = registry.entry("spam_corpus").forms[-1]

    for name, text in (("spam.data", lines), ("spam.labels", "\n".join(map(str, y)))):
        (tmp_path / name).write_text(text)
    (made,) = registry.source_parts(form, [tmp_path / "spam.data", tmp_path / "spam.labels"], 10**9)
    assert np.array_equal(undense(made), X[:, : made.d])
    assert made.labels.astype(int).tolist() == y.tolist()


def test_a_set_without_a_hash_says_so(serve, server, monkeypatch, capsys):
    from omkl.cli import main

    serve("mushrooms", mushrooms=mushrooms())
    assert main(["data", "get", "mushrooms"]) == 0
    assert "not verified: no content hash is registered" in capsys.readouterr().out
    loaded = data.find("mushrooms").load()
    assert (loaded.T, loaded.d, set(loaded.y)) == (8124, 112, {-1.0, 1.0})
    assert any("not verified" in note for note in loaded.notes)
    ref = data.registered("mushrooms")
    assert (ref.content_hash, ref.nnz) == (loaded.content_hash, 8124 * 21)
    assert main(["data", "verify", "mushrooms"]) == 0
    assert "not verified: no content hash is registered" in capsys.readouterr().out
    serve("mushrooms", mushrooms=mushrooms(8123))
    with pytest.raises(UserError, match=r"expected any hash \(T=8124, d=112\), got \w+ \(T=8123, d=112"):
        ref.get(force=True)


def mushrooms(count=8124):
    line = " ".join(f"{5 * j + 7}:1" for j in range(21))
    return "".join(f"{1 + i % 2} {line}\n" for i in range(count)).encode().replace(b"107:1", b"112:1")


@pytest.mark.parametrize(("name", "said"), [("kdd08", "registered users only"), ("susy", "did not publish")])
def test_a_set_of_a_paper_that_is_not_public_says_why(capsys, name, said):
    from omkl.cli import main

    assert main(["data", "get", name]) == 2
    assert f"{name}: no download: " in (text := capsys.readouterr().err)
    assert said in text


# ------------------------------------------------------------------ other content at an address


def test_other_content_at_an_address_leads_to_the_next_one(shared_data, serve, server):
    header, rows = table(shared_data, "concrete.csv.xz")
    values = [[float(field) for field in row] for row in rows]
    rounded = xls([header, *([round(value, 2) for value in row] for row in values)])
    serve("concrete", **{"strength.zip": zipped(Concrete_Data__xls=rounded), "Concrete_Data.xls": b"<html>"})
    said = r"not downloaded: .*not the registered content of concrete.*; .*Data\.xls.*; ways out: .*OMKL_DATA"
    with pytest.raises(UserError, match=said):
        data.registered("concrete").get()
    assert data.registered("concrete").state == "missing"
    serve("concrete", **{"Concrete_Data.xls": xls([header, *values])})
    got("concrete")
    assert [path.rpartition("/")[2] for path in server.requests[-2:]] == [
        "concrete+compressive+strength.zip",
        "Concrete_Data.xls",
    ]


# ------------------------------------------------------------------ files that are not what they should be


def test_a_matlab_bomb_is_refused_before_it_is_read(tmp_path):
    from omkl.data.raw_files import mat as read_mat

    (tmp_path / "a.mat").write_bytes(mat(np.zeros((3000, 1000)), np.ones(3000)))
    assert (tmp_path / "a.mat").stat().st_size < 10**5
    with pytest.raises(UserError, match="holds more than 1,000,000 bytes"):
        read_mat([tmp_path / "a.mat"], 10**6)


def test_a_download_that_is_no_workbook_or_a_bomb_is_refused(tmp_path):
    from omkl.data.raw_files import table

    path = tmp_path / "a.xlsx"
    for body, said in (
        (xlsx([[0] * 100] * 3000), "holds .* bytes, more than 1,000,000"),
        (xls([[1.5]])[:700], "not the file that is registered"),
    ):
        path.write_bytes(body)
        with pytest.raises(UserError, match=said):
            table([path], 10**6)
