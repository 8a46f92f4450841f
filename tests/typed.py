"""What type checkers accept of the calls from Python, and what they refuse: `make check` runs mypy on it.

A line that mypy must refuse ends with the code of its error; where it refuses none, the comment is an error.
Nothing here runs.
"""

from typing import Any

import numpy as np
import pandas as pd
from sklearn.linear_model import SGDClassifier

import omkl
from omkl.river import OmkcDdClassifier
from omkl.sklearn import ArowClassifier, AutoClassifier, KrlsTRegressor

frame = pd.DataFrame({"a": [1.0, 2.0], "y": ["u", "v"]})
X: np.ndarray = np.zeros((4, 2))
y: np.ndarray = np.array([0, 1, 0, 1])


def accepted() -> None:
    """Lines of the pages, and like them."""
    results = omkl.run("algo=omkc_ss,alma data=wdbc reps=5")
    both = results + omkl.run(algo=["omkc_ss", omkl.learner("alma", C=1, label="slower")], data="wdbc")
    both.curve().savefig("curves.png")
    omkl.sweep(algo="omkc_ss", data=frame, label="y", reps=2, params={"algo.beta": [0.2, 0.8]})
    omkl.run({"d": X}, y=y, algo=["auto", omkl.refit(SGDClassifier())], scale="ranks", interval=0.9)
    omkl.run(frame, label="y", algo=omkl.stack("auto", SGDClassifier()), exec="serial", missing="drop")
    model = omkl.fit("lasvm", frame, label="y", params={"algo.C": 1.0})
    model.update(frame).save("model.omkl")
    omkl.figure("sweep", "data=wdbc", by="n_sv_sum", algo="alma", out="map.png")
    omkl.tune(algo=["arow", SGDClassifier()], data="wdbc", trials=4).save("best.yaml")
    omkl.bounds("algo=omkc_dd data=wdbc", rows=100, reps=2)
    omkl.report("bomkl", quick=True, data="wdbc")
    probabilities: np.ndarray = ArowClassifier(r=2, calibration="platt").fit(X, y).predict_proba(X)
    low: Any = KrlsTRegressor(target="online", interval=0.9, budget=50).fit(X, y).predict_interval(X)
    AutoClassifier(random_state=0).partial_fit(X, y, classes=[0, 1])
    OmkcDdClassifier(seed=0).learn_one({"a": 1.0}, True)
    print(probabilities, low)


def refused() -> None:
    """Names, types and words that are wrong."""
    omkl.run(algo="alma", data="wdbc", rep=2)  # type: ignore[call-arg]
    omkl.run(algo="alma", data="wdbc", reps="two")  # type: ignore[arg-type]
    omkl.run(algo="alma", data="wdbc", order="random")  # type: ignore[arg-type]
    omkl.run(algo="alma", data="wdbc", missing=3)  # type: ignore[arg-type]
    omkl.run(algo="alma", data="wdbc", interval="wide")  # type: ignore[arg-type]
    omkl.run(algo=3, data="wdbc")  # type: ignore[arg-type]
    omkl.run(algo="alma", data=3)  # type: ignore[arg-type]
    omkl.run(frame, label="y", scale="onlin")  # type: ignore[arg-type]
    omkl.fit("alma", frame, labels="y")  # type: ignore[call-arg]
    omkl.tune(algo="alma", data="wdbc", trials="x")  # type: ignore[arg-type]
    omkl.figure("curve", "data=wdbc", algorithm="alma")  # type: ignore[call-arg]
    omkl.refit(SGDClassifier(), windows=3)  # type: ignore[call-arg]
    omkl.table("bomkl/1", quik=True)  # type: ignore[call-arg]
    print(omkl.bogus)  # type: ignore[attr-defined]
    ArowClassifier(R=1.0)  # type: ignore[call-arg]
    ArowClassifier(r="one")  # type: ignore[arg-type]
    ArowClassifier(scale="standard")  # type: ignore[arg-type]
    ArowClassifier().partial_fit(X, y, klasses=[0, 1])  # type: ignore[call-arg]
    KrlsTRegressor(interval="x")  # type: ignore[arg-type]
    OmkcDdClassifier(random_state=0)  # type: ignore[call-arg]
    from omkl.sklearn import ArrowClassifier  # type: ignore[attr-defined]

    print(ArrowClassifier)
