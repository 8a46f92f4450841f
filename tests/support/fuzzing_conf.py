"""Fuzz targets that read words and conf files: settings, YAML, whole command lines."""

import contextlib
import io
import os
from pathlib import Path
from random import Random
from unittest import mock

from omkl.errors import OmklError
from omkl.paths import conf_folder
from support.fuzzing import Target, tokens_of


class Words(Target):
    """The words of a command, one a line; the first says whether lists are taken."""

    keys = r"""
        algo data pool exec reps seed order store yardsticks block algo.beta algo.delta algo.kernel
        pool.kernels pool.normalise exec.jobs hydra +x ~algo a@b
    """
    values = r"""
        omkc_dd omkc_ss,omkc_dd perceptron wdbc paper16 0.5 1 0.1,0.2 null [arow] range(1,9) range(0.1,1,0.1)
        choice(1,2) glob(omkc_*) interval(0,1) sort(3,1) [] {kind:gaussian,sigma:1}
        [{kind:linear},{kind:gaussian,sigma:[1,2]}] {} ../x a/b 'x' {kind:polynomial,degree:3} ${oc.env:HOME}
        {_target_:os.system} 1e999 nan 999999999999999999999999999999 shuffle(range(1,5)) tag(a,1) int('3')
        json_str('{}') extend_list(1) -1 true file glob(*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a)
        [[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[ range(1,1e9) str([1,2]) ~/x '\\\\'
    """
    tokens = (
        keys
        + values
        + r"""
        = ( ) $ \\ \n
    """
    )

    def valid(self) -> list[bytes]:
        return [
            b"\nalgo=omkc_ss\nalgo.beta=0.5\nseed=3",
            b"s\nalgo=omkc_dd,omkc_ss\nalgo.beta=range(0.1,1,0.1)",
        ]

    def generated(self, rng: Random) -> bytes:
        settings = [setting(rng) for _ in range(rng.randrange(5))]
        return b"\n".join([rng.choice((b"", b"s")), *settings])

    def attempt(self, data: bytes) -> None:
        from omkl.config import plan

        sweep, *words = data.decode("utf-8", "surrogateescape").split("\n")
        asked = plan(words, sweep=bool(sweep))
        assert asked.settings
        assert asked.data
        assert asked.reps >= 1


def setting(rng: Random) -> bytes:
    """Return a KEY=VALUE word that is nearly right."""
    value = rng.choice(VALUES)
    while rng.random() < 0.25:
        value += rng.choice(tokens_of(r", ) ( [ = : \x20")) + rng.choice(VALUES)
    return rng.choice(KEYS) + b"=" + value


KEYS, VALUES = tokens_of(Words.keys), [*tokens_of(Words.values), b"x" * 300]


class Spec(Target):
    """The YAML of a learner, a pool, an executor and config.yaml, after Hydra's reading of it."""

    group = ("algo", "pool", "exec", "")
    tokens = r"""
        &a\x20 *a !!python/object:os.system\x20 !!binary\x20x !!int\x20x <<:\x20*a ?\x20 -\x20 |\n
        _target_:\x20os.getcwd ${oc.env:HOME} ${x} ??? :\x20 \n\x20\x20 2001-99-99 12:99:00
        defaults:\x20[config]\n hydra:\x20{searchpath:\x20[x]}\n #\x20@package\x20_global_\n ~ (0,\x201)
        int\x20[1,\x20inf) (nan,\x201) (1,\x20x) 1e5 .inf 0b12 0o9 1_0 {} ...
    """

    def valid(self) -> list[bytes]:
        conf = conf_folder()
        names = [
            "algo/omkc_sd",
            "algo/perceptron",
            "algo/bomkc_spa",
            "pool/gauss3",
            "pool/paper16",
            "exec/loky",
            "config",
        ]
        return [f"{n.partition('/')[0]}\n".encode() + (conf / f"{n}.yaml").read_bytes() for n in names]

    def generated(self, rng: Random) -> bytes:
        """Return the YAML of something whose values were exchanged."""
        import yaml

        group, _, text = rng.choice(self.seeds).partition(b"\n")
        content = yaml.safe_load(text)
        odd = [None, True, 0, -1, 2.5, 1e999, 2**70, "", "x", "a <= b", "${x}"]
        odd += [[], [1, "x"], {}, {"shape": ["m"]}, {1: 2}]
        for _ in range(rng.randrange(1, 4)):
            place = rng.choice([content, *(v for v in content.values() if isinstance(v, dict)), content])
            inner = [v for v in place.values() if isinstance(v, dict)]
            place = rng.choice([place, *inner])
            if place:
                place[rng.choice([*place, rng.choice(("x", 3, "_target_", "defaults"))])] = rng.choice(odd)
        return group + b"\n" + yaml.safe_dump(content).encode()

    def attempt(self, data: bytes) -> None:
        group, _, text = data.partition(b"\n")
        group = group.decode("latin-1") if group.decode("latin-1") in self.group else ""
        self.read(group, text)

    def read(self, group: str, text: bytes) -> None:
        from omkl import conf
        from omkl.config import kernel_pools, learners, parameters

        path = self.folder / "name.yaml"
        path.write_bytes(text)
        content = conf._mapping(path)
        if group == "algo":
            learners._spec("name", content)
        elif group == "pool":
            kernel_pools._pool("name", content)
        else:
            parameters.parameters(content, path)


