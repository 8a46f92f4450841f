"""Notes on what may make every number wrong: the label as a feature, row numbers, codes of gaps."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import omkl
from omkl.cli import main
from omkl.config.request import files
from omkl.data.arrays import from_arrays
from omkl.data.own_data import Own
from omkl.data.preparing.notes import ColumnsOf, is_of_order, is_warning, note_on_alike, notes_on
from omkl.data.reading.numbered import dense

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
    assert [note.removeprefix("data: ") for note in own] == found
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
    assert from_arrays(X, LABEL).notes == said
    assert not from_arrays(X[:, :3], LABEL).notes
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
        ("years", np.arange(T) + 1960, False),
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
    line = f"frame['b'] = frame['b'].mask(frame['b'].isin([{shown}]))"
    assert found.endswith(f"no value, in pandas {line} makes them gaps, which missing= fills")
    scope = {"frame": frame.copy()}
    exec(line, scope)
    assert scope["frame"].b.isna().sum() == count
    assert not [note for note in notes_of(scope["frame"], tmp_path) if " rows are " in note]
    target = FRAME.assign(y=np.where(np.arange(T) % 7, FRAME.c, code))
    (said,) = [note for note in Own("data", "regression", "data", target).notes if " rows are " in note]
    assert "in pandas frame['y'] = frame['y'].mask(" in said


def test_a_day_far_from_all_others_that_repeats_is_named(tmp_path):
    days = pd.Series(pd.date_range("2020-01-01", periods=T)).sample(frac=1, random_state=1, ignore_index=True)
    frame = FRAME.assign(day=days.dt.strftime("%Y-%m-%d"), y=LABEL)
    frame.loc[::7, "day"] = "1900-01-01"
    (found,) = [note for note in notes_of(frame, tmp_path) if " rows are " in note]
    assert found.startswith(
        f"column 'day': {len(frame[::7])} of {T} rows are 1900-01-01, the others 2020-01-0"
    )
    scope = {"frame": frame.copy()}
    exec(found.partition("in pandas ")[2].partition(" makes them")[0], scope)
    assert scope["frame"].day.isna().sum() == len(frame[::7])


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
    notes = Own("data", "classification", "data", frame).notes
    assert not any("'big'" in note for note in notes)
    assert not [own for own in recwarn if issubclass(own.category, RuntimeWarning)]


NORMAL = np.random.default_rng(4).normal(size=(T, 4))
TWO = np.repeat([0.0, 1.0], T // 2)[np.random.default_rng(5).permutation(T)]
YEARS = np.repeat(np.arange(1990, 1990 + T // 4), 4)


IN_ORDER = "if it says when, order=file keeps it; a permutation has seen tomorrow"
BLOCKS = (
    "has one value in each of 12 blocks of rows, of which a permutation learns some rows before it predicts"
)


@pytest.mark.parametrize(
    ("values", "said"),
    [
        (np.where(TWO == 1, np.nan, NORMAL[:, 0]), "has its gaps in all rows of some classes"),
        (np.where(np.arange(T) % 2, np.nan, NORMAL[:, 0]), ""),
        (3 + TWO * 2 + np.tanh(NORMAL[:, 0]), "alone divides the classes, between"),
        (TWO * (2 + NORMAL[:, 0] ** 2), "alone divides the classes, between 0 and "),
        (3 + TWO + np.tanh(NORMAL[:, 0]), ""),
        (np.where(TWO == 1, np.nan, 7.0), "is the label in other words"),
        (np.random.default_rng(6).permutation(T) * 7 + 100, ""),  # perhaps a count
        (np.repeat(np.arange(12)[::-1] * 3, T // 12), BLOCKS),
        (np.repeat(np.arange(12) * 3, T // 12), BLOCKS),
        (np.arange(T) % 12 * 3, ""),  # in no blocks
        (np.repeat(np.arange(3) * 3, T // 3), ""),  # few values are groups
        (YEARS, IN_ORDER),
        (np.arange(T) + 1960, IN_ORDER),
        (np.arange(T) ** 2 + 5, IN_ORDER),
        (np.sort(NORMAL[:, 0]), IN_ORDER),
        (np.where(NORMAL[:, 0] > 0, 100, np.arange(T) % 40), ""),
        (np.where(NORMAL[:, 0] > 0, 99, np.arange(T) % 40), "rows are 99, the others 0 to 39"),
        (np.where(NORMAL[:, 0] > 0, -1, 5 + np.arange(T) % 4), ""),
        (np.where(NORMAL[:, 0] > 0, -9, np.arange(T) % 6), "rows are -9, the others 0 to 5"),
        (np.where(np.arange(T) > 50, 3 + np.arange(T) % 7 / 100, 0), ""),
    ],
)
def test_what_a_column_is_and_what_is_said_of_it(values, said):
    examples = dense(np.column_stack([NORMAL, values]), TWO)
    notes = notes_on(ColumnsOf(examples), examples, TWO, classes=True)
    assert len(notes) == bool(said)
    assert said in "".join(notes)
    assert is_of_order("".join(notes)) == (said in (IN_ORDER, BLOCKS) and bool(said))


def test_notes_say_nothing_of_the_order_to_those_who_keep_it(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    frame = FRAME.assign(
        when=pd.date_range("2020-01-01", periods=T), person=np.repeat(np.arange(12), 5), y=LABEL
    )
    frame.to_csv("rows.csv", index=False)
    how = {"reps": 1, "exec": "serial", "yardsticks": [], "store": "s", "progress": False, "algo": "arow"}
    permuted, kept = (omkl.run(data="rows.csv", order=order, **how).notes for order in ("permuted", "file"))
    assert {note.split(" column ")[-1][:8] for note in permuted} - {
        note.split(" column ")[-1][:8] for note in kept
    }
    said = "\n".join(permuted)
    assert "the rows are in the order of column 'when'; if it says when, order=file keeps it" in said
    assert "column 'person' has one value in each of 12 blocks of rows" in said
    assert "order of" not in "\n".join(kept)
    assert "blocks" not in "\n".join(kept)


def test_copies_of_rows_are_a_warning_where_they_are_permuted():
    thrice = pd.concat([FRAME.assign(y=LABEL)] * 3, ignore_index=True)
    (said,) = Own("data", "classification", "data", thrice).notes
    assert (
        said
        == "120 of 180 rows are copies of others; a permutation learns one of them before it predicts another"
    )
    assert is_warning(said)
    assert is_of_order(said)
    assert said in from_arrays(thrice[["a", "b", "c"]].to_numpy(), thrice.y).notes
    assert said in from_arrays(sp.csr_array(thrice[["a", "b", "c"]].to_numpy()), thrice.y).notes
    words = pd.DataFrame({"a": ["x", "y"] * 90, "b": ["p", "q", "r"] * 60, "y": [0, 0, 1] * 60})
    assert not any("copies" in note for note in Own("data", "classification", "data", words).notes)


def test_copies_are_counted_as_pandas_counts_them():
    numbers = np.random.default_rng(8).normal(size=2000).round(3)
    gaps = pd.DataFrame({"v": np.where(np.arange(2000) % 5 < 3, np.nan, numbers), "y": np.arange(2000) % 2})
    (said,) = [note for note in Own("data", "auto", "data", gaps).notes if "copies" in note]
    assert said.startswith(f"{2000 - len(gaps.drop_duplicates())} of 2000 rows are copies of others; ")
    flags = pd.DataFrame(np.random.default_rng(9).integers(0, 2, (5000, 30))).rename(columns=str)
    flags = flags.assign(n=np.random.default_rng(10).permutation(5000) / 7, y=np.arange(5000) % 2)
    assert not any("copies" in note for note in Own("data", "auto", "data", flags).notes)


def test_a_class_of_one_row_is_a_warning():
    frame = FRAME.assign(y=["Total", *LABEL[1:]])
    said = [note for note in Own("data", "classification", "data", frame).notes if is_warning(note)]
    assert said == ["labels: Total has one row; correct or remove the row if this is no class"]


def test_one_huge_column_number_costs_nothing(tmp_path):
    import tracemalloc

    (tmp_path / "q.libsvm").write_text(
        "".join(f"{n % 2} 1:{n} 7:1\n" for n in range(20)) + "1 2147483647:1\n"
    )
    (ref,) = files([], {}, [str(tmp_path / "q.libsvm")])
    tracemalloc.start()
    assert ref.load().d == 2**31 - 1
    assert omkl.config.plans.unlike_features(ref.load(), 10.0) is not None
    assert tracemalloc.get_traced_memory()[1] < 20e6
    tracemalloc.stop()


def test_registered_sets_whose_features_differ_are_named(tmp_path):
    how = {
        "reps": 1,
        "exec": "serial",
        "yardsticks": [],
        "store": str(tmp_path),
        "progress": False,
        "algo": "alma",
    }
    assert "wdbc: the features have standard deviations from" in "\n".join(omkl.run(data="wdbc", **how).notes)
    assert "standard deviations" not in "\n".join(omkl.run(data="wdbc", scale="online", **how).notes)
    assert "standard deviations" not in "\n".join(omkl.run(data="switch", **how).notes)


def test_a_column_of_words_that_is_the_label_or_has_its_gaps_in_a_class():
    city = np.array(["a", "b", None], object)[np.random.default_rng(7).integers(0, 3, T)]
    frame = pd.DataFrame({"n": NORMAL[:, 0], "city": city})

    def said_of(y, cities=city):
        own = Own("data", "auto", "data", frame.assign(city=cities, y=y))
        return [note for note in own.notes if note.startswith("column 'city'")]

    said = "column 'city' is the label in other words; exclude it with drop=city"
    assert said_of(np.where(pd.isna(city), "x", city)) == [said]
    (said,) = said_of(pd.isna(city))
    assert said.startswith("column 'city' has its gaps in all rows of some classes")
    assert said_of(TWO == 1) == []
    (alike,) = said_of(TWO == 1, np.where(NORMAL[:, 1] > 0, "Bern", "BERN"))
    assert alike.startswith("column 'city': BERN and Bern are different words; ")


def test_many_columns_have_few_notes():
    examples = dense(np.column_stack([NORMAL[:, :1]] + [TWO] * 40), TWO)
    notes = notes_on(ColumnsOf(examples), examples, TWO, classes=True)
    assert len(notes) == 6
    assert notes[-1] == "and so for 35 more columns"


def test_a_run_that_is_no_better_than_a_constant_answer_says_so(tmp_path):
    how = {"reps": 3, "exec": "serial", "store": str(tmp_path), "progress": False, "algo": "arow"}
    noise = pd.DataFrame(NORMAL).assign(y=TWO).rename(columns=str)
    said = "no learner is clearly better than a constant answer on data"
    assert said in omkl.run(data=noise, yardsticks=["majority"], **how).notes
    assert said not in omkl.run(data=FRAME.assign(y=LABEL), yardsticks=["majority"], **how).notes
    assert said not in omkl.run(data=noise, yardsticks=[], **how).notes


def test_a_cell_over_several_lines_is_named_and_gaps_are_none():
    words = ["a"] * 19 + ["b\nc"] + [None] * 20
    frame = pd.DataFrame({"w": words, "n": np.arange(40) % 7 / 3, "y": np.arange(40) % 2})
    (said,) = [note for note in Own("data", "classification", "data", frame).notes if "lines" in note]
    assert said == "data: row 20: column 'w' goes over several lines (1 such cell); is a quote missing?"
