"""Experiments from Python: what the commands do, as calls, and their results as one object.

calls says what can be asked for, results what comes back. The command line prints what these return.
"""
