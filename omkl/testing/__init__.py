"""What our own learners are held to, for yours: ``omkl check DIR`` runs it, and a test may import it.

contracts: what every learner keeps to (seeds, inputs, blocks, cuts, scoring, finite numbers)
twins: a compiled learner against its naive twin, round by round
cases: small streams and pools, a learner by its name, and its state as plain arrays
definitions: what twins are written with: kernels, expansions and weights by their definitions
check: all of it for the learners of a folder
"""
