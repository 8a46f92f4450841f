"""omkl: online learning with (multiple) kernels.

The public names are those of __init__.pyi; each is imported from its module when it is first used.
"""

import lazy_loader

__version__ = "1.0.0"

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
