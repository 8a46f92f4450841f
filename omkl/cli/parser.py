"""The parser of the command line: each command with its options, and their help."""

import argparse
import inspect
import math
import re
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

from omkl import __version__
from omkl.api.lists import KINDS as LISTS
from omkl.cli import commands, stored
from omkl.cli.output import OK, print_result
from omkl.errors import UserError, suggest
from omkl.figures.style import KINDS, STYLES, UNITS, inches, y_limits
from omkl.paths import conf_folder, documentation, extension, in_path, out_path
from omkl.reports.table import FORMATS

START = """\
start here:
  omkl run algo=auto,omkc_ss data=wdbc               a first table, of data that come with omkl
  omkl data look my.csv                              what omkl understands of a file of yours
  omkl run algo=auto data=my.csv label=COLUMN        learners on that file
  omkl list                                          what there is: learners, data sets, kernels, measures
  omkl help run                                      the options of a command, with examples
  omkl help settings                                 the words KEY=VALUE; omkl help auto: a learner
"""
ENDS = """\
Options: --version prints the version; --debug shows the traceback of an error.
Exit codes: 0 ok, 1 something failed, 2 a mistake in the command, 130 Ctrl-C."""
KEYS = """\
settings (omkl show KEY=VALUE ... prints what a run with them uses):
  algo=NAME,...      learners (omkl list algos)    algo.KEY=VALUE   their hyperparameters
                     algo=all, 'algo=omkc_*' or algo=budget (omkl list groups): those that fit the data
  algo.NAME.KEY=VALUE, 'algo=NAME(KEY=VALUE,label=TEXT),...'    hyperparameters of one learner
  settings=FILE      learners with settings of their own, as omkl tune --out FILE writes them
  data=NAME,...      data sets (omkl list data) or paths of your own files
  for your own table (`omkl data look FILE` shows what is understood; docs/tutorials/your-data.md says more):
    label=COLUMN     what is predicted           positive=CLASS   the class that is +1 against all others
    drop=A,B  id=A   columns that are left out   missing=drop|error   gaps (else: the mean so far)
    task=regression  the labels are numbers      positive=CLASS   against the rest
    scale=online: with the rows seen so far; scale=none
    'read.sep=;' read.decimal=, ... keywords of pandas' reader; target=; LIBSVM: index_base= qid=
  pool=NAME,...      kernel pools (omkl list pools)
                     pool.normalise=none|cosine   'pool.kernels=[{kind:gaussian,sigma:[1,2]},{kind:linear}]'
  rounds=N           of each repetition: 5000 (the first ones), 5000: (those after them), 1000:5000 (a part)
  delay=N            labels come in batches of N rounds, each predicted with what was learnt before it
  test=SHARE|NAME|FILE   rows that are not learnt, on which the last and the averaged hypothesis are measured
  order=KIND         permuted, file (as stored), halves (fixed ones), authors (the OMKC authors')
  reps=N  seed=N     repetitions, and the base seed of their permutations
  calibration=platt  interval=0.9   probabilities of any classifier, intervals around any predicted number
  yardsticks=[...]   learners to compare with; [] for none
  store=PATH         folder of the results (else OMKL_STORE, else ./results)
  exec=NAME          where the cells run: {executors}; exec.KEY=VALUE (`omkl help slurm`)
"""
SEE = """\
settings: algo=NAME,... data=NAME|FILE,... and further words KEY=VALUE. `omkl help settings` explains them,
`omkl help NAME` a learner, and `omkl show KEY=VALUE ...` prints what a run with them uses.
"""
FIT = f"""\
One learner makes one pass over one data set; with order=permuted in the first permutation of seed=N.

{SEE}"""


# ------------------------------------------------------------------ values of options


def _extension(text: str) -> Path:
    return extension(text, "--with ")


def _names(text: str) -> tuple[str, ...]:
    return tuple(name for part in text.split(",") if (name := part.strip()))


def _columns(text: str) -> tuple[str, ...]:
    names = _names(text)
    if not names or not all(name.strip("+-") for name in names):
        raise UserError(f"--columns {text!r}: name columns, as in learner,mistakes,sv or +kernel,-union")
    adds = names[0][0] == "+"  # +auc,kappa adds both
    return tuple(f"+{name}" if adds and name[0] not in "+-" else name for name in names)


def _share(text: str) -> float:
    """Return a probability."""
    try:
        share = float(text)
    except ValueError:
        share = math.nan
    if not 0.0 < share < 1.0:
        raise argparse.ArgumentTypeError(f"must be a number between 0 and 1, such as 0.95, got {text!r}")
    return share


def _count(text: str) -> int:
    if not (text.isascii() and text.isdecimal() and len(text) < 7) or int(text) < 1:
        raise argparse.ArgumentTypeError(f"must be a whole number from 1 to 999999, got {text!r}")
    return int(text)


