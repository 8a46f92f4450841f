"""The numeric core, all compiled. Importing it first sets where numba keeps compiled code."""

from omkl.engine import numba_cache as numba_cache
