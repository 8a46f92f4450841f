"""The fields of a cell: one table, of which its line, its checks, its key, columns and means are made.

A new figure is one entry here, and the function in omkl/learning/one_pass.py that computes it.
"""

from dataclasses import dataclass
from typing import Any

from omkl.tasks import STORED

NOTHING = type(None)
TEXT, WHOLE, NUMBER = (str,), (int,), (int, float)
ANY: Any = object()


@dataclass(frozen=True)
class Field:
    """A field of a cell's line.

    name: in the line, and of the column    types: that its JSON may have    meaning, unit: for a reader
    figure: measured, in place of known before the cell runs    shared: by the cells of one setting on one
    data set, which a line says last    key: its name in what the cell's key is a hash of, "" where results do
    not depend on it    usual: the value that this leaves out    always: whether a
    finished cell has it    mean: what its mean over the repetitions is called, and times what it is, or None
    """

    name: str
    types: tuple[type, ...]
    meaning: str
    unit: str = ""
    figure: bool = False
    shared: bool = False
    key: str = ""
    usual: Any = ANY
    always: bool = True
    mean: tuple[str, float] | None = None

    @property
    def is_object(self) -> bool:
        """Whether its column holds texts, lists and mappings; others hold numbers."""
        return not set(self.types) <= {int, float, NOTHING}


def _setting(name: str, types: tuple[type, ...], meaning: str, **more: Any) -> Field:
    return Field(name, types, meaning, **{"shared": True, **more})


def _figure(name: str, types: tuple[type, ...], meaning: str, unit: str = "", **more: Any) -> Field:
    return Field(name, types, meaning, unit, **{"figure": True, **more})


FIELDS = (
    Field("key", TEXT, "hash of all that the result depends on"),
    Field("status", TEXT, "ok or failed"),
    _setting("algo", TEXT, "learner", key="algo"),
    _setting("params", (dict,), "its hyperparameters", key="params"),
    _setting("pool", (str, NOTHING), "name of the pool of kernels"),
    _setting("pool_spec", (dict, NOTHING), "its kernels, and how they are normalised", key="pool"),
    _setting("data", TEXT, "name of the data set"),
    _setting("data_hash", TEXT, "hash of its content", key="data"),
    _setting("task", TEXT, "its task", key="task", usual="classification"),
    _setting("order", TEXT, "how its rows are ordered", key="order"),
    Field("rep", WHOLE, "repetition, from 0"),
    _setting("seed", WHOLE, "base seed of the repetitions"),
    Field(
        "permutation_seed",
        TEXT,
        "seed of the permutation, a whole number",
        key="permutation_seed",
    ),
    _setting("revision", WHOLE, "of the learner", key="revision"),
    _setting("T", WHOLE, "rounds of the pass", figure=True),
    _figure(
        "mistakes",
        (int, NOTHING),
        "rounds with a mistake; of novelty detection those flagged",
        mean=("mistakes", 1.0),
    ),
    _figure("mistake_rate", (int, float, NOTHING), "mistakes / T", mean=("mistake_pct", 100.0)),
    _figure(
        "mse",
        (int, float, NOTHING),
        "mean squared error of a regression",
        mean=("mse_e3", 1000.0),
        always=False,
    ),
    _figure("n_sv_sum", WHOLE, "support vectors, summed over the kernels", mean=("n_sv_sum", 1.0)),
    _figure("n_sv_union", WHOLE, "distinct examples stored", mean=("n_sv_union", 1.0)),
    _figure(
        "n_sv_combined",
        WHOLE,
        "support vectors that the last prediction combined",
        always=False,
        mean=("n_sv_combined", 1.0),
    ),
    _figure("n_sv_per_kernel", (list,), "support vectors of each kernel"),
    _figure("weights", (list, NOTHING), "weight of each kernel after the pass"),
    _figure("pairs", WHOLE, "stored vectors, summed over the rounds"),
    _setting("m", WHOLE, "kernels", figure=True),
    _figure("seconds", NUMBER, "of the learner, one thread", "s", mean=("seconds", 1.0)),
    _setting("provenance", (dict,), "what made the cell: versions, commit, machine, workers, time, load"),
    _setting("source", (str, NOTHING), "hash of a folder's learner", key="source", usual=None, always=False),
    _setting(
        "rounds",
        (list, NOTHING),
        "first round and the one after the last, of a part",
        key="rounds",
        usual=None,
        always=False,
    ),
    _setting("test", (str, NOTHING), "what is held out: a data set, or a share", usual=None, always=False),
    _setting(
        "held_out",
        (list, str, NOTHING),
        "the first of these rounds and the one after the last, or the hash of the data set",
        key="held_out",
        usual=None,
        always=False,
    ),
    _figure(
        "memory",
        WHOLE,
        "of the learner, its stream and its trace",
        "bytes",
        always=False,
        mean=("memory_mib", 2.0**-20),
    ),
    _figure("confusion", (list, dict, NOTHING), "rounds of each true and predicted class", always=False),
    *(
        _figure(name, NUMBER, own.meaning, own.unit, always=False, mean=(own.name, own.scale))
        for name, own in STORED.items()
    ),
)
NAMES = tuple(field.name for field in FIELDS)
SHARED = tuple(field.name for field in FIELDS if field.shared)
OBJECTS = tuple(field.name for field in FIELDS if field.is_object)
KEYED = tuple(field for field in FIELDS if field.key)
AVERAGED = {field.name: field.mean for field in FIELDS if field.mean}
