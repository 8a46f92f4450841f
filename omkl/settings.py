"""The settings of a command, KEY=VALUE: what the value of each may be, and what it means.

Their values are in conf/config.yaml, those of `omkl tune` in conf/tune.yaml: plain files, as Hydra has them.
omkl/schema.py says how a domain is written.
"""

from typing import NamedTuple


class Key(NamedTuple):
    """A setting: its domain, and its help."""

    domain: str | list[str | int]
    help: str


RUN: dict[str, Key] = {
    "data": Key("names", "data sets: registered names, or paths of your own files"),
    "pool": Key("names", "kernel pools of the multi-kernel learners"),
    "algo": Key("names", "learners"),
    "exec": Key("text", "where the cells are computed"),
    "settings": Key(
        "text or null",
        "file of learners with settings of their own, as `omkl tune --out` writes it; null is none",
    ),
    "order": Key(
        ["permuted", "file", "halves", "authors"],
        "order of the examples in each repetition: permuted at random, as in the file, permuted in "
        "each of two halves of the rows, or the authors' permutations",
    ),
    "reps": Key("int [1, inf) or null", "repetitions; null is 20, and 1 for order=file"),
    "rounds": Key(
        "rounds or null",
        "rounds to run of each repetition: 5000 for the first 5000, 5000: for those after them, "
        "1000:5000 for a part, 0.5: for those after the first half; null for all",
    ),
    "delay": Key(
        "int [1, 1000000]",
        "labels come in batches of this many rounds: each batch is predicted with what was learnt "
        "before it, and then learnt",
    ),
    "calibration": Key(
        ["none", "platt"],
        "probabilities from the scores of classifiers that have none: platt, a logistic regression "
        "learnt from the score of each round before its update",
    ),
    "interval": Key(
        "(0, 0.995] or null",
        "intervals around the predictions of a regression that hold this share of the targets, such "
        "as 0.9, by adaptive conformal inference: their coverage, width and score are measured",
    ),
    "test": Key(
        "test or null",
        "rows that are not learnt, on which the last hypothesis and the averaged one are measured: a "
        "share such as 0.2, the last of each repetition; a data set; or a file like the data; null "
        "for none",
    ),
    "seed": Key("int [0, inf)", "base seed of the permutations"),
    "store": Key("text or null", "folder of the results; null is OMKL_STORE, else ./results"),
    "yardsticks": Key(
        "names",
        "learners to compare with, on the same streams; only those that fit the data's task run; [] for none",
    ),
    "task": Key(
        ["auto", "classification", "regression"],
        "task of your own data: classification (the labels are classes) or regression (the labels are "
        "numbers); auto is that of the learners, or classification for words, two different whole "
        "numbers, and up to 20 of them with 10 rows each on average",
    ),
    "read": Key(
        "keywords",
        "keywords of the pandas function that reads your own table, one by one: 'read.sep=;' "
        "read.decimal=, read.skiprows=10 'read.dtype={zip:str}'",
    ),
    "label": Key(
        "column or null",
        "label column of your own table, by name or number; null is the one that is called label, "
        "class, target or y",
    ),
    "id": Key(
        "columns",
        "columns of your own table that name the rows, left out of the features and written next to "
        "predictions",
    ),
    "drop": Key("columns", "columns of your own table that are left out, by name or number"),
    "missing": Key(
        ["online", "drop", "error"],
        "missing values of your own table: online, numbers are the mean of the rows before and a gap "
        "among words is a word of its own; drop, the row is left out; error, the strict. "
        "Rows without a label are left out, but for error",
    ),
    "scale": Key(
        ["auto", "none", "online", "ranks"],
        "scaling of features: auto is online for your own tables, and none for registered sets and "
        "LIBSVM files; none; online, to mean 0 and standard deviation 1 with the rows seen so far; ranks, "
        "among the last 300 rows",
    ),
    "target": Key(
        ["auto", "none", "standard", "minmax", "online"],
        "scaling of the targets of a regression; errors stay in their units: none, standard or minmax "
        "over all of them, or online, with those seen; auto is online for your own data, except for "
        "learners for which unit and offset do not matter, and none for registered sets",
    ),
    "positive": Key(
        "class or null",
        "class of your own table that is +1 against all others; null takes all classes as they are",
    ),
    "index_base": Key(
        ["auto", 0, 1],
        "index of the first column in your own LIBSVM text; auto is 0 if there is an index 0, else 1",
    ),
    "qid": Key(
        ["error", "drop"],
        "qid: fields of your own LIBSVM text, the groups of a ranking: an error, or left out",
    ),
    "block": Key(
        "int [1, 65536] or null",
        "examples computed at once; null is the engine's own choice; never changes a result",
    ),
}

TUNE: dict[str, Key] = {
    "trials": Key(
        "int [1, 10000] or null",
        "settings of each learner on each data set; null is 30, and 60 where three or more numbers "
        "are searched. The first are its default, scaled in all ways; of the others, half are drawn "
        "from the ranges (search) in its file, half near the best of these",
    ),
    "eta": Key(
        "int [2, 100]",
        "one in eta of the settings goes on to the next rung, whose prefix of the stream is eta times "
        "as long; one in eta times eta is judged on more permutations at the end",
    ),
    "rungs": Key(
        "int [1, 10]",
        "prefixes of the stream on which the settings are compared; the last is the whole stream",
    ),
    "passes": Key(
        "int [1, 1000]",
        "permutations on which the best trials are judged at the end, by their mean error; before it "
        "is one. They are never reported",
    ),
    "least": Key("int [1, inf)", "no prefix is shorter than this, unless the stream is"),
    "longest": Key(
        "(0, inf) or null",
        "seconds of a pass; a setting that would need more on the next prefix does not go on; null is "
        "no limit",
    ),
    "cost": Key(
        "(0, inf) or null",
        "a setting whose pass costs more than this many times the pass of auto (for numbers of "
        "auto_regression) on the same rounds does not go on, and does not win; all run on 200 rows "
        "first, where those far above it are left out; null is no limit",
    ),
    "small": Key(
        "int [0, inf)",
        "a data set of at most this many rows is not cut; all trials run on one half of its rows, on "
        "four permutations or more, and what is reported is the other half",
    ),
    "pools": Key(
        "names",
        "pools among which a learner with a pool chooses, in addition to its usual one; a pool that "
        "is given (pool=) is kept, and [] keeps the usual one",
    ),
    "by": Key(
        "text or null",
        "measure by which trials are judged, such as auc, log_loss or mae; null is the error of the task",
    ),
}
