"""The store of results: one line per finished cell, appended, checked when it is read."""

from omkl.store.store import Store

__all__ = ["Store"]
