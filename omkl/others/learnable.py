"""Which estimators can learn row by row, and as what."""

from typing import Any

from omkl.errors import UserError
from omkl.others.pipelines import LOOKS, Steps, looks_at_values, requires_fit
from omkl.others.traits import NO_STEP, Refit, is_a

_HOLDS = (
    "holds other steps, which cannot learn row by row one by one; omkl.refit(...) fits the whole pipeline "
    "again as rows come"
)


def learnable(model: Any, where: str) -> Any:
    """Return what learns row by row: the model, or the `Steps` of a pipeline.

    Raises UserError, which begins with where, for a model that cannot.
    """
    if isinstance(model, Refit):
        return model
    if is_a(model, "Pipeline"):
        *steps, (name, last) = model.steps
        last = learnable(last, f"{where}: the step '{name}' ({type(last).__name__})")
        for name, step in steps:
            _check_step(f"{where}: the step '{name}' ({type(step).__name__})", step)
        return Steps(steps, last)
    for learn, predict in (("partial_fit", "predict"), ("learn_one", "predict_one")):
        if hasattr(model, learn) and hasattr(model, predict):
            return model
    if hasattr(model, "fit"):
        raise UserError(f"{where} {_CANNOT}")
    raise UserError(
        f"{where} does not learn row by row: it has neither partial_fit and predict, nor learn_one and "
        "predict_one"
    )


_CANNOT = (
    "has no partial_fit, so it cannot learn online; omkl.refit(...) fits it again as rows come "
    "(`refit: true` in a YAML)"
)


def _check_step(where: str, step: Any) -> None:
    """Raise UserError for a step of a pipeline that has to see all rows, or that holds others."""
    if step in NO_STEP or hasattr(step, "partial_fit"):
        return
    if any(is_a(step, name) for name in ("Pipeline", "FeatureUnion", "ColumnTransformer")):
        raise UserError(f"{where} {_HOLDS}")
    if requires_fit(step) and looks_at_values(step):
        raise UserError(f"{where} {LOOKS}")
