"""Data: named sets and users' files, located or downloaded, verified, parsed once, cached; and their orders.

A registered name means one content, in whichever format it is stored: see conf/data and `registry`.
A `DataRef` is a data set that is read when it is needed: `find` makes it from a name or a path, `of_dataset`
from data in memory.
"""

from omkl.data import registry
from omkl.data.arrays import from_arrays
from omkl.data.dataset import Dataset, compact, content_hash
from omkl.data.orders import distinct_reps, order, order_seed, realisation
from omkl.data.ref import DataRef, of_dataset
from omkl.data.registered_data import find, from_json, registered

__all__ = [
    "DataRef",
    "Dataset",
    "compact",
    "content_hash",
    "distinct_reps",
    "find",
    "from_arrays",
    "from_json",
    "of_dataset",
    "order",
    "order_seed",
    "realisation",
    "registered",
    "registry",
]