# ------------------------------------------------------------------ options, each once


def _flag(text: str) -> dict[str, Any]:
    return {"action": "store_true", "help": text}


def _value(metavar: str, text: str = "", of: Callable[[str], Any] = str, **more: Any) -> dict[str, Any]:
    return {"metavar": metavar, "help": text, "type": of, **more}


def _choice(*choices: str, text: str = "format of stdout (default: %(default)s)") -> dict[str, Any]:
    return {"choices": choices, "default": choices[0], "help": text}


_PART = "(of a paper's table, figure or claims) "
OPTIONS: dict[str, dict[str, Any]] = {
    "format": _choice(*FORMATS),
    "wide": _flag("do not fit the table to the terminal; all columns, nothing wrapped"),
    "out": _value("FILE", of=out_path),
    # how cells run
    "jobs": _value("N", "worker processes (default: one per core)", _count),
    "dry-run": _flag("run nothing: print the cells, those in the store, and the seconds of these"),
    "fresh": _flag("also run the cells that the store already holds"),
    "fail-fast": _flag("end the run at the first cell that fails"),
    "quiet": _flag("no progress bar"),
    # what a table shows
    "sort": {
        "choices": ("mistakes", "seconds", "sv"),
        "help": "order of the rows of a data set (default: the command's)",
    },
    "columns": _value(
        "A,B",
        "columns of the table: learner,mistakes,sv or +kernel,-union; kernel: that of the largest weight",
        _columns,
        default=(),
    ),
    # which part of a paper
    "quick": _flag(f"{_PART}two repetitions of its small data sets, or of its smallest one if none is small"),
    "full": _flag(
        f"{_PART}all repetitions, also of data sets that otherwise get fewer because they take long"
    ),
    # how a figure looks
    "width": _value(
        "W", f"width of the figure, such as 3.3in ({', '.join(UNITS)}); text keeps its size", inches
    ),
    "style": _choice(
        *STYLES, text="look of the figure; paper: serifs, finer lines, 300 dpi (default: %(default)s)"
    ),
    "ylim": _value(
        "LOW:HIGH",
        "limits of the y axis, as in 10:30; lines that end beyond them are named above the panel",
        y_limits,
    ),
    "no-title": _flag("no title in the figure, where LaTeX sets the caption"),
    # of one command
    "rows": _value(
        "N",
        "use at most N examples for each batch solution (default: 2000); memory: 32 N^2 bytes, and 8 N^2 "
        "for each kernel of batch multiple kernel learning",
        _count,
        default=2000,
    ),
    "scores": _flag("also the score of each class"),
    "proba": _flag("also the probability of each class, for learners that have them"),
    "interval": _value(
        "P", "also the ends of the interval that holds the target with probability P, such as 0.95", _share
    ),
    "force": _flag("get: download again, even if the data are present"),
    "old": _flag(
        "prune: also cells of older revisions; with --with DIR also of other sources of DIR's learners"
    ),
    "torn": _flag("prune: also lines that cannot be read"),
    "yes": _flag("prune: remove the lines, instead of only listing them"),
    # places, by the name that usage shows
    "MODEL": _value("MODEL", "a file that omkl fit saved", in_path),
    "FILE": _value("FILE", of=in_path),
}
AS_WORDS = {  # words that a command takes itself
    "by": "by=MEASURE: the measure by which rows are compared and marked, such as auc or mae; else the error",
    "data": "data=A,B with a paper or a page: these data sets only; data=NAME=FILE gives a set's own file",
    "reps": "reps=N with a paper: at most N repetitions",
    "algo": "algo=A,B with a paper: learners in addition to its own",
}
SHORT = {"jobs": ["-j"], "quiet": ["-q"]}
TABLE = "format wide"
WORK = "jobs dry-run fresh fail-fast quiet"
PART = "reps data algo quick full"
LOOK = "out width style ylim no-title"
SETTINGS = "[KEY=VALUE ...] "


