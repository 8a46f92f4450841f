"""A report: one HTML file with the tables, figures and claims of stored cells, that needs no network.

documents       what a page holds, and how it is written: as one HTML file, or as Markdown
runs.run_page   the page of a plan: its sweep, table, learning curves, ranks
papers.paper_page   the page of a paper

A page is made of the rows, notes and points of omkl.reports, omkl.figures and omkl.publications. It reads the
store and runs nothing.
"""
