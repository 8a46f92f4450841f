"""Experiments as objects: what the command line prints and Python returns.

calls has the functions of `omkl`; results, tune, paper_results and trained_model have what they return.
saved_models fits, asks, updates and describes a model of a file, for Python and for the commands.
"""
