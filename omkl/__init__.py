"""omkl: online learning with (multiple) kernels."""

__version__ = "0.1.0"
