"""Each set's own upper limit, and the largest of a class: exact misses, twins, what is gained."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from scipy.optimize import minimize_scalar

from mipaudit.maths.class_limits import class_sets
from mipaudit.maths.class_limits.class_sets import interval_sets, threshold_sets, value_sets
from mipaudit.maths.class_limits.class_upper import oracle_upper
from mipaudit.maths.class_limits.roc_counts import Ladder, exact_ladder
from mipaudit.maths.class_limits.set_upper import Rise, class_upper, class_upper_strict

FORMS = {"default": class_upper, "strict": class_upper_strict}
# The default is approximate; what is proved has no reserve to exceed.
MOST = {"default": 1.05, "strict": 1.0}


def two_values(hits, alarms, sizes):
    """The ladder of a score of two values."""
    n1, n2 = sizes
    return Ladder(
        members=np.array([n1 - hits, hits]),
        holdout=np.array([n2 - alarms, alarms]),
        single=np.ones(2, dtype=bool),
    )


def worst_miss(form, sizes, prior, alpha, rates):
    """Largest share of files, over alpha, whose limit is below the truth of a set."""
    n1, n2 = sizes
    limits = np.array(
        [
            [form(value_sets(two_values(x, y, sizes), prior), alpha=alpha) for y in range(n2 + 1)]
            for x in range(n1 + 1)
        ]
    )
    worst = 0.0
    for tpr, fpr in rates:
        truth = 1 - 2 * prior + 2 * (prior * tpr - (1 - prior) * fpr)
        if truth > abs(2 * prior - 1) + 1e-9:
            law = stats.binom.pmf(range(n1 + 1), n1, tpr), stats.binom.pmf(range(n2 + 1), n2, fpr)
            worst = max(worst, float(law[0] @ (limits < truth - 1e-10) @ law[1]))
    return worst / alpha


def just_beyond(limits, prior):
    """FPRs of a set that takes every member, whose advantage is just above some limit."""
    fpr = (1 - np.unique(limits) - 1e-9) / (2 * (1 - prior))
    return fpr[(fpr >= 0) & (fpr <= 1)]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("alpha", [0.05, 0.025, 0.0025])
@pytest.mark.parametrize("prior", [0.5, 0.1, 0.9])
@pytest.mark.parametrize("size", [20, 37, 80, 131, 250, 1500])
def test_a_constant_class_is_missed_no_more_often_than_said(form, alpha, prior, size):
    """Every file of N + N rows whose members all score 1: N + 1 of them, with probabilities."""
    counts = np.arange(size + 1)
    limits = np.array(
        [
            FORMS[form](value_sets(two_values(size, k, (size, size)), prior), alpha=alpha)
            for k in counts
        ]
    )
    for fpr in just_beyond(limits, prior):
        truth = 1 - 2 * (1 - prior) * fpr
        if truth > abs(2 * prior - 1) + 1e-9:
            missed = stats.binom.pmf(counts, size, fpr)[limits < truth - 1e-10].sum()
            assert missed <= MOST[form] * alpha * (1 + 1e-6)
    assert limits[0] == 1
    # Not for nothing: the limits come down to the baseline.
    assert limits[-1] < abs(2 * prior - 1) + 4 / math.sqrt(size)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    ("sizes", "prior", "alpha"),
    [
        ((12, 12), 0.5, 0.025),
        ((30, 30), 0.3, 0.025),
        ((6, 60), 0.1, 0.0025),
        ((60, 7), 0.1, 0.05),
        ((20, 40), 0.9, 0.025),
        ((5, 200), 0.03, 0.025),
        ((25, 28), 0.5, 0.025),
    ],
)
def test_any_set_of_two_values_is_missed_no_more_often_than_said(form, sizes, prior, alpha):
    rng = np.random.default_rng([3, *sizes])
    rates = [*rng.random((60, 2)), *rng.beta(0.35, 0.35, (120, 2)), *1 - rng.beta(1, 20, (60, 2))]
    rates += [(1.0, fpr) for fpr in rng.random(60)] + [(tpr, 0.0) for tpr in rng.random(60)]
    assert worst_miss(FORMS[form], sizes, prior, alpha, rates) <= MOST[form]


def test_a_lot_that_follows_from_the_file_is_caught():
    """The control: a seventh of the rows left out, the same for each content for ever."""

    def of_the_rest(k, size=30):
        rng = np.random.default_rng([1, k])
        alarms = int(rng.hypergeometric(k, size - k, size - size // 7))
        rest = two_values(size - size // 7, alarms, (size - size // 7,) * 2)
        return class_upper(value_sets(rest, 0.5), alpha=0.025)

    counts = np.arange(31)
    limits = np.array([of_the_rest(k) for k in counts])
    worst = max(
        stats.binom.pmf(counts, 30, fpr)[limits < 1 - fpr - 1e-10].sum()
        for fpr in just_beyond(limits, 0.5)
    )
    assert worst > 2 * 0.025


def own(hits, alarms, sizes, prior, alpha):
    """One set's limit, by its definition: the largest that a set with fewer hits has."""
    tpr, fpr = hits / sizes[0], alarms / sizes[1]
    value = 1 - 2 * prior + 2 * (prior * tpr - (1 - prior) * fpr)
    rises = []
    for rate, n in ((tpr, sizes[0]), (1 - fpr, sizes[1])):
        z = stats.norm.isf(alpha)

        def upper(at, n=n, z=z):
            c = (1 - at) / n * max(1, 1.06 * math.log(1 / alpha) / z**2)
            return at + c * z * z / 2 + z * math.sqrt(at * (1 - at) / n + c * c * z * z / 4)

        top = minimize_scalar(lambda at: -upper(at), bounds=(0, rate), method="bounded").x
        rises.append(max(upper(top), upper(rate)) - rate)
    by_score = value + 2 * math.hypot(prior * rises[0], (1 - prior) * rises[1])
    return min(by_score, oracle_upper(value, *sizes, prior=prior, alpha=alpha))


