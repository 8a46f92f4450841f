"""The commands for a paper's tables, figures and claims; as in commands.py, they call the parts and print."""

from argparse import Namespace
from typing import TYPE_CHECKING

from omkl.cli.messages import OK, emit, end, tell
from omkl.errors import UserError

if TYPE_CHECKING:
    from omkl.papers import Selection


def table(args: Namespace, words: list[str]) -> int:
    """``omkl table NAME``: run what is missing of a paper's table, print it."""
    from omkl.papers import find
    from omkl.papers.tables import table as make

    made = make(*find("tables", args.name), _selection(args, words), **_how(args))
    emit(made.text(args.format))
    return end(made.outcome) if made.outcome else OK


def claims(args: Namespace, words: list[str]) -> int:
    """``omkl claims PAPER``: run what is missing, check each claim."""
    from omkl.papers import read
    from omkl.papers.claims import claims as check

    paper = read(args.paper)
    if not paper.claims:
        raise UserError(f"{args.paper}: no claims are written down in conf/paper/{args.paper}.yaml")
    made = check(paper, _selection(args, words), **_how(args))
    emit(made.text(args.format))
    return end(made.outcome)


def figure(args: Namespace, words: list[str]) -> int:
    """``omkl figure NAME``: run what is missing of a paper's figure, draw it."""
    from omkl.papers import find
    from omkl.papers.figures import figure as draw

    selection = _selection(args, words)
    made = draw(*find("figures", args.kind), selection, args.out, **_how(args))
    tell(made.files)
    return end(made.outcome) if made.outcome else OK


def _selection(args: Namespace, words: list[str]) -> "Selection":
    from omkl.papers import Selection

    return Selection(args.reps, args.data, args.algo, args.quick, tuple(words))


def _how(args: Namespace) -> dict:
    return {"jobs": args.jobs, "fresh": args.fresh, "progress": not args.quiet, "fail_fast": args.fail_fast}
