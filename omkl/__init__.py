"""omkl: online learning with (multiple) kernels."""

__version__ = "0.2.0"
