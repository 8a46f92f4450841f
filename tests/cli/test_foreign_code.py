"""Code is loaded from folders that the user named, and from nowhere else."""

import hashlib
import json
from pathlib import Path

import pytest
from support.extension import TINY, TWIN, YAML, estimator, write

import omkl.sklearn
from omkl.cli import main
from omkl.models import model_file
from omkl.paths import EXTENSIONS
from omkl.store.fields import cell_key
from omkl.store.lines import encode_cell
from omkl.testing.cases import fresh_learner

MARK = "from pathlib import Path\n\nPath('loaded').touch()\n"


@pytest.fixture(autouse=True)
def place(tmp_path, monkeypatch):
    """A current directory that is laid out as a folder of learners; each of its modules leaves a mark."""
    monkeypatch.delenv(EXTENSIONS, raising=False)
    monkeypatch.delenv("OMKL_STORE", raising=False)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)  # as `python -m omkl` has it
    evil = YAML.replace("label: Tiny", "function: tiny\n  label: Evil")
    return write(
        tmp_path,
        {
            "evil.py": f"{MARK}\nclass Evil:\n    partial_fit = predict = None\n",
            "algorithms/evil.py": MARK + TINY,
            "tests/reference/evil.py": MARK + TWIN,
            "conf/algo/evil.yaml": evil,
            "conf/algo/foreign.yaml": estimator("evil:Evil"),
            "conf/config.yaml": "algo: {value: [evil], domain: names, help: x}\n",
        },
    )


def line(algo, source):
    """A sound, sealed line of a finished cell of a learner with this source."""
    own = {"algo": algo, "params": {}, "data_hash": "0" * 64, "order": "permuted", "revision": 1}
    own |= {"task": "classification", "permutation_seed": "7", "source": source}
    key = cell_key(own)
    figures = {"mistakes": 1, "mistake_rate": 0.5, "n_sv_sum": 0, "n_sv_union": 0, "n_sv_combined": 0}
    figures |= {"n_sv_per_kernel": [], "weights": None, "pairs": 0, "m": 0, "T": 2, "seconds": 0.1}
    origin = {"provenance": {"versions": {}, "host": source, "time": "2026-11-22T00:00:00"}}
    where = {"data": "wdbc", "rep": 0, "seed": 1}
    return encode_cell({"key": key, "status": "ok", **own, **where, **figures, **origin})


COMMANDS = [
    ["list", "algos"],
    ["show", "algo=omkc_dd"],
    ["results", "list"],
    ["results", "export"],
    ["results", "prune", "--old"],
    ["run", "algo=majority", "data=wdbc", "reps=1", "yardsticks=[]"],
    ["status", "algo=majority", "data=wdbc"],
]


@pytest.mark.parametrize("words", COMMANDS)
def test_neither_the_current_directory_nor_a_store_names_code_that_is_loaded(words, capsys):
    Path("results/cells").mkdir(parents=True)
    sources = ["estimator 1; evil:Evil", "evil:Evil", str(Path("algorithms").resolve())]
    lines = [line(algo, source) for algo in ("evil", "foreign") for source in sources]
    Path("results/cells/a.jsonl").write_bytes(b"".join(lines))
    assert main(words) == 0
    out = capsys.readouterr().out
    assert words[0] != "results" or words[1] == "prune" or "foreign" in out  # the lines are read, as data
    assert words[0] != "list" or "evil" not in out
    assert not Path("loaded").exists()


@pytest.mark.parametrize("name", ["evil", "foreign"])
@pytest.mark.parametrize("words", [["run", "data=wdbc"], ["show"], ["fit", "--out", "m"], ["status"]])
def test_a_learner_of_the_current_directory_is_unknown(words, name, capsys):
    assert main([*words, f"algo={name}"]) == 2
    assert "unknown learner" in capsys.readouterr().err
    assert not Path("loaded").exists()


@pytest.mark.parametrize("name", ["evil", "foreign", "evil:Evil", "../conf/algo/evil"])
def test_a_model_file_loads_no_code(name, capsys, place):
    model_file.write_model(place / "m.omkl", fresh_learner("majority", None, 2), {})
    content = (place / "m.omkl").read_bytes()
    start = len(model_file.MAGIC) + 65
    length = int.from_bytes(content[start : start + 8], "little")
    header = content[start + 8 : start + 8 + length].replace(b'"majority"', json.dumps(name).encode())
    rest = len(header).to_bytes(8, "little") + header + content[start + 8 + length :]
    digest = hashlib.sha256(rest).hexdigest().encode()
    (place / "m.omkl").write_bytes(model_file.MAGIC + digest + b"\n" + rest)
    for words in (["show", "m.omkl"], ["predict", "m.omkl", "m.omkl"], ["update", "m.omkl", "m.omkl"]):
        assert main(words) == 2
        assert "needs the unknown learner" in capsys.readouterr().err
    assert not Path("loaded").exists()


def test_the_named_folder_is_loaded_and_the_estimators_follow(place, monkeypatch):
    """The same files do run where the user names them: the tests above would see it."""
    assert "EvilClassifier" not in omkl.sklearn.names()
    assert (
        main(["run", "algo=evil", "data=wdbc", "reps=1", "exec=serial", "yardsticks=[]", "--with", "."]) == 0
    )
    assert Path("loaded").exists()
