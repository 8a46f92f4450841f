"""What omkl says of a learner: in `omkl help NAME`, in `omkl list algos` and on the learner's page."""

import textwrap
from typing import Any

from omkl.config import LearnerSpec, learner_spec, members_of
from omkl.config.learners import is_bounded
from omkl.config.parameters import value_text
from omkl.tasks import by_task

TASK = {"classification": "two classes", "regression": "numbers", "novelty": "novelty detection"}
KERNELS = {"pool": "a pool of kernels", "own": "one kernel of its own", "none": "no kernel to choose"}
EXAMPLE = {"classification": "wdbc", "regression": "airfoil", "novelty": "usps_test"}


def predicts(spec: LearnerSpec) -> list[str]:
    """Return what a learner predicts: "two and more classes", "numbers"."""
    many = {"classification": "two and more classes"} if spec.takes(3) else {}
    return [{**TASK, **many}[task] for task in spec.tasks]


def first_sentence(spec: LearnerSpec) -> str:
    """Return what a learner does, without when to take it."""
    return spec.summary.partition(". ")[0].rstrip(".")


def memory_of(spec: LearnerSpec) -> str:
    """Return "bounded", "grows", or "grows without tau", of another hyperparameter."""
    resources = spec.state.values()
    if spec.estimator:
        return ""
    if is_bounded(spec):
        return "bounded"
    unless = next(filter(None, (getattr(resource, "unless", None) for resource in resources)), "")
    return f"grows without {unless}" if unless else "grows"


def command_of(spec: LearnerSpec) -> str:
    """Return a command that runs the learner on data that are at hand."""
    needs = spec.pool == "gaussian" and spec.kernels == "pool" and not spec.usual_pool
    return f"omkl run algo={spec.name} data={EXAMPLE[spec.tasks[0]]}" + " pool=gauss13" * needs


def of_tasks(value: Any) -> str:
    """Return a hyperparameter's value as ``50`` or ``squared (regression), logistic (classification)``."""
    if not by_task(value):
        return value_text(value)
    return ", ".join(f"{value_text(for_task)} ({task})" for task, for_task in value.items())


def _members(spec: LearnerSpec) -> list[str]:
    """Return the members of a stack, a line each."""
    if spec.stack is None:
        return []
    return ["", "members:", *(f"  {member.word}" for member in members_of(spec, {}))]


def learner_help(name: str) -> str:
    """Return what `omkl help NAME` prints. Raises UserError for an unknown name."""
    spec = learner_spec(name)
    facts = {
        "in tables": spec.label,
        "predicts": " and ".join(predicts(spec)),
        "runs on": KERNELS[spec.kernels],
        "memory": memory_of(spec),
        "paper": spec.cite,
        "estimator": spec.estimator or "",
    }
    text = [f"algo={name}", "", *textwrap.wrap(spec.summary, 100), *([""] if spec.summary else [])]
    text += [f"{fact + ':':12}{value}" for fact, value in facts.items() if value]
    text += _members(spec)
    text += ["", "hyperparameters:" if spec.hyperparameters else "It has no hyperparameters."]
    for key, parameter in spec.hyperparameters.items():
        domain = (
            ", ".join(map(str, parameter.domain)) if isinstance(parameter.domain, list) else parameter.domain
        )
        text += [f"  algo.{key}={of_tasks(parameter.value)}"]
        text += textwrap.wrap(
            f"{parameter.help} ({domain})", 96, initial_indent=" " * 6, subsequent_indent=" " * 6
        )
    return "\n".join([*text, "", f"example: {command_of(spec)}", ""])
