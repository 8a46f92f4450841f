"""Helpers of the estimators that users import: their names and arguments, and the learner behind one."""

import importlib
from typing import Any


class Later:
    """A module that is imported when it is first used, and with it numba: when the first rows come."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, attribute: str) -> Any:
        return getattr(importlib.import_module(self._name), attribute)
