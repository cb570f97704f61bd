from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mipaudit.commands.records.cells import (
    MOST_CELLS,
    RecordRisks,
    RecordTally,
    cells_wanted,
    cut_cells,
)
from mipaudit.errors import InputError
from mipaudit.maths.cell_risk import conditional_limits, melded_limits
from mipaudit.summaries.plan import BurnInSample
from mipaudit.summaries.rows import Rows, micro_blocks, rank_bytes
from mipaudit.validation.estimands.estimand import burn_in
from tests.contents import worst_miss


def rows_of(member, score, first=0):
    place = {"first_row": first, "source_rows": member.size, "kept": None, "keys": None}
    return Rows(**place, member=member, scores=(np.asarray(score, dtype=np.float64),))


def cut(member, score, *, seed=0, kind="float", **settings):
    sample = BurnInSample(1, seed)
    sample.add(rows_of(member, score))
    sample.settle()
    return cut_cells(sample, kind, seed=seed, **settings)


def halves(n):
    return np.arange(n) % 2 == 0


def test_more_rows_bear_more_cells():
    wanted = [cells_wanted(n, n) for n in (10, 100, 1_000, 10**5, 10**7, 10**9)]
    assert wanted == sorted(wanted)
    assert wanted[0] == 4
    assert wanted[-1] == MOST_CELLS
    assert cells_wanted(1_000, 10**6) == cells_wanted(1_000, 1_000) == 20


def test_cells_hold_about_equally_many_rows_and_the_ends_are_halved_where_the_rows_bear_it():
    score = np.random.default_rng(0).normal(size=20_000)
    cells = cut(halves(20_000), score, cells=16)
    rows = np.bincount(cells.of(score))
    assert not cells.single.any()
    inner = rows[2:-2] / (20_000 / 16)
    assert 0.8 < inner.min() <= inner.max() < 1.2
    score = np.random.default_rng(1).normal(size=100_000)
    cells = cut(halves(100_000), score, cells=16)
    assert 16 < cells.count <= 16 + 8
    assert np.bincount(cells.of(score)).min() > 200


def test_a_smaller_class_places_as_many_cells():
    # 100 members lie where hardly a holdout record does: they get cells all the same.
    rng = np.random.default_rng(2)
    score = np.concatenate([rng.normal(10, 1, 1_000), rng.normal(0, 1, 50_000)])
    member = np.arange(score.size) < 1_000
    cells = cut(member, score, cells=16)
    assert np.unique(cells.of(score[member])).size >= 6


@given(
    values=st.lists(st.sampled_from([-np.inf, -1.0, 0.0, 0.5, 2.0, np.inf]), min_size=40),
    seed=st.integers(0, 5),
)
@settings(max_examples=60, deadline=None)
def test_every_score_has_a_cell_and_equal_scores_share_it(values, seed):
    score = np.array(values)
    cells = cut(halves(score.size), score, seed=seed)
    found = cells.of(score)
    assert 0 <= found.min() <= found.max() < cells.count
    for value in np.unique(score):
        assert np.unique(found[score == value]).size == 1
    assert cells.single.size == cells.count


def test_each_frequent_value_is_a_cell():
    rng = np.random.default_rng(3)
    score = rng.integers(0, 5, 5_000).astype(float)
    cells = cut(halves(5_000), score, kind="integer")
    assert cells.discrete
    assert cells.single.sum() == 5
    assert np.unique(cells.of(np.arange(5.0))).size == 5
    # Values that the burn-in lacks share a last cell.
    rare = cells.of(np.array([-3.0, 17.0, 2.5]))
    assert set(rare.tolist()) == {cells.count - 1}


def test_rare_values_are_joined():
    rng = np.random.default_rng(4)
    score = np.concatenate([np.zeros(5_000), rng.permutation(1_000) + 1.0])
    cells = cut(rng.random(6_000) < 0.5, score, kind="integer")
    rows = np.bincount(cells.of(score), minlength=cells.count)
    assert cells.of(np.zeros(1))[0] == np.flatnonzero(cells.single)[0]
    assert 10 < cells.count < 200
    assert np.median(rows) >= 5


