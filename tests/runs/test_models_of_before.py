"""Models and settings that an earlier omkl wrote: they are read, predict the same, and learn on.

models_of_before holds what commit b2555f5 (23 November 2026, omkl 0.2.0) wrote, with numba 0.68.1:

    omkl fit algo=omkc_ss data=loans.csv label=repaid positive=yes drop=id missing=mean scale=minmax \
        categorical=onehot seed=1 --out two.omkl
    omkl fit algo=perceptron data=three.libsvm seed=1 --out three.omkl
    omkl fit algo=ridge_features algo.D=8 data=targets.csv task=regression order=file --out numbers.omkl
    omkl predict two.omkl new.csv --out two.csv        (three.omkl: new.libsvm, numbers.omkl: targets.csv)

It had no settings files yet. best.yaml is what commit 5dcbd65 wrote, the first that has them:

    omkl tune algo=arow data=wdbc trials=3 reps=2 yardsticks=[] --out best.yaml
"""

import csv
import shutil
from pathlib import Path

import pytest

from omkl.cli import main
from omkl.config import plan

BEFORE = Path(__file__).with_name("models_of_before")
MODELS = {
    "two": ("new.csv", "loans.csv"),
    "three": ("new.libsvm", "three.libsvm"),
    "numbers": ("targets.csv",) * 2,
}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A copy of these files, to run in."""
    monkeypatch.chdir(shutil.copytree(BEFORE, tmp_path / "before"))
    return tmp_path / "before"


def table(path: Path) -> list[list[str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.reader(file))


def number(text: str) -> float | str:
    try:
        return float(text)
    except ValueError:
        return text


@pytest.mark.parametrize("name", MODELS)
def test_a_model_predicts_as_it_did(name, folder):
    assert main(["predict", f"{name}.omkl", MODELS[name][0], "--out", "now.csv"]) == 0
    now, before = table(folder / "now.csv"), table(folder / f"{name}.csv")
    assert now[0] == before[0]
    assert len(now) == len(before) > 8
    for row, own in zip(now[1:], before[1:], strict=True):
        assert list(map(number, row)) == [
            pytest.approx(value, rel=1e-9) if isinstance(value, float) else value
            for value in map(number, own)
        ]


@pytest.mark.parametrize("name", MODELS)
def test_a_model_learns_on_and_is_shown(name, folder, capsys):
    assert main(["update", f"{name}.omkl", MODELS[name][1], "--out", "later.omkl"]) == 0
    assert main(["show", "later.omkl"]) == 0
    rows = len(table(folder / MODELS[name][1])) - MODELS[name][1].endswith(".csv")
    assert f"rounds: {2 * rows}" in capsys.readouterr().out


def test_a_settings_file_is_read(folder):
    made = plan(["settings=best.yaml", "data=wdbc", "reps=2", "yardsticks=[]"])
    assert [setting.learner for setting in made.settings] == ["arow"]
    text = (folder / "best.yaml").read_text(encoding="utf-8")
    assert all(f"{value:.4g}"[:4] in text for value in made.settings[0].params.values())
