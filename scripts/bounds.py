"""Make results/bounds.md: the papers' bounds beside what was observed.

    python scripts/bounds.py [--store DIR] [--out FILE]

Cells are kept in the store (default: results/). About a quarter of an hour on one core.
"""

import argparse
import sys
from dataclasses import replace
from pathlib import Path

import pandas as pd

import omkl
from omkl.reports.table import Table
from omkl.reports.table_cells import MISSING

ROOT = Path(__file__).resolve().parent.parent
TITLE = """# Bounds of mistakes and regret of 17 learners on eleven data sets

What the theorems allow, next to the observed values (mean ± std); [how they are computed](../docs/bounds.md).
"""
FOLD = "<details><summary>"
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


def answer(rows: pd.DataFrame) -> str:
    """Return how many bounds have an observed value, how close these come, and a row for each theorem."""
    known = rows[rows["ratio"].notna()]
    violated = int((known["ratio"] < 1).sum())
    line = (
        f"{len(known)} bounds with an observed value, {violated or 'none'} violated, smallest ratio "
        f"{known['ratio'].min():.3g}, median {known['ratio'].median():.3g}."
    )
    records = []
    for (theorem, counts), own in rows.groupby(["theorem", "counts"], sort=False):
        ratios = own["ratio"].dropna()
        ends = [f"{ratios.min():.3g}", f"{ratios.median():.3g}"] if len(ratios) else [MISSING, MISSING]
        record = {"theorem": theorem, "counts": counts, "learners": ", ".join(own["learner"].unique())}
        record |= {"bounds": len(ratios), "violated": int((ratios < 1).sum())}
        records.append(record | {"smallest": ends[0], "median": ends[1]})
    terms = [("bounds", "those with an observed value, one for each learner, its settings and data set")]
    terms.append(("smallest, median", "of bound / observed; below 1 the bound is violated"))
    return f"{line}\n\n{Table.of(records, terms=terms).render('markdown')}"


def main() -> int:
    """Write the page and return the exit code."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False
    )
    parser.add_argument("--store", default=str(ROOT / "results"), help="folder of the cells")
    parser.add_argument("--out", type=Path, default=ROOT / "results" / "bounds.md", help="file of the page")
    args = parser.parse_args()
    parts, rows = [], []
    for heading, words in PARTS:
        print(heading, file=sys.stderr)
        made = omkl.bounds(words, store=args.store, jobs=1)
        rows.append(made.table)
        text = replace(made.report_table(), command="", shared="").render("markdown")
        parts.append(f"## {heading}\n\n{FOLD}the table</summary>\n\n{text}\n</details>\n")
    commands = "\n".join(f"* {heading}: `omkl bounds {words}`" for heading, words in PARTS)
    made_by = "Made by `python scripts/bounds.py`, which runs:"
    origin = f"{FOLD}the commands</summary>\n\n{made_by}\n\n{commands}\n\n</details>\n"
    page = "\n".join([TITLE, answer(pd.concat(rows, ignore_index=True)), *parts, origin])
    args.out.write_text(page, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
