from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mipaudit.evidence.judgement.policy_on_scores import Standing, records_to_settle

OPEN = Standing(
    limit=0.3,
    value=0.4,
    lower=0.25,
    upper=0.55,
    error=0.03,
    records=1000,
)


def test_more_records_are_needed_the_nearer_the_limit():
    numbers = [records_to_settle(replace(OPEN, limit=limit)) for limit in (0.26, 0.3, 0.34)]
    assert numbers == sorted(set(numbers))
    assert numbers[0] >= OPEN.records


def test_no_number_is_promised_within_the_error_of_the_estimate():
    assert records_to_settle(replace(OPEN, limit=0.4)) is None
    assert records_to_settle(replace(OPEN, limit=0.4, error=0.0)) is None


def test_a_promise_grows_no_more_than_a_hundredfold_before_there_is_none():
    # Where a limit that is two errors away must come nearer than one.
    gaps = {"lower": OPEN.value - 2 * OPEN.error, "upper": OPEN.value + 2 * OPEN.error}
    for away in (1.01, 1.5, 2.0):
        near = replace(OPEN, limit=OPEN.value - away * OPEN.error, **gaps)
        assert OPEN.records <= records_to_settle(near) <= 100 * OPEN.records
    assert records_to_settle(replace(OPEN, limit=OPEN.value - 0.99 * OPEN.error, **gaps)) is None


def test_the_upper_limit_settles_from_the_other_side():
    below = replace(OPEN, limit=0.5)
    assert records_to_settle(below) is not None
    assert records_to_settle(replace(below, upper=None)) is None


@given(
    limit=st.floats(0.01, 1),
    value=st.floats(0, 1),
    gaps=st.tuples(st.floats(0.001, 0.5), st.floats(0.001, 0.5)),
    error=st.floats(1e-6, 0.2),
    records=st.integers(2, 10**10),
)
def test_a_plan_is_a_whole_number_not_below_the_records_at_hand(limit, value, gaps, error, records):
    found = records_to_settle(
        Standing(
            limit=limit,
            value=value,
            lower=value - gaps[0],
            upper=value + gaps[1],
            error=error,
            records=records,
        )
    )
    if found is not None:
        assert found >= records
        digits = str(found).rstrip("0")
        assert len(digits) <= 2
        assert found <= 1.2 * records * 1e6


@pytest.mark.parametrize("records", [2, 9, 99, 100, 101, 4242, 10**9 + 1])
def test_small_and_large_numbers_are_rounded_up(records):
    far = replace(OPEN, limit=0.01, value=0.9, lower=0.0, error=1e-9, records=records)
    assert records <= records_to_settle(far) <= 1.3 * records + 1
