"""Plans for the tests of the runner."""

import pytest
from support.runner_plans import make_plan

from omkl.config import Plan
from omkl.runs import runner


@pytest.fixture
def plan(tmp_path, monkeypatch) -> Plan:
    """Two learners and a yardstick on two small sets, 4 repetitions: 24 cells."""
    return make_plan(tmp_path, monkeypatch)


@pytest.fixture
def workers(monkeypatch):
    """Makes even small plans run in worker processes."""
    monkeypatch.setattr(runner, "SMALL_WORK", -1.0)
