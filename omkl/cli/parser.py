"""The parser of the command line: commands, options, and their help."""

import argparse
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NoReturn

from omkl import __version__
from omkl.cli import commands, listing, model_commands, store_commands
from omkl.errors import UserError, suggest
from omkl.paths import out_path
from omkl.reports.plain_table import FORMATS

KEYS = """\
settings (omkl show prints all of them, with their meaning and domain):
  algo=NAME,...      learners (omkl list algos)    algo.KEY=VALUE   their hyperparameters
  data=NAME,...      data sets (omkl list data) or paths of LIBSVM files
  pool=NAME,...      kernel pools (omkl list pools)
                     pool.normalise=none|cosine   'pool.kernels=[{kind:gaussian,sigma:[1,2]},{kind:linear}]'
  reps=N  seed=N     repetitions, and the base seed of their permutations
  order=KIND         permuted, file (as stored), authors (the OMKC authors' permutations)
  yardsticks=[...]   learners to compare with; [] for none
  store=PATH         folder of the results (else OMKL_STORE, else ./results)
  exec=NAME          loky (processes of this machine), serial, dask, slurm; exec.KEY=VALUE their options
"""
RUN = """\
examples:
  omkl run algo=omkc_ss data=a9a
  omkl run algo=omkc_dd data=german reps=10 pool=paper16 algo.beta=0.99 seed=1
  omkl run algo=omkc_dd data=a9a_train order=file algo.beta=0.99 --format json
  omkl run algo=omkc_ss data=path/to/my.libsvm -j 4
  omkl run algo=perceptron 'algo.kernel={kind:gaussian,gamma:0.01}' data=a9a_train order=file
"""
SWEEP = """\
Hyperparameters and parts of the pool take lists here: 0.1,0.5  range(0.1,1,0.1)  choice(max,sum).
A hyperparameter applies to those of the learners that have it.

examples:
  omkl sweep algo=omkc_dd,omkc_ss data=wdbc,svmguide3 algo.beta=0.1,0.3,0.5,0.8,0.95 algo.delta=0.01,0.1
  omkl sweep algo=omkc_dd data=german 'algo.beta=range(0.1,1,0.1)' reps=10
"""
FIGURE = """\
A curve takes measure=NAME for one measure, such as nlpd, n_sv_union or top_weight, in place of error and #SV.

examples:
  omkl figure curve algo=omkc_ss data=wdbc
  omkl figure curve algo=omkc_dd,omkc_ss data=german,a9a --out figures/
  omkl figure sweep algo=omkc_dd data=wdbc 'algo.beta=range(0.1,1,0.1)' --out beta.pdf
  omkl figure omkc/1 --quick            runs the missing cells, then draws the paper's figure
"""
PAPER = """\
NAME is PAPER/NUMBER (or PAPER where it has only one); `omkl list papers` shows all names. Cells are kept in
the store and shared between tables; only missing cells are run. Run an interrupted command again to continue.
Words KEY=VALUE set store, seed, exec and block; everything else is the paper's.

examples:
  omkl table bomkl/1 --quick
  omkl table omkc/3 --data wdbc,sonar_scale --reps 5 --format markdown
  omkl table bomkl/2 --data german --algo omkc_dd       one more learner, on the same streams
  omkl table bomkl/1 --data german=my/german.libsvm     the set's own file, checked against its content hash
  omkl claims omkc --quick
"""
BOUNDS = """\
Runs the missing cells as omkl run does, then evaluates each theorem's right-hand side at a batch support
vector machine; yardsticks are left out.

examples:
  omkl bounds algo=omkc_dd data=wdbc
  omkl bounds algo=omkc_dd,omklp_da2,bomkc_spa data=wdbc,german pool=paper16_cosine --format markdown
"""
MODEL = """\
A model keeps the learner, its hyperparameters and kernels, and how the table was prepared, so that new rows
are prepared alike. Scores are those that the next round of the run would have had.

examples:
  omkl fit algo=omkc_ss data=my.csv label=class missing=mean scale=minmax --out model.omkl
  omkl predict model.omkl new.csv --out predicted.csv
  omkl update model.omkl more.csv
  omkl show model.omkl
"""
DATA = """\
OMKL_DATA lists folders to look in, as PATH does; missing sets are downloaded to the cache and verified.
OMKL_MIRROR (a URL or folder) replaces the sets' own addresses, OMKL_OFFLINE=1 forbids downloads.

examples:
  omkl data list
  omkl data get german a9a
  omkl data verify          all that are present
  omkl data path wdbc
"""
RESULTS = """\
  list    show what the store holds: learners x data x settings, cells, revisions, dates, machines
  export  write all cells as one flat table: CSV to stdout, or --out FILE.csv or FILE.parquet (needs pyarrow)
  merge   copy the lines of other stores (folders) that this one lacks; the newest of two results counts
  prune   remove what no table uses: superseded lines, failures that finished since (only with --yes)
  reseal  seal the lines of an old store that have no checksum, where key and figures agree

settings: store=PATH (else OMKL_STORE, else ./results); list and export: algo=NAME,... data=NAME,...

examples:
  omkl results list
  omkl results list store=/mnt/big/results algo=omkc_dd --format csv
  omkl results export data=wdbc,german --out cells.parquet
  omkl results merge /mnt/node1/results /mnt/node2/results store=all
  omkl results prune --old
"""