def build_parser() -> "MainParser":
    """Return the parser of all commands. It leaves the settings (KEY=VALUE) unparsed."""
    parser = MainParser(
        prog="omkl",
        description="Online learning with kernels: run, sweep and compare learners on data streams.",
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"omkl {__version__}")
    parser.add_argument("--debug", action="store_true", help="show the traceback of an error")
    subparsers = parser.add_subparsers(metavar="COMMAND", dest="command", parser_class=Parser)
    parser.commands, parser.groups = subparsers.choices, {}

    def command(
        group: str, does: Callable[..., int], usage: str = "", options: str = "", keys: str = "", **helps: Any
    ) -> None:
        """Add a command; options: of OPTIONS, and places; helps: of these."""
        name, text = does.__name__.rstrip("_"), inspect.getdoc(does) or ""
        about, _, more = text.partition("\n\n")
        words = "\n".join(
            [keys.rstrip(), *(AS_WORDS[option] for option in options.split() if option in AS_WORDS)]
        )
        sub = subparsers.add_parser(
            name,
            help=about[:1].lower() + about[1:].rstrip("."),
            description=about,
            usage=f"omkl {name} {usage}[options]",
            epilog="\n\n".join(filter(None, [words.strip(), more])),
            formatter_class=argparse.RawDescriptionHelpFormatter,
            allow_abbrev=False,
        )
        sub.add_argument("--debug", action="store_true", default=argparse.SUPPRESS, help="show tracebacks")
        text = "folder with learners, kernels, pools, data sets of your own (may be repeated; also OMKL_PATH)"
        sub.add_argument(
            "--with", type=_extension, action="append", default=[], dest="folders", metavar="DIR", help=text
        )
        for option in (option for option in options.split() if option not in AS_WORDS):
            given = OPTIONS.get(option, {}) | helps.get(option.replace("-", "_"), {})
            if option.isupper():
                given.setdefault("help", ", ".join(given.get("choices", ())))
                sub.add_argument(**{"dest": option.lower(), "metavar": option} | given)
            else:
                sub.add_argument(*SHORT.get(option, []), f"--{option}", **given)
        sub.set_defaults(does=does, takes_words="..." in usage, parser=sub, main=parser)
        parser.groups.setdefault(group, []).append(name)

    keys = SEE
    picture = {"metavar": "PATH", "help": "file (.png, .pdf, .svg) or folder of the figure"}

    def of(actions: str) -> dict[str, Any]:
        return {name: {"help": f"{actions}: {OPTIONS[name]['help']}"} for name in TABLE.split()}

    view = "sort by columns"
    command("start", commands.run, SETTINGS, f"{TABLE} {WORK} {view}", keys)
    command("start", commands.sweep, SETTINGS, f"{TABLE} {WORK} {view} {LOOK}", keys, out=picture)
    command(
        "start",
        commands.tune,
        f"[PAGE] {SETTINGS}",
        f"{TABLE} data out jobs dry-run fresh quiet",
        keys,
        out={"help": "settings file to write, such as best.yaml; settings=best.yaml runs it"},
    )
    command(
        "start",
        stored.data,
        "ACTION [NAME ...] [KEY=VALUE ...] ",
        f"ACTION force {TABLE}",
        ACTION={"choices": ("list", "look", "get", "verify", "path")},
        **of("list, look"),
    )
    command(
        "look",
        commands.figure,
        f"KIND|NAME {SETTINGS}",
        f"KIND {LOOK} {PART} {WORK}",
        keys,
        KIND={"help": f"{', '.join(KINDS)}, or a paper's figure such as omkc/1"},
        out=picture,
    )
    text = "file (.html) or folder to write to (default: figures/local in the store)"
    out = {"metavar": "PATH", "help": text}
    command("look", commands.report, f"[PAPER] {SETTINGS}", f"by out {PART}", keys, out=out)
    command(
        "look",
        stored.list_,
        "[KIND] ",
        f"KIND {TABLE}",
        KIND={"nargs": "?", "choices": LISTS, "type": _list_kind},
    )
    command("look", stored.show, SETTINGS, "format", keys, format=_choice("yaml", "json"))
    part = f"{PART} {TABLE} {WORK}"
    command("papers", commands.table, f"NAME {SETTINGS}", f"NAME {part}", NAME={"help": "such as bomkl/1"})
    command("papers", commands.claims, f"PAPER {SETTINGS}", f"PAPER {part}", PAPER={"help": "such as omkc"})
    command("papers", commands.bounds, SETTINGS, f"{TABLE} {WORK} rows", keys)
    command("models", stored.fit, SETTINGS, "out", FIT, out={"help": "file of the model, such as model.omkl"})
    command(
        "models",
        stored.predict,
        "MODEL FILE ",
        "MODEL FILE out scores proba interval format",
        FILE={"help": "rows like those that the model learnt; - is stdin"},
        out={"help": "file to write (default: stdout)"},
        format=_choice("csv", "json", "jsonl"),
    )
    command(
        "models",
        stored.update,
        "MODEL FILE ... ",
        "MODEL FILE out",
        FILE={"dest": "files", "nargs": "+", "help": "labelled rows, learnt in this order"},
        out={"help": "file to write (default: the model itself)"},
    )
    command("store", commands.status, SETTINGS, TABLE, keys)
    command(
        "store",
        stored.results,
        "ACTION [FOLDER ...] [KEY=VALUE ...] ",
        f"ACTION {TABLE} out old torn yes",
        ACTION={"choices": ("list", "export", "merge", "prune")},
        out={"help": "export: file to write (.csv)"},
        **of("list, prune"),
    )
    command("tools", commands.check, "[DIR ...] ", TABLE)
    command("tools", commands.compile_, "[algo=LEARNER,...] ")
    command(
        "tools",
        completion,
        "SHELL ",
        "SHELL",
        SHELL={"choices": ("bash", "zsh", "fish")},
    )
    text = "a command, `settings`, a learner such as auto, an executor such as slurm (default: all commands)"
    command("tools", help_, "[TOPIC] ", "TOPIC", TOPIC={"nargs": "?", "help": text})
    return parser


