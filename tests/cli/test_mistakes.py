"""The user's mistakes: exit code 2, nothing on stdout, one line on stderr with key, value and remedy."""

import subprocess
import sys

import pytest
from support import ROOT

from omkl.cli import main
from omkl.errors import counted


@pytest.mark.parametrize(
    ("command", "said"),
    [
        # keys
        ("run beta=0.9", ["beta=0.9", "did you mean 'algo.beta'"]),
        ("run rep=3", ["unknown key 'rep'", "did you mean 'reps'"]),
        ("run algo.betta=0.9", ["algo.betta=0.9", "omkc_ss", "did you mean 'algo.beta'"]),
        ("run algo=omkc_dd algo.delta=0.1", ["omkc_dd", "'delta'", "omkc_ss"]),
        ("run algo.kernel={kind:linear}", ["algo=omkc_ss has no hyperparameter 'kernel'", "perceptron"]),
        ("run normalise=cosine", ["did you mean 'pool.normalise'"]),
        ("run pool.kernel=[]", ["did you mean 'pool.kernels'"]),
        ("run exec.job=2", ["exec=loky has no option 'job'", "did you mean 'jobs'"]),
        ("run exec=dask exec.adress=tcp://here:1", ["exec=dask has no option", "did you mean 'address'"]),
        ("run exec=slurm exec.time=1.5", ["exec.time=1.5", "whole number"]),
        ("run exec=slurm -j 2", ["--jobs has no effect with exec=slurm"]),
        ("run --algo omkc_dd data=wdbc", ["--algo: settings have no dashes; write algo=omkc_dd"]),
        ("run algo = omkc_dd", ["algo = omkc_dd: write no spaces around the sign, as in algo=omkc_dd"]),
        ("run algo =omkc_dd", ["as in algo=omkc_dd"]),
        ("run algo=omkc_dd, omkc_ss", ["ends with a comma"]),
        ("run data=my.csv id=a,,b", ["id=a,,b: a name is missing before a comma; write a list as in id=a,b"]),
        ("run algo=,omkc_dd", ["a name is missing before a comma"]),
        ("rum algo=omkc_dd", ["unknown command 'rum' (did you mean 'run'?)"]),
        ("-j 2 run algo=omkc_dd", ["-j comes after the command"]),
        ("run target=y", ["must be one of auto, none", "the column of the targets is label=NAME"]),
        ("run wdbc", ["wdbc", "did you mean 'data=wdbc'"]),
        ("run +reps=3", ["+reps=3", "every key has a value already"]),
        # names
        ("run algo=omkc_sss", ["algo=omkc_sss", "unknown learner (did you mean 'omkc_ss', 'omkc_", "?)"]),
        ("run algo=zzz", ["unknown learner; `omkl list algos` lists them"]),
        ("run algo=ridge_feature", ["unknown learner (did you mean 'ridge_features'"]),
        ("run algo=OMKC_SD2", ["did you mean 'omkc_sd'"]),
        (
            "run algo=lasvm data=iris",
            ["is for two classes, data=iris has 3", "auto (`omkl list groups`: mult"],
        ),
        ("figure curvee", ["curvee: no such figure (did you mean 'curve'?)"]),
        (
            "figure zzz",
            ["zzz: no such figure; known: curve, confusion, calibration, sweep, times, ranks, and the"],
        ),
        ("table zzz", ["zzz: no such table; `omkl list papers` lists them"]),
        ("help rum", ["unknown command or learner 'rum' (did you mean 'run'?)"]),
        ("help zzz", ["unknown command or learner 'zzz'; see `omkl --help`"]),
        ("run jobs=2", ["jobs=2: jobs is an option, not a setting; write -j 2"]),
        ("run data=wdbc format=json", ["write --format json"]),
        ("run dry_run=yes", ["dry_run is an option, not a setting; write --dry-run"]),
        ("tune trial=3", ["unknown key 'trial' (did you mean 'trials'?)"]),
        ("list measure", ["KIND 'measure' (did you mean 'measures'?): choose one of algos"]),
        ("run data=wbdc", ["data=wbdc", "did you mean 'wdbc'"]),
        ("run data=no/such/file.libsvm", ["data=no/such/file.libsvm", "nor a file", "omkl list data"]),
        ("run pool=paper61", ["pool=paper61", "unknown kernel pool", "did you mean 'paper16'"]),
        ("run exec=lokki", ["exec=lokki", "unknown executor", "did you mean 'loky'"]),
        ("run order=permutted", ["order=permutted", "did you mean 'permuted'"]),
        ("run yardsticks=[omkc_dd]", ["yardsticks=omkc_dd is not a yardstick", "majority"]),
        ("run yardsticks=foo", ["yardsticks=foo is not a yardstick", "majority"]),
        ("run yardsticks=majorty", ["yardsticks=majorty is not a yardstick (did you mean 'majority'?)"]),
        ("run data=", ["data=: the value is missing; write data=VALUE without spaces"]),
        ("run pool= paper16", ["pool=: the value is missing; write pool=VALUE without spaces"]),
        ("run --columns -unoin", ["--columns -unoin: no such column (did you mean 'union'?)"]),
        ("run algo=glob(nothing*)", ["no name matches", "omkc_ss"]),
        # types and ranges
        ("run reps=0", ["reps=0", "whole number ≥ 1, got 0"]),
        ("run reps=2.5", ["reps=2.5", "whole number", "got 2.5"]),
        ("run reps=20.0", ["reps=20.0", "write 20"]),
        ("run reps=true", ["reps=true", "got true"]),
        ("run seed=-1", ["seed=-1", "≥ 0, got -1"]),
        ("run seed=one", ["seed=one", "got 'one'"]),
        ("run block=0", ["block=0", "≥ 1 and ≤ 65536, got 0"]),
        ("run algo.beta=1.1", ["algo.beta=1.1", "number > 0 and ≤ 1, got 1.1", "omkc_ss"]),
        ("run algo.beta=0", ["algo.beta=0", "> 0 and ≤ 1, got 0"]),
        ("run algo.beta=nan", ["algo.beta=nan", "got nan"]),
        ("run algo.beta=true", ["algo.beta=true", "got true"]),
        ("run algo.beta='0.5'", ["got '0.5'"]),
        ("run algo.beta=null", ["got null"]),
        ("run algo.sampling=mean", ["algo.sampling=mean", "one of max, sum, got 'mean'"]),
        ("run algo=omkc_sd algo.floor=delta/n", ["did you mean 'delta/m'"]),
        ("run algo=perceptron algo.kernel={kind:gaussian,sigma:0}", ["sigma of a gaussian kernel", "got 0"]),
        ("run algo=perceptron algo.kernel={kind:gauss,sigma:1}", ["did you mean 'gaussian'"]),
        (
            "run algo=perceptron pool=paper16",
            ["pool=paper16", "perceptron uses no kernel pool", "algo.kernel"],
        ),
        ("run pool.kernels=[{kind:linear},{kind:laplacian}]", ["kernel 2 of the list", "needs sigma"]),
        (
            "run algo=perceptron algo.kernel={kind:gaussian,sigma:0.5median}",
            ["sigma of a gaussian kernel in medians is written as in '0.5 median'"],
        ),
        ("run data=wdbc by=test_auc", ["by=test_auc: no rows are held out; add test=0.2"]),
        ("run algo=okr interval=0.999", ["interval=0.999", "> 0 and ≤ 0.995"]),
        ("run pool.normalise=cosin", ["did you mean 'cosine'"]),
        ("run yardsticks=none", ["yardsticks=none is not a yardstick", "yardsticks=[] means none"]),
        # lists
        ("run algo.beta=0.1,0.5", ["algo.beta=0.1,0.5", "omkl sweep"]),
        ("sweep reps=1,2", ["reps=1,2", "takes one value"]),
        ("run label=price,net", ["takes one value, got 2", """in quotes: 'label="price,net"'"""]),
        ("run positive=a,b", ["takes one value, got 2", """in quotes: 'positive="a,b"'"""]),
        ("sweep algo.beta=0.5,1.5", ["number > 0 and ≤ 1, got 1.5"]),
        ("sweep algo.beta=range(0,1,0)", ["range"]),
        # code
        ("show store=${oc.env:HOME}", ["interpolations"]),
        ("show algo.beta={_target_:os.getcwd}", ["_target_"]),
        # options and commands
        ("run --foramt json", ["unknown option --foramt", "did you mean '--format'", "omkl run --help"]),
        ("run --format jsn", ["--format", "'jsn'", "json"]),
        ("run -j 0", ["--jobs", "whole number from 1 to 999999", "'0'"]),
        ("run -j two", ["'two'"]),
        ("run --form json", ["unknown option --form", "--format"]),
        ("runn algo=omkc_dd", ["'runn'", "run"]),
        ("list lerners", ["'lerners'", "algos"]),
        ("list algos omkc_dd", ["list takes no 'omkc_dd'"]),
        ("figure algo=omkc_dd", ["KIND", "curve"]),
        ("figure confusion algo=raker data=air", ["data=air", "needs a classification", "is regression"]),
        ("data fetch wdbc", ["'fetch'", "get"]),
        ("data get", ["name the data sets"]),
        ("data path wbdc", ["unknown data set 'wbdc'", "did you mean 'wdbc'"]),
        ("compile data=wdbc", ["compile takes no 'data=wdbc'", "algo=omkc_ss"]),
        ("compile algo=omkc_sss", ["omkc_sss", "did you mean 'omkc_ss'"]),
    ],
)
def test_one_line_and_exit_code_2(command, said, capsys):
    assert main(command.split()) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("omkl: ")
    assert err.count("\n") == 1
    assert err.endswith("\n")
    for part in said:
        assert part in err