def runs(flags):
    return int((np.diff(np.concatenate([[0], flags])) == 1).sum())


@given(
    counts=st.lists(
        st.tuples(st.integers(0, 60), st.integers(0, 60)), min_size=1, max_size=6
    ).filter(lambda rows: all(sum(one) for one in zip(*rows, strict=True))),
    prior=st.sampled_from([0.03, 0.1, 0.5, 0.8]),
    alpha=st.sampled_from([0.05, 0.025, 0.0025]),
)
def test_classes_against_every_set_of_theirs(counts, prior, alpha):
    members, holdout = np.array(counts).T
    sizes = int(members.sum()), int(holdout.sum())
    ladder = Ladder(members=members, holdout=holdout, single=np.ones(len(counts), dtype=bool))
    limits = {
        flags: own(int(members @ flags), int(holdout @ flags), sizes, prior, alpha)
        for flags in itertools.product([0, 1], repeat=len(counts))
    }

    def largest(within):
        return min(1, max(abs(2 * prior - 1), *(u for f, u in limits.items() if within(f))))

    every = largest(lambda _: True)
    monotone = largest(lambda f: list(f) in (sorted(f), sorted(f, reverse=True)))
    assert class_upper(value_sets(ladder, prior), alpha=alpha) == pytest.approx(every, abs=1e-7)
    found = class_upper(threshold_sets(ladder, prior), alpha=alpha)
    assert found == pytest.approx(monotone, abs=1e-7)
    for one, count in zip(interval_sets(ladder, prior, (1, 2)), (1, 2), strict=True):
        least = largest(lambda f, k=count: min(runs(f), runs(1 - np.array(f))) <= k)
        assert class_upper(one, alpha=alpha) >= least - 1e-7


