"""Configuration: the conf folder and the words of a command, checked strictly, become a `Plan`.

omkl/conf.py reads and composes the files; domains, kernel_pools and learners say what values are allowed;
grammar reads the words of a command, request puts them over conf/config.yaml, and plans makes of them the
grid of settings and the rest.
Every mistake is a UserError of one line.
"""

from omkl.config.kernel_pools import pool, pool_names, pools
from omkl.config.learners import LearnerSpec, learner_names, learner_spec, learner_specs
from omkl.config.plans import Plan, plan, resolved
from omkl.config.settings import Setting

__all__ = [
    "LearnerSpec",
    "Plan",
    "Setting",
    "learner_names",
    "learner_spec",
    "learner_specs",
    "plan",
    "pool",
    "pool_names",
    "pools",
    "resolved",
]
