"""Models and the form of their files: new rows are read as the training data were."""

import csv
import json

import numpy as np
import pytest
import yaml

from omkl.cli import main
from omkl.data.reading import opening
from omkl.models.model_file import read_model


@pytest.fixture
def rows(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OMKL_CACHE", str(tmp_path / "cache"))
    rng = np.random.default_rng(3)
    X = np.round(rng.normal(size=(60, 3)), 3)
    return [(x.tolist(), int(x[0] > 0)) for x in X]


def libsvm(path, rows, base, columns=(0, 1, 2)):
    lines = [f"{y} " + " ".join(f"{i + base}:{x[i]}" for i in columns) for x, y in rows]
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")


def predicted(model, path, capsys):
    assert main(["predict", model, path]) == 0
    return capsys.readouterr().out


def test_a_model_remembers_the_index_of_its_first_column(rows, capsys):
    libsvm("zero", rows, 0)
    libsvm("one", rows, 1)
    libsvm("zero_new", rows[:20], 0, columns=(1, 2))  # no index 0: its indices alone do not tell
    libsvm("one_new", rows[:20], 1, columns=(1, 2))
    for name in ("zero", "one"):
        assert main(["fit", "algo=arow", f"data={name}", "order=file", "--out", name + ".omkl"]) == 0
        assert read_model(name + ".omkl")[1]["index_base"] == int(name == "one")
    capsys.readouterr()
    assert predicted("zero.omkl", "zero_new", capsys) == predicted("one.omkl", "one_new", capsys)
    assert predicted("zero.omkl", "zero", capsys) == predicted("one.omkl", "one", capsys)
    assert predicted("zero.omkl", "zero_new", capsys) != predicted("one.omkl", "zero_new", capsys)
    assert main(["predict", "one.omkl", "zero"]) == 2
    said = "omkl: zero:1: '0:2.041' is not the next 'index:value'; the indices are"
    assert capsys.readouterr().err.startswith(said)
    assert main(["update", "zero.omkl", "zero_new"]) == 0
    assert main(["fit", "algo=arow", "data=zero_new", "index_base=0", "--out", "given.omkl"]) == 0
    assert read_model("given.omkl")[1]["index_base"] == 0


def test_a_model_of_a_table_reads_others_like_it(rows, capsys):
    def german(x):
        return [f"{1000 * value:,.2f}".translate(str.maketrans(",.", ".,")) for value in x]

    with open("train.csv", "w", encoding="utf-8") as file:
        file.writelines(";".join([*german(x), "k.A.", str(y)]) + "\n" for x, y in rows)
    with open("new.csv", "w", encoding="utf-8") as file:
        file.writelines(";".join([*german(x), "k.A.", ""]) + "\n" for x, _ in rows[:5])
    words = ["read.decimal=,", "read.thousands=.", "read.na_values=k.A.", "read.names=[a,b,c,d,y]"]
    fit = ["fit", "algo=arow", "data=train.csv", "order=file", *words, "--out", "m.omkl"]
    assert main(fit) == 0  # the column without a value in any row is left out
    with open("plain.csv", "w", encoding="utf-8") as file:
        file.write("a,b,c,y\n")
        file.writelines(",".join([*(f"{1000 * value:.2f}" for value in x), str(y)]) + "\n" for x, y in rows)
    assert main(["fit", "algo=arow", "data=plain.csv", "order=file", "--out", "p.omkl"]) == 0
    capsys.readouterr()
    assert (
        predicted("m.omkl", "new.csv", capsys).splitlines()
        == (predicted("p.omkl", "plain.csv", capsys).splitlines()[:6])
    )
    assert main(["show", "m.omkl"]) == 0
    shown = yaml.safe_load(capsys.readouterr().out)["preparation"]
    assert shown["read"] == {"decimal": ",", "thousands": ".", "na_values": "k.A.", "names": list("abcdy")}


def test_a_model_of_a_sparse_arff_file(rows, capsys):
    head = "@relation r\n" + "".join(f"@attribute {name} numeric\n" for name in "abc")
    lines = [f"{{0 {x[0]}, 2 {x[2]}, 3 {'yes' if y else 'no'}}}" for x, y in rows]
    with open("sparse.arff", "w", encoding="utf-8") as file:
        file.write(head + "@attribute y {yes,no}\n@data\n" + "\n".join(lines) + "\n")
    with open("plain.csv", "w", encoding="utf-8") as file:
        file.write("c,a,b\n" + "".join(f"{x[2]},{x[0]},0\n" for x, _ in rows))
    assert main(["fit", "algo=arow", "data=sparse.arff", "order=file", "--out", "m.omkl"]) == 0
    capsys.readouterr()
    assert main(["predict", "m.omkl", "sparse.arff"]) == 0
    known = capsys.readouterr()
    assert "mistakes on 60 rows" in known.err
    assert predicted("m.omkl", "plain.csv", capsys) == known.out
    assert main(["update", "m.omkl", "sparse.arff"]) == 0


def test_a_model_of_arrays_reads_arrays(rows, capsys):
    libsvm("one", rows, 1)
    X, y = np.array([x for x, _ in rows]), np.array([y for _, y in rows])
    np.savez("arrays.npz", X=X, y=y)
    for data in ("arrays.npz", "one"):
        assert main(["fit", "algo=arow", f"data={data}", "order=file", "--out", data + ".omkl"]) == 0
    assert read_model("arrays.npz.omkl")[1]["features"] is None
    capsys.readouterr()
    assert predicted("arrays.npz.omkl", "arrays.npz", capsys) == predicted("one.omkl", "one", capsys)


def test_a_row_for_each_row_in_every_part_and_format(rows, capsys, monkeypatch):
    kinds = ["abc"[n % 3] if n < 50 else "new" for n in range(len(rows))]
    lines = [f"r{n},{'' if n == 3 else x[0]},{x[1]},{kinds[n]}\n" for n, (x, _) in enumerate(rows)]
    with open("my.csv", "w", encoding="utf-8") as file:
        file.writelines(["name,a,b,class\n", *lines[:50]])
    with open("new.csv", "w", encoding="utf-8") as file:
        file.writelines(["name,a,b,class\n", *lines])
    fit = ["fit", "algo=omkc_dd", "data=my.csv", "id=name", "missing=drop", "order=file", "--out", "m.omkl"]
    assert main(fit) == 0
    capsys.readouterr()
    assert main(["predict", "m.omkl", "new.csv", "--scores"]) == 0
    whole, said = capsys.readouterr()
    made = list(csv.DictReader(whole.splitlines()))
    assert [row["name"] for row in made] == [f"r{n}" for n in range(len(rows))]
    assert list(made[0]) == ["row", "name", "label", "score", "score a", "score b", "score c"]
    for row in made[:3] + made[4:]:
        assert row["label"] == max("abc", key=lambda name, row=row: float(row[f"score {name}"]))
    assert [row["row"] for row in made if not row["label"]] == ["4"]
    assert "10 of 59 labels are unknown to the model: new (10)" in said
    monkeypatch.setattr("omkl.data.preparing.new_rows.PART", 7)
    assert main(["predict", "m.omkl", "new.csv", "--proba"]) == 2
    assert "OMKC(D,D) has no probabilities" in capsys.readouterr().err
    for fmt in ("csv", "json", "jsonl"):
        opening.standard_input.cache_clear()
        with open("new.csv", encoding="utf-8") as file:
            monkeypatch.setattr("sys.stdin", file)
            assert main(["predict", "m.omkl", "-", "--scores", "--format", fmt, "--out", "out"]) == 0
        with open("out", encoding="utf-8") as file:
            text = file.read()
        if fmt == "csv":
            assert text == whole
            continue
        records = json.loads(text) if fmt == "json" else list(map(json.loads, text.splitlines()))
        assert [str(record["row"]) for record in records] == [row["row"] for row in made]
        assert list(records[3].values()) == [4, "r3", None, None, None, None, None]
        assert records[5]["score a"] == float(made[5]["score a"])
    opening.standard_input.cache_clear()
    said = capsys.readouterr().err
    assert said.count("omkl: standard input: missing=drop leaves out 1 of 60 rows; 10 of 59 labels") == 3
