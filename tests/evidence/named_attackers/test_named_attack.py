import math
from itertools import product

import numpy as np
import pytest

from mipaudit.evidence.named_attack import (
    JudgedRows,
    achieved,
    at_most_short,
    difference_of_shares,
    mean_difference,
    surely_short,
)
from mipaudit.maths.advantage import advantage
from mipaudit.maths.class_limits.difference import Encounter, fixed_lower, paired_lower
from mipaudit.summaries.rows import micro_blocks, position_bytes
from mipaudit.validation.estimands.estimand import AuditedFile
from mipaudit.validation.estimands.methods import ESTIMANDS
from mipaudit.validation.laws import law

NAMED = ("named_attack", "named_shortfall", "named_shortfall_thresholds")


def binomial(n, k, p):
    return math.comb(n, k) * p**k * (1 - p) ** (n - k)


@pytest.mark.parametrize("prior", [0.5, 0.1])
@pytest.mark.parametrize(("tpr", "fpr"), [(0.05, 0.05), (0.5, 0.5), (0.9, 0.2), (1.0, 0.0)])
def test_limits_of_counts_cover_by_enumeration(tpr, fpr, prior):
    sizes, alpha = (12, 9), 0.1
    truth = advantage(tpr, fpr, prior)
    low = high = 0.0
    for tp, fp in product(range(sizes[0] + 1), range(sizes[1] + 1)):
        mass = binomial(sizes[0], tp, tpr) * binomial(sizes[1], fp, fpr)
        lower, upper = difference_of_shares((tp, sizes[0]), (fp, sizes[1]), prior, alpha)
        low += mass * (lower > truth + 1e-12)
        high += mass * (upper < truth - 1e-12)
    assert max(low, high) <= alpha / 2 + 1e-9


def test_one_sample_has_the_clopper_pearson_limit():
    # A class of which nothing is wrong and everything is certain but one rate: with no
    # holdout record called a member out of very many, the limit is that of the members.
    from scipy.stats import binomtest

    lower, upper = difference_of_shares((30, 40), (0, 10**9), 0.5, 0.1)
    ends = binomtest(30, 40).proportion_ci(0.9, method="exact")
    # Never within the exact limits: the sum is cut into steps, and moved outward by part of one.
    assert ends.low - 3e-4 < lower <= ends.low
    assert ends.high <= upper < ends.high + 3e-4


def test_achieved_counts_right():
    member = np.array([True, True, True, False, False])
    guesses = np.array([True, True, False, True, False])
    found = achieved(guesses, member, prior=0.5, alpha=0.05)
    assert (found.tpr, found.fpr) == (2 / 3, 0.5)
    assert found.advantage.value == pytest.approx(2 / 3 - 1 / 2)
    assert found.advantage.lower < found.advantage.value < found.advantage.upper
    assert achieved(guesses, np.ones(5, dtype=bool), prior=0.5, alpha=0.05) is None


def test_an_attacker_that_tosses_coins_is_judged_by_its_means():
    rng = np.random.default_rng(0)
    member = rng.random(2000) < 0.5
    takes = rng.beta(2, 2, 2000) * 0.5
    found = achieved(takes, member, prior=0.3, alpha=0.05)
    assert found.advantage.value == pytest.approx(
        advantage(takes[member].mean(), takes[~member].mean(), 0.3)
    )
    sure = achieved(takes > 0.25, member, prior=0.3, alpha=0.05)
    width = found.advantage.upper - found.advantage.lower
    assert width < sure.advantage.upper - sure.advantage.lower


@pytest.mark.parametrize("law_of_terms", ["beta", "binary"])
def test_the_mean_difference_is_covered(law_of_terms):
    rng = np.random.default_rng(len(law_of_terms))
    runs, alpha, missed = 400, 0.2, [0, 0]
    for _ in range(runs):
        if law_of_terms == "beta":
            one, other = rng.beta(0.5, 4.5, 60), rng.beta(0.5, 9.5, 40)
        else:
            one, other = (rng.random(60) < 0.1) * 1.0, (rng.random(40) < 0.05) * 1.0
        lower, upper = mean_difference(one, other, alpha)
        missed[0] += lower > 0.05
        missed[1] += upper < 0.05
    allowed = alpha / 2 + 3 * math.sqrt(alpha / 2 * (1 - alpha / 2) / runs)
    assert max(missed) / runs <= allowed


def random_encounter(seed, cells=2):
    rng = np.random.default_rng(seed)
    counts = rng.integers(1, 150, (2, 2, cells))
    sizes = counts.sum(axis=(1, 2))
    return Encounter(
        rates=counts / sizes[:, None, None],
        single=np.ones(cells, dtype=bool),
        n_members=float(sizes[1]),
        n_holdout=float(sizes[0]),
        prior=0.5,
    )


