"""Make results/bounds.md: the papers' bounds beside what was observed.

    python scripts/bounds.py [--store DIR] [--out FILE]

Cells are kept in the store (default: results/). About a quarter of an hour on one core.
"""

import argparse
import sys
from pathlib import Path

import omkl

ROOT = Path(__file__).resolve().parent.parent
TITLE = """# Bounds of mistakes and regret of 17 learners on eleven data sets

What the theorems allow, next to the observed values (mean ± std); [how they are computed](../docs/bounds.md).
Made by `python scripts/bounds.py`, which runs the command above each table.
"""
PARTS = (  # heading, command
    (
        "Mistakes, updates and vectors",
        "algo=omkc_dd,omkc_ds,omkc_sd,omklp_da2,'omklp_da1(beta=null)',omklp_sua,omklp_mua,omklo_da,omklo_sua,"
        "bomkc_spa,perceptron,perceptron_u,norma data=wdbc,sonar_scale,votes84,ionosphere,german,svmguide3 "
        "pool=paper16_cosine algo.R=1",
    ),
    (
        "Mixtures of kernels as the comparator",
        "algo=omklo_da data=ionosphere,votes84 pool=paper16_cosine algo.R=6 algo.beta=0.99",
    ),
    (
        "SPA with a budget, and where the second forms apply",
        "algo=bomkc_spa data=wdbc,votes84 pool=paper16_cosine algo.alpha=0.5 'algo.beta={budget:40}'",
    ),
    (
        "SPA with one kernel",
        "algo=bomkc_spa data=wdbc,votes84 'pool.kernels=[{kind:gaussian,sigma:64}]' algo.alpha=0.5",
    ),
    (
        "NORMA beside a moving target",
        "algo=norma data=drift,switch order=file reps=5 'algo.kernel={kind:gaussian,sigma:0.5}' "
        "algo.lam=0.01 algo.eta=0.5",
    ),
    (
        "NORMA with a window: what it drops",
        "algo=norma data=wdbc,votes84 'algo.kernel={kind:gaussian,sigma:64}' algo.lam=0.1 algo.eta=1 "
        "algo.tau=20",
    ),
    (
        "NORMA with a falling step: regularised risk, and the averaged hypothesis on new rows",
        "algo=norma,norma_logistic data=wdbc,votes84 'algo.kernel={kind:gaussian,sigma:64}' algo.step=sqrt "
        "algo.eta=0.5 algo.lam=1",
    ),
    (
        "NORMA with a falling step and a window",
        "algo=norma data=wdbc,votes84 'algo.kernel={kind:gaussian,sigma:64}' algo.step=sqrt algo.eta=0.5 "
        "algo.lam=1 algo.tau=200",
    ),
    (
        "NORMA with an expansion that grows slowly",
        "algo=norma_growing data=wdbc,votes84 algo.lam=0.9 algo.eps=0.3 algo.t0=null",
    ),
    (
        "Regret of Raker and AdaRaker",
        "algo=raker,adaraker data=switch_numbers,drift_numbers,adaraker_air order=file reps=3",
    ),
)


def main() -> int:
    """Write the page and return the exit code."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False
    )
    parser.add_argument("--store", default=str(ROOT / "results"), help="folder of the cells")
    parser.add_argument("--out", type=Path, default=ROOT / "results" / "bounds.md", help="file of the page")
    args = parser.parse_args()
    page = [TITLE]
    for heading, words in PARTS:
        print(heading, file=sys.stderr)
        made = omkl.bounds(words, store=args.store, jobs=1)
        table = made.report_table().render("markdown").partition("Bounds and observed values")[2]
        text = table.partition("\n\n")[2].strip()
        page.append(f"\n## {heading}\n\n`omkl bounds {words}`\n\n{text}\n")
    args.out.write_text("".join(page), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
