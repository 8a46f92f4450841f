"""The papers' tables, figures and claims, regenerated: what ``conf/paper/*.yaml`` says, run and compared.

paper, item = find("tables", "bomkl/1")
asked = Selection(reps=2, quick=True) what part of it
made = table(paper, item, asked)      omkl table bomkl/1
drawn = figure(paper, item, asked)    omkl figure bomkl/1
made = claims(paper, asked)           omkl claims bomkl
"""

from omkl.papers.paper import Paper, find, names, read
from omkl.papers.selection import Selection

__all__ = ["Paper", "Selection", "find", "names", "read"]
