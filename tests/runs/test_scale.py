"""scripts/scale.py on a small scale: its figures are sane."""

import json
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts"))
import scale


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="asks /proc")
def test_the_costs_of_a_sweep_are_measured_and_memory_does_not_grow(capsys):
    assert scale.main(["--cells", "400", "--large", "2000", "--exec", "serial"]) == 0
    measured = json.loads(capsys.readouterr().out)
    assert (measured["tiny_cells"], measured["long_cells"]) == (399, 20)
    assert 0 < measured["tiny_learner_ms"] < measured["tiny_ms_per_cell"]
    assert 0.1 < measured["efficiency_cpu"] < 1.01
    assert abs(measured["worker_growth"]) < 0.1
