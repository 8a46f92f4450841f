"""Features far from 0 are named, since squared distances are computed from squared norms."""

import numpy as np
import pytest

from omkl.cli import main


@pytest.fixture
def table(tmp_path):
    """Return a function that writes a table whose first feature has this offset."""

    def written(offset, kind="csv"):
        x = np.random.default_rng(0).integers(-20, 20, (60, 2))
        x[:, 0] += offset
        lines = [(a, b, int(abs(a - offset) > 10)) for a, b in x.tolist()]
        path = tmp_path / f"time.{kind}"
        form = "{},{},{}\n" if kind == "csv" else "{2} 1:{0} 2:{1}\n"
        path.write_text("".join(form.format(*line) for line in lines))
        return str(path)

    return written


@pytest.mark.parametrize("kind", ["csv", "libsvm"])
@pytest.mark.parametrize("command", ["run", "fit"])
def test_unix_time_is_named(table, tmp_path, monkeypatch, capsys, command, kind):
    monkeypatch.chdir(tmp_path)
    more = ["reps=1"] if command == "run" else ["--out", "a.omkl"]
    assert main([command, "algo=omkc_dd", f"data={table(1_700_000_000, kind)}", *more]) == 0
    err = capsys.readouterr().err
    assert "the features lie far from 0 (feature 1 has the mean 1.7e+09)" in err
    assert err.count("far from 0") == 1


@pytest.mark.parametrize(
    ("offset", "words"),
    [
        (0, ["algo=omkc_dd"]),
        (1_000_000, ["algo=omkc_dd"]),
        (1_700_000_000, ["algo=omkc_dd", "scale=minmax"]),
        (1_700_000_000, ["algo=arow"]),  # no squared distances
    ],
)
def test_other_tables_are_not(table, tmp_path, monkeypatch, capsys, offset, words):
    monkeypatch.chdir(tmp_path)
    assert main(["run", *words, f"data={table(offset)}", "reps=1"]) == 0
    assert "far from 0" not in capsys.readouterr().err
