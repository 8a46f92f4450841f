"""What is made of a table's columns: which is the label, dates, words; rows' names."""

import json

import pytest

from omkl.data import load
from omkl.data.formats import read_table
from omkl.data.preparation import Preparation
from omkl.data.prepare import read_file
from omkl.data.recipe import Recipe
from omkl.errors import UserError


@pytest.fixture(autouse=True)
def cache_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("OMKL_CACHE", str(tmp_path / "cache"))


@pytest.fixture
def path(tmp_path):
    return tmp_path / "my.csv"


def made(path, task="classification", **wanted):
    """Return the data set, the recipe, and its features by name."""
    dataset, recipe = read_file(path, task, Preparation(**wanted))
    X = recipe.apply(read_table(path, recipe.preparation))[0]
    return dataset, recipe, dict(zip(recipe.features, X.T.tolist(), strict=True))


def column(path, cells, **wanted):
    path.write_text("a\tz\n" + "".join(f"{cell}\t{n % 2}\n" for n, cell in enumerate(cells)))
    return made(path, **wanted)


@pytest.mark.parametrize(
    ("first", "label", "said"),
    [
        ("a,b,c", "c", "the label is column 'c', the last; label="),
        ("a,Class,c", "Class", "the label is column 'Class', by its name; label="),
        ("y,target,c", "target", "the label is column 'target', by its name; label="),
        ("a,label,y", "y", "the label is column 'y', the last"),
        ("1,0,3", "3", "the label is column 3, the last"),
    ],
)
def test_which_column_is_the_label(path, first, label, said):
    path.write_text(first + "\n" + "1,0,1\n2,1,0\n3,1,0\n")
    dataset, recipe, _ = made(path)
    assert recipe.label == label
    assert dataset.notes[0].startswith(said)
    assert not any("the label is" in note for note in made(path, label="1")[0].notes)
    if label == "target":
        assert made(path, drop=("target",))[1].label == "y"


def test_times_are_hours(path):
    dataset, recipe, features = column(path, ["12:30", "1:30:36 pm"])
    assert features["a"] == pytest.approx([12.5, 13.51], rel=1e-12)
    assert "times as hours" in dataset.notes[0]
    assert Recipe.from_json(json.loads(json.dumps(recipe.to_json()))) == recipe
    assert column(path, ["12:30", "1:30:36 pm"], categorical="onehot")[2] == features


@pytest.mark.parametrize(
    ("cells", "said"),
    [
        (["1", "12%", "7.5 %"], r"my\.csv:3: column 'a' holds '12%', a percentage"),
        (["$1,200.50", "$3"], r"my\.csv:2: column 'a' holds '\$1,200\.50', an amount of money"),
        (["3,50 €", "EUR 4"], r"my\.csv:2: column 'a' holds '3,50 €', an amount of money"),
    ],
)
def test_numbers_with_a_sign_are_refused_with_what_helps(path, cells, said):
    for wanted in ({}, {"categorical": "onehot"}, {"categorical": "error"}):
        with pytest.raises(
            UserError, match=said + "; write the numbers without their sign, .*pandas, or drop=a"
        ):
            column(path, cells * 20, **wanted)
    with pytest.raises(
        UserError, match=said + "; write the numbers without their sign, for example in pandas$"
    ):
        made(path, "regression", label="a")


def test_dates_in_two_orders_are_no_dates(path):
    for cells in (["13/03/2024", "03/13/2024"], ["05/03/24", "40/03/05"], ["2/29/2024", "2/30/2024"]):
        path.write_text("a\tb\tz\n" + "".join(f"{cell}\t{n}\t{n % 2}\n" for n, cell in enumerate(cells * 10)))
        dataset, _, features = made(path)
        assert list(features) == [*(f"a={cell}" for cell in sorted(cells)), "b"]
        assert f"'a': no dates, since '{cells[1]}' is none" in dataset.notes[0]
    for cells, other in ((["13/03/2024", "05/03/2024"], "03/13/2024"), (["3/13/24", "3/5/24"], "13/3/24")):
        recipe = column(path, cells)[1]
        assert "a (month)" in recipe.columns
        path.write_text(f"a\tz\n{cells[1]}\t1\n{other}\t0\n")
        with pytest.raises(UserError, match=rf"my\.csv:3: column 'a' holds '{other}', which is not a date"):
            recipe.apply(read_table(path, recipe.preparation), new=True)


