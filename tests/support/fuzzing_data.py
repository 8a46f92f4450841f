"""Fuzz targets that read data: users' files, the tables of conf/data, parsed copies, the store."""

import bz2
import gzip
import io
import json
import lzma
import warnings
import zipfile
from collections.abc import Callable
from dataclasses import replace
from random import Random
from unittest import mock

import numpy as np
from backports import zstd

from support.fuzzing import Target
from support.results_lines import line


def zipped(data: bytes) -> bytes:
    """Return an archive with one file."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("data.txt", data)
    return out.getvalue()


PACKERS = (gzip.compress, bz2.compress, lzma.compress, zstd.compress, zipped)


def check_rows(rows, labels) -> None:
    """What every reader promises: finite numbers without zeros, columns in range and ascending."""
    assert np.isfinite(rows.values).all()
    assert (rows.values != 0).all()
    assert rows.indptr[0] == 0
    assert rows.indptr[-1] == len(rows.indices) == len(rows.values)
    assert len(labels) == len(rows.indptr) - 1 > 0
    assert rows.indices.min(initial=0) >= 0
    assert rows.indices.max(initial=-1) < rows.d


class Libsvm(Target):
    """LIBSVM text, plain and compressed."""

    tokens = r"""
        1:1 \x202:0.5 qid:3 +1\x20 -1\x20 \n-1\x20 2147483647:1 0:1 : 1: 5-3
    """

    def valid(self) -> list[bytes]:
        text = b"+1 1:0.5 3:-2e-3 7:1\n-1 2:1 # note\n\n+1\n-1 1:1e-300 900:4\n"
        return [text, text.replace(b"\n", b"\r\n"), text * 40, *(pack(text * 9) for pack in PACKERS)]

    def generated(self, rng: Random) -> bytes:
        text = super().generated(rng) if rng.random() < 0.5 else libsvm_lines(rng)
        return rng.choice(PACKERS)(text) if rng.random() < 0.1 else text

    def attempt(self, data: bytes) -> None:
        from omkl.data.formats import LIBSVM
        from omkl.data.labels import class_numbers, targets
        from omkl.data.recipe import Preparation

        self.path.write_bytes(data)
        rows = LIBSVM.read(self.path, Preparation(index_base=len(data) % 2), None)
        check_rows(rows, rows.labels)
        if len(data) % 2:
            class_numbers(rows.labels, None, "here")
        else:
            targets(rows.labels, "here")


def number(rng: Random) -> str:
    """Return a number as text, rarely an odd one."""
    odd = ("1e308", "-5e-324", "1e999", "nan", "", "0", "-0.0", "1_0", "+3", ".5", "5.", "1d3", "0x1p3", "∞")
    return rng.choice(odd) if rng.random() < 0.1 else repr(rng.uniform(-3, 3))


def libsvm_lines(rng: Random) -> bytes:
    lines = []
    for _ in range(rng.randrange(1, 9)):
        columns = sorted({rng.choice((1, 2, 3, 9, 10**6, 2**31 - 1)) for _ in range(rng.randrange(5))})
        entries = [f"{c}{rng.choice(':::::=')}{number(rng)}" for c in columns]
        lines.append(
            rng.choice((" ", " ", "  ", "\t", "\x0b")).join([rng.choice(("+1", "-1", "2")), *entries])
        )
    return rng.choice(("\n", "\n", "\r\n", "\r", "\n\n")).join(lines).encode()


class Csv(Libsvm):
    """A user's table with the label in the last column."""

    suffix = ".csv"
    tokens = r"""
        " "" "," , ; \x09 x,y,class\n ,yes\n ,no\n \n \x0d\n 1.5,
    """

    def valid(self) -> list[bytes]:
        text = b'a,b,"c d"\n1,0.5,yes\n0,-2e3,no\n"3",4,yes\n'
        return [
            text,
            text.replace(b",", b";"),
            b"1 2 0\n3 4 1\n",
            text.replace(b",", b"\t"),
            gzip.compress(text),
            b"sep=;\n" + text.replace(b",", b";"),
            b"0,1,2\n" + b"1.5,-2,1\n" * 12,
            b'"a\n(cm)",b,c,\n"1,234",3,x,\n"5,678","12%",y,\n',
        ]

    def attempt(self, data: bytes) -> None:
        from omkl.data.prepare import read_file
        from omkl.data.recipe import Preparation

        self.path.write_bytes(data)
        wanted = (
            Preparation(),
            Preparation(missing="mean", categorical="onehot", scale="minmax", header="no"),
            Preparation(missing="drop", categorical="onehot", na=("yes", "-999"), header="yes"),
            Preparation(thousands=",", label="1", categorical="onehot"),
            Preparation(thousands=".", decimal=",", delimiter=";", missing="mean"),
        )[len(data) % 5]
        if self.suffix == ".arff":
            wanted = replace(wanted, header="auto", delimiter="auto")
        dataset, recipe = read_file(
            self.path, "regression" if len(data) % 7 == 0 else "classification", wanted
        )
        check_rows(dataset, dataset.y)
        assert len(recipe.features) == dataset.d

    def generated(self, rng: Random) -> bytes:
        if rng.random() < 0.4:
            return Target.generated(self, rng)
        mark, width = rng.choice(",,;\t "), rng.randrange(1, 6)
        lines = [
            mark.join(
                [
                    *(number(rng) for _ in range(width - (rng.random() < 0.05))),
                    rng.choice(("yes", "no", '"1"')),
                ]
            )
            for _ in range(rng.randrange(1, 9))
        ]
        return rng.choice(("\n", "\r\n", "\r")).join(lines).encode()


