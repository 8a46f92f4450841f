"""Sets of *An Introduction to Statistical Learning* (package ISLP), the target brought to [0, 1]."""

import pandas as pd

TARGETS = {"Wage.csv": "wage", "Carseats.csv": "Sales", "Credit.csv": "Balance"}
LEFT_OUT = ["logwage", "ID"]  # the target again, and a row's number


def islp(paths):
    """Return the columns with the target as ``label``."""
    target = TARGETS[paths[0].name]
    frame = pd.read_csv(paths[0]).drop(columns=LEFT_OUT, errors="ignore").rename(columns={target: "label"})
    words = frame.select_dtypes(exclude="number").columns
    frame[words] = frame[words].apply(lambda column: column.str.replace(r"^\d\. ", "", regex=True))
    low, high = frame["label"].min(), frame["label"].max()
    return frame.assign(label=(frame["label"] - low) / (high - low))