class Config(Spec):
    """The same files where they belong, through Hydra."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.conf = folder / "conf"
        for group in ("algo", "pool", "exec", "data"):
            (self.conf / group).mkdir(parents=True, exist_ok=True)
        self.patch = mock.patch("omkl.conf.conf_folder", return_value=self.conf)
        self.patch.start()

    def close(self) -> None:
        self.patch.stop()

    def read(self, group: str, text: bytes) -> None:
        from omkl import conf
        from omkl.config import learner_spec, pool

        name = self.conf / group / "mine.yaml" if group else self.conf / "config.yaml"
        name.write_bytes(text)
        conf._read.clear()
        try:
            if group in ("algo", "pool"):
                {"algo": learner_spec, "pool": pool}[group]("mine")
            elif group:
                conf.compose({group: ["mine"]})
            else:
                conf.keys()
        finally:
            name.unlink()


class Registry(Target):
    """The YAML of a data set."""

    tokens = Spec.tokens
    tokens += r"""
        urls:\x20[file:///etc/passwd] member:\x20../x name:\x20../x format:\x20libsvm
    """

    def valid(self) -> list[bytes]:
        return [
            (conf_folder() / "data" / f"{name}.yaml").read_bytes() for name in ("wdbc", "dorothea", "votes84")
        ]

    def generated(self, rng: Random) -> bytes:
        import yaml

        content = yaml.safe_load(rng.choice(self.seeds))
        odd = (
            None,
            True,
            0,
            -1,
            2.5,
            "",
            "x",
            "../x",
            [],
            ["x"],
            [None],
            {},
            {1: 2},
            {"x": "y"},
            {"name": 3},
        )
        for _ in range(rng.randrange(1, 4)):
            place = (
                rng.choice([content, content["forms"][0], content["forms"][-1]])
                if content.get("forms")
                else content
            )
            place[rng.choice([*place, "label", "values", "drop", "header", "dataset", "delimiter"])] = (
                rng.choice(odd)
            )
            if not isinstance(content.get("forms"), list) or not all(
                isinstance(f, dict) for f in content["forms"]
            ):
                break
        return yaml.safe_dump(content).encode()

    def attempt(self, data: bytes) -> None:
        from omkl.data import registry

        self.path.write_bytes(data)
        item = registry._entry.__wrapped__(self.path)
        for form in item.forms:
            item.size_limit(form)


class Command(Target):
    """Whole command lines, one argument a line, through main(); nothing is computed or downloaded."""

    tokens = Words.tokens
    tokens += r"""
        \n--\n \n--debugg \n--format \njson \n-j \n-q \n--out \n-\n
    """
    commands = r"""
        run sweep figure list show data bench help -- -x --version -h
    """
    arguments = r"""
        curve sweep algos data pools list get verify path --format json csv -j 1 0 -1 \xd9\xa3 --force --fresh
        -q --out x\x00y --debug=1 -jq -- = == algo.= a=b=c =x \x00 ../x wdbc no/such --out= @x - \xe2\x80\xae
        \xc3\xa9\xed\xa0\x80
    """

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        (folder / "small").write_bytes(b"1 1:1\n-1 1:2\n")
        out = {"OMKL_OFFLINE": "1", "OMKL_STORE": str(folder / "store"), "OMKL_DATA": str(folder)}
        out["OMKL_MIRROR"] = ""
        refuse = mock.Mock(side_effect=OmklError("not computed here"))
        self.patches = contextlib.ExitStack()
        for patch in (
            mock.patch.dict(os.environ, out),
            # first where it is imported from: a module that is imported meanwhile would keep the mock
            mock.patch("omkl.experiments.results.run_plan", refuse),
            mock.patch("omkl.experiments.bounds_results.run_plan", refuse),
            mock.patch("omkl.runs.runner.run_plan", refuse),
            mock.patch("omkl.runs.bench.measure", refuse),
            contextlib.chdir(folder),
        ):
            self.patches.enter_context(patch)

    def close(self) -> None:
        self.patches.close()

    def valid(self) -> list[bytes]:
        lines = ["run algo=omkc_dd data=small reps=2", "show algo=omkc_ss --format json", "list pools"]
        lines += ["figure curve algo=omkc_ss data=small reps=1 store=none", "data list breast_cancer"]
        lines += ["sweep algo.beta=0.1,0.5 data=small -j 1 -q", "data path wdbc"]
        return [text.replace(" ", "\n").encode() for text in lines]

    def generated(self, rng: Random) -> bytes:
        arguments = [*tokens_of(self.arguments), b"x" * 3000]
        words = [rng.choice((setting(rng), rng.choice(arguments))) for _ in range(rng.randrange(5))]
        return b"\n".join([rng.choice([*tokens_of(self.commands), b""]), *words])

    def attempt(self, data: bytes) -> None:
        from omkl.cli import main

        argv = data.decode("utf-8", "surrogateescape").split("\n")
        argv = [word for word in argv if word != "--debug"]  # which asks for the traceback
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()) as told:
            try:
                code = main(argv)
            except SystemExit as end:  # argparse's own, for --help and --version
                code = end.code
        said = told.getvalue()
        assert code in (0, 1, 2, 130), f"exit code {code}"
        assert "Traceback" not in said, said
        assert "omkl: unexpected" not in said, said
        if code == 2 and "COMMAND" not in said:  # which no command at all shows the help with
            mistakes = [text for text in said.splitlines() if not text.startswith("omkl: warning")]
            assert len(mistakes) == 1 or argv[0] == "data", said