class Tsv(Csv):
    """The same with the other suffix."""

    suffix = ".tsv"


class Arff(Csv):
    """ARFF text, dense and sparse."""

    suffix = ".arff"
    tokens = r"""
        @relation\x20 @attribute\x20 @data\n \x20numeric\n \x20integer\n {a,b}\n {'a b',"c"}\n ? % ' " \\
        {1\x20 99\x20 , \n \x09 string date
    """

    def valid(self) -> list[bytes]:
        head = b"% note\n@relation 'r s'\n\n@ATTRIBUTE a\tREAL\n@attribute 'b c' {x,'y z'}\n"
        head += b"@attribute d {no,yes}\n@data\n"
        return [
            head + b"1,x,no\n?,'y z',yes\n2.5, x, yes\n",
            head + b"{0 1, 2 yes}\n{}\n{0 ?,1 'y z'}\n{0 2}\n",
            head.replace(b"REAL", b"string").replace(b"{x,'y z'}", b"date 'yyyy'")
            + b"a,1999,no\nb,2000,yes\n",
            gzip.compress(head + b"1,x,no\n3,x,yes\n"),
        ]

    def generated(self, rng: Random) -> bytes:
        lines = [b"@relation r"]
        for i in range(rng.randrange(1, 4)):
            kind = rng.choice(
                (b"numeric", b"{x,y}", b"{'p q',r}", b"string", b"date", b"{x,y", b"relational")
            )
            lines.append(b"@attribute a%d %s" % (i % 3, kind))
        lines.append(b"@data")
        cells = (b"1", b"x", b"'p q'", b"?", b"-2e3", b"y", b"", b"1_0", b"nan", b"\\'")
        for _ in range(rng.randrange(6)):
            some = [rng.choice(cells) for _ in range(rng.randrange(1, 5))]
            if rng.random() < 0.5:
                some = [b"%d %s" % (rng.randrange(4), cell) for cell in some]
                lines.append(b"{" + b", ".join(some) + b"}")
            else:
                lines.append(b",".join(some))
        return b"\n".join(lines)


