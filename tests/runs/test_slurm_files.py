"""Files of submissions in a store that cannot be read are skipped with a warning."""

import json

import pytest

from omkl.runs import slurm, slurm_jobs
from omkl.store.store import StoreWarning


@pytest.mark.filterwarnings("error")
def test_a_submission_that_cannot_be_read_is_skipped_with_a_warning(tmp_path, monkeypatch):
    monkeypatch.setattr(slurm_jobs, "_squeue", lambda: ({"7": "running"}, ""))
    good = tmp_path / "slurm" / "b"
    good.mkdir(parents=True)
    (good / "jobs.json").write_text('{"jobs":["7"]}', encoding="utf-8")
    (good / "0.json").write_text(json.dumps({"keys": ["a" * 64]}), encoding="utf-8")
    assert slurm.states_of_jobs(tmp_path)[0] == {"a" * 64: "running"}
    bad = tmp_path / "slurm" / "a"
    bad.mkdir()
    for text in ("", "{", "\xff"):
        (bad / "jobs.json").write_text(text, encoding="latin-1")
        with pytest.warns(StoreWarning, match=r"a.jobs\.json"):
            assert slurm.states_of_jobs(tmp_path)[0] == {"a" * 64: "running"}, text
    (bad / "jobs.json").unlink()
    for text in ("", "{"):
        (good / "0.json").write_text(text, encoding="utf-8")
        (good / "0.begun").touch()
        with pytest.warns(StoreWarning, match=r"0\.json"):
            assert slurm.states_of_jobs(tmp_path)[0] == {}
        with pytest.warns(StoreWarning, match=r"0\.json"):
            assert slurm.died_at(tmp_path, set()) == {}
