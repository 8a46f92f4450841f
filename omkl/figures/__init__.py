"""Figures of stored results, drawn by matplotlib: a figure is a function that draws.

style      what a user chooses (style, width, title)    figure   a figure and its files
line_styles, panel_grid   colours and dashes of learners; panels and their one legend
curves     measures over the examples    sweeps, sensitivity, heat_maps   over hyperparameters
matrices   confusion matrices, and square pictures    costs   seconds, the front of error and cost
rank_diagram   average ranks over data sets    kinds   those of the commands, of a user's own runs
"""
