"""Experiments as objects: what the command line prints and Python returns.

calls has the functions of `omkl`; results, tune, paper_results and trained_model have what they return.
"""