def test_too_many_values_cannot_be_called_discrete():
    score = np.arange(200_000, dtype=np.float64)
    with pytest.raises(InputError, match="distinct values"):
        cut(halves(200_000), score, discrete=True)


def test_cells_depend_on_burn_in_rows_alone():
    rng = np.random.default_rng(5)
    member, score = halves(4_000), rng.normal(size=4_000)
    cells = cut(member, score)
    early = micro_blocks(rank_bytes(rows_of(member, score), 0)) < cells.burn_in
    other = np.where(early, score, score * 3 + 1)
    changed = cut(member, other)
    assert np.array_equal(cells.edges, changed.edges)
    assert np.array_equal(cells.cell, changed.cell)


def test_tally_counts_and_merges():
    rng = np.random.default_rng(6)
    member, score = rng.random(5_000) < 0.4, rng.normal(size=5_000)
    cells = cut(member, score)
    whole = RecordTally(cells)
    whole.add(rows_of(member, score))
    parts = RecordTally(cells)
    for start, stop in ((3_000, 5_000), (0, 3_000)):
        other = RecordTally(cells)
        other.add(rows_of(member[start:stop], score[start:stop], first=start))
        parts.merge(other)
    assert np.array_equal(whole.counts, parts.counts)
    early = micro_blocks(rank_bytes(rows_of(member, score), 0)) < cells.burn_in
    counts = np.zeros_like(whole.counts)
    np.add.at(counts, (cells.of(score), early.astype(int), member.astype(int)), 1)
    assert np.array_equal(whole.counts, counts)


def risks_of(members, holdout, *, early=None, **settings):
    counts = np.zeros((len(members), 2, 2), dtype=np.int64)
    counts[:, 0, 1], counts[:, 0, 0] = members, holdout
    if early is not None:
        counts[:, 1] = early
    given = {"prior": 0.5, "confidence": 0.95, **settings}
    return RecordRisks(counts=counts, single=np.zeros(len(members), dtype=bool), **given)


def test_occupied_cells_share_the_error_and_one_of_them_has_the_largest_risk():
    risks = risks_of([50, 0, 20, 30], [10, 0, 40, 50])
    assert risks.cells == 3
    sizes = {"n_members": 100, "n_holdout": 100, "prior": 0.5}
    plain = melded_limits(risks.members, risks.holdout, **sizes, alpha=0.05 / 3)
    for end in ("lower", "upper"):
        assert np.array_equal(getattr(risks.together, end), getattr(plain, end))
    assert (risks.alone.risk_upper <= risks.together.risk_upper).all()
    largest = risks.largest_row("s")
    assert (risks.largest, risks.order.tolist()) == (0, [0, 2, 3])
    assert largest.lower == risks.together.risk_lower[0] > 0
    assert largest.upper < 1
    # The baseline is a lower limit.
    assert risks_of([3, 4], [4, 3], prior=0.1).largest_row("s").lower >= 0.8


def test_many_cells_have_conditional_limits():
    members, holdout = np.arange(1, 101), np.arange(100, 0, -1)
    risks = risks_of(members, holdout)
    assert not risks.melded
    sizes = {"n_members": 5_050, "n_holdout": 5_050, "prior": 0.5}
    plain = conditional_limits(members, holdout, **sizes, alpha=0.05 / 100)
    assert risks.together.lower == pytest.approx(plain.lower)


def test_the_largest_value_is_at_least_the_average():
    for prior in (0.1, 0.9, 0.5):
        row = risks_of([9_970, 30], [9_990, 10], prior=prior).largest_row("s")
        assert row.lower <= row.value <= row.upper
    # The cell of the larger limit has less than the average risk.
    risks = risks_of([9_988, 12], [9_990, 10], prior=0.9)
    assert risks.together.risk[risks.largest] < 0.8 <= risks.largest_row("s").value


def test_records_without_a_counted_one_have_no_limit():
    early = np.array([[0, 0], [0, 0], [0, 5]])
    risks = risks_of([50, 50, 0], [50, 50, 0], early=early)
    assert risks.uncounted == 5
    assert risks.largest_row("s").upper == 1
    assert risks_of([50, 50, 0], [50, 50, 0]).largest_row("s").upper < 1
    # Nothing is known without a class.
    empty = risks_of([3, 4], [0, 0])
    assert (empty.largest_row("s").upper, empty.together.risk_lower.max()) == (1, 0)
    assert not empty.listed.any()


