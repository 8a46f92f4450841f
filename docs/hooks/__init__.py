"""What the site adds to Sphinx: pages made from conf/ and results/, links to learners, formulas, checks."""