@pytest.mark.parametrize("form", FORMS)
def test_more_than_a_knapsack_holds_and_cells_only_widen(form, monkeypatch):
    rng = np.random.default_rng(4)
    for prior in (0.2, 0.5):
        table = rng.integers(0, 30, (2, 40)) * (rng.random((2, 40)) < 0.7)
        ladder = Ladder(members=table[0], holdout=table[1], single=np.ones(40, dtype=bool))
        coarse = Ladder(members=table[0], holdout=table[1], single=np.zeros(40, dtype=bool))
        limit = FORMS[form]

        def of(one, prior=prior, limit=limit):
            made = threshold_sets(one, prior), *interval_sets(one, prior, (1, 4))
            return [limit(sets, alpha=0.025) for sets in (*made, value_sets(one, prior))]

        plain = of(ladder)
        assert all(a <= b + 1e-9 for a, b in zip(plain, of(coarse), strict=True))
        with monkeypatch.context() as patch:
            patch.setattr(class_sets, "_MOST_STEPS", 0)
            boxes = limit(value_sets(ladder, prior), alpha=0.025)
        assert plain[-1] - 1e-9 <= boxes <= plain[-1] + 0.05


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("values", [97, 130, 256])
def test_the_best_set_of_many_values_may_end_within_a_box(form, values):
    """Rows enough for boxes; of values that are never shared the truth is 1."""
    rng = np.random.default_rng(values)
    for theirs in (values // 2, values // 2 + 1, values // 3):
        weights = rng.dirichlet(np.full(values, 20.0), 2)
        weights[0, theirs:], weights[1, :theirs] = 0, 0
        table = [rng.multinomial(150_000, one / one.sum()) for one in weights]
        ladder = Ladder(members=table[0], holdout=table[1], single=np.ones(values, dtype=bool))
        for prior in (0.5, 0.1):
            sets = value_sets(ladder, prior)
            assert sets.best == pytest.approx(1, abs=1e-12)
            assert FORMS[form](sets, alpha=0.025) == pytest.approx(1, abs=1e-12)


def test_a_threshold_may_end_in_a_cell_but_not_in_a_value():
    """A cell has its members first, or its holdout records; what shares a value stays together."""
    rng = np.random.default_rng(6)
    for _ in range(20):
        table, single = rng.integers(0, 40, (2, 9)), rng.random(9) < 0.5
        ladder = Ladder(members=table[0], holdout=table[1], single=single)
        sizes = int(table[0].sum()), int(table[1].sum())
        cuts = [(int(x), int(y)) for x, y in zip(*np.cumsum(table, axis=1), strict=True)]
        cuts = [(0, 0), *cuts]
        inside = [
            place
            for (x, y), m, h, one in zip(cuts[:-1], *table, single, strict=True)
            for place in ([] if one else [(x + int(m), y), (x, y + int(h))])
        ]
        up = [own(x, y, sizes, 0.4, 0.025) for x, y in cuts + inside]
        down = [own(sizes[0] - x, sizes[1] - y, sizes, 0.4, 0.025) for x, y in cuts + inside]
        limit = class_upper(threshold_sets(ladder, 0.4), alpha=0.025)
        # A box has the rates of its best corner.
        assert max(up + down) - 1e-9 <= limit <= max(up + down) + 0.1


@pytest.mark.parametrize("prior", [0.5, 0.51])
def test_a_strict_limit_of_many_rows_is_as_close_as_its_rows_allow(prior):
    """Boxes are no grid of the limit; an error that is smaller never has a smaller limit."""
    rng = np.random.default_rng(2)
    slope = np.linspace(0.99, 1.01, 5000) / 5000
    table = rng.multinomial(400_000, slope), rng.multinomial(90_000, slope[::-1])
    ladder = Ladder(members=table[0], holdout=table[1], single=np.ones(5000, dtype=bool))
    for sets in interval_sets(ladder, prior, (1, 4)):
        limits = [class_upper_strict(sets, alpha=alpha) for alpha in (0.05, 0.025, 0.0025)]
        assert limits == sorted(limits)
        assert limits[0] <= sets.best + 3 * (prior / math.sqrt(4e5) + (1 - prior) / math.sqrt(9e4))


def test_a_long_ladder_is_put_together_and_nothing_is_lost(monkeypatch):
    rng = np.random.default_rng(5)
    ladder = exact_ladder(rng.normal(0.3, 1, 3000), rng.normal(0, 1, 2000))

    def limits():
        made = threshold_sets(ladder, 0.3), *interval_sets(ladder, 0.3, (1, 4))
        return [class_upper(sets, alpha=0.025) for sets in made]

    plain = limits()
    for name, few in (("_MOST_BOXES", 64), ("_LONG", 1024), ("_CELLS", 512)):
        monkeypatch.setattr(class_sets, name, few)
    assert all(a - 1e-12 <= b <= a + 0.02 for a, b in zip(plain, limits(), strict=True))


@pytest.mark.parametrize(
    ("size", "prior", "most"),
    [(150, 0.1, 0.825), (500, 0.1, 0.81), (500, 0.3, 0.42), (500, 0.5, 0.115)],
)
def test_thresholds_without_a_leak(size, prior, most):
    """Medians of 40 files; the truths are .8, .8, .4 and 0, and it was .884, .848, .464, .115."""
    found = []
    for seed in range(40):
        rng = np.random.default_rng([9, seed])
        sets = threshold_sets(exact_ladder(*rng.standard_normal((2, size))), prior)
        found.append(class_upper(sets, alpha=0.025))
        today = oracle_upper(sets.best, size, size, prior=prior, alpha=0.025)
        assert found[-1] <= today + 1e-9
    assert np.median(found) <= most


@pytest.mark.parametrize(("tpr", "fpr", "most"), [(0.1, 0.02, 0.105), (0.02, 0.0, 0.035)])
def test_rare_flags(tpr, fpr, most):
    """Medians at 1,000 + 1,000; the truths are .08 and .02, and it was .129 and .069."""
    found = []
    for seed in range(40):
        rng = np.random.default_rng([8, seed])
        hits, alarms = rng.binomial(1000, (tpr, fpr))
        sets = value_sets(two_values(hits, alarms, (1000, 1000)), 0.5)
        found.append(class_upper(sets, alpha=0.025))
    assert np.median(found) <= most


@given(
    rows=st.integers(1, 5000),
    alpha=st.sampled_from([0.05, 0.025, 0.0025, 1e-5]),
    rates=st.lists(st.floats(0, 1), min_size=2, max_size=6),
)
def test_a_rate_limit_never_falls_as_the_rate_rises(rows, alpha, rates):
    rise = Rise.of(rows, alpha)
    rates = np.sort(rates)
    upper = rates + rise.most(1 - rates, 1 - rates)
    assert (np.diff(upper) >= -1e-12).all()
    within = np.linspace(1 - rates[1], 1 - rates[0], 50)
    most = rise.most(np.array([1 - rates[1]]), np.array([1 - rates[0]]))[0]
    assert (rise.most(within, within) <= most + 1e-12).all()
