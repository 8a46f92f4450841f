"""The domains of hyperparameters: those of domains.py, and

"kernel"     a kernel (kernels.py)
"budget"     vectors per kernel, or {match: LEARNER}, the size of another learner (budgets.py checks which)
"""

from typing import Any

from omkl.config import domains
from omkl.config.kernels import check_kernel

BUDGET = (
    "a whole number in [1, inf), or {match: LEARNER} for the size that this learner has on the same streams"
)
_NUMBER = domains.parse("int [1, inf)")


def domain(form: Any) -> domains.Domain:
    """Return the domain written as in conf/algo. Raises ValueError when it cannot be read."""
    return domains.parse(form, _WORDS)


def _budget(value: Any) -> int | dict[str, Any]:
    if not isinstance(value, dict):
        try:
            return _NUMBER.check(value)
        except ValueError as error:
            raise ValueError(f"{error}; or write {{match:bomkc_spa}}") from None
    if not isinstance(value.get("match"), str):
        raise ValueError(f"must be {BUDGET}, is {domains.show(value)}")
    return value


_WORDS: domains.Words = {
    "kernel": ("a kernel such as {kind: gaussian, sigma: 1}", check_kernel),
    "budget": (BUDGET, _budget),
}