def slow_fixed(found, rival, alpha):
    """The better of two score limits D - k z^2/2 - z sqrt(V + k^2 z^2/4), by the table's rows.

    For the second k is from the skewness, and it lies a row lower.
    """
    from statistics import NormalDist

    z = NormalDist().inv_cdf(1 - alpha)
    scale = {0: -2 * (1 - found.prior), 1: 2 * found.prior}
    sizes = {0: found.n_holdout, 1: found.n_members}
    value = variance = third = room = 0.0
    for side in (0, 1):
        mean = square = cube = 0.0
        for mine, cell in product((0, 1), range(rival.size)):
            x = mine - int(rival[cell])
            mean += found.rates[side, mine, cell] * x
            square += found.rates[side, mine, cell] * x * x
            cube += found.rates[side, mine, cell] * x**3
        third += (
            (scale[side] / sizes[side]) ** 2
            * scale[side]
            * (cube - 3 * mean * square + 2 * mean**3)
        )
        room = max(room, (abs(scale[side]) + scale[side] * mean) / sizes[side])
        value += scale[side] * mean
        variance += scale[side] ** 2 * (square - mean**2) / sizes[side]
    patience = max(1.0, -1.06 * math.log(alpha) / z**2)
    seen = (8 * room**3 - third) / (variance + 8 * room**2)
    seen = min(max(seen, -room), room)
    seen *= patience if seen > 0 else 0.5

    def limit(k):
        return value - k * z**2 / 2 - z * math.sqrt(variance + k**2 * z**2 / 4)

    return max(limit(patience * room), limit(seen) - room)


@pytest.mark.parametrize("seed", range(5))
def test_the_limit_for_one_rival_is_that_of_the_slow_twin(seed):
    found = random_encounter(seed)
    rivals = [np.array(pair) for pair in product((False, True), repeat=2)]
    limits = [fixed_lower(found, rival, 0.025) for rival in rivals]
    assert limits == pytest.approx([slow_fixed(found, rival, 0.025) for rival in rivals])
    assert min(limits) == pytest.approx(paired_lower(found, "any", 0.025))


def test_an_attacker_does_not_fall_short_of_itself_by_much():
    # The challenger and the rival guess alike on every row: only rows not seen are left.
    rates = np.zeros((2, 2, 2))
    rates[:, 1, 1] = rates[:, 0, 0] = 0.5
    met = Encounter(
        rates=rates, single=np.ones(2, dtype=bool), n_members=1000, n_holdout=1000, prior=0.5
    )
    assert -0.02 < fixed_lower(met, np.array([False, True]), 0.025) < 0


def file_of(name, n, seed, prior=0.5):
    rng = np.random.default_rng([n, seed])
    members, holdout = law(name).sample(rng, n, n)
    member = np.repeat([True, False], n)
    order = rng.permutation(2 * n)
    score = np.concatenate([members, holdout])
    return AuditedFile(member=member[order], score=score[order], prior=prior, seed=seed)


@pytest.mark.parametrize("name", ["null-gaussian", "gauss-shift-1", "cauchy-shift"])
@pytest.mark.parametrize("n", [20, 200])
def test_limits_of_named_attacks_cover_the_truth(name, n):
    runs, missed, stated = 60, {}, {}
    known = law(name)
    for seed in range(runs):
        audited = file_of(name, n, seed)
        for estimand in (ESTIMANDS[one] for one in NAMED):
            for one in estimand.intervals(audited):
                truth = estimand.truth(known, 0.5, *one.args)
                for side, misses in (
                    ("lower", one.lower is not None and one.lower > truth + 1e-9),
                    ("upper", one.upper is not None and one.upper < truth - 1e-9),
                ):
                    key = (one.label, side)
                    missed[key] = missed.get(key, 0) + misses
                    stated[key] = stated.get(key, 0) + 1
    assert len(stated) >= 8
    for key, count in missed.items():
        alpha = 0.025
        allowed = alpha + 4 * math.sqrt(alpha * (1 - alpha) / stated[key])
        assert count / stated[key] <= allowed, key


@pytest.mark.parametrize("takes", [0.0, 0.5, 1.0])
def test_the_shortfall_of_a_poor_attacker_is_found(takes):
    audited = file_of("gauss-shift-2", 1000, 1)
    blocks = micro_blocks(position_bytes(1, 0, 2000))
    judged = blocks >= audited.evidence.counts.burn_in
    score = audited.score[judged]
    poor = JudgedRows(
        takes=np.full(score.size, takes),
        member=audited.member[judged],
        scores=score,
        cell=np.searchsorted(audited.cell_edges, score, side="left"),
        blocks=blocks[judged],
    )
    lower = surely_short(poor, audited.evidence.counts, 0.5, 0.025)
    truth = law("gauss-shift-2").advantage(0.5)
    assert 0.5 < lower < truth < at_most_short(poor, "thresholds", 0.5, 0.025) < truth + 0.15
    # Among many values the other classes are searched in runs of cells: still a limit.
    assert at_most_short(poor, "intervals-1", 0.5, 0.025) >= truth
