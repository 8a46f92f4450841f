"""Confusion matrices: what a cell holds, the error of each class in tables."""

import numpy as np
import pytest
from support.reports_cells import cell, expected, frame, planned_in, report, setting, strict, summarise

from omkl.passes import confusion
from omkl.reports.measures import classes_text
from omkl.reports.results_table import TableOptions
from omkl.store.fields import CellMeasures, hits_of, with_extra

DD, SS = setting("omkc_dd"), setting("omkc_ss")


def rounds(C, T=600, errors=0.2, seed=0):
    """True and predicted classes; class 0 has no examples."""
    rng = np.random.default_rng(seed)
    true = rng.integers(1, C, T)
    return true, np.where(rng.random(T) < errors, (true + rng.integers(1, C, T)) % C, true)


def cells(C, data="three", T=600):
    made = []
    for which, errors in ((DD, 0.1), (SS, 0.3)):
        for rep in range(3):
            true, predicted = rounds(C, T, errors, rep)
            counts = confusion.confusion_counts(true, predicted, C)
            made.append(cell(which, rep, int((true != predicted).sum()), data, T, confusion=counts))
    return frame(*made)


def errors_of(stored):
    right, whole, _ = np.frombuffer(hits_of(stored), "<i8").reshape(3, -1)
    return np.where(whole, 1 - right / np.maximum(whole, 1), np.nan)


@pytest.mark.parametrize("C", [2, 3, 40])
def test_counts_are_those_of_the_rounds(C):
    true, predicted = rounds(C)
    stored = confusion.confusion_counts(true, predicted, C)
    assert isinstance(stored, list) == (C <= confusion.DENSE)
    (counts,) = confusion.matrices([stored])
    plain = np.zeros((C, C + 1), int)
    np.add.at(plain, (true, predicted), 1)
    np.testing.assert_array_equal(counts, plain)
    errors = errors_of(stored)
    assert np.isnan(errors[0])
    assert errors[1] == pytest.approx(np.mean(predicted[true == 1] != 1))


def test_of_many_confusions_the_largest_are_kept(monkeypatch):
    true, predicted = rounds(40, 3000)
    whole = confusion.confusion_counts(true, predicted, 40)
    monkeypatch.setattr(confusion, "MOST", 100)
    stored = confusion.confusion_counts(true, predicted, 40)
    (counts,) = confusion.matrices([stored])
    assert np.count_nonzero(counts[:, :-1] - np.diag(np.diagonal(counts))) == 100
    assert counts.sum() == 3000
    np.testing.assert_array_equal(errors_of(stored), errors_of(whole))
    both = frame(*(cell(DD, rep, 10, confusion=one) for rep, one in enumerate((whole, stored))))
    kappa, none = CellMeasures(with_extra(both)).of("kappa")
    assert np.isfinite(kappa)
    assert np.isnan(none)  # how many are taken for a class is not known


@pytest.mark.parametrize(
    ("largest", "text"),
    [(True, "k 11.0, j 10.0, i 9.0, h 8.0, g 7.0, ..."), (False, "a 1.0, b 2.0, c 3.0, d 4.0, e 5.0, ...")],
)
def test_of_many_classes_the_worst_are_shown(largest, text):
    assert classes_text("abcdefghijkl", [*range(1, 12), np.nan], largest=largest) == text


def test_errors_of_classes_are_a_column_on_request_and_in_json():
    about = expected((DD, SS), ("three",), yardsticks=(), classes={("three", None): ("none", "low", "high")})
    table = report(cells(3), about, options=TableOptions(columns=("learner", "class_errors")))
    (first,) = [text for text in table.splitlines() if text.startswith("OMKC(D,D)")]
    (record, _) = strict(report(cells(3), about, "json"))["summary"]
    assert record["classes"] == ["none", "low", "high"]
    none, low, high = record["class_errors"]
    assert (none, first.split("  ")[-1]) == (None, f"low {low:.1f}, high {high:.1f}")
    assert low == pytest.approx(10, abs=4)
    assert "class errors %" not in report(cells(3), about)
    assert len(strict(report(cells(3), about, "json"))["cells"][0]["confusion"]) == 3
    many = summarise(cells(40))
    assert many["classes"][0] == list(map(str, range(40)))
    old = frame(cell(DD, 0, 10))
    assert summarise(old)["class_errors"][0] is None
    assert report(old, planned_in(old), options=TableOptions(columns=("class_errors",))).count("–") == 1
