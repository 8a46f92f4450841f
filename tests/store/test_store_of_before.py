"""A store that the version before wrote: what it holds is read, and nothing of it is run again.

tests/store_of_before holds every learner on its two little files, as `omkl run` of the commit before left it.
"""

import re
import shutil
from pathlib import Path

import pytest

from omkl.config import learner_specs, plan
from omkl.experiments.results import Results
from omkl.runs import runner
from omkl.runs.cells import expand
from omkl.tasks import MEASURES

STORE = Path(__file__).with_name("store_of_before")
HELD = set(re.findall(r'"algo":"(\w+)"', "".join(p.read_text() for p in STORE.glob("cells/*.jsonl"))))


@pytest.fixture
def store(tmp_path):
    """A copy of that store."""
    return shutil.copytree(STORE, tmp_path / "store")


def words(task: str) -> list[str]:
    """Every learner for data of this task that the version before had."""
    names = [spec.name for spec in learner_specs().values() if task in spec.tasks and spec.name in HELD]
    file = STORE / ("targets.csv" if task == "regression" else "classes.libsvm")
    own = [f"task={task}", f"data={file}", "reps=1", "yardsticks=[]", "exec=serial"]
    as_before = {"classification": "algo.budget=4", "regression": "target=none"}
    return [f"algo={','.join(names)}", *own, as_before[task]]


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_nothing_that_it_holds_is_run_again(store, task):
    this_plan = plan([*words(task), f"store={store}"])
    outcome = runner.run_plan(this_plan)
    assert (outcome.ran, outcome.stale) == (0, {})
    assert outcome.reused == len(expand(this_plan)) == len(this_plan.settings)


def test_a_former_hyperparameter_names_the_learner_that_it_became(store):
    data = [f"data={STORE / 'classes.libsvm'}", "reps=1", "yardsticks=[]", "exec=serial", f"store={store}"]
    with pytest.warns(UserWarning, match=r"algo.variant=authors is now algo=adaraker_authors;"):
        new = plan(["algo=adaraker", "algo.variant=authors", "algo.eta=0.5", "algo.eta0=3", *data])
    assert [(s.learner, s.params["eta"]) for s in new.settings] == [("adaraker_authors", 0.5)]
    with pytest.warns(UserWarning, match=r"is now algo=adaraker;"):
        same = plan(["algo=adaraker", "algo.variant=paper", *data])
    assert same.settings == plan(["algo=adaraker", *data]).settings
    assert runner.run_plan(same).ran == 0


def test_measures_that_it_lacks_are_dashes_with_a_note(store):
    for task, word, kept in (("classification", "auc", "mistake_pct"), ("regression", "mae", "rmse")):
        made = Results.stored(plan([*words(task), f"store={store}"])).by(word)
        assert made.table[f"{word}_mean"].isna().all()
        assert made.table[f"{kept}_mean"].notna().any()
        (note,) = [note for note in made.notes if "--fresh" in note]
        assert note.startswith(f"no {MEASURES[word].header}")
