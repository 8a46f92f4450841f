"""A learner and its rounds: its state, what it reads of a stream, and who takes part in a block."""