@pytest.mark.parametrize(
    ("cells", "days", "said"),
    [
        (["2020-01-05", "2020-03-01"], [0, 56], "dates as days, month, day, weekday"),
        (["5/1/20", "31/12/2021"], [0, 726], "dates as days"),
        (["1/5/20", "12/31/2021"], [0, 726], "dates as days"),
        (["01.02.2020", "03.02.2020"], [0, 2], "the day before the month (day_first=no if"),
        (["01/02/2020", "03/02/2020"], [0, 60], "the month before the day (day_first=yes if"),
        (["2020-01-05T12:00:00Z", "2020-01-06 06:00"], [0.5, 1.25], "month, day, weekday, hour"),
        (["5 Jan 2020", "Feb 3, 2020"], [0, 29], "dates as days"),
    ],
)
def test_dates_are_numbers(path, cells, days, said):
    dataset, recipe, features = column(path, cells)
    assert features["a (days)"] == pytest.approx(days)
    assert said in dataset.notes[0]
    assert column(path, cells, dates="ordinal")[2] == {"a (days)": features["a (days)"]}
    if "day_first=" in said:
        other = said.split("day_first=")[1].split()[0]
        dataset, _, features = column(path, cells, day_first=other)
        assert features["a (days)"] == pytest.approx([0, {2: 60, 60: 2}[days[1]]])
        assert "month before" not in dataset.notes[0]
    elif "/" in cells[0]:  # what the dates show goes before the setting
        assert column(path, cells, day_first="no")[2]["a (days)"] == pytest.approx(days)
    with pytest.raises(UserError, match=r"column 'a' holds .*, a date"):
        column(path, cells, dates="drop")
    later = path.with_name("new.csv")
    later.write_text("a\n2020-01-15\n")
    new = recipe.apply(read_table(later, recipe.preparation), new=True)[0][0]
    assert new[1:4].tolist() == [1, 15, 2]
    later.write_text("a\n2020-01-15\nsoon\n")
    with pytest.raises(UserError, match=r"new\.csv:3: column 'a' holds 'soon', which is not a date as the"):
        recipe.apply(read_table(later, recipe.preparation), new=True)


def test_many_words_are_left_out_until_they_are_asked_for(path):
    rows = [f"name {n},{'xyz'[n % 3]},{n},{n % 2}\n" for n in range(60)]
    path.write_text("name,kind,size,bought\n" + "".join(rows))
    dataset, _, features = made(path)
    assert list(features) == ["kind=x", "kind=y", "kind=z", "size"]
    assert (
        "'name': left out, since 60 different words in 60 rows are too many; categorical=onehot"
        in dataset.notes[0]
    )
    assert len(made(path, categorical="onehot")[2]) == 64
    with pytest.raises(UserError, match=r"my\.csv:2: column 'name' holds 'name 0', which is not a number"):
        made(path, categorical="error")
    path.write_text("".join(["a,b\n", *(f"{n},{n % 2}\n" for n in range(60)), "oops,1\n"]))
    with pytest.raises(UserError, match=r"my\.csv:62: column 'a' holds 'oops', which is not a number"):
        made(path)  # a typing error makes no words of numbers


def test_columns_that_name_the_rows_are_no_features(path):
    path.write_text("id,a,y\nr1,1,0\nr2,2,1\n")
    _, recipe, features = made(path, id=("1",))
    assert (list(features), recipe.preparation.id) == (["a"], ("id",))
    assert recipe.ids(read_table(path))["id"].tolist() == ["r1", "r2"]
    with pytest.raises(UserError, match="id=y: this is the label"):
        made(path, id=("y",))


