"""What every learner of conf/algo keeps to: the contracts of omkl.testing, which users run on theirs."""

import pytest

from omkl.config import learner_names, learner_spec
from omkl.testing import contracts

WIDE = {"kind": "gaussian", "sigma": 2.0}
# Options under which blocks and parts of a pass change nothing either, and scoring between parts.
CUTS = [
    ("bomkc_bogd", {"budget": 20, "removal": "uniform", "clip": 2.0}),
    ("bomkc_bogd", {"budget": 20, "removal": "nonuniform"}),
    ("bomkc_bpas", {"budget": 20, "normalise": True, "C": 0.5}),
    ("omklp_da1", {"beta": None}),
    ("omklp_da2", {"gamma": 2.0}),
    ("omklp_mua", {"delta": 0.2}),
    ("omklo_da", {"R": 0.7}),
    ("omklo_sua", {"R": 0.7, "delta": 0.3, "eta": 0.5}),
    ("om2", {"p": 1.2, "aggressive": False}),
    ("bomkc_spa", {"normalise": True, "predict": "averaged"}),
    ("bomkc_spa", {"discount": "zero_one", "alpha": 0.5, "beta": 0.5}),
    ("norma", {"kernel": WIDE, "tau": 40, "lam": 0.1}),
    ("norma", {"kernel": WIDE, "tau": 1}),
    ("norma_nu", {"kernel": WIDE, "tau": 40, "step": "sqrt", "offset": True}),
    ("norma_novelty", {"kernel": WIDE, "loss": "logistic"}),
    ("arow_features", {"full": False}),
    ("adaraker", {"kept": True}),
    ("adamkl", {"kept": True}),
]
NAMES = [name for name in learner_names() if name != "auto"]  # a stack, whose members are among these
EVERY = pytest.mark.parametrize("name", NAMES)
MANY = {  # a test for each stream and pool, or for each size, below and in test_contract_numbers
    contracts.block_size_changes_no_bit,
    contracts.a_cut_pass_equals_one_pass,
    contracts.finite_after_many_rounds,
    contracts.extreme_features,
}


@EVERY
@pytest.mark.parametrize("contract", [each for each in contracts.CONTRACTS.values() if each not in MANY])
def test_contract(contract, name):
    contract(name)


def in_turn():
    """(learner, stream, pool): each learner on ties and on one stream of reals; pools in turn."""
    for at, name in enumerate(NAMES):
        pools = (
            ["mixed"] if learner_spec(name).usual_pool else [*contracts.POOLS]
        )  # Gaussians, which mixed has
        for number, stream in enumerate(("ties", ("wdbc", "clouds")[at % 2])):
            yield name, stream, pools[(at + number) % len(pools)]


@pytest.mark.parametrize(("name", "stream", "pool"), list(in_turn()))
def test_block_size_changes_no_bit(name, stream, pool):
    contracts.block_size_changes_no_bit(name, stream, pool)


@EVERY
@pytest.mark.parametrize(
    ("stream", "block", "cuts"), [("ties", 16, [0, 1, 130, 131, 300]), ("clouds", 128, [3, 100, 100, 257])]
)
def test_a_pass_cut_anywhere_equals_one_pass(name, cuts, block, stream):
    contracts.a_cut_pass_equals_one_pass(name, cuts, block, stream)


@pytest.mark.parametrize(("name", "over"), CUTS)
def test_options_change_neither_blocks_nor_parts(name, over):
    contracts.block_size_changes_no_bit(name, "ties", "mixed", **over)
    scored = not learner_spec(name).stochastic
    contracts.a_cut_pass_equals_one_pass(name, scored=scored, **over)
