"""Features far from 0 are named, since squared distances are computed from squared norms."""

import warnings

import numpy as np
import pytest
from scipy.sparse import csr_array

from omkl.cli import main
from omkl.sklearn import ArowClassifier, OmkcDdClassifier


@pytest.fixture
def table(tmp_path):
    """Return a function that writes a table whose first feature has this offset."""

    def written(offset, kind="csv"):
        x = np.random.default_rng(0).integers(-20, 20, (60, 2))
        x[:, 0] += offset
        lines = [(a, b, int(abs(a - offset) > 10)) for a, b in x.tolist()]
        path = tmp_path / f"time.{kind}"
        form = "{},{},{}\n" if kind == "csv" else "{2} 1:{0} 2:{1}\n"
        names = "a,b,label\n" if kind == "csv" else ""
        path.write_text(names + "".join(form.format(*line) for line in lines))
        return str(path)

    return written


@pytest.mark.parametrize("kind", ["csv", "libsvm"])
@pytest.mark.parametrize("command", ["run", "fit"])
def test_unix_time_is_named(table, tmp_path, monkeypatch, capsys, command, kind):
    monkeypatch.chdir(tmp_path)
    more = ["reps=1"] if command == "run" else ["--out", "a.omkl"]
    words = ["algo=omkc_dd", f"data={table(1_700_000_000, kind)}", "scale=none"]
    assert main([command, *words, *more]) == 0
    err = capsys.readouterr().err
    assert "the features lie far from 0 (feature 1 has the mean 1.7e+09)" in err
    assert err.count("far from 0") == 1


@pytest.mark.parametrize(
    ("offset", "words"),
    [
        (0, ["algo=omkc_dd"]),
        (1_000_000, ["algo=omkc_dd"]),
        (1_700_000_000, ["algo=omkc_dd"]),  # scaled online
        (1_700_000_000, ["algo=arow", "scale=none"]),  # no squared distances
    ],
)
def test_other_tables_are_not(table, tmp_path, monkeypatch, capsys, offset, words):
    monkeypatch.chdir(tmp_path)
    assert main(["run", *words, f"data={table(offset)}", "reps=1"]) == 0
    assert "far from 0" not in capsys.readouterr().err


@pytest.mark.parametrize("sparse", [False, True])
def test_the_estimators_name_it_too(sparse):
    X = np.random.default_rng(0).integers(-20, 20, (60, 2)).astype(float)
    y = np.abs(X[:, 0]) > 10
    rows = csr_array if sparse else np.asarray
    far = X + np.array([0, 1.7e9])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        OmkcDdClassifier(random_state=0).fit(rows(X), y)
        ArowClassifier(random_state=0).fit(rows(far), y)  # no squared distances
    said = r"feature 2 has the mean 1.7e\+09\), .*; subtract the means \(sklearn"
    with pytest.warns(UserWarning, match=said) as caught:
        OmkcDdClassifier(random_state=0).fit(rows(far), y)
    assert [warning.filename for warning in caught] == [__file__]