class Forms(Target):
    """The original tables that conf/data describes: sparse columns, label files, missing marks, words."""

    tokens = Csv.tokens + Libsvm.tokens

    def valid(self) -> list[bytes]:
        return [
            b"\0\n1 2\n",
            b"\1\n1,y,3\n2,n,4\n1,?,2\n",
            b"\2\n1 2\n",
            b"\3\n3,r,2\n1,4,7\n2,5,8\n",
            b"\4\n1.5 1:1 3:2\n-2 2:1\n",
        ]

    def attempt(self, data: bytes) -> None:
        from omkl.data.labels import class_numbers
        from omkl.data.parse import joined
        from omkl.data.raw_files import READERS

        choice, _, data = data.partition(b"\n")
        names = ("ones", "votes84", "labels_apart", "wdbc", "codrna_unit")
        self.path.write_bytes(data)
        labels = self.folder / "labels"
        labels.write_bytes(data[: len(data) // 2])
        rows = joined(list(READERS[names[sum(choice) % len(names)]]([self.path, labels], 10**6)))
        check_rows(rows, rows.labels)
        class_numbers(rows.labels, {"1": 1, "2": -1}, "here")


class Npz(Libsvm):
    """An .npz stream of a user: a zip archive of .npy members."""

    suffix = ".npz"
    tokens = r"""
        PK\x03\x04 PK\x01\x02 PK\x05\x06 \x93NUMPY <f8 |O (1, X.npy y.npy
    """

    def valid(self) -> list[bytes]:
        X, y = np.array([[0, 1.5], [2, 0], [1, 1]]), np.array([0, 1, 1])
        kinds = [np.savez, np.savez_compressed]
        return [
            saved(save, X=X.astype(kind), y=y)
            for save in kinds
            for kind in ("f8", "i4", "f2", "?", "c8", "U3")
        ]

    def generated(self, rng: Random) -> bytes:
        """Return an archive whose members' headers tell of any shape and kind."""
        out = io.BytesIO()
        with zipfile.ZipFile(out, "w", rng.choice((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED))) as archive:
            for name in rng.sample(("X", "y", "X", "y", "../z", "meta"), rng.randrange(1, 6)):
                sizes = (0, 1, 2, 3, 3, -1, 10**6, 10**12, 2**63, 2**64)
                shape = tuple(rng.choice(sizes) for _ in range(rng.choice((1, 2, 2, 3, 40))))
                kind = rng.choice(
                    ("<f8", ">f8", "<i8", "|O", "|S5", "<U9", "<M8[s]", "|V8", "<c16", "f99", "x" * 9)
                )
                form = {"descr": kind, "fortran_order": rng.choice((False, True, 1)), "shape": shape}
                if rng.random() < 0.1:
                    del form[rng.choice(list(form))]
                header = repr(form).encode() if rng.random() < 0.9 else rng.randbytes(50)
                size = len(header).to_bytes(2, "little") if rng.random() < 0.95 else b"\xff\xff"
                body = rng.choice((bytes(48), rng.randbytes(48), b"\0" * 10**5))
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")  # of names that come twice
                    archive.writestr(f"{name}.npy", b"\x93NUMPY\x01\x00" + size + header + body)
        return out.getvalue()


def saved(save: Callable, **arrays) -> bytes:
    out = io.BytesIO()
    save(out, **arrays)
    return out.getvalue()


class Copy(Npz):
    """A parsed copy in the cache, torn or overwritten."""

    def valid(self) -> list[bytes]:
        from omkl.data import cache
        from support.engine_cases import ties

        self.hash = ties(T=6).content_hash
        self.copy = self.folder / "copy"
        cache.write_parsed(ties(T=6), self.copy)
        return [(self.copy / f"{key}.npy").read_bytes() for key in ("indices", "values")]

    def attempt(self, data: bytes) -> None:
        from omkl.data import cache, content_hash

        cache._verified.clear()
        for key in ("indices", "values"):
            (self.copy / f"{key}.npy").write_bytes(data)
        found = cache.read_parsed(self.copy)
        assert content_hash(found.indptr, found.indices, found.values, found.y) == self.hash


class Orders(Target):
    """The OMKC authors' permutations of a data set."""

    tokens = r"""
        1\x202\x203 3\x201\x202 \n
    """

    def valid(self) -> list[bytes]:
        return [b"1 2 3\n3 2 1\n", b"2 3 1\n" * 20]

    def attempt(self, data: bytes) -> None:
        from omkl.data import orders, registry
        from support.engine_cases import dataset

        made = dataset([[1.0], [2.0], [3.0]], [1, -1, 1])
        entry = mock.Mock(permutations="x", content_hash=made.content_hash)
        self.path.write_bytes(data)
        with (
            mock.patch.object(registry, "is_name", return_value=True),
            mock.patch.object(registry, "entry", return_value=entry),
            mock.patch.object(orders, "_find", return_value=self.path),
        ):
            order, _ = orders.order(made, "authors", 1, 1)
        assert sorted(order) == [0, 1, 2]


class Store(Target):
    """The lines of a store, as another machine or an editor may leave them."""

    tokens = r"""
        "key": {" "} "status":"ok" "status":"failed" ,"algo": NaN Infinity "provenance":{} 1e400 \\ud800
        \\u0000 null
    """

    def valid(self) -> list[bytes]:
        from omkl.store.keys import dumps
        from omkl.store.lines import encode_cell

        cells = [encode_cell(line(n, status=status)) for n in (0, 1) for status in ("ok", "failed")]
        curve = dumps({"key": line(0)["key"], "time": "2026", "curve": {"t": [1], "mistakes": [0]}}).encode()
        return [*cells, b"".join(cells), curve + b"\n", json.dumps(line(2)).encode() + b"\n"]

    def generated(self, rng: Random) -> bytes:
        """Return lines some of whose fields hold another kind of value."""
        values = (None, True, -1, 2.5, 2**70, "", "x", [], [1], {}, {"a": {}}, "\ud800", "2026")
        lines = []
        for _ in range(rng.randrange(1, 4)):
            made = line(rng.randrange(3), status=rng.choice(("ok", "failed")))
            for name in rng.sample(list(made), rng.randrange(4)):
                made[name] = rng.choice(values)
                if rng.random() < 0.3:
                    del made[name]
            lines.append(json.dumps(made, separators=rng.choice(((",", ":"), (", ", ": ")))))
        return "\n".join(lines).encode("utf-8", "surrogatepass")

    def attempt(self, data: bytes) -> None:
        from omkl.store.store import Store as Real
        from omkl.store.store import StoreWarning

        for name in ("cells", "curves"):
            (self.folder / name).mkdir(exist_ok=True)
            (self.folder / name / "a.jsonl").write_bytes(data)
        store = Real(self.folder)
        keys = {line(n)["key"] for n in range(2)}
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            warnings.simplefilter("ignore", StoreWarning)
            found = store.cells()
            assert len(found) == found["key"].nunique()
            assert store.done(keys) <= keys
            store.cells(keys)
            store.failed()
            store.curves()
