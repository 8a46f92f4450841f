"""Data: named sets and users' files, located or downloaded, verified, parsed once, cached; and their orders.

A registered name means one content, in whichever format it is stored: see conf/data and `registry`.
"""

from omkl.data import registry
from omkl.data.access import (
    Status,
    described,
    get,
    load,
    load_cached,
    path,
    realisation,
    status,
    use,
    verify,
    ways_out,
)
from omkl.data.arrays import from_arrays
from omkl.data.dataset import Dataset, compact, content_hash
from omkl.data.orders import order, order_seed

__all__ = [
    "Dataset",
    "Status",
    "compact",
    "content_hash",
    "described",
    "from_arrays",
    "get",
    "load",
    "load_cached",
    "order",
    "order_seed",
    "path",
    "realisation",
    "registry",
    "status",
    "use",
    "verify",
    "ways_out",
]
