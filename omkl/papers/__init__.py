"""The papers' tables, figures and claims, regenerated: what ``conf/paper/*.yaml`` says, run and compared.

paper = read("bomkl")                         what there is
asked = Selection(reps=2, quick=True)         what part of it
text, frame = table(paper, "1", asked)        omkl table bomkl/1
files = figure(paper, "1", asked)             omkl figure bomkl/1
text, frame = claims(paper, asked)            omkl claims bomkl
"""

from omkl.papers.paper import Paper, find, names, read
from omkl.papers.selection import Selection

__all__ = ["Paper", "Selection", "find", "names", "read"]