@pytest.mark.parametrize("megabytes", [200, 300])
def test_an_address_limit_that_is_too_small_is_a_sentence(megabytes):
    limit = f"import resource; resource.setrlimit(resource.RLIMIT_AS, ({megabytes}_000_000,) * 2)"
    code = f"{limit}\nimport sys\nfrom omkl.cli import main\nsys.exit(main(['run', 'exec=serial', 'reps=1']))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT)
    said = "the address limit of this shell, {} MB, is too small: raise it (ulimit -v) to 1000 MB or more\n"
    assert (done.returncode, done.stderr) == (1, f"omkl: {said.format(megabytes)}")


def test_counts_have_the_noun_that_fits():
    assert [counted(n, "row") for n in (0, 1, 2)] == ["0 rows", "1 row", "2 rows"]


def test_debug_shows_the_traceback():
    from omkl.errors import UserError

    for words in (["run", "reps=0", "--debug"], ["--debug", "run", "reps=0"]):
        with pytest.raises(UserError, match="reps=0"):
            main(words)


def test_no_command_shows_the_help_on_stderr(capsys):
    assert main([]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert "COMMAND" in err


def test_an_unforeseen_error_has_no_traceback_and_says_how_to_see_it(monkeypatch, capsys):
    from omkl.api import lists

    def broken():
        raise ZeroDivisionError("oh")

    monkeypatch.setitem(lists.KINDS, "algos", (broken, ""))
    assert main(["list", "algos"]) == 1
    assert capsys.readouterr().err == (
        "omkl: unexpected ZeroDivisionError: oh; please report it, with the output of --debug\n"
    )
    with pytest.raises(ZeroDivisionError):
        main(["list", "algos", "--debug"])
