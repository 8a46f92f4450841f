"""scripts/scale.py on a small scale: it measures, and what it measures is sane."""

import json
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts"))
import scale


@pytest.mark.skipif(sys.platform != "linux", reason="asks /proc")
def test_what_a_sweep_costs_is_measured_and_memory_does_not_grow(capsys):
    assert scale.main(["--cells", "400", "--large", "2000", "--exec", "serial"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["tiny_cells"], found["long_cells"]) == (399, 20)
    assert 0 < found["tiny_learner_ms"] < found["tiny_ms_per_cell"]
    assert 0.1 < found["efficiency_cpu"] < 1.01
    assert abs(found["worker_growth"]) < 0.1
