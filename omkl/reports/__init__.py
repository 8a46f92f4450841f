"""From the DataFrame of cells to a table, a figure, a file: what the command line calls.

rows.ReportPlan                what a report should hold; rows.rows_of: which cells are repetitions of one row
summary.summary_of             the rows averaged: a DataFrame that tables and figures read
results_table.run_table        the table.Table of a run; sweep_table: of a sweep, with the best settings
table.Table                    writes itself as text, Markdown, LaTeX, JSON, CSV and HTML; lists, too
charts.figure_named            a figures.Figure of the cells, as plain data; charts has one function per kind
drawing.save                   draws it to files; figure_style.chosen: in a width and a style

table and figure_style import quickly.
"""