@pytest.mark.parametrize("encoding", ["auto", "utf-8", "UTF8", "utf-8-sig", "utf-16-le"])
def test_a_byte_order_mark_belongs_to_no_column(path, encoding):
    content = "\ufeffy;a\n1;2\n0;3\n1;2\n0;4\n"
    path.write_bytes(content.encode("utf-8" if encoding in ("auto", "utf-8-sig") else encoding))
    wanted = Preparation(encoding=encoding)
    dataset = load(str(path), preparation=wanted)
    assert (dataset.T, dataset.d, dataset.y.tolist()) == (4, 1, [1.0, -1.0, 1.0, -1.0])
    assert read_table(path, wanted).names == ["y", "a"]
    path.write_bytes(content.replace("y;a\n", "").encode("utf-16-le" if "16" in encoding else "utf-8"))
    assert load(str(path), preparation=wanted).T == 4


@pytest.mark.parametrize("encoding", ["latin1", "utf-16", "cp1252"])
def test_other_encodings(path, encoding):
    path.write_bytes("größe;y\n1;ä\n2;ö\n".encode(encoding))
    dataset = load(str(path), preparation=Preparation(encoding=encoding))
    assert (dataset.classes, dataset.d) == (("ä", "ö"), 1)
    with pytest.raises(UserError, match=r"my\.csv:1: .*UTF-8.*; encoding=\S+ reads it"):
        load(str(path))
    for wrong, said in (("latin3000", "did you mean 'latin1'"), ("utf-32", "correct encoding=")):
        with pytest.raises(UserError, match=said):
            load(str(path), preparation=Preparation(encoding=wrong))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"a": 1, "y": "no"}\n{"y": "yes", "a": 2.5}\n', None),
        ('{"a": 1, "y": 0}\n[1, 2]\n', r"my\.jsonl:2: not a JSON object"),
        ('{"a": 1, "y": 0}\n{"a": 1\n', r"my\.jsonl:2: not valid JSON"),
        ('{"a": [1], "y": 0}\n', r"my\.jsonl:1: 'a' holds a list; write a number or a text"),
        ('{"a": 1, "y": 0}\n{"y": 1}\n', r"my\.jsonl:2: column 'a' has no value"),
    ],
)
def test_json_lines(tmp_path, text, said):
    (tmp_path / "my.jsonl").write_text(text)
    if said is None:
        dataset = load(str(tmp_path / "my.jsonl"))
        assert (dataset.values.tolist(), dataset.classes) == ([1, 2.5], ("no", "yes"))
        return
    with pytest.raises(UserError, match=said):
        load(str(tmp_path / "my.jsonl"))


def test_groups_of_rankings_are_left_out_if_asked(tmp_path):
    (tmp_path / "my.libsvm").write_text("1 qid:3 1:0.5\n-1 qid:4 2:1 # qid:4\n")
    with pytest.raises(UserError, match=r"my\.libsvm:1: 'qid:3' belongs to a ranking file; qid=drop leaves"):
        load(str(tmp_path / "my.libsvm"))
    assert load(str(tmp_path / "my.libsvm"), preparation=Preparation(qid="drop")).nnz == 2


def test_letters_are_codes_place_by_place(path):
    """What kernels of texts read; the codes end with the text, and a later text is read as far."""
    dataset, recipe, features = column(path, ["ab", "b", "aba"], categorical="letters")
    a, b = float(ord("a")), float(ord("b"))
    assert features == {"a (letter 1)": [a, b, a], "a (letter 2)": [b, 0, b], "a (letter 3)": [0, 0, a]}
    assert "the codes of 3 letters, for kernels of texts such as spectrum" in dataset.notes[0]
    assert Recipe.from_json(json.loads(json.dumps(recipe.to_json()))) == recipe
    path.write_text("a\tz\nbbbbb\t1\n")
    assert recipe.apply(read_table(path, recipe.preparation), new=True)[0].tolist() == [[b, b, b]]
