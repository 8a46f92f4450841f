"""Compile every learner, on all cores, so that later runs only load the code: for CI, a container, a cluster.

python scripts/compile_all.py
"""

import time

from omkl.config import learner_specs
from omkl.learning import warm_up

TWO, MANY = 2, 3  # classes: a learner that tells more than two apart has a version for each


def main() -> None:
    """Compile, and say how long it took."""
    began = time.perf_counter()
    learners = [spec for spec in learner_specs().values() if not spec.estimator]
    settings = [
        (spec, spec.usual(spec.tasks[0]), classes)
        for spec in learners
        for classes in ((TWO, MANY) if spec.classes == "many" else (TWO,))
    ]
    warm_up(settings)
    print(f"{len(learners)} learners are compiled, in {time.perf_counter() - began:.0f} s")


if __name__ == "__main__":
    main()
