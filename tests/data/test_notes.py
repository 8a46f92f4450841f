"""Notes on what may make every number wrong: the label as a feature, row numbers, codes of gaps."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import omkl
from omkl.cli import main
from omkl.config.request import files
from omkl.data.dataset import from_arrays
from omkl.data.own_data import Frame
from omkl.data.preparing.notes import Described, note_on_alike, notes_on

T = 60
rng = np.random.default_rng(0)
FRAME = pd.DataFrame(rng.normal(size=(T, 3)).round(3), columns=list("abc"))
LABEL = pd.Series(np.where(FRAME.a + FRAME.b > 0, "yes", "no"))
THREE = pd.Series(np.where(FRAME.a > 0.5, "x", np.where(FRAME.b > 0, "y", "z")))


def notes_of(frame, tmp_path, **settings):
    """Return the notes of a run on a file of this frame; those on the frame and of `look` are the same."""
    path = tmp_path / "rows.csv"
    frame.to_csv(path, index=False)
    (ref,) = files([], settings, [str(path)])
    own = omkl.fit("arow", frame, scale="none", **settings).notes
    found = [note.replace(f"{path}:", "data:") for note in ref.notes]
    as_text = "taken as missing"  # with the words of the cells, which a frame lacks
    assert [note for note in own if as_text not in note] == [
        f"data: {note}" for note in found if as_text not in note
    ]
    said = [line for line in omkl.look(path, **settings).findings if line.startswith("Note: ")]
    assert said == [f"Note: {note}" for note in ref.notes]
    return found


@pytest.mark.parametrize(
    "values",
    [
        LABEL,
        LABEL == "yes",
        (LABEL == "yes") * 1,
        np.where(LABEL == "yes", -1, 1),
        np.where(LABEL == "yes", 2.5, 7.0),
        LABEL.map({"yes": "ja", "no": "nein"}),
    ],
    ids=["words", "bools", "0 and 1", "-1 and 1", "other numbers", "other words"],
)
@pytest.mark.parametrize("labels", [LABEL, (LABEL == "yes") * 1], ids=["words", "numbers"])
def test_a_column_that_is_the_label_is_named(values, labels, tmp_path):
    found = notes_of(FRAME.assign(copy=values, label=labels), tmp_path)
    assert "column 'copy' is the label in other words; exclude it with drop=copy" in found
    dropped = notes_of(FRAME.assign(copy=values, label=labels), tmp_path, drop="copy")
    assert not any("copy" in note for note in dropped)


@pytest.mark.parametrize("values", [THREE, THREE.map({"x": 3, "y": 1, "z": 2})], ids=["words", "numbers"])
def test_a_column_that_is_one_of_three_classes_is_named(values, tmp_path):
    assert any(
        "'copy' is the label" in note for note in notes_of(FRAME.assign(copy=values, y=THREE), tmp_path)
    )
    near = values.copy()
    near[0] = values[values != values[0]].iloc[0]
    x, y = (values[name == THREE].iloc[0] for name in "xy")
    two = values.replace({x: y})
    for other in (near, two):
        notes = notes_of(FRAME.assign(copy=other, y=THREE), tmp_path)
        assert not any("is the label" in note for note in notes)


def test_a_label_that_is_left_beside_y_is_named():
    frame = FRAME.assign(label=LABEL)
    assert "data: column 'label' is the label in other words; exclude it with drop=label" in (
        omkl.fit("arow", frame, y=frame.label).notes
    )
    X = np.column_stack([FRAME, LABEL == "yes", np.arange(T)])
    said = ("column 4 is the label in other words; leave it out", "column 5 is a row number; leave it out")
    assert from_arrays(X, LABEL).notes[:2] == said
    assert not from_arrays(X[:, :3], LABEL).notes[1:]
    target = from_arrays(np.column_stack([FRAME, FRAME.a * 2]), FRAME.a * 2, task="regression")
    assert target.notes == (said[0],)


@pytest.mark.parametrize(
    ("name", "values", "is_named"),
    [
        ("Unnamed: 0", np.arange(T), True),
        ("id", np.arange(1, T + 1), True),
        ("nr", np.arange(1000, 1000 + T), True),
        ("index", rng.permutation(T), True),
        ("float", np.arange(T) + 1.0, True),
        ("twos", 2 * np.arange(T), False),
        ("weekday", np.arange(T) % 7, False),
        ("jump", np.append(np.arange(T - 1), T), False),
    ],
)
def test_a_column_that_counts_the_rows_is_named(name, values, is_named, tmp_path):
    said = f"column '{name}' is a row number; exclude it with "
    found = notes_of(FRAME.assign(**{name: values}, y=LABEL), tmp_path)
    assert any(note.startswith(said) for note in found) == is_named
    assert any("row number" in note for note in found) == is_named


@pytest.mark.parametrize("code", [-999, -200, 9999, -99.5, 1e30, 999])
def test_a_number_far_from_all_others_that_repeats_is_named(code, tmp_path):
    frame = FRAME.assign(y=LABEL)
    frame.loc[::7, "b"] = code
    shown = repr(float(code)).removesuffix(".0")
    count = len(frame[::7])
    (found,) = [note for note in notes_of(frame, tmp_path) if " rows are " in note]
    assert found.startswith(f"column 'b': {count} of {T} rows are {shown}, the others ")
    assert found.endswith(f"no value, na={shown} makes them gaps, which missing= fills")
    assert not [note for note in notes_of(frame, tmp_path, na=shown) if " rows are " in note]
    target = FRAME.assign(y=np.where(np.arange(T) % 7, FRAME.c, code))
    (said,) = [note for note in Frame("data", "regression", "data", target).notes if " rows are " in note]
    assert said.endswith(f"no value, na={shown} makes them gaps, whose rows are left out")
    mended = notes_of(frame, tmp_path, na=[shown], missing="mean")
    assert not any(" rows are " in note or "no cell" in note for note in mended)
    unknown = notes_of(frame, tmp_path, na=[shown, "-77"], missing="mean")
    assert "na=-77: no cell holds -77" in unknown


@pytest.mark.parametrize(
    "values",
    [
        np.where(FRAME.a > 1, 1, 0),  # a flag
        np.round(FRAME.a),
        np.where(FRAME.a > 0, 0.0, 50 + 40 * FRAME.b.abs()),  # many zeros
        np.where(np.arange(T) == 3, -999, FRAME.a),  # once: an outlier
    ],
    ids=["flag", "rounded", "zeros", "once"],
)
def test_other_numbers_that_repeat_are_not(values, tmp_path):
    found = notes_of(FRAME.assign(b=values, y=LABEL), tmp_path)
    assert not any(" rows are " in note for note in found)


@pytest.mark.parametrize(
    ("classes", "alike"),
    [
        (("NO", "YES", "no", "yes"), "NO and no, YES and yes"),
        (("<=50K", "<=50K.", ">50K"), "<=50K and <=50K."),
        (("on hold", "on_hold", "open"), "on hold and on_hold"),
        (("caf\u00e9", "cafe\u0301", "bar"), "caf\u00e9 and 'cafe\\u0301'"),
        (("007", "7", "8"), "007 and 7"),
        (("YES", "no", "yes"), "YES and yes"),
        (("a", "a ", "b"), "a and 'a '"),
        (("a", "a\u200b", "\ufeffa"), "a and 'a\\u200b' and '\\ufeffa'"),
        (("a", "(a)", "b"), "a and (a)"),
        (("STRASSE", "Stra\u00dfe", "x"), "STRASSE and Stra\u00dfe"),
        (("A", "A*", "A+", "A-"), ""),
        (("C", "C#", "C++"), ""),
        (("Jose", "Jos\u00e9"), ""),
        (("0", "1", "n", "y"), ""),
        (("<5", ">5", "5"), ""),
        (("False", "True"), ""),
        (("f", "t", "y"), ""),
        (("a", "b"), ""),
        (("-1", "1"), ""),
    ],
)
def test_classes_that_look_like_one_are_named(classes, alike):
    found = note_on_alike(classes)
    assert found == (
        (f"labels: {alike} are different classes; write them alike if they are the same",) if alike else ()
    )


def test_classes_that_look_like_one_are_a_warning(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    frame = FRAME.assign(y=np.where(np.arange(T) % 9, LABEL, LABEL.str.upper()))
    frame.to_csv("rows.csv", index=False)
    said = "labels: NO and no, YES and yes are different classes; write them alike if they are the same"
    words = "algo=arow reps=1 exec=serial yardsticks=[] store=here"
    assert main(["run", *words.split(), "data=rows.csv", "-q"]) == 0
    out, err = capsys.readouterr()
    assert f"omkl: warning: rows: {said}\n" in err
    assert "! rows: labels: NO and no, YES and yes" in out
    assert f"Warning: {said}" in omkl.look("rows.csv").findings
    for ask in (omkl.run, omkl.tune, omkl.fit):
        own = "algo=arow" if ask is omkl.fit else words
        with pytest.warns(UserWarning, match=f"data: {said}") as caught:
            ask(own + " trials=1" * (ask is omkl.tune), data=frame, label="y")
        assert {one.filename for one in caught} == {__file__}


def test_numbers_near_the_largest_double_make_no_warning(recwarn):
    frame = FRAME.assign(big=np.where(np.arange(T) % 2, 1e308, -1e308) * np.linspace(0.1, 1.7, T), y=LABEL)
    notes = Frame("data", "classification", "data", frame).notes
    assert not any("'big'" in note for note in notes)
    assert not [own for own in recwarn if issubclass(own.category, RuntimeWarning)]


NORMAL = np.random.default_rng(4).normal(size=(T, 4))
TWO = np.repeat([0.0, 1.0], T // 2)[np.random.default_rng(5).permutation(T)]
YEARS = np.repeat(np.arange(1990, 1990 + T // 4), 4)


@pytest.mark.parametrize(
    ("name", "values", "said"),
    [
        ("x", np.where(TWO == 1, np.nan, NORMAL[:, 0]), "has its gaps in the rows of one class"),
        ("x", np.where(np.arange(T) % 2, np.nan, NORMAL[:, 0]), ""),
        ("x", 3 + TWO * 2 + np.tanh(NORMAL[:, 0]), "alone divides the classes, between"),
        ("x", TWO * (2 + NORMAL[:, 0] ** 2), "alone divides the classes, between 0 and "),
        ("x", 3 + TWO + np.tanh(NORMAL[:, 0]), ""),
        ("x", np.where(TWO == 1, np.nan, 7.0), "is the label in other words"),
        ("patient_id", np.random.default_rng(6).permutation(T) * 7 + 100, "another value in each row"),
        ("PatientID", np.repeat(np.arange(12)[::-1] * 3, T // 12), "one value in each block of rows"),
        ("person", np.repeat(np.arange(12) * 3, T // 12), "new ones); exclude it with drop=person"),
        ("person", np.random.default_rng(6).permutation(T) * 7 + 100, ""),  # perhaps a count
        ("person", np.arange(T) % 12 * 3, ""),  # in no blocks
        ("persons", np.repeat(np.arange(12) * 3, T // 12), ""),
        ("person_code", np.repeat(np.arange(3) * 3, T // 3), ""),  # few values are groups
        ("zip_code", np.repeat(np.arange(12) * 3 + 1000, T // 12), ""),
        ("solid", np.repeat(np.arange(12) * 3, T // 12), ""),
        ("year", YEARS, "the rows are in the order of year; order=file keeps it"),
        ("year", np.arange(T) + 1960, "the rows are in the order of year; order=file keeps it"),
        ("years", np.arange(T) + 1960, "is a row number"),
        ("obs_date", np.sort(NORMAL[:, 0]), "the rows are in the order of obs_date; order=file keeps it"),
        ("x", np.where(NORMAL[:, 0] > 0, 100, np.arange(T) % 40), ""),
        ("x", np.where(NORMAL[:, 0] > 0, 99, np.arange(T) % 40), "rows are 99, the others 0 to 39"),
        ("x", np.where(NORMAL[:, 0] > 0, -1, 5 + np.arange(T) % 4), ""),
        ("x", np.where(NORMAL[:, 0] > 0, -9, np.arange(T) % 6), "rows are -9, the others 0 to 5"),
        ("x", np.where(np.arange(T) > 50, 3 + np.arange(T) % 7 / 100, 0), ""),
    ],
)
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_a_dense_and_a_sparse_column_have_the_same_note(name, values, said, form):
    X = np.column_stack([NORMAL, values])
    columns = [*(Described(f"n{i}") for i in range(4)), Described(name)]
    notes = notes_on(form(X), TWO, columns, classes=True)
    assert len(notes) == bool(said)
    assert said in "".join(notes)
    assert not any("drop=" in note for note in notes if "order" in note)
    both = notes_on(
        form(np.column_stack([X, np.tile(np.arange(1, 5), T // 4)])),
        TWO,
        [*columns, Described("quarter")],
        classes=True,
    )
    assert [note.replace("year, quarter", "year") for note in both] == notes


def test_classes_and_words_of_several_features():
    place = np.random.default_rng(7).integers(0, 3, T)
    words = np.eye(3)[place]
    columns = [Described("n"), Described("city", "words", 3, ("a", "b", ""))]
    X = np.column_stack([NORMAL[:, 0], words])
    (said,) = notes_on(X, place.astype(float), columns, classes=True)
    assert said == "column 'city' is the label in other words; exclude it with drop=city"
    assert notes_on(sp.csr_array(X), place.astype(float), columns, classes=True) == [said]
    (said,) = notes_on(X, (place == 2).astype(float), columns, classes=True)
    assert said.startswith("column 'city' has its gaps in the rows of one class")
    assert notes_on(X, TWO, columns, classes=True) == []
    (alike,) = notes_on(
        X, TWO, [columns[0], Described("city", "words", 3, ("Bern", "BERN", ""))], classes=True
    )
    assert alike.startswith("column 'city': Bern and BERN are different words; ")


def test_many_columns_have_few_notes():
    X = np.column_stack([NORMAL[:, :1]] + [TWO] * 40)
    notes = notes_on(X, TWO, None, classes=True)
    assert len(notes) == 6
    assert notes[-1] == "and so for 35 more columns"
