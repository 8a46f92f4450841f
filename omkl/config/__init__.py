"""Configuration: the conf folder and the words of a command, checked strictly, become a `Plan`.

omkl/conf.py reads the files, omkl/schema.py says what a value may be; kernels and learners make of the files
what they describe; words reads those of a command, request puts them over conf/config.yaml, and plans makes
of them the grid of settings and the rest. Every mistake is a UserError of one line.
"""

from omkl.config.kernel_kinds import kernel_pools, pool, pool_names
from omkl.config.learners import LearnerSpec, learner_names, learner_spec, learner_specs
from omkl.config.members import members_of
from omkl.config.plans import Plan, plan, resolved
from omkl.config.words import Setting

__all__ = [
    "LearnerSpec",
    "Plan",
    "Setting",
    "kernel_pools",
    "learner_names",
    "learner_spec",
    "learner_specs",
    "members_of",
    "plan",
    "pool",
    "pool_names",
    "resolved",
]
