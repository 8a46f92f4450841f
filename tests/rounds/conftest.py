"""Each test has a store of its own."""

from support.own_store import own_store  # noqa: F401