class Parser(argparse.ArgumentParser):
    """An argument parser whose error messages are one line, without the usage."""

    def error(self, message: str) -> NoReturn:
        """Raise UserError instead of printing the usage and exiting."""
        if match := re.match(r"argument COMMAND: invalid choice: '([^']*)' \(choose from (.*)\)", message):
            near = suggest(match[1], re.findall(r"\w+", match[2]))
            message = f"unknown command '{match[1]}'{near}"
        raise UserError(f"{message}; see `{self.prog} --help`")


def build_parser() -> Parser:
    """Return the parser of all commands. It leaves the settings (KEY=VALUE) unparsed."""
    parser = Parser(
        prog="omkl",
        description="Online learning with kernels: run, sweep and compare learners on data streams.",
        epilog=RUN + "\nomkl COMMAND --help says more. Exit codes: 0 ok, 1 something failed, 2 a mistake in "
        "the command, 130 Ctrl-C.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"omkl {__version__}")
    parser.add_argument("--debug", action="store_true", help="show the traceback of an error")
    subparsers = parser.add_subparsers(metavar="COMMAND", dest="command")

    def command(does: Callable[..., int], usage: str, epilog: str = "") -> Parser:
        name, text = does.__name__.rstrip("_"), does.__doc__ or ""
        sub = subparsers.add_parser(
            name,
            help=text[:1].lower() + text[1:].rstrip("."),
            description=text,
            usage=f"omkl {name} {usage}[options]",
            epilog=epilog,
            formatter_class=argparse.RawDescriptionHelpFormatter,
            allow_abbrev=False,
        )
        sub.add_argument("--debug", action="store_true", default=argparse.SUPPRESS, help="show tracebacks")
        sub.set_defaults(does=does, takes_words="..." in usage, parser=sub)
        return sub

    settings = "[KEY=VALUE ...] "
    _add_run_options(command(commands.run, settings, f"{KEYS}\n{RUN}"))

    sub = command(commands.sweep, settings, f"{KEYS}\n{SWEEP}")
    _add_run_options(sub)
    sub.add_argument("--out", type=out_path, metavar="PATH", help="file (.png, .pdf) or folder of the figure")

    sub = command(commands.figure, f"KIND|NAME {settings}", f"{KEYS}\n{FIGURE}")
    sub.add_argument("kind", metavar="KIND", help="curve, sweep, or a paper's figure such as omkc/1")
    sub.add_argument("--out", type=out_path, metavar="PATH", help="file (.png, .pdf) or folder to write to")
    _add_selection(sub)
    _add_work_options(sub)

    sub = command(commands.table, f"NAME {settings}", PAPER)
    sub.add_argument("name", metavar="NAME", help="such as bomkl/1")
    _add_selection(sub)
    _add_run_options(sub)

    sub = command(commands.claims, f"PAPER {settings}", PAPER)
    sub.add_argument("paper", metavar="PAPER", help="such as omkc")
    _add_selection(sub)
    _add_run_options(sub)

    sub = command(commands.bounds, settings, f"{KEYS}\n{BOUNDS}")
    _add_run_options(sub)
    text = "use at most N examples for each batch solution (default: 2000); memory: 32 N^2 bytes"
    sub.add_argument("--rows", type=_count, default=2000, metavar="N", help=text)

    sub = command(model_commands.fit, settings, f"{KEYS}\n{MODEL}")
    sub.add_argument("--out", type=out_path, metavar="FILE", help="file of the model, such as model.omkl")

    sub = command(model_commands.predict, "MODEL FILE ", MODEL)
    sub.add_argument("model", type=Path, metavar="MODEL", help="a file that omkl fit saved")
    sub.add_argument("file", type=Path, metavar="FILE", help="rows like those that the model learnt")
    sub.add_argument("--out", type=out_path, metavar="FILE", help="CSV file to write (default: stdout)")

    sub = command(model_commands.update, "MODEL FILE ... ", MODEL)
    sub.add_argument("model", type=Path, metavar="MODEL", help="a file that omkl fit saved")
    sub.add_argument(
        "files", type=Path, nargs="+", metavar="FILE", help="labelled rows, learnt in this order"
    )
    sub.add_argument("--out", type=out_path, metavar="FILE", help="file to write (default: the model itself)")

    _add_format(command(commands.status, settings, KEYS))

    sub = command(listing.list_, "KIND ")
    sub.add_argument("kind", choices=listing.KINDS, metavar="KIND", help=", ".join(listing.KINDS))
    _add_format(sub)

    _add_format(command(listing.show, settings, KEYS), ("yaml", "json"))

    sub = command(listing.data, "ACTION [NAME ...] ", DATA)
    actions = listing.ACTIONS
    sub.add_argument("action", choices=actions, metavar="ACTION", help=", ".join(actions))
    sub.add_argument("--force", action="store_true", help="get: download again, also sets that are present")
    _add_format(sub, of="list: ")

    sub = command(store_commands.results, "ACTION [FOLDER ...] [KEY=VALUE ...] ", RESULTS)
    actions = store_commands.ACTIONS
    sub.add_argument("action", choices=actions, metavar="ACTION", help=", ".join(actions))
    _add_format(sub, of="list, prune: ")
    sub.add_argument("--out", type=out_path, metavar="FILE", help="export: file to write, .csv or .parquet")
    sub.add_argument("--old", action="store_true", help="prune: cells of older revisions of a learner too")
    sub.add_argument("--torn", action="store_true", help="prune: lines that cannot be read too")
    text = "prune: remove the lines, instead of only listing them"
    sub.add_argument("--yes", action="store_true", help=text)

    _add_format(command(commands.bench, ""), ("table", "json"))
    return parser


def _add_format(parser: Parser, formats: Sequence[str] = FORMATS, of: str = "") -> None:
    text = of + "what goes to stdout (default: %(default)s)"
    parser.add_argument("--format", choices=formats, default=formats[0], help=text)


def _add_run_options(parser: Parser) -> None:
    _add_format(parser)
    _add_work_options(parser)


def _add_selection(parser: Parser) -> None:
    own = "(of a paper's table, figure or claims) "
    parser.add_argument("--reps", type=_count, metavar="N", help=own + "at most N repetitions")
    parser.add_argument("--data", type=_names, default=(), metavar="A,B", help=own + "these data sets only")
    text = own + "learners in addition to its own"
    parser.add_argument("--algo", type=_names, default=(), metavar="A,B", help=text)
    parser.add_argument("--quick", action="store_true", help=own + "two repetitions of the small data sets")


def _add_work_options(parser: Parser) -> None:
    text = "worker processes (default: one per core)"
    parser.add_argument("-j", "--jobs", type=_count, metavar="N", help=text)
    text = "run also the cells that the store already holds"
    parser.add_argument("--fresh", action="store_true", help=text)
    parser.add_argument("--fail-fast", action="store_true", help="end the run at the first cell that fails")
    parser.add_argument("-q", "--quiet", action="store_true", help="no progress bar")


def _names(text: str) -> tuple[str, ...]:
    return tuple(name for part in text.split(",") if (name := part.strip()))


def _count(text: str) -> int:
    if not (text.isascii() and text.isdecimal() and len(text) < 7) or int(text) < 1:
        raise argparse.ArgumentTypeError(f"must be a whole number from 1 to 999999, got {text!r}")
    return int(text)
