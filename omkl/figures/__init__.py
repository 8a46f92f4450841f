"""Figures of stored results, drawn by matplotlib: a figure is a function that draws.

style      what a user chooses (style, width, title), colours, panels, one legend, and the files
curves     measures over the examples             sweeps   over hyperparameters: lines, heat maps, dots
matrices   confusion matrices, and square pictures
costs_and_ranks   seconds, the front of error and cost, average ranks over data sets
kinds      those of the commands, of a user's own runs
"""
