"""What is read without Hydra is what Hydra reads."""

import subprocess
import sys

import pytest

from omkl import schema
from omkl.config import compose, grammar
from omkl.errors import UserError

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("group", ["", "algo", "exec", "paper", "pool"])
def test_every_conf_file_is_read_as_hydra_composes_it(group):
    names = compose.options(group)
    folder = compose.file(group, names[0]).parent
    hydra = compose._composed(group, folder, names)
    read = {name: schema.load_plain(folder / f"{name}.yaml") for name in names}
    assert repr(read) == repr({name: hydra[name] for name in names})  # types and order too


VALUES = """1e5 1.e-3 -2E+7 1_0e2 .5e3 .5e-3 1. 1_000 0x1F 0o7 017 1:30 1:30.5 2D 1/m -inf -.inf 2001-01-01
yes No on ~ null none True 'true' "1e5" e5 1e 1e5x + . 0.1 12e03 _ 1__0e5 ??? [1,[2,~]] {b:{c:d},e:[]}"""


def test_values_are_those_of_hydra(tmp_path):
    (tmp_path / "g").mkdir()
    values = [value.replace(":", ": ") if value[0] == "{" else value for value in VALUES.split()]
    text = "".join(f"k{number}: {value}\n" for number, value in enumerate(values))
    (tmp_path / "g" / "x.yaml").write_text(f"{text}base: &a {{u: 1, v: 2}}\nmerged: {{<<: *a, v: 3}}\n")
    read = schema.load_plain(tmp_path / "g" / "x.yaml")
    assert read is not None
    assert repr(read) == repr(compose._composed("g", tmp_path / "g", ["x"])["x"])


@pytest.mark.parametrize(
    "text", ["defaults: [_base]\n", "a: 1\na: 2\n", "a: ${b}\n", "_target_: os\n", "1: 2\n", "a: [", "", "3"]
)
def test_what_needs_hydra_is_left_to_it(tmp_path, text):
    (tmp_path / "x.yaml").write_text(text)
    assert schema.load_plain(tmp_path / "x.yaml") is None


WORDS = ["wdbc", "a,b_1,a", "1", "0", "0.25,1,2.50", "x2", "999999999999999999", "nullx,1"]
OTHERS = ["null", "a,True", "NaN", "inf", "007", "1e5", "-1", "1_0", "a-b", "[1,2]", "a, b", "1.", "'a'"]


@pytest.mark.parametrize("text", WORDS)
def test_simple_words_are_those_of_hydra(text, monkeypatch):
    read = grammar._values("key", text, f"key={text}")
    monkeypatch.setattr(grammar, "_simple", lambda part: None)
    assert repr(read) == repr(grammar._values("key", text, f"key={text}"))


@pytest.mark.parametrize("text", OTHERS)
def test_other_words_are_left_to_hydra(text):
    assert None in map(grammar._simple, text.split(","))


def test_a_key_given_twice_is_still_named(tmp_path, monkeypatch):
    (tmp_path / "algo").mkdir()
    (tmp_path / "algo" / "mine.yaml").write_text("a: 1\na: 2\n")
    monkeypatch.setattr(compose, "conf_folder", lambda: tmp_path)
    with pytest.raises(UserError, match=r"mine\.yaml:2: malformed YAML: found duplicate key a"):
        compose.read_config("algo", ["mine"])


def test_a_plan_imports_no_hydra():
    code = "import sys; from omkl.config import plan; plan(['algo=omkc_ss,alma', 'data=wdbc', 'reps=2']); "
    code += "assert 'hydra' not in sys.modules and 'omegaconf' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)
