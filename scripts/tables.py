"""Make the committed results: run the missing cells of each paper, write results/NAME.md and results/NAME/*.

results/NAME.html is the same as one page for the browser. It is not committed: `omkl report NAME` makes it
from a store within seconds.

    python scripts/tables.py                         every paper of conf/paper; cells are kept in results/
    python scripts/tables.py bomkl --quick --out /tmp/tables        a small one, to try
    python scripts/tables.py today --stored          a page of learners that `omkl tune today` has tuned

Ctrl-C leaves the finished cells in the store; run the same command again to continue.
"""

import argparse
import os
import sys
import time
from pathlib import Path

from omkl.api.report import write_page
from omkl.cli import seldom_collect
from omkl.errors import OmklError
from omkl.pages.documents import write_markdown
from omkl.pages.papers import paper_page, run_paper
from omkl.publications import Selection, paper_names, read_paper
from omkl.publications.tuned import tuned_runs

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = [ROOT / "docs/examples" / name for name in ("ablations", "rivals", "batch")]  # of pages


def usual() -> list[str]:
    """Return the papers: the pages whose learners are tuned take hours, and are made only where named."""
    return [name for name in paper_names() if not tuned_runs(read_paper(name))]


def main() -> int:
    """Make the selected papers and return the exit code."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False
    )
    parser.add_argument("papers", nargs="*", metavar="PAPER", help=f"(default: {' '.join(usual())})")
    parser.add_argument("--data", default="", help="only these data sets, separated by commas")
    parser.add_argument("--reps", type=int, help="largest number of repetitions")
    parser.add_argument("--quick", action="store_true", help="two repetitions of the small data sets")
    parser.add_argument("--full", action="store_true", help="all repetitions, also of what takes longest")
    parser.add_argument(
        "--out", type=Path, default=ROOT / "results", help="folder of the pages and the store"
    )
    parser.add_argument("--fresh", action="store_true", help="run cells again even if the store has them")
    parser.add_argument("--stored", action="store_true", help="run nothing: pages of what the store holds")
    parser.add_argument("-j", "--jobs", type=int, help="worker processes (default: one per core)")
    args = parser.parse_args()
    selection = Selection(
        reps=args.reps,
        data=tuple(filter(None, args.data.split(","))),
        quick=args.quick,
        full=args.full,
        words=(f"store={args.out}",),
    )
    began = time.perf_counter()
    try:
        for paper in [read_paper(name) for name in args.papers or usual()]:
            how = {"jobs": args.jobs, "fresh": args.fresh}
            outcome = None if args.stored else run_paper(paper, selection, **how)
            page = paper_page(paper, selection, f"omkl report {paper.name}", outcome)
            made = "today" if tuned_runs(paper) else "tables"
            write_markdown(page, args.out, f"`make {made}` (`scripts/tables.py`)")
            print(write_page(page, args.out, str(args.out / f"{paper.name}.html"))[0])
    except OmklError as error:
        print(f"tables: {error}", file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt:
        print("tables: interrupted; run the same command again to continue", file=sys.stderr)
        return 130
    print(f"{time.perf_counter() - began:.0f} s")
    return 0


if __name__ == "__main__":
    seldom_collect()
    os.environ.setdefault("OMKL_PATH", os.pathsep.join(map(str, FOLDERS)))
    sys.exit(main())
