"""From a plan to its finished cells: which there are, running what is missing, how far it is."""
