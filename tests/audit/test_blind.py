from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mipaudit.audit.blind import ERRORS, Allowance, Blind, BlindLimit, lessened, make_allowance
from mipaudit.audit.policy import PolicyCheck, check_status

SEEDS = st.integers(0, 2**32 - 1)
PRIORS = st.sampled_from([0.01, 0.1, 0.3, 0.5, 0.7, 0.95])


def advantage(p, members, holdout):
    return float(np.abs(p * members - (1 - p) * holdout).sum())


def allowed(quantity, prior, total_variation):
    limit = BlindLimit(error=0.01, attackers="any", upper=total_variation)
    return Allowance(limit=limit).of(quantity, prior)


def world(seed, *, leaks):
    """Return laws of records and of scores given records, on small alphabets."""
    rng = np.random.default_rng(seed)
    spread = rng.choice([0.1, 1.0, 10.0])
    members, holdout = rng.dirichlet([spread] * 5, 2)
    inside = rng.dirichlet([0.3] * 4, 5)
    outside = rng.dirichlet([0.3] * 4, 5) if leaks else inside
    return members, holdout, inside, outside


@given(SEEDS, PRIORS)
def test_a_score_that_tells_nothing_beyond_the_record_is_within_the_allowance(seed, prior):
    members, holdout, kernel, _ = world(seed, leaks=False)
    apart = np.abs(members - holdout).sum() / 2
    baseline = abs(2 * prior - 1)
    score = advantage(prior, members @ kernel, holdout @ kernel)
    assert score - allowed("advantage", prior, apart) <= baseline + 1e-12


@given(SEEDS, PRIORS)
def test_the_excess_is_a_lower_limit_among_records_as_likely_in_either_class(seed, prior):
    members, holdout, inside, outside = world(seed, leaks=True)
    apart = np.abs(members - holdout).sum() / 2
    common = np.minimum(members, holdout)
    if common.sum() < 1e-9:
        return
    common /= common.sum()
    matched = advantage(prior, common @ inside, common @ outside)
    score = advantage(prior, members @ inside, holdout @ outside)
    excess = max(abs(2 * prior - 1), score - allowed("advantage", prior, apart))
    assert excess <= matched + 1e-9


@given(SEEDS, PRIORS)
def test_the_excess_is_over_the_blind_advantage_at_the_same_prior(seed, prior):
    members, holdout, inside, outside = world(seed, leaks=True)
    apart = np.abs(members - holdout).sum() / 2
    baseline = abs(2 * prior - 1)
    score = advantage(prior, members @ inside, holdout @ outside)
    over = baseline + score - advantage(prior, members, holdout)
    assert score - allowed("advantage", prior, apart) <= over + 1e-12


def roc(members, holdout):
    """Return (FPR, TPR) at the corners of the best ROC."""
    with np.errstate(divide="ignore", invalid="ignore"):
        order = np.argsort(-np.where(holdout > 0, members / holdout, np.inf))
    return np.r_[0, np.cumsum(holdout[order])], np.r_[0, np.cumsum(members[order])]


@given(SEEDS)
def test_tpr_and_auc_of_the_records_alone_are_within_the_allowance(seed):
    members, holdout, _, _ = world(seed, leaks=False)
    apart = np.abs(members - holdout).sum() / 2
    fpr, tpr = roc(members, holdout)
    assert (tpr <= fpr + allowed("tpr_at_fpr", 0.5, apart) + 1e-12).all()
    area = float(np.sum(np.diff(fpr) * (tpr[1:] + tpr[:-1]) / 2))
    assert area <= 0.5 + allowed("auc", 0.5, apart) + 1e-12


def test_the_allowance_of_the_auc_is_attained():
    # All of t in a point of members alone, all of t in a point of holdout alone.
    t = 0.3
    fpr, tpr = roc(np.array([t, 1 - t, 0]), np.array([0, 1 - t, t]))
    area = float(np.sum(np.diff(fpr) * (tpr[1:] + tpr[:-1]) / 2))
    assert area == pytest.approx(0.5 + allowed("auc", 0.5, t))


def check(lower, upper, limit=0.1):
    return PolicyCheck(
        quantity="advantage",
        score="s",
        limit=limit,
        against="thresholds",
        lower=lower,
        upper=upper,
        status=check_status(limit, lower, upper),
        reason="",
        records_to_settle=7,
    )


def judged(plain, shared, most, prior=0.5):
    limit = BlindLimit(error=0.0125, attackers="learned", upper=most)
    return lessened(plain, shared, Allowance(limit=limit), prior)


@pytest.mark.parametrize(
    ("lower", "upper", "most", "status"),
    [
        (0.4, 0.6, 0.2, "not_met"),  # the excess alone is above
        (0.4, 0.6, 0.35, "inconclusive"),  # the records may explain it
        (0.4, 0.05, 0.35, "inconclusive"),  # and never help it to be met
        (0.0, 0.05, 0.35, "met"),  # it was met without them
        (0.0, 0.6, 0.0, "inconclusive"),
    ],
)
def test_only_the_excess_is_held_against_the_model(lower, upper, most, status):
    found = judged(check(lower, upper), check(lower, upper), most)
    assert found.status == status
    assert found.lower == pytest.approx(max(0.0, lower - most))
    assert found.upper == upper
    assert found.records_to_settle is None


def test_not_met_at_all_of_the_error_is_never_met_at_a_share():
    plain, shared = check(0.11, 0.05), check(0.09, 0.05)
    assert (plain.status, shared.status) == ("not_met", "met")
    assert judged(plain, shared, 0.0).status == "inconclusive"


def test_a_metric_is_never_not_met():
    from dataclasses import replace

    plain = replace(check(0.9, 0.95), quantity="metric", metric="ppv")
    found = judged(plain, plain, 0.0)
    assert (found.status, found.lower, found.blind) == ("inconclusive", None, 0.0)


def blind(**changes):
    limits = tuple(
        BlindLimit(error=error, attackers="thresholds", upper=min(1.0, 0.1 - 0.01 * np.log(error)))
        for error in sorted(set(ERRORS), reverse=True)
    )
    settings = {
        "n_members": 5,
        "n_holdout": 6,
        "confidence": 0.95,
        "lower": 0.0,
        "value": 0.0,
        "upper": 0.2,
        "attackers": "thresholds",
        "limits": limits,
    }
    return Blind(**{**settings, **changes})


@pytest.mark.parametrize("confidence", [0.5, 0.8, 0.9, 0.95, 0.99, 0.999])
def test_half_of_the_error_is_the_records(confidence):
    error = (1 - confidence) / 2
    allowance, left = make_allowance(blind(), error)
    assert left == error / 2
    # Never more than its share, and never much less.
    assert error / 4 < allowance.limit.error <= error / 2 * (1 + 1e-9)


def test_the_usual_confidences_are_used_up():
    assert blind().limit((1 - 0.95) / 4).error == pytest.approx(0.0125)
    assert blind().limit((1 - 0.9) / 4).error == pytest.approx(0.025)


def test_nothing_is_known_beyond_the_smallest_error():
    assert blind().limit(1e-12).upper == 1.0
    assert blind(limits=()).limit(0.1).upper == 1.0
