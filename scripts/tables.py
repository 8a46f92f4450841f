"""The committed tables: run what is missing of them, then write results/NAME.md, .csv and .tex.

    python scripts/tables.py                                 all of it, cells kept in results/
    python scripts/tables.py --data wdbc,german --reps 2 --out /tmp/tables     a small one to look at

Ctrl-C leaves the finished cells in the store; the same command goes on from there. Nothing is written
before every cell is there.
"""

import argparse
import shlex
import sys
from collections.abc import Callable
from pathlib import Path

from omkl.config import plan
from omkl.errors import OmklError, UserError
from omkl.reports import Asked, report
from omkl.runner import Outcome, run_plan

ROOT = Path(__file__).resolve().parent.parent
TABLES = {
    "omkc": {
        "title": "OMKC and its single-kernel rivals on 15 data sets, kernels as stored and cosine-normalised",
        "algo": "omkc_u,omkc_dd,omkc_ds,omkc_sd,omkc_ss,perceptron,perceptron_u,perceptron_star",
        "data": "ionosphere,votes84,wdbc,breast,australian,diabetes,fourclass,splice,svmguide1,svmguide3,"
        "a3a,spambase,w5a,sonar_scale,dorothea",
        "pool": "paper16,paper16_cosine",
        "reps": "20",
    }
}
FORMATS = {"md": "markdown", "csv": "csv", "tex": "latex"}


def main() -> int:
    """Make the tables asked for and return the exit code."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"tables (default: {' '.join(TABLES)})")
    parser.add_argument("--data", help="data sets in place of the table's own")
    parser.add_argument("--reps", help="repetitions in place of the table's own")
    parser.add_argument("--out", type=Path, default=ROOT / "results", help="folder of tables and store")
    parser.add_argument("--fresh", action="store_true", help="run cells anew that the store holds already")
    parser.add_argument("-j", "--jobs", type=int, help="worker processes; else one per core")
    args = parser.parse_args()
    try:
        for name in args.names or TABLES:
            if name not in TABLES:
                raise UserError(f"unknown table {name!r}; there is {', '.join(TABLES)}")
            make(name, args)
    except OmklError as error:
        print(f"tables: {error}", file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt:
        print("tables: interrupted; the same command goes on from there", file=sys.stderr)
        return 130
    return 0


def make(name: str, args: argparse.Namespace) -> None:
    """Run one table's cells and write its files. Raises OmklError when a cell fails."""
    settings = {key: value for key, value in TABLES[name].items() if key != "title"}
    settings |= {key: value for key in ("data", "reps") if (value := getattr(args, key))}
    words = [f"{key}={value}" for key, value in settings.items()]
    command = shlex.join(["omkl", "run", *words])
    asked = plan([*words, f"store={args.out}"])
    outcome = run_plan(asked, jobs=args.jobs, fresh=args.fresh)
    if outcome.interrupted:
        raise KeyboardInterrupt
    if outcome.failed or len(outcome.cells) < outcome.asked:
        first = outcome.failed[0] if outcome.failed else {}
        where = f"{first.get('algo')} on {first.get('data')}: {first.get('error')}"
        raise OmklError(f"{name}: {len(outcome.failed)} cells failed, first {where}")
    about = Asked.of(asked, command=command)
    args.out.mkdir(parents=True, exist_ok=True)
    for suffix, fmt in FORMATS.items():
        text = report(outcome.cells, about, fmt)
        if fmt == "markdown":
            text = f"# {TABLES[name]['title']}\n\n{origin(outcome)}\n\n{text}"
        (args.out / f"{name}.{suffix}").write_text(text, encoding="utf-8")
        print(args.out / f"{name}.{suffix}")


def origin(outcome: Outcome) -> str:
    """Return from which code, when and where the table's cells come, as markdown."""
    cells = outcome.cells.drop_duplicates("key")
    entries = list(cells["provenance"])

    def all_of(describe: Callable[[dict], str]) -> str:
        return " and ".join(sorted({describe(entry) for entry in entries}))

    code = all_of(lambda e: f"{e['commit'] or 'unknown'}{' with changes' if e['dirty'] else ''}")
    versions = all_of(lambda e: ", ".join(f"{name} {number}" for name, number in e["versions"].items()))
    machine = all_of(lambda e: f"{e['cores']} cores ({e['cpu']}), {e['jobs']} workers")
    times = sorted(entry["time"][:16].replace("T", " ") for entry in entries)
    took = f"{outcome.ran} cells run in {outcome.seconds:.0f} s, {outcome.reused} taken from the store"
    lines = [
        "Made by `make tables` (`scripts/tables.py`), which runs the command below.",
        "",
        f"* commit {code}; {versions}",
        f"* cells of {times[0]} to {times[-1]} UTC on {machine}",
        f"* {took}; learner time of all cells together {cells['seconds'].sum():.0f} s",
    ]
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
