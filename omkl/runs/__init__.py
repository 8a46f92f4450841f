"""From a plan to its finished cells: their list, running the missing ones, their progress."""
