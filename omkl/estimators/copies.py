"""Copies of an estimator whose learner may go on learning in another thread: pickles, deep copies."""

import copy
from typing import Any

from omkl.estimators import Later

model_file = Later("omkl.passes.model_file")

_GROWING = ("_progress", "_columns", "_kept", "_calibration")  # attributes that learning changes in place


class _Snapshot:
    """What a learner was, for a pickle: it comes back as a learner."""

    def __init__(self, learner: Any) -> None:
        self.parts = model_file.snapshot(learner)

    def __reduce__(self) -> tuple[Any, ...]:
        return model_file.unpack, self.parts


class Copied:
    """An estimator with the attributes ``_model``, a Learner, and ``_progress``, once it has learnt."""

    def __getstate__(self) -> Any:
        """Return the attributes as they are between two calls that learn."""
        model = self.__dict__.get("_model")
        if model is None:
            return super().__getstate__()
        with model.lock:
            state: Any = super().__getstate__()
            state = {**state, "_model": _Snapshot(model)}
            return state | {name: copy.deepcopy(state[name]) for name in _GROWING if name in state}

    def __setstate__(self, state: Any) -> None:
        """Take the attributes; a shallow copy comes here, too."""
        if isinstance(model := state.get("_model"), _Snapshot):
            state = {**state, "_model": model_file.unpack(*model.parts)}
        parent: Any = super()
        if hasattr(parent, "__setstate__"):
            parent.__setstate__(state)
        else:
            self.__dict__.update(state)
