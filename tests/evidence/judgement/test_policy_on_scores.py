from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import norm

from mipaudit.evidence.judgement.policy_on_scores import Standing, judge, records_to_settle
from mipaudit.evidence.scores.evidence import CLASSES
from mipaudit.statements.policy import Policy
from mipaudit.validation.laws import law

CLAIM = (1.0, 0.0, "substitution")


@pytest.fixture(scope="module")
def shifted(evidence_from):
    rng = np.random.default_rng(0)
    return evidence_from(rng.normal(1, 1, 1000), rng.normal(0, 1, 1000))


def test_no_policy_judges_nothing(shifted):
    assert judge([shifted], Policy(), None, 0.95) == ((), ())


def test_lower_limits_share_the_error_and_upper_limits_do_not(shifted):
    policy = Policy(max_advantage=0.4, max_eta=0.2, max_tpr_at_fpr=(0.3, 0.1))
    checks, claims = judge([shifted, shifted], policy, CLAIM, 0.95)
    shared = 0.025 / 8  # two scores, three limits and one claim
    assert len(checks) == 6
    advantage, eta, tpr = checks[:3]
    assert advantage.lower == pytest.approx(shifted.lower(shared))
    assert advantage.upper == pytest.approx(max(shifted.upper(one, 0.025) for one in CLASSES))
    assert tpr.lower == pytest.approx(shifted.tpr(0.1, shared).lower)
    assert tpr.upper == pytest.approx(shifted.tpr_upper(0.1, 0.025))
    assert claims[0].lower == pytest.approx(shifted.lower(shared))
    assert eta.lower == pytest.approx(advantage.lower / 2)
    assert eta.upper == pytest.approx(advantage.upper / 2)


@pytest.mark.parametrize("against", CLASSES)
def test_the_class_asked_for_decides(shifted, against):
    (check,) = judge([shifted], Policy(max_advantage=0.4, against=against), None, 0.95)[0]
    assert check.against == against
    assert check.upper == pytest.approx(shifted.upper(against, 0.025))


def test_any_attacker_of_a_continuous_score_is_never_met(shifted):
    (check,) = judge([shifted], Policy(max_advantage=0.9, against="any"), None, 0.95)[0]
    assert check.status == "inconclusive"
    assert check.upper is None


def test_a_discrete_score_is_judged_for_any_attacker(evidence_from):
    rng = np.random.default_rng(2)
    evidence = evidence_from(rng.integers(0, 2, 3000), rng.integers(0, 2, 3000))
    (check,) = judge([evidence], Policy(max_advantage=0.1), None, 0.95)[0]
    assert (check.against, check.status) == ("any", "met")


def test_the_plan_of_a_tpr_counts_the_error_of_its_members_and_of_its_threshold(shifted):
    (check,) = judge([shifted], Policy(max_tpr_at_fpr=(0.4, 0.1)), None, 0.95)[0]
    point, rows = shifted.tpr(0.1, 0.025), shifted.one_sided
    share = (point.value * rows.n_members + 0.5) / (rows.n_members + 1)
    of_members = math.sqrt(share * (1 - share) / rows.n_members)
    of_threshold = share / 0.1 * math.sqrt(0.1 * 0.9 / rows.n_holdout)
    error = math.hypot(of_members, of_threshold)
    standing = Standing(
        limit=0.4,
        value=point.value,
        lower=point.value - norm.isf(0.025) * error,
        upper=check.upper,
        error=error,
        records=2000,
    )
    assert check.status == "inconclusive"
    assert check.records_to_settle == records_to_settle(standing) is not None


def audited(evidence_from, scores, size, rng, seed, limit):
    members, holdout = scores.sample(rng, size // 2, size - size // 2)
    kind = "integer" if scores.discrete else "float"
    evidence = evidence_from(members, holdout, seed=seed, kind=kind)
    (check,) = judge([evidence], Policy(max_advantage=limit), None, 0.95)[0]
    return check


@pytest.mark.parametrize("name", ["gauss-shift-1", "cauchy-shift", "null-gaussian"])
@pytest.mark.parametrize("size", [400, 2000])
def test_no_seed_moves_the_number_of_records(evidence_from, name, size):
    members, holdout = law(name).sample(np.random.default_rng(size), size // 2, size // 2)
    upper = evidence_from(members, holdout).upper("intervals-4", 0.025)
    limits = [share * upper for share in (0.2, 0.4, 0.6, 0.8, 0.95)]
    planned = 0
    for limit in limits:
        checks = [
            judge(
                [evidence_from(members, holdout, seed=seed)],
                Policy(max_advantage=limit),
                None,
                0.95,
            )
            for seed in range(6)
        ]
        still_open = [one for ((one,), _) in checks if one.status == "inconclusive"]
        numbers = {check.records_to_settle for check in still_open}
        assert len(numbers) <= 1
        planned += bool(numbers - {None})
    assert planned >= 1


# A law and a limit some way from its truth: 0.38 for the shift, 0 for the null.
OPEN = [("gauss-shift-1", 0.45), ("gauss-shift-1", 0.3), ("null-discrete-100", 0.15)]


@pytest.mark.parametrize(("name", "limit"), OPEN)
def test_the_number_of_records_settles_four_runs_in_five(evidence_from, name, limit):
    rng = np.random.default_rng(3)
    scores = law(name)
    settled = planned = 0
    for seed in range(60):
        first = audited(evidence_from, scores, 1000, rng, seed, limit)
        needed = first.records_to_settle
        if needed is None or needed > 100_000:  # the cap spares time: more settles more often
            continue
        planned += 1
        again = audited(evidence_from, scores, needed, rng, seed + 1000, limit)
        settled += again.status != "inconclusive"
    assert planned >= 8
    assert settled >= 0.8 * planned
