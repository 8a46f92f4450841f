"""A report: one HTML file with the tables, figures and claims of stored cells, that needs no network.

runs.run_page       the page of a plan: its table, sweep, learning curves, ranks
papers.paper_page   the page of a paper          stores.store_page   of everything that a store holds
document.document   a page as HTML; web/ has its style sheet and scripts

A page is made of the rows, notes and points of omkl.reports and omkl.publications. It reads the store and
runs nothing.
"""