def test_burn_in_rows_are_in_their_cell_and_in_no_count():
    early = np.array([[5, 7], [0, 2]])
    risks = risks_of([50, 20], [10, 40], early=early)
    assert risks.everyone.tolist() == [[15, 57], [40, 22]]
    assert risks.counted.sum(axis=0).tolist() == [50, 70]


def test_listed_cells_are_surely_above_tau():
    rng = np.random.default_rng(0)
    members = np.concatenate([[60, 0], rng.poisson(30, 30)])
    holdout = np.concatenate([[2, 50], rng.poisson(30, 30)])
    risks = risks_of(members, holdout, tau=0.5, rate=0.05)
    assert risks.listed[:2].all()
    assert not risks.listed[2:].any()
    adjusted = risks.adjusted
    assert (adjusted.risk_lower[risks.listed] > 0.5).all()
    assert (adjusted.risk_lower[risks.listed] >= risks.together.risk_lower[risks.listed]).all()


def test_false_discoveries_stay_rare():
    # 60 of 80 cells have a risk of exactly tau, 20 are far above.
    rng = np.random.default_rng(1)
    weight = np.concatenate([np.full(60, 3.0), np.full(20, 19.0)])
    P = weight / weight.sum()
    Q = 1 / weight.size / weight.size * np.ones(80)
    Q /= Q.sum()
    f = (P - Q) / (P + Q)
    tau = f[0]
    shares = []
    for _ in range(200):
        members, holdout = rng.multinomial(8_000, P), rng.multinomial(8_000, Q)
        listed = risks_of(members, holdout, tau=abs(tau), rate=0.1).listed
        shares.append((listed & (np.abs(f) <= abs(tau) + 1e-12)).sum() / max(1, listed.sum()))
    assert np.mean(shares) <= 0.1


def test_a_whole_population_is_known_without_sampling_error_of_members():
    sampled, whole = (
        (risks.together.upper - risks.together.lower)[0]
        for risks in (risks_of([50, 450], [50, 450], population=n) for n in (None, 500))
    )
    assert 0.4 < whole / sampled < 0.9


@pytest.mark.parametrize("population", [None, 1_000])
def test_order_is_by_the_lower_limit(population):
    risks = risks_of([5, 500, 300], [0, 300, 500], population=population)
    lower = risks.together.risk_lower[risks.order]
    assert (np.diff(lower) <= 0).all()


def limits_of_every_content(n, prior, *, late_only):
    """Limits of the cell of every member, by how many of n holdout records share its value."""
    found = []
    for shared in range(n + 1):
        score = np.concatenate([np.ones(n), np.arange(n) < shared])
        rows = rows_of(np.arange(2 * n) < n, score)
        cells = cut_cells(burn_in(rows, shared), "float", seed=shared, discrete=True)
        tally = RecordTally(cells)
        tally.add(rows)
        single = np.zeros(cells.count, dtype=bool) if late_only else cells.single
        risks = RecordRisks(counts=tally.counts, single=single, prior=prior, confidence=0.95)
        (cell,), both = cells.of(np.ones(1)), (risks.together, risks.alone)
        found.append([ends[cell] for one in both for ends in (one.lower, one.upper)])
    return np.transpose(found)


@pytest.mark.parametrize(("n", "prior"), [(22, 0.5), (57, 0.1), (81, 0.9)])
def test_the_risk_of_a_value_is_within_its_limits_whatever_the_contents(n, prior):
    def truth(share):
        return (prior - (1 - prior) * share) / (prior + (1 - prior) * share)

    low, high, lower, upper = limits_of_every_content(n, prior, late_only=False)
    assert worst_miss(truth, lower=low, upper=high) <= 0.05
    assert worst_miss(truth, lower=lower, upper=upper) <= 0.05
    if n > 50:  # luck of one assignment for each content: not at every size
        low, high, *_ = limits_of_every_content(n, prior, late_only=True)
        assert worst_miss(truth, lower=low, upper=high) > 0.06
