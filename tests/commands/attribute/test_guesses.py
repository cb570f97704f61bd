import math

import numpy as np
import pytest

from mipaudit.commands.attribute.run import (
    ValueGuesses,
    attribute_advantage,
    membership_advantage,
    right_share,
    surely_shifted,
)
from mipaudit.evidence.named_attack import difference_of_shares


def counts(right_members, n_members, right_holdout, n_holdout):
    return ValueGuesses(
        right_members=right_members,
        n_members=n_members,
        right_holdout=right_holdout,
        n_holdout=n_holdout,
    )


def test_definition_5_weighs_each_value_by_its_share():
    values = [counts(30, 40, 20, 60), counts(10, 50, 10, 50)]
    found = attribute_advantage(values, 0.05)
    # Pr[t] (Pr[right | member, t] - Pr[right | holdout, t]), both values half of the records.
    assert found.value == pytest.approx(0.5 * (30 / 40 - 20 / 60) + 0.5 * (10 / 50 - 10 / 50))
    assert found.lower < found.value < found.upper


def test_one_value_is_its_own_difference():
    found = attribute_advantage([counts(30, 40, 20, 60)], 0.1)
    assert (found.lower, found.upper) == difference_of_shares((30, 40), (20, 60), 0.5, 0.1)


def test_of_a_value_that_a_class_lacks_nothing_is_known():
    known = counts(30, 40, 20, 40)
    found = attribute_advantage([known, counts(5, 20, 0, 0)], 0.05)
    alone = attribute_advantage([known], 0.05)
    share = 80 / 100
    assert found.lower == pytest.approx(share * alone.lower - 0.2, abs=1e-4)
    assert found.upper == pytest.approx(share * alone.upper + 0.2, abs=1e-4)
    assert attribute_advantage([counts(1, 2, 0, 0), counts(0, 0, 1, 2)], 0.05) is None
    assert attribute_advantage([counts(1, 2, 0, 0)], 0.05) is None


def test_the_reduction_is_one_attacker_on_membership():
    whole = counts(80, 100, 60, 100)
    found = membership_advantage(whole, 0.5, 0.05)
    assert found.value == pytest.approx(0.2)
    assert membership_advantage(whole, 0.1, 0.05).value == pytest.approx(
        0.8 + 2 * (0.1 * 0.8 - 0.9 * 0.6)
    )


def test_shares_have_clopper_pearson_limits():
    from scipy.stats import binomtest

    ends = binomtest(7, 20).proportion_ci(0.95, method="exact")
    found = right_share(7, 20, 0.05)
    assert (found.lower, found.upper) == pytest.approx((ends.low, ends.high))


def test_a_shift_of_the_attribute_is_found_and_none_where_there_is_none():
    assert surely_shifted([counts(0, 500, 0, 300), counts(0, 500, 0, 700)], 0.01) == 2
    assert surely_shifted([counts(0, 500, 0, 490), counts(0, 500, 0, 510)], 0.01) == 0


@pytest.mark.parametrize("values", [2, 6])
@pytest.mark.parametrize("size", [40, 400])
def test_the_attribute_advantage_is_covered(values, size):
    rng = np.random.default_rng([values, size])
    law = 1 / np.arange(1, values + 1)
    law /= law.sum()
    right = rng.random((2, values))
    runs, alpha, missed, stated = 300, 0.1, [0, 0], 0
    for _ in range(runs):
        n = rng.multinomial(size, law, 2)
        hits = rng.binomial(n, right)
        found = attribute_advantage(
            [counts(hits[0, v], n[0, v], hits[1, v], n[1, v]) for v in range(values)], alpha
        )
        shares = n.sum(axis=0) / n.sum()
        truth = float(shares @ (right[0] - right[1]))
        stated += 1
        missed[0] += found.lower > truth
        missed[1] += found.upper < truth
    allowed = alpha / 2 + 3 * math.sqrt(alpha / 2 * (1 - alpha / 2) / stated)
    assert max(missed) / stated <= allowed
