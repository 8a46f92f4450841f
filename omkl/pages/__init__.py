"""A report: one HTML file with the tables, figures and claims of stored cells, that needs no network.

sections        what a page holds            html       a page as one file, by the templates in omkl/web
runs.run_page   the page of a plan: its sweep, table, learning curves, ranks
papers.paper_page   the page of a paper

A page is made of the rows, notes and points of omkl.reports, omkl.figures and omkl.publications. It reads the
store and runs nothing.
"""
