"""What a data set asks of a learner. A learner states its tasks, a data set its one."""

TASKS = ("classification", "regression", "novelty")
