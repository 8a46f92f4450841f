"""From the DataFrame of cells to a table, a figure, a file: what the command line calls.

rows.ReportPlan                what a report should hold; rows.rows_of: which cells are repetitions of one row
summary.summary_of             the rows averaged: a DataFrame that tables and figures read
results_table.run_table        the table.Table of a run
sweep_table.sweep_table        of a sweep, with the best settings
table.Table                    writes itself as text, Markdown, LaTeX, JSON, CSV and HTML; lists, too

table imports quickly. omkl.figures draws.
"""
