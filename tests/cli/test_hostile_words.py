"""Whatever is typed ends in one line and exit code 2: no word names an object or runs code."""

import pytest

from omkl.cli import main
from omkl.config import plan, resolved
from omkl.errors import UserError


@pytest.mark.parametrize(
    "word",
    [
        "_target_=os.system",
        "algo._target_=os.system",
        "algo={_target_:os.system}",
        "algo.kernel={kind:{_target_:os.getcwd}}",
        "pool.kernels=[{_target_:os.getcwd}]",
        "store=${oc.env:HOME}",
        "data=${oc.env:HOME}",
        "algo=${algo}",
        "pool.normalise=$" + "{oc.decode:cosine}",
        "+hydra.searchpath=[file:///tmp]",
        "hydra.searchpath=[file:///tmp]",
        "hydra/launcher=joblib",
        "hydra.run.dir=/tmp",
        "+x=1",
        "++x=1",
        "~algo",
        "algo@x=omkc_dd",
        "pool=../../../etc/passwd",
        "pool=/etc/passwd",
        "pool=..",
        "pool=conf/pool/paper16",
        "pool=paper16.yaml",
        "pool=pool/paper16",
        "pool=paper16@hydra",
        "pool=[../x]",
        "algo=../data/wdbc",
        "algo=omkc_dd/../omkc_ss",
        "algo=_part",
        "algo=glob(../*)",
        "algo=glob(_*)",
        "exec=../config",
        "exec=hydra/launcher/basic",
        "yardsticks=[../x]",
        "data=../conf/data/wdbc.yaml@x",
        "pool.kernels=!!python/name:os.system",
        "algo.beta=__import__('os')",
        "algo.beta=" + "[" * 500,
        "algo.beta=" + "{a:" * 500,
        "seed=" + "9" * 4000,
        "algo.beta=1e" + "9" * 4000,
        "seed=range(0,9)",
        "reps=0x10",
        "algo.beta=int(os.getcwd())",
    ],
)
def test_no_word_names_an_object_or_leaves_the_conf_folder(word):
    for read in (plan, lambda words: plan(words, sweep=True), resolved):
        with pytest.raises(UserError) as caught:
            read([word])
        assert "\n" not in str(caught.value)


# --- the command line

COMMANDS = ("run", "sweep", "figure", "figure curve", "list", "list algos", "show", "data", "data get")
COMMANDS += ("data path", "data verify", "data list", "bench", "")
WORDS = ["", " ", "\0", "=", "==", "algo.=", "=x", "a=b=c", "algo=", "algo=\0", "data=a\nb", "é=ü", "\u202ex"]
WORDS += ["\ud800", "x" * 100_000, "algo=" + "x" * 2_000, "-" + "x" * 5000, "--x=" + "y" * 5000, "-\n", "-="]
WORDS += ["--\u2028", "---", "@x", "--help=1", "--format", "--format=", "-j", "-j=", "-j0", "--jobs=\u0663"]
WORDS += ["--out", "\x1b[31mred", "data=\x1b]0;x\x07"]


@pytest.mark.parametrize("command", COMMANDS)
def test_hostile_words_end_in_one_line_and_exit_code_2(command, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("OMKL_STORE", str(tmp_path / "none"))
    for word in WORDS:
        assert main([*command.split(), word]) == 2, word
        out, err = capsys.readouterr()
        assert out == "", word
        assert err.startswith("omkl: "), (word, err)
        assert err[:-1].isprintable(), (word, err)  # so it is one line, and moves no cursor
        assert err.endswith("\n")
        assert len(err) < 2500, word


def test_no_option_hides_behind_two_dashes(capsys):
    assert main(["show", "--", "--format", "json"]) == 2
    assert "unknown option --format" in capsys.readouterr().err
