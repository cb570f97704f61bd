from __future__ import annotations

import numpy as np
import pytest

from mipaudit.commands.records.cells import RecordRisks, RecordTally, cut_cells
from mipaudit.maths.cell_risk import conditional_limits, melded_limits
from mipaudit.validation.estimands.estimand import burn_in, rows_of
from tests.contents import worst_miss


def risks_of(members, holdout, *, early=None, **settings):
    counts = np.zeros((len(members), 2, 2), dtype=np.int64)
    counts[:, 0, 1], counts[:, 0, 0] = members, holdout
    if early is not None:
        counts[:, 1] = early
    single = np.zeros(len(members), dtype=bool)
    return RecordRisks(
        counts=counts, single=single, **{"prior": 0.5, "confidence": 0.95, **settings}
    )


def test_occupied_cells_share_the_error():
    risks = risks_of([50, 0, 20, 30], [10, 0, 40, 50])
    assert risks.cells == 3
    plain = melded_limits(
        risks.members, risks.holdout, n_members=100, n_holdout=100, prior=0.5, alpha=0.05 / 3
    )
    assert np.array_equal(risks.together.lower, plain.lower)
    assert np.array_equal(risks.together.upper, plain.upper)
    assert (risks.alone.risk_upper <= risks.together.risk_upper).all()


def test_many_cells_have_conditional_limits():
    members, holdout = np.arange(1, 101), np.arange(100, 0, -1)
    risks = risks_of(members, holdout)
    assert not risks.melded
    plain = conditional_limits(
        members, holdout, n_members=5_050, n_holdout=5_050, prior=0.5, alpha=0.05 / 100
    )
    assert risks.together.lower == pytest.approx(plain.lower)


def test_the_largest_risk_is_over_cells_with_records():
    risks = risks_of([50, 0, 20, 30], [10, 0, 40, 50])
    assert risks.largest == 0
    assert risks.largest_lower == risks.together.risk_lower[0] > 0
    assert risks.largest_upper < 1
    assert risks.order.tolist() == [0, 2, 3]


def test_the_baseline_is_a_lower_limit():
    risks = risks_of([3, 4], [4, 3], prior=0.1)
    assert risks.largest_lower >= 0.8


def test_the_largest_value_is_at_least_the_average():
    for prior in (0.1, 0.9, 0.5):
        risks = risks_of([9_970, 30], [9_990, 10], prior=prior)
        assert risks.largest_lower <= risks.largest_value <= risks.largest_upper
    # The cell of the larger limit has less than the average risk.
    risks = risks_of([9_988, 12], [9_990, 10], prior=0.9)
    assert risks.together.risk[risks.largest] < 0.8 <= risks.largest_value


def test_records_without_a_counted_one_have_no_limit():
    early = np.array([[0, 0], [0, 0], [0, 5]])
    risks = risks_of([50, 50, 0], [50, 50, 0], early=early)
    assert risks.uncounted == 5
    assert risks.largest_upper == 1
    assert risks_of([50, 50, 0], [50, 50, 0]).largest_upper < 1


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


def test_nothing_is_known_without_a_class():
    risks = risks_of([3, 4], [0, 0])
    assert risks.largest_upper == 1
    assert not risks.listed.any()
    assert risks.together.risk_lower.max() == 0


def test_a_whole_population_is_known_without_sampling_error_of_members():
    members, holdout = [50, 450], [50, 450]
    sampled = risks_of(members, holdout)
    whole = risks_of(members, holdout, population=500)
    width = (sampled.together.upper - sampled.together.lower)[0]
    narrower = (whole.together.upper - whole.together.lower)[0]
    assert 0.4 < narrower / width < 0.9


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
        rows = rows_of(np.arange(2 * n) < n, [score])
        cells = cut_cells(burn_in(rows, shared), "float", seed=shared, discrete=True)
        tally = RecordTally(cells)
        tally.add(rows)
        single = np.zeros(cells.count, dtype=bool) if late_only else cells.single
        risks = RecordRisks(counts=tally.counts, single=single, prior=prior, confidence=0.95)
        (cell,) = cells.of(np.ones(1))
        found.append(
            [limits[cell] for one in (risks.together, risks.alone) for limits in ends(one)]
        )
    return np.transpose(found)


def ends(limits):
    return limits.lower, limits.upper


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
