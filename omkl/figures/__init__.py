"""Figures of stored results, drawn by matplotlib: a figure is a function that draws.

style      what a user chooses (style, width, title), colours, panels, one legend, and the files
curves     measures over the examples             sweeps   over hyperparameters: lines, heat maps, dots
costs      seconds, and the front of error and cost
rank_diagram   average ranks over data sets       matrices   confusion matrices, and square pictures
kinds      those of the commands, of a user's own runs
"""
