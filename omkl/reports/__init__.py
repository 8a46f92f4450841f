"""From the DataFrame of cells to a table, a figure, a file: what the command line calls.

expected.Expected      the rows there should be
report.report          the table of a run; report.sweep_report: the tables and the figure of a sweep
curves.curve_figure    learning curves
look.chosen            a width and a style for the figures that are drawn inside

The papers' other figures: sensitivity (over a hyperparameter), ranks (over data sets), time_figure, digits.
plain_table has the formats, and writes lists; it and expected import quickly.
"""
