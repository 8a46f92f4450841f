"""What the commands do is what the record says; see scripts/golden.py."""

import pytest
from support import script

golden = script("golden")


@pytest.mark.parametrize("section", [*golden.sections(), "learners"])
def test_the_record_holds(section, monkeypatch):
    for name in ("OMKL_DATA", "OMKL_STORE", "OMKL_PATH", "OMKL_MIRROR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("OMKL_OFFLINE", "1")
    differ = golden.differences(section)
    assert not differ, "\n".join(["scripts/golden.py --write records this anew:", *differ])
