"""Random words for commands and random small files: a result, or one message of one line. With hypothesis."""

import re
from importlib import import_module
from unittest import mock

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from omkl import data
from omkl.cli import main
from omkl.errors import OmklError, UserError

# How often each test tries: a little in `make test`, much in `make test-all`.
COUNTS = pytest.mark.parametrize("count", [40, pytest.param(3000, marks=pytest.mark.slow)])


def tried(count, test):
    """Try a test of hypothesis so often; it draws the same inputs in each run."""
    checks = list(HealthCheck)
    settings(max_examples=count, deadline=None, derandomize=True, suppress_health_check=checks)(test)()


# ------------------------------------------------------------------ words

COMMANDS = (
    *("run --dry-run", "sweep --dry-run", "tune --dry-run", "show", "status", "fit", "predict", "update"),
    *("list", "list algos", "data list", "data path", "data look", "results list", "results export", "help"),
    *("table --dry-run", "claims --dry-run", "figure", "report", "bounds", "completion", "check", "--x", ""),
)
KEYS = (
    *("algo", "data", "pool", "exec", "reps", "seed", "order", "store", "yardsticks", "block", "rounds"),
    *("algo.beta", "algo.delta", "algo.kernel", "pool.kernels", "pool.normalise", "exec.jobs", "label"),
    *("scale", "target", "test", "delay", "drop", "hydra", "+x", "~algo", "a@b", "settings", ""),
)
VALUES = (
    *("omkc_dd", "omkc_ss,omkc_dd", "perceptron", "raker", "wdbc", "small", "paper16", "0.5", "1", "0.1,0.2"),
    *("null", "[arow]", "range(1,9)", "range(0.1,1,0.1)", "choice(1,2)", "glob(omkc_*)", "interval(0,1)", ""),
    *("[]", "{}", "{kind:gaussian,sigma:1}", "[{kind:linear},{kind:gaussian,sigma:[1,2]}]", "../x", "a/b"),
    *("{kind:polynomial,degree:3}", "${oc.env:HOME}", "{_target_:os.system}", "1e999", "nan", "9" * 30, "-1"),
    *("'x'", "int('3')", "tag(a,1)", "str([1,2])", "~/x", "\\\\", "true", "file", "[" * 60, "x" * 3000, "@x"),
    *("a\0b", "\u202e", "\u0663", "\ud800", "glob(" + "*a" * 15 + ")", "range(1,1e9)", "(", ",", "=", ": "),
)
ARGUMENTS = (
    *("curve", "sweep", "algos", "wdbc", "small", "no/such", "omkc/1", "bomkl/7", "bash", "--", "=", "-", ""),
    *("--format", "json", "csv", "-j", "1", "0", "--out", "out.csv", "x\0y", "--debug=1", "-jq", "-q", "@x"),
)
value = st.lists(st.sampled_from(VALUES), min_size=1, max_size=3).map("".join) | st.text(max_size=8)
word = st.builds("{}={}".format, st.sampled_from(KEYS), value) | st.sampled_from(ARGUMENTS)
word |= st.text(max_size=8)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with a small file, in which commands run and no cell does."""
    place = tmp_path_factory.mktemp("random")
    (place / "small").write_text("1 1:1\n-1 1:2\n")
    refuse = mock.Mock(side_effect=OmklError("not computed here"))
    places = ("omkl.api.results", "omkl.runs.runner")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(place)
        patch.setenv("OMKL_OFFLINE", "1")
        for name in ("OMKL_STORE", "OMKL_DATA", "OMKL_MIRROR", "OMKL_PATH"):
            patch.setenv(name, "")
        for name in places:
            patch.setattr(import_module(name), "run_plan", refuse)
        yield place


@COUNTS
def test_any_words_give_a_result_or_one_line(count, folder, capsys):
    @given(st.sampled_from(COMMANDS), st.lists(word, max_size=5))
    def test(command, words):
        try:
            code = main([*command.split(), *words])
        except SystemExit as end:  # argparse's own, for --help and --version
            code = end.code
        said = capsys.readouterr().err
        assert code in (0, 1, 2), said
        assert "Traceback" not in said
        assert "omkl: unexpected" not in said, said
        mistakes = [line for line in said.splitlines() if line.startswith("omkl: ")]
        if code == 2 and "COMMAND" not in said:  # no command at all shows the help
            others = [line for line in said.splitlines() if not line.startswith("omkl: warning")]
            assert len(others) == len(mistakes) == 1 or command.startswith("data"), said

    tried(count, test)
    assert {path.name for path in folder.iterdir()} <= {"small", "out.csv", "results"}


# ------------------------------------------------------------------ tables

CELLS = (
    *(
        "0",
        "1",
        "-1",
        "2.5",
        "1e308",
        "1e999",
        "nan",
        "inf",
        "",
        "?",
        "NA",
        "yes",
        "no",
        "a b",
        '"a"',
        '"',
        "'",
    ),
    *(
        "1:1",
        "2:-0.5",
        "1:",
        ":1",
        "0:1",
        "9" * 30 + ":1",
        "1:nan",
        "qid:3",
        "#",
        "1_0",
        "0x1",
        "\u0663",
        "\0",
    ),
    *(
        "2020-01-02",
        "1,5",
        "@data",
        "@attribute a real",
        "@attribute y {1,0}",
        "%",
        "\ufeff",
        "x" * 3000,
        "\r",
    ),
)
NAMES = ("my.csv", "my.tsv", "my.libsvm", "my.arff", "my.txt", "my")
rows = st.lists(st.lists(st.sampled_from(CELLS) | st.text(max_size=4), max_size=5), max_size=8)


@COUNTS
def test_any_small_file_is_a_data_set_or_refused_in_one_line_with_its_place(count, folder):
    @given(st.sampled_from(NAMES), st.sampled_from([",", "\t", " ", ";"]), rows, st.binary(max_size=4))
    def test(name, separator, cells, noise):
        path = folder / "files" / name
        path.parent.mkdir(exist_ok=True)
        text = "\n".join(separator.join(row) for row in cells)
        path.write_bytes(text.encode("utf-8", "surrogatepass") + noise + b"\n")
        try:
            loaded = data.find(str(path)).load()
        except UserError as error:
            said = str(error)
            assert "\n" not in said
            assert said.startswith((f"{path}:", f"data={path}")) or re.search(rf"{path}\b", said), said
        else:
            assert loaded.T == len(loaded.y) > 0
            assert loaded.indptr[-1] == len(loaded.values)
        finally:
            path.unlink()

    tried(count, test)
    (folder / "files").rmdir()
