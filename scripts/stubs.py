"""Write the stubs of omkl.sklearn and omkl.river: what type checkers and editors know of the estimators.

    python scripts/stubs.py          write omkl/sklearn/__init__.pyi and omkl/river/__init__.pyi anew

The estimators and their arguments are made from conf/algo when they are imported, where no checker looks.
"""

from pathlib import Path

from omkl.config.learners import LearnerSpec
from omkl.estimators.arguments import (
    CALIBRATION,
    CLASS_WEIGHT,
    INTERVAL,
    SCALED,
    Argument,
    argument_name,
    arguments,
    estimator_specs,
)
from omkl.river.base import CLASSES

ROOT = Path(__file__).resolve().parent.parent
BASES = {"classification": "Classifier", "regression": "Regressor", "novelty": "NoveltyDetector"}
HEAD = '''"""Made by scripts/stubs.py from conf/algo."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

'''
PARTIAL_FIT = {
    "Classifier": "(self, X: Any, y: Any, classes: Any = None)",
    "Regressor": "(self, X: Any, y: Any)",
    "NoveltyDetector": "(self, X: Any, y: Any = None)",
    "WeightedClassifier": "(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None)",
    "WeightedRegressor": "(self, X: Any, y: Any, sample_weight: Any = None)",
}


def type_of(name: str, spec: LearnerSpec, argument: Argument) -> str:
    """Return the type of an estimator's argument."""
    if name in SCALED and name not in spec.hyperparameters:
        return f"Literal[{', '.join(map(repr, SCALED[name]))}] | None"
    own = {
        CALIBRATION: "Literal['platt'] | None",
        INTERVAL: "float | None",
        CLASS_WEIGHT: "Mapping[Any, float] | Literal['balanced'] | None",
        "pool": "str | Sequence[Any] | Mapping[str, Any]",
        "rounds": "int | None",
        "classes": "Sequence[Any] | None",
    }
    domains = {argument_name(key): parameter.domain for key, parameter in spec.hyperparameters.items()}
    if name not in domains:
        return own.get(name, "Any")  # a seed, in each form that numpy takes
    domain = domains[name]
    if isinstance(domain, list):
        return f"Literal[{', '.join(map(repr, domain))}]"
    body, _, other = domain.partition(" or ")
    kinds = {"bool": "bool", "budget": "int", "kernel": "str | Mapping[str, Any]", "members": "Sequence[Any]"}
    kind = kinds.get(body, "int" if body.startswith("int ") else "float")
    others = {"null": "None", "auto": "Literal['auto']"}
    kind += f" | {others[other]}" if other else ""
    return kind + (" | None" if argument.default is None and other != "null" else "")


def stub_of(package: str) -> str:
    """Return the stub of ``omkl.sklearn`` or ``omkl.river``."""
    of_river = package == "river"
    bases = list(BASES.values()) if of_river else list(PARTIAL_FIT)
    module = "omkl.river.base" if of_river else "omkl.sklearn.by_task"
    lines = [HEAD, *(f"from {module} import {base} as {base}" for base in sorted(bases))]
    lines += ["", "def names() -> list[str]: ...", ""]
    for base in [] if of_river else bases:  # without what is taken only to be refused
        takes = f"def partial_fit{PARTIAL_FIT[base]} -> Any: ..."
        same = base == "NoveltyDetector"
        lines += [f"class _{base}({base}):", f"    {takes}{'' if same else '  # type: ignore[override]'}", ""]
    for name, (spec, task) in sorted(estimator_specs().items()):
        if of_river and spec.setup:
            continue
        takes_arguments = arguments(spec, task, "seed" if of_river else "random_state")
        if of_river and task == "classification" and spec.takes(3):
            takes_arguments |= {"classes": CLASSES}
        weighted = "Weighted" if spec.weight and task != "novelty" else ""
        base = BASES[task] if of_river else f"_{weighted}{BASES[task]}"
        typed = [f"{key}: {type_of(key, spec, argument)} = ..." for key, argument in takes_arguments.items()]
        lines += [f"class {name}({base}):", f"    def __init__(self, *, {', '.join(typed)}) -> None: ...", ""]
    return "\n".join(lines)


if __name__ == "__main__":
    for package in ("sklearn", "river"):
        (ROOT / "omkl" / package / "__init__.pyi").write_text(stub_of(package), encoding="utf-8")
