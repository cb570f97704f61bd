from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from mipaudit.evidence.judgement.policy_on_scores import judge
from mipaudit.report.messages.told import told
from mipaudit.statements.policy import Limit, Policy


@pytest.fixture(scope="module")
def shifted(evidence_from):
    rng = np.random.default_rng(0)
    return evidence_from(rng.normal(1, 1, 1500), rng.normal(0, 1, 1500))


def checks(evidence, *limits, **settings):
    return judge([evidence], Policy(limits=limits, **settings), None, 0.95)[0]


def test_options_and_the_list_make_the_same_checks(shifted):
    settings = Policy(max_advantage=0.4, max_eta=0.2, max_tpr_at_fpr=(0.3, 0.1), against="bins-16")
    listed = Policy(
        limits=(
            Limit(quantity="advantage", max=0.4, against="bins-16"),
            Limit(quantity="eta", max=0.2, against="bins-16"),
            Limit(quantity="tpr_at_fpr", max=0.3, fpr=0.1),
        )
    )
    assert judge([shifted], settings, None, 0.95) == judge([shifted], listed, None, 0.95)


@pytest.mark.parametrize("prior", [0.1, 0.5, 0.7])
@pytest.mark.parametrize("max_", [0.02, 0.14, 0.3, 0.38, 0.5])
def test_units_do_not_change_the_answer(shifted, max_, prior):
    guessing, there = abs(2 * prior - 1), shifted.at_prior(prior)
    units = {"excess": (1, -guessing), "eta": (0.5, -guessing / 2), "accuracy": (0.5, 0.5)}
    limit = guessing + max_ * (1 - guessing)
    (advantage,) = checks(there, Limit(quantity="advantage", max=limit))
    for quantity, (scale, shift) in units.items():
        (check,) = checks(there, Limit(quantity=quantity, max=limit * scale + shift))
        assert check.status == advantage.status
        assert check.lower == pytest.approx(advantage.lower * scale + shift)
        assert check.upper == pytest.approx(advantage.upper * scale + shift)
        assert check.records_to_settle == advantage.records_to_settle


@pytest.mark.parametrize("prior", [0.1, 0.7])
def test_a_limit_at_another_prior_is_judged_there(shifted, prior):
    (check,) = checks(shifted, Limit(quantity="advantage", max=0.95, prior=prior))
    there = shifted.at_prior(prior)
    assert check.prior == prior
    assert check.lower == pytest.approx(there.lower(0.025))
    assert "at prior" in told(check.reason)


# The truth is Phi(1 / sqrt 2) = 0.760.
@pytest.mark.parametrize(
    ("limit", "status"), [(0.7, "not_met"), (0.76, "inconclusive"), (0.82, "met")]
)
def test_auc(shifted, limit, status):
    (check,) = checks(shifted, Limit(quantity="auc", max=limit))
    assert check.status == status
    assert check.lower < 0.76 < check.upper
    assert told(check.reason).startswith("AUC")


def test_the_upper_limit_of_the_auc_is_of_the_better_side(evidence_from):
    # A side chosen wrongly on few rows must not hide that the other one leaks.
    rng = np.random.default_rng(5)
    for seed in range(20):
        evidence = evidence_from(rng.normal(0, 1, 60), rng.normal(0, 1, 60), seed=seed)
        (check,) = checks(evidence, Limit(quantity="auc", max=0.99))
        low, high = (
            replace(evidence, member_side=side).auc(0.025).upper for side in ("low", "high")
        )
        assert check.upper == pytest.approx(max(low, high))
        assert evidence.auc(0.025).upper == pytest.approx(
            low if evidence.area[1] == "low" else high
        )


def test_a_limit_on_one_score_leaves_the_others_and_the_error_alone(evidence_from):
    rng = np.random.default_rng(1)
    first = evidence_from(rng.normal(1, 1, 500), rng.normal(0, 1, 500))
    (check,) = judge(
        [first, first], Policy(limits=(Limit(quantity="eta", max=0.3, score="t"),)), None, 0.95
    )[0] or (None,)
    assert check is None
    two = judge(
        [first], Policy(limits=(Limit(quantity="eta", max=0.3, score=first.score),)), None, 0.95
    )[0]
    assert two[0].lower == pytest.approx(first.lower(0.025) / 2)
