"""What a learner imports; what it does with its stores, its stream and its trace are their methods."""

# ruff: noqa: F401

from omkl.engine import budgeted, expansion, features, gram_matrix, stores, stream  # their methods
from omkl.engine.conventions import LARGEST_COEFFICIENT, LEAST_LOSS, hinge, is_mistake, within_range
from omkl.engine.eigen import times
from omkl.engine.experts import (
    bernoulli,
    discount,
    discount_by,
    mistakes,
    multinomial,
    sampling_share,
    smoothed,
    weighted_output,
)
from omkl.engine.features import gradient_step, linear_outputs
from omkl.engine.gram_matrix import distance, factored, grow, nystroem, projection, solution
from omkl.engine.jit import compiled, compiled_without_refcounts
from omkl.engine.lanes import any_of, fma, largest_of, sincos
from omkl.engine.losses import loss_of, losses, rate, rate_of_pass, slope_of, slopes, surprise
from omkl.engine.methods import Array, Budget, Counts, Expansion, Features, Store, Stream, Trace
from omkl.engine.rank_one import gains, hold, leave
