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


@EVERY
@pytest.mark.parametrize("pool", contracts.POOLS)
@pytest.mark.parametrize("stream", contracts.STREAMS)
def test_block_size_changes_no_bit(stream, pool, name):
    if pool != "mixed" and learner_spec(name).usual_pool:
        pytest.skip("takes the Gaussians of a pool only, which mixed has")
    contracts.block_size_changes_no_bit(name, stream, pool)


@EVERY
@settings(max_examples=12, deadline=None, derandomize=True)
@given(
    cuts=st.lists(st.integers(0, 300), max_size=6),
    block=st.sampled_from([1, 16, 128]),
    stream=st.sampled_from(["ties", "clouds"]),
)
def test_a_pass_cut_anywhere_equals_one_pass(name, cuts, block, stream):
    contracts.a_cut_pass_equals_one_pass(name, cuts, block, stream)
