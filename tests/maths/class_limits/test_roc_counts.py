from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from mipaudit.maths.class_limits.roc_counts import exact_ladder, weighted_differences

SCORES = st.one_of(
    st.integers(-3, 3).map(float),
    st.floats(allow_nan=False, allow_infinity=True),
)
SAMPLES = hnp.arrays(np.float64, st.integers(0, 30), elements=SCORES)


@given(members=SAMPLES, holdout=SAMPLES)
def test_counts_every_distinct_value(members, holdout):
    ladder = exact_ladder(members, holdout)
    # Minus zero and zero are one score: no attacker's comparison tells them apart.
    values = sorted({*members.tolist(), *holdout.tolist()})
    assert ladder.members.tolist() == [int((members == value).sum()) for value in values]
    assert ladder.holdout.tolist() == [int((holdout == value).sum()) for value in values]
    assert ladder.single.all()


@given(members=SAMPLES, holdout=SAMPLES)
def test_negated_scores_give_the_reversed_ladder(members, holdout):
    ladder, negated = exact_ladder(members, holdout).reversed(), exact_ladder(-members, -holdout)
    assert ladder.members.tolist() == negated.members.tolist()
    assert ladder.holdout.tolist() == negated.holdout.tolist()


@given(
    members=hnp.arrays(np.float64, st.integers(1, 30), elements=st.floats(-1e300, 1e300)),
    holdout=hnp.arrays(np.float64, st.integers(1, 30), elements=st.floats(-1e300, 1e300)),
)
def test_a_strictly_increasing_map_changes_nothing(members, holdout):
    # Each value to its rank: strictly increasing, and as far from linear as it gets.
    values = np.unique(np.concatenate([members, holdout]))
    mapped = exact_ladder(
        np.searchsorted(values, members) ** 3.0, np.searchsorted(values, holdout) ** 3.0
    )
    plain = exact_ladder(members, holdout)
    assert mapped.members.tolist() == plain.members.tolist()
    assert mapped.holdout.tolist() == plain.holdout.tolist()


def test_sizes_and_exactness(ladder_from):
    ladder = ladder_from([2, 0, 1], [0, 0, 4], [True, False, True])
    assert (ladder.n_members, ladder.n_holdout) == (3, 4)
    assert ladder.exact  # an empty cell hides no order
    assert not ladder_from([2, 1, 1], [0, 0, 4], [True, False, True]).exact


def test_weighted_differences_by_hand(ladder_from):
    found = weighted_differences(ladder_from([2, 0, 2], [1, 5, 4]), 0.25)
    np.testing.assert_allclose(found, [0.25 * 0.5 - 0.075, -0.375, 0.125 - 0.3])


@pytest.mark.parametrize("asked", [(1, 40, 3, 400), (400, 1), (0, 399, 400)])
def test_counts_from_the_top_are_those_of_all_steps_as_far_as_is_needed(asked):
    rng = np.random.default_rng(5)
    ladder = exact_ladder(rng.integers(0, 150, 300).astype(float), rng.integers(0, 150, 400) / 1.0)
    above = [np.append(0, one[::-1].cumsum()) for one in (ladder.members, ladder.holdout)]
    for holdout in asked:
        members, passed = ladder.from_the_top(holdout)
        assert members.tolist() == above[0][: members.size].tolist()
        assert passed.tolist() == above[1][: passed.size].tolist()
        assert passed[-1] >= holdout
        assert passed.size == 1 or passed[-2] < holdout


def test_a_ladder_that_is_turned_is_kept():
    ladder = exact_ladder(np.array([1.0, 2.0]), np.array([0.0]))
    assert ladder.reversed() is ladder.reversed()
