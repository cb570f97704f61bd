from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from mipaudit.evidence.kernel import common_advantage, kernel_estimates, noised_limit, own_advantage
from mipaudit.evidence.scores.rows import ErrorShare
from mipaudit.maths.class_limits.class_upper import oracle_upper
from mipaudit.maths.kernel_density import bounded_upper
from mipaudit.summaries.grids import GridCounts, make_grid_plans
from mipaudit.summaries.plan import BurnInSample, make_plan
from mipaudit.summaries.rows import Rows, micro_blocks, rank_bytes

SHARE = ErrorShare(confidence=0.95, columns=1)


def counted(scores, member, prior=0.5, seed=1):
    rows = Rows(
        first_row=0,
        source_rows=scores.size,
        kept=None,
        keys=None,
        member=member,
        scores=(scores,),
    )
    sample = BurnInSample(1, seed)
    sample.add(rows)
    sample.settle()
    plan = make_plan(sample, ["float"], prior=prior, discrete=False, seed=seed)
    grids = make_grid_plans(sample, plan, ["float"], prior=prior)
    counts = GridCounts(grids, burn_in=plan.burn_in, seed=seed)
    counts.add(rows)
    burned = micro_blocks(rank_bytes(rows, seed)) < plan.burn_in
    return counts.columns()[0], burned


def file_of(rng, n, draw):
    member = rng.random(n) < 0.5
    scores = np.empty(n)
    scores[member] = draw(rng, int(member.sum()), 1)
    scores[~member] = draw(rng, int((~member).sum()), 0)
    return scores, member


def shifted(rng, size, side):
    return rng.normal(0.7 * side, 1, size)


