"""Rows and targets that are too large are refused before a model learns from them, and spoil none."""

import pickle
import re
from threading import Thread

import numpy as np
import pytest

import omkl.sklearn
from omkl.cli import main
from omkl.errors import Overflow

RNG = np.random.default_rng(0)
X = RNG.normal(size=(300, 3))
SIGN = (X[:, 0] * X[:, 1] > 0).astype(int)


def huge_file(path, size):
    path.write_text(
        "".join(
            f"{y or -1} 1:{x[0] * size!r} 2:{x[1] * size!r}\n"
            for x, y in zip(X.tolist(), SIGN.tolist(), strict=True)
        )
    )
    return str(path)


@pytest.mark.parametrize(("learner", "size"), [("om2", 1e55), ("arow", 1e200)])
def test_fit_update_and_predict_refuse_what_run_refuses(tmp_path, capsys, learner, size):
    huge, usual = huge_file(tmp_path / "huge.libsvm", size), huge_file(tmp_path / "usual.libsvm", 1.0)
    model = tmp_path / "a.omkl"
    words = [f"algo={learner}", "reps=1"]
    assert main(["run", *words, f"data={huge}"]) == 2
    said = capsys.readouterr().err
    assert main(["fit", words[0], f"data={huge}", "--out", str(model)]) == 2
    assert "overflow" in said
    assert "overflow" in capsys.readouterr().err
    assert not model.exists()
    assert main(["fit", words[0], f"data={usual}", "--out", str(model)]) == 0
    before = model.read_bytes()
    for command in ("predict", "update"):
        capsys.readouterr()
        assert main([command, str(model), huge]) == 2
        out, err = capsys.readouterr()
        assert not out
        assert err.startswith(f"omkl: {huge}: a feature of size")
    assert model.read_bytes() == before


@pytest.mark.parametrize(("degree", "coef0"), [(1000, 2.5), (4, 1e100)])
def test_a_polynomial_that_overflows_by_its_coef0_is_refused(tmp_path, capsys, degree, coef0):
    kernels = [{"kind": "polynomial", "degree": degree, "coef0": coef0}, {"kind": "gaussian", "sigma": 1.0}]
    said = f"makes kernel values of degree {degree} with coef0 {coef0:g} overflow"
    model = omkl.sklearn.OmkcDdClassifier(pool={"kernels": kernels}, random_state=0)
    with pytest.raises(ValueError, match=re.escape(said)):
        model.fit(X / 9, SIGN)
    given = "pool.kernels=[{kind:polynomial,degree:%d,coef0:%r}]" % (degree, coef0)  # noqa: UP031
    assert main(["run", "data=wdbc", "algo=omkc_dd", given, f"store={tmp_path}"]) == 2
    assert said in capsys.readouterr().err
    kernels[0]["coef0"] = 0.5
    assert model.set_params(pool={"kernels": kernels}).fit(X / 9, SIGN).mistakes_ < len(X)


@pytest.mark.parametrize("name", ["Om2Classifier", "BomkcSpaClassifier", "RffRegressor", "AdamklRegressor"])
def test_an_estimator_is_as_it_was_after_rows_that_were_refused(name):
    regression = name.endswith("Regressor")
    y = X[:, 0] if regression else SIGN
    model = getattr(omkl.sklearn, name)(random_state=0).fit(X, y)
    before, bits = model.predict(X), pickle.dumps(model)
    far = np.array([[1.2e154, 0.0, 0.0]])
    for rows in (far, far.tolist()):
        with pytest.raises(ValueError, match="overflow"):
            model.partial_fit(rows, y[:1])
        with pytest.raises(ValueError, match="overflow"):
            model.predict(rows)
    if regression:
        with pytest.raises(ValueError, match="too large to be squared"):
            model.partial_fit(X[:1], [1e200])
    assert pickle.dumps(model) == bits
    assert np.array_equal(model.predict(X), before)


def test_threads_that_ask_at_once_get_the_same_answers_and_change_nothing():
    model = omkl.sklearn.OmkcSsClassifier(random_state=0).fit(X, SIGN)  # it draws a kernel for each row
    bits, expected = pickle.dumps(model), model.predict(X)
    wrong = []

    def ask():
        wrong.extend(1 for _ in range(8) if not np.array_equal(model.predict(X), expected))

    threads = [Thread(target=ask) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
    assert pickle.dumps(model) == bits


@pytest.mark.parametrize("labels", [(-1, 1), (1, 2, 3)])
def test_a_classification_whose_scores_are_nan_fails(tmp_path, capsys, labels):
    """It would count every round as a mistake, without a word."""
    rows = "".join(f"{labels[t % len(labels)]} 1:{x[0]!r} 2:{x[1]!r}\n" for t, x in enumerate(X.tolist()))
    file, model = tmp_path / "a.libsvm", tmp_path / "a.omkl"
    file.write_text(rows)
    words = ["algo=omklo_sua", "algo.R=1e300", f"data={file}"]
    assert main(["run", *words, "reps=1", "yardsticks=[]", f"store={tmp_path / 'store'}"]) == 1
    assert "the prediction of round 2 overflowed; rescale the data or reduce" in capsys.readouterr().err
    assert main(["fit", *words, "--out", str(model)]) == 1
    assert "the prediction of round 2 overflowed" in capsys.readouterr().err
    assert not model.exists()
    estimator = omkl.sklearn.OmkloSuaClassifier(R=1e300, random_state=0)
    with pytest.raises(Overflow, match="the prediction of round 2 overflowed"):
        estimator.fit(X, np.arange(len(X)) % len(labels))
