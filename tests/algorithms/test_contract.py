"""What every learner of conf/algo keeps to: the contracts of omkl.testing, which users run on theirs."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from omkl.config import learner_names, learner_spec
from omkl.testing import contracts

EVERY = pytest.mark.parametrize("name", learner_names())
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
    """(learner, stream, pool): each learner on every stream and with every pool, which meet in turn."""
    for at, name in enumerate(learner_names()):
        pools = (
            ["mixed"] if learner_spec(name).usual_pool else [*contracts.POOLS]
        )  # Gaussians, which mixed has
        for number, stream in enumerate(contracts.STREAMS):
            yield name, stream, pools[(at + number) % len(pools)]


@pytest.mark.parametrize(("name", "stream", "pool"), list(in_turn()))
def test_block_size_changes_no_bit(name, stream, pool):
    contracts.block_size_changes_no_bit(name, stream, pool)


@EVERY
@settings(max_examples=6, deadline=None, derandomize=True)
@given(
    cuts=st.lists(st.integers(0, 300), max_size=6),
    block=st.sampled_from([1, 16, 128]),
    stream=st.sampled_from(["ties", "clouds"]),
)
def test_a_pass_cut_anywhere_equals_one_pass(name, cuts, block, stream):
    contracts.a_cut_pass_equals_one_pass(name, cuts, block, stream)
