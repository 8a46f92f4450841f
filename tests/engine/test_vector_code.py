"""How much stays in registers follows from the processor; the sums are the same on all (their own tests)."""

import os
import subprocess
import sys

import pytest
from support import ROOT

from omkl.engine.vector_code import LANES, numbers_in_registers


@pytest.mark.parametrize(
    ("features", "numbers"),
    [
        ("+avx,+avx2,+avx512f,+fma", 256),
        ("+avx,+avx2,-avx512f,+fma", 64),
        ("+fp-armv8,+neon", 64),
        ("+sse2,-avx", 32),
        ("", 32),
    ],
)
def test_registers_of_processors(features, numbers):
    assert numbers_in_registers(features) == numbers
    assert numbers % LANES == 0


@pytest.mark.skipif(os.environ.get("OMKL_SLOW") != "1", reason="compiles the sums again: set OMKL_SLOW=1")
def test_the_sums_of_a_processor_with_fewer_registers_equal_the_formulas_too(tmp_path):
    tests = [f"tests/engine/test_{name}.py" for name in ("dot_products", "kernel_sums", "lookup", "pool")]
    environment = {"NUMBA_CPU_NAME": "haswell", "NUMBA_CPU_FEATURES": "+sse4.2,+avx,+avx2,+fma,+popcnt"}
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:xdist", *tests],
        env={**os.environ, **environment, "OMKL_CACHE": str(tmp_path), "OMKL_SLOW": "0"},
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-3000:]
