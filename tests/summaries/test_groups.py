from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from mipaudit.summaries import plan as plans
from mipaudit.summaries.plan import make_plan
from mipaudit.summaries.tally import GroupCensus, Grouping, Tally
from tests.fixtures.rows import burn_in, make_rows

rng = np.random.default_rng(0)
N = 3_000
MEMBER = rng.random(N) < 0.5
SCORE = rng.normal(size=N)
GROUP = rng.choice(np.array([11, 22, 33, 44], dtype=np.uint64), N)
for group in np.unique(GROUP):
    SCORE[np.flatnonzero(group == GROUP)[:2]] = np.inf, -np.inf


def rows_of(chosen):
    own = {"kept": np.flatnonzero(chosen), "groups": GROUP[chosen]}
    return make_rows(MEMBER[chosen], SCORE[chosen], source_rows=N, **own)


ALL = rows_of(np.ones(N, dtype=bool))


def test_census_counts_classes():
    whole, parts = GroupCensus(), GroupCensus()
    whole.add(ALL)
    for chosen in (np.arange(N) < 500, np.arange(N) >= 500):
        other = GroupCensus()
        other.add(rows_of(chosen))
        parts.merge(other)
    assert whole.sizes == parts.sizes
    for group, (inside, outside) in whole.sizes.items():
        assert inside == (MEMBER & (group == GROUP)).sum()
        assert outside == (~MEMBER & (group == GROUP)).sum()


def test_grouping_numbers_rows():
    grouping = Grouping(
        kept=np.array([22, 44], dtype=np.uint64), merged=np.array([11], dtype=np.uint64)
    )
    assert grouping.count == 3
    asked = np.array([44, 11, 33, 22, 99], dtype=np.uint64)
    assert grouping.numbers(SimpleNamespace(groups=asked)).tolist() == [1, 2, -1, 0, -1]


@pytest.mark.parametrize("exact", [True, False])
def test_each_group_is_counted_as_if_alone_and_parts_merge(exact, monkeypatch):
    monkeypatch.setattr(plans, "EXACT_ROWS", plans.EXACT_ROWS if exact else 10)
    sample = burn_in([ALL], 0)
    one = make_plan(sample, ["float"], prior=0.5, discrete=False, seed=0)
    grouping = Grouping(
        kept=np.array([22, 44], dtype=np.uint64), merged=np.array([11, 33], dtype=np.uint64)
    )
    tally, other = Tally(one, grouping), Tally(one, grouping)
    tally.add(rows_of(np.arange(N) % 2 == 1))
    other.add(rows_of(np.arange(N) % 2 == 0))
    tally.merge(other)
    expected = [GROUP == 22, GROUP == 44, (GROUP == 11) | (GROUP == 33)]
    for counts, chosen in zip(tally.counts(), expected, strict=True):
        alone = Tally(one)
        alone.add(rows_of(chosen))
        (twin,) = alone.counts()
        for part in ("blocks", "trained", "scored", "single"):
            assert np.array_equal(getattr(counts, part), getattr(twin, part)), part
        for part in ("everyone", "evaluated"):
            mine, its = getattr(counts, part), getattr(twin, part)
            assert np.array_equal(mine.members, its.members)
            assert np.array_equal(mine.holdout, its.holdout)
        assert counts.infinite == twin.infinite > 0
        assert (counts.discrete, counts.burn_in) == (twin.discrete, twin.burn_in)
        # Rows of one score may stand in any order.
        ranked = (own for own in (counts.ranked, twin.ranked) if own is not None)
        rows = [sorted(zip(own.rank, own.member, *own.micro_blocks, strict=True)) for own in ranked]
        assert len(rows) == 2 * exact
        assert rows[:1] == rows[1:]
