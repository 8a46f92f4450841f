"""Kernels that the engine calls by address, one file each; conf/kernel has their parameters."""
