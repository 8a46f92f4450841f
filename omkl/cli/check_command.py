"""The command that checks a folder of the user's: its files, and its learners by our own tests."""

from argparse import Namespace
from pathlib import Path

from omkl.cli.messages import FAILED, OK, emit, say
from omkl.errors import UserError
from omkl.paths import extended, extension, extensions
from omkl.reports.table import Table


def check(args: Namespace, words: list[str]) -> int:
    """Check the learners and kernels of a folder: against naive twins, and by omkl's own contracts."""
    data = [name for word in words if word.startswith("data=") for name in word[5:].split(",") if name]
    named = [extension(word, "omkl check ") for word in words if not word.startswith("data=")]
    folders = list(dict.fromkeys([*named, *args.folders]))
    with extended(folders):
        chosen = folders or extensions()
        if not chosen:
            raise UserError("omkl check DIR: name the folder of your learners (or set OMKL_PATH)")
        for folder in chosen:
            _read(folder)
        return _check(chosen, data, args)


def _check(folders: list[Path], data: list[str], args: Namespace) -> int:
    from omkl.testing.check import check as findings

    rows = []
    for folder in folders:
        for finding in findings(folder, data):
            rows.append({"name": finding.name, "check": finding.check, "result": finding.result})
            rows[-1]["what differs first"] = finding.fault
    if not rows:
        say(f"no learners and no kernels in {', '.join(map(str, folders))}; all other files are in order")
        return OK
    failed = [row for row in rows if row["result"] == "failed"]
    if args.format == "table" and not failed:
        rows = [{key: row[key] for key in ("name", "check", "result")} for row in rows]
    emit(Table.of(rows).render(args.format))
    if failed:
        say(f"{len(failed)} of {len(rows)} checks failed")
    return FAILED if failed else OK


def _read(folder: Path) -> None:
    """Read every file of a folder. Raises UserError for one that is wrong."""
    from omkl import conf
    from omkl.algorithms import functions
    from omkl.config import pools
    from omkl.config.kernel_kinds import kernel_kind
    from omkl.data import registry
    from omkl.publications import read_paper

    def own(group: str) -> list[str]:
        names = registry.names() if group == "data" else conf.options(group)
        return [name for name in names if conf.file(group, name).is_relative_to(folder)]

    functions()
    for name in own("kernel"):
        kernel_kind(name)
    pools(own("pool"))
    for name in own("data"):
        registry.entry(name)
    for name in own("paper"):
        read_paper(name)
