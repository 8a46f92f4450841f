"""Experiments as objects: what the command line prints and Python returns.

calls has the functions of `omkl`; results, tune, paper_results, bounds_results and trained_model have what
they return. The names of __init__.pyi are imported from their modules when they are first used.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
