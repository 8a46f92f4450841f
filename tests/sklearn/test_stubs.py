"""The stubs of the estimators are those of conf/algo."""

import pytest
from support import script

stubs = script("stubs")


@pytest.mark.parametrize("package", ["sklearn", "river"])
def test_a_stub_is_as_it_would_be_written(package):
    written = (stubs.ROOT / "omkl" / package / "__init__.pyi").read_text(encoding="utf-8")
    assert written == stubs.stub_of(package), "python scripts/stubs.py writes the stubs anew"