def help_(args: argparse.Namespace, words: list[str]) -> int:
    """Print the help of a command, of the settings, of a learner or an executor, or of all commands.

    examples:
      omkl help run
      omkl help settings
      omkl help auto
      omkl help slurm
    """
    commands = args.main.commands
    if args.topic in (None, *commands):
        print_result((commands[args.topic] if args.topic else args.main).format_help())
    elif args.topic == "settings":
        print_result(settings_help())
    elif args.topic in _executors():
        from omkl import conf
        from omkl.config.parameters import parameters, word_text

        options = parameters(conf.read("exec", args.topic), conf.file("exec", args.topic))
        lines = [f"settings of exec={args.topic}", ""]
        for key, parameter in options.items():
            domain = " or ".join(parameter.domain) if isinstance(parameter.domain, list) else parameter.domain
            lines += [f"  {word_text(f'exec.{key}', parameter.value)}   {domain}", f"      {parameter.help}"]
        print_result("\n".join(lines))
    else:
        from omkl.api.learner_help import learner_help
        from omkl.config.learners import learner_names, learner_of

        name, learners = learner_of(args.topic), learner_names()
        if name not in learners:
            near = suggest(args.topic, [*commands, "settings"]) or suggest(args.topic, learners)
            raise UserError(f"unknown command or learner '{args.topic}'{near}; see `omkl --help`")
        print_result(learner_help(name))
    return OK


def settings_help() -> str:
    """Return the help of the settings: what one may change."""
    return KEYS.replace("{executors}", ", ".join(sorted(_executors())))  # KEYS has other braces


def _list_kind(word: str) -> str:
    """Return the name of a list: help and pages speak of learners."""
    return {"learners": "algos", "learner": "algos", "algo": "algos"}.get(word, word)


def _executors() -> set[str]:
    return {path.stem for path in (conf_folder() / "exec").glob("*.yaml")}


def completion(args: argparse.Namespace, words: list[str]) -> int:
    """Print the script that completes omkl's words in a shell.

    Completes commands, options, KEY= and names: learners, data sets, pools, hyperparameters and choices.

      bash   add to ~/.bashrc:                        source <(omkl completion bash)
      zsh    add to ~/.zshrc, below compinit:         source <(omkl completion zsh)
      fish   add to ~/.config/fish/config.fish:       omkl completion fish | source
    """
    from omkl.cli.completion import script

    print_result(script(args.shell))
    return OK


# ------------------------------------------------------------------ argparse, with our messages


class Parser(argparse.ArgumentParser):
    """An argument parser whose error messages are one line, without the usage."""

    def error(self, message: str) -> NoReturn:
        """Raise UserError instead of printing the usage and exiting."""
        if match := re.match(r"argument (\S+): invalid choice: '([^']*)' \(choose from (.*)\)", message):
            choices = re.findall(r"[^', ]+", match[3])
            near = suggest(match[2], choices)
            message = f"{match[1]} '{match[2]}'{near}: choose one of {', '.join(choices)}"
            if match[1] == "COMMAND":
                message = f"unknown command '{match[2]}'{near}"
        elif match := re.match(r"the following arguments are required: (\w+)$", message):
            choices_of_option = [
                action.choices for action in self._actions if action.metavar == match[1] and action.choices
            ]
            message = f"{self.prog}: {match[1]} is missing"
            message += f": choose one of {', '.join(choices_of_option[0])}" if choices_of_option else ""
        raise UserError(f"{message}; see `{self.prog.removesuffix(' help')} --help`")


class MainParser(Parser):
    """The parser of `omkl` itself, whose help shows the commands in groups."""

    commands: dict[str, Parser]
    groups: dict[str, list[str]]

    def format_help(self) -> str:
        """Return the help of `omkl --help`."""
        lines = ["usage: omkl COMMAND [KEY=VALUE ...] [options]", "", self.description or "", "", START]
        for group, names in self.groups.items():
            lines.append(f"{group}:")
            for name in names:
                text = " ".join((self.commands[name].description or "").split())
                text = text.partition(". ")[0].rstrip(".")
                wrapped = textwrap.wrap(text[:1].lower() + text[1:], 66)
                lines += [f"  {name if not at else '':12}{line}" for at, line in enumerate(wrapped)]
        lines += ["", ENDS, f"Documentation: {documentation()}"]
        return "\n".join(lines) + "\n"