def exact_advantage(scores, member, widths, prior, images=lambda x: [x], span=(-12, 12)):
    """The integral of |p f - (1-p) g| of the kernel sums themselves, on a fine net."""
    points = np.linspace(*span, 6001)
    densities = []
    for side, width in ((True, widths[0]), (False, widths[1])):
        mine = scores[member == side]
        total = np.zeros(points.size)
        for one in images(mine):
            for part in np.array_split(one, max(1, one.size // 200)):
                z = (points[:, None] - part[None]) / width
                total += np.exp(-0.5 * z**2).sum(axis=1)
        densities.append(total / (mine.size * width * math.sqrt(2 * math.pi)))
    step = points[1] - points[0]
    return float(np.abs(prior * densities[0] - (1 - prior) * densities[1]).sum() * step)


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.mark.parametrize("prior", [0.5, 0.2])
def test_seen_advantage_is_the_exact_kernel_sums(rng, prior):
    scores, member = file_of(rng, 1200, shifted)
    column, burned = counted(scores, member, prior)
    for bandwidth in column.plan.bandwidths:
        found = noised_limit(column, bandwidth.width, prior=prior, alpha=0.025, strict=False)
        expected = exact_advantage(scores[~burned], member[~burned], (bandwidth.width,) * 2, prior)
        assert found.observed == pytest.approx(max(expected, abs(2 * prior - 1)), abs=3e-4)
        assert found.observed >= expected - 1e-6
        assert found.n_members == int((member & ~burned).sum())
        assert found.n_holdout == int((~member & ~burned).sum())


def test_published_values_are_the_exact_kernel_sums(rng):
    scores, member = file_of(rng, 900, shifted)
    column, _ = counted(scores, member)
    plan = column.plan
    assert common_advantage(column, 0.5) == pytest.approx(
        exact_advantage(scores, member, (plan.common,) * 2, 0.5), abs=3e-4
    )
    assert own_advantage(column, 0.5) == pytest.approx(
        exact_advantage(scores, member, plan.own, 0.5), abs=3e-4
    )


def test_own_bandwidths_may_differ_much(rng):
    """A wide kernel is laid over fewer nodes."""
    scores, member = file_of(rng, 900, lambda r, k, side: r.normal(0, 1 if side else 0.05, k))
    column, _ = counted(scores, member)
    wide, narrow = column.plan.own
    assert wide > 10 * narrow
    assert own_advantage(column, 0.5) == pytest.approx(
        exact_advantage(scores, member, (wide, narrow), 0.5), abs=1e-3
    )


def test_wide_kernels_are_laid_on_fewer_nodes(rng):
    scores, member = file_of(rng, 900, shifted)
    column, _ = counted(scores, member)
    column.plan = replace(column.plan, own=(40.0, 30.0))
    expected = exact_advantage(scores, member, (40.0, 30.0), 0.5, span=(-300, 300))
    assert own_advantage(column, 0.5) == pytest.approx(expected, abs=1e-3)


def test_ends_are_reflected_in_the_published_value_and_not_in_the_limit(rng):
    """A limit without the fold holds with it too: folding is done after the noise."""
    scores, member = file_of(rng, 900, lambda r, k, side: r.beta(1.0, 1.0 + side, k))
    column, burned = counted(scores, member)
    plan = column.plan

    def reflected(one):
        return [one, -one, 2 - one]

    assert common_advantage(column, 0.5) == pytest.approx(
        exact_advantage(scores, member, (plan.common,) * 2, 0.5, reflected, span=(0, 1)), abs=2e-3
    )
    width = plan.bandwidths[-1].width
    late = scores[~burned], member[~burned]
    found = noised_limit(column, width, prior=0.5, alpha=0.025, strict=False)
    plain = exact_advantage(*late, (width,) * 2, 0.5, span=(-3, 4))
    folded = exact_advantage(*late, (width,) * 2, 0.5, reflected, span=(0, 1))
    assert found.observed == pytest.approx(plain, abs=1e-3)
    assert folded <= plain + 2e-3


def test_recurring_values_are_a_discrete_part(rng):
    def draw(r, size, side):
        return np.where(r.random(size) < 0.3 + 0.2 * side, 0.25, r.normal(size=size))

    scores, member = file_of(rng, 3000, draw)
    column, _ = counted(scores, member)
    assert column.plan.atoms.tolist() == [0.25]
    atom = scores == 0.25
    expected = 0.5 * abs(atom[member].mean() - atom[~member].mean())
    rest = exact_advantage_of_rest(scores, member, atom, column.plan.common)
    assert common_advantage(column, 0.5) == pytest.approx(expected + rest, abs=1e-3)


def exact_advantage_of_rest(scores, member, atom, width):
    points = np.linspace(-12, 12, 6001)
    total = np.zeros(points.size)
    for side, sign in ((True, 0.5), (False, -0.5)):
        mine = scores[(member == side) & ~atom]
        for part in np.array_split(mine, 20):
            z = (points[:, None] - part[None]) / width
            total += sign * np.exp(-0.5 * z**2).sum(axis=1) / (member == side).sum()
    return float(np.abs(total).sum() * (points[1] - points[0]) / (width * math.sqrt(2 * math.pi)))


def test_noise_blurs_recurring_values_in_the_limit(rng):
    """Two values near each other that tell all apart, until noise is added."""
    scores, member = file_of(rng, 4000, lambda r, k, side: np.full(k, 0.001 * side))
    scores += np.where(rng.random(4000) < 0.5, rng.normal(size=4000), 0.0)
    column, _ = counted(scores, member)
    wide = column.plan.bandwidths[-1]
    found = noised_limit(column, wide.width, prior=0.5, alpha=0.025, strict=False)
    assert common_advantage(column, 0.5) > 0.45
    assert found.upper < 0.2


def test_what_is_off_the_grid_is_told_apart_and_infinities_are_values(rng):
    scores, member = file_of(rng, 6000, lambda r, k, side: r.standard_cauchy(k) ** 3)
    infinite = rng.random(6000) < 0.2
    scores[infinite] = np.inf
    column, burned = counted(scores, member)
    sides = [column.side(one, everyone=False) for one in (1, 0)]
    told = sum(0.5 * one.outside / one.records for one in sides)
    shares = [(infinite & ~burned)[member == s].sum() for s in (True, False)]
    sizes = [(~burned)[member == s].sum() for s in (True, False)]
    assert [one.infinite.tolist() for one in sides] == [[0, n] for n in shares]
    assert told > 0.01
    least = told + 0.5 * abs(shares[0] / sizes[0] - shares[1] / sizes[1])
    width = column.plan.bandwidths[0].width
    found = noised_limit(column, width, prior=0.5, alpha=0.025, strict=False)
    assert found.observed >= least


@pytest.mark.parametrize("prior", [0.1, 0.5])
def test_limits_come_from_the_same_observation(rng, prior):
    scores, member = file_of(rng, 2000, shifted)
    column, _ = counted(scores, member, prior)
    width = column.plan.bandwidths[0].width
    for strict, limit in ((False, oracle_upper), (True, bounded_upper)):
        found = noised_limit(column, width, prior=prior, alpha=0.02, strict=strict)
        expected = limit(found.observed, found.n_members, found.n_holdout, prior=prior, alpha=0.02)
        assert expected <= found.upper <= expected + 1e-3


def test_rows_of_the_report(rng):
    scores, member = file_of(rng, 1500, shifted)
    column, _ = counted(scores, member)
    rows = kernel_estimates("s", column, SHARE, prior=0.5, strict=False)
    noised = [row for row in rows if row.attackers == "noised-query"]
    published = [row for row in rows if row.attackers == "any"]
    assert len(noised) + len(published) == len(rows)
    assert [row.bandwidth for row in noised] == [b.width for b in column.plan.bandwidths]
    assert all(row.validity == "approximate" and row.upper is not None for row in noised)
    assert all(row.lower is None and row.lower_reason for row in noised)
    assert [row.validity for row in published] == ["not-an-interval"] * 2
    half = math.sqrt(2 * math.log(2 / 0.05) / 1500)
    for row in published:
        assert row.upper - row.value == pytest.approx(half)
        assert row.n_members + row.n_holdout == 1500
    strict = kernel_estimates("s", column, SHARE, prior=0.5, strict=True)
    assert [row.validity for row in strict[: len(noised)]] == ["finite-sample"] * len(noised)
    assert all(s.upper > a.upper for s, a in zip(strict, noised, strict=False))


def test_without_a_grid_the_reason_is_said():
    (row,) = kernel_estimates("s", None, SHARE, prior=0.5, strict=False)
    assert (row.upper, row.value, row.bandwidth) == (None, None, None)
    assert row.upper_reason


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize("prior", [0.1, 0.5])
def test_coverage(strict, prior):
    """Normal scores: the advantage after noise is known; every bandwidth counts."""
    from scipy.special import ndtr

    def truth(width):
        sd, gap = math.hypot(1, width), 0.7
        cut = gap / 2 + sd**2 / gap * math.log((1 - prior) / prior)
        correct = prior * ndtr((gap - cut) / sd) - (1 - prior) * ndtr(-cut / sd)
        return 1 - 2 * prior + 2 * correct

    rng = np.random.default_rng(9)
    missed = 0
    for seed in range(40):
        scores, member = file_of(rng, 300, shifted)
        column, _ = counted(scores, member, prior, seed)
        missed += any(
            noised_limit(column, b.width, prior=prior, alpha=0.05, strict=strict).upper
            < truth(b.width)
            for b in column.plan.bandwidths
        )
    assert missed <= 8  # P(Bin(40, 0.05) > 8) < 0.1%
