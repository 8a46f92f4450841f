"""Stacks: learners that learn on what others, their members, say."""
