"""The papers' tables, figures and claims: conf/paper/*.yaml says what is run, compared and drawn.

paper, item = find("tables", "bomkl/1")
selection = Selection(reps=2, quick=True)     the part of it
made = table(paper, item, selection)          omkl table bomkl/1
drawn = figure(paper, item, selection)        omkl figure bomkl/1
made = claims(paper, selection)               omkl claims bomkl
"""

from omkl.publications.paper import Paper, find_item, paper_names, read_paper
from omkl.publications.selection import Selection

__all__ = ["Paper", "Selection", "find_item", "paper_names", "read_paper"]
