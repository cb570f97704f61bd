""""""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from mipaudit.evidence.judgement.policy_on_scores import judge_limit
from mipaudit.evidence.scores.evidence import FALSE_POSITIVE_RATES
from mipaudit.evidence.scores.findings import (
    constant,
    crossing_findings,
    identical_classes,
    score_findings,
    size_findings,
)
from mipaudit.evidence.scores.rows import ErrorShare, any_difference, joint_p_value, score_estimates
from mipaudit.maths.class_limits.roc_counts import Ladder
from mipaudit.model.message import Message
from mipaudit.report.messages.told import told
from mipaudit.statements.policy import Limit


@pytest.fixture(scope="module")
def evidence(evidence_from):
    rng = np.random.default_rng(0)
    return evidence_from(rng.normal(1, 1, 900), rng.normal(0, 1, 700), prior=0.3)


def by_quantity(rows):
    return {(row.quantity, row.attackers, row.fpr): row for row in rows}


def test_error_is_shared_over_the_columns():
    share = ErrorShare(confidence=0.9, columns=4)
    assert share.two_sided == pytest.approx(0.025)
    assert share.one_sided == pytest.approx(0.0125)


def test_rows_of_a_score(evidence):
    rows = score_estimates(evidence, ErrorShare(confidence=0.95, columns=2))
    found = by_quantity(rows)
    assert rows[0].quantity == "advantage"
    for attackers in ("thresholds", "intervals-1", "intervals-4", "bins-16"):
        row = found["advantage", attackers, None]
        assert row.upper == evidence.upper(attackers, 0.0125)
        assert row.lower is row.value is None
        assert row.lower_reason
        assert row.value_reason
    assert found["advantage", "any", None].lower == evidence.lower(0.0125)
    assert found["advantage", "any", None].upper is None
    assert found["auc", "thresholds", None].lower == pytest.approx(evidence.auc(0.0125).lower)
    for fpr in FALSE_POSITIVE_RATES:
        row = found["tpr_at_fpr", "thresholds", fpr]
        assert row.lower == evidence.tpr(fpr, 0.0125).lower
    # 700 rows, less the burn-in, cannot show an FPR of 0.1%.
    short = found["tpr_at_fpr", "thresholds", 0.001]
    assert short.value is short.lower is None
    assert short.value_reason.code == "few_holdout"


def test_at_most_of_tpr_never_falls_in_tables_nor_in_verdicts(evidence_from):
    """With few members the limit of one FPR is often below that of a lower one."""
    share, widened = ErrorShare(confidence=0.95, columns=1), 0
    for seed in range(12):
        rng = np.random.default_rng(seed)
        members, holdout = (rng.normal(size=size) for size in (6, 5000))
        evidence = evidence_from(members, holdout, prior=0.5, seed=seed)
        rows = [one for one in score_estimates(evidence, share) if one.quantity == "tpr_at_fpr"]
        uppers = [one.upper for one in rows if one.upper is not None]
        assert uppers == sorted(uppers)
        for at, row in enumerate(rows):
            wider = "as wide as at a lower FPR" in row.selection
            assert wider == (row.upper in [one.upper for one in rows[:at] if one.upper])
            widened += wider
            limit = Limit(quantity="tpr_at_fpr", max=0.5, fpr=row.fpr)
            check = judge_limit(evidence, limit, {}, share.one_sided, share.one_sided)
            assert check.upper == (1.0 if row.upper is None else row.upper)
    assert widened


def test_the_four_ways_to_say_the_advantage(evidence):
    found = by_quantity(score_estimates(evidence, ErrorShare(confidence=0.95, columns=1)))
    advantage, excess, eta, accuracy = (
        found[quantity, "any", None] for quantity in ("advantage", "excess", "eta", "accuracy")
    )
    for part in ("value", "lower", "plugin"):
        number = getattr(advantage, part)
        assert getattr(excess, part) == pytest.approx(number - 0.4)
        assert getattr(eta, part) == pytest.approx((number - 0.4) / 2)
        assert getattr(accuracy, part) == pytest.approx((1 + number) / 2)
        # MIP: eta is the accuracy above the trivial attacker's.
        assert getattr(eta, part) == pytest.approx(getattr(accuracy, part) - 0.7)


@pytest.mark.parametrize("strict", [False, True])
def test_every_number_is_finite_or_has_a_reason(evidence_from, strict):
    rng = np.random.default_rng(1)
    members = np.where(rng.random(30) < 0.5, np.inf, rng.normal(size=30))
    evidence = evidence_from(members, rng.normal(size=12), strict=strict, prior=0.1)
    for row in score_estimates(evidence, ErrorShare(confidence=0.95, columns=1)):
        for part in ("value", "lower", "upper"):
            number = getattr(row, part)
            assert math.isfinite(number) if number is not None else getattr(row, part + "_reason")


def test_labels_have_no_order(evidence_from):
    rng = np.random.default_rng(2)
    evidence = evidence_from(
        rng.integers(0, 4, 100), rng.integers(0, 4, 100), kind="string", ordered=False
    )
    rows = score_estimates(evidence, ErrorShare(confidence=0.95, columns=1))
    assert {row.quantity for row in rows} == {"advantage", "excess", "eta", "accuracy"}
    assert all(row.upper is not None for row in rows)


def test_findings_about_the_input(evidence_from):
    rng = np.random.default_rng(3)
    same = rng.normal(size=40)
    ones, ties = np.ones(30), np.round(rng.normal(size=200), 1)
    assert constant(evidence_from(ones, ones).counts)
    assert not constant(evidence_from(ones, ones * 2).counts)
    assert identical_classes(evidence_from(same, same[::-1]).counts)
    assert not identical_classes(evidence_from(same, same + 1).counts)
    assert [f.code for f in score_findings("s", evidence_from(ones, ones).counts)] == [
        "constant_column"
    ]
    infinite = np.where(rng.random(200) < 0.2, np.inf, ties)
    codes = {f.code for f in score_findings("s", evidence_from(infinite, same).counts)}
    assert codes == {"infinite_scores", "ties"}
    assert [f.code for f in size_findings(19, 20)] == ["small_class"]


def test_a_leak_that_a_class_cannot_see_is_a_finding(evidence_from):
    rng = np.random.default_rng(4)
    teeth = rng.integers(0, 40, (2, 6000)) * 2.0
    evidence = evidence_from(
        teeth[0] + rng.random(6000) * 0.9, teeth[1] + 1 + rng.random(6000) * 0.9
    )
    rows = score_estimates(evidence, ErrorShare(confidence=0.95, columns=1))
    found = crossing_findings("shown", "s", rows)
    assert {f.code for f in found} == {"leak_invisible_to_class"}
    assert any("'thresholds'" in told(f) for f in found)
    assert crossing_findings("shown", "another", rows) == []


def test_all_rows_count_where_no_label_chose_the_cells(evidence_from):
    rng = np.random.default_rng(0)
    evidence = evidence_from(rng.normal(size=90), rng.normal(size=60))
    row = any_difference(evidence, 0.95)
    assert (row.n_members, row.n_holdout, row.selection) == (90, 60, "all rows")
    assert 0 < row.value <= 1
    assert row.lower is row.upper is None
    counts = evidence.counts
    everyone = replace(counts.everyone, single=np.zeros_like(counts.everyone.single))
    coarse = replace(evidence, counts=replace(counts, everyone=everyone))
    fewer = any_difference(coarse, 0.95)
    assert fewer.n_members == counts.evaluated.n_members < 90
    assert "outside the burn-in" in fewer.selection


def test_more_rows_than_can_be_counted_have_a_reason(evidence_from):
    evidence = evidence_from([0.0, 1.0] * 20, [1.0, 2.0] * 20)
    many = Ladder(members=np.array([10**9]), holdout=np.array([5]), single=np.ones(1, dtype=bool))
    row = any_difference(replace(evidence, counts=replace(evidence.counts, everyone=many)), 0.95)
    assert row.value is None
    assert row.value_reason == Message("many_to_count", {"rows": 999_999_999})


def test_holds_its_level_through_the_seeds_in_use(evidence_from):
    rng = np.random.default_rng(1)
    found = [
        any_difference(evidence_from(rng.normal(size=60), rng.normal(size=90), seed=seed), 0.95)
        for seed in range(150)
    ]
    for level in (0.05, 0.2, 0.5):
        below = sum(row.value <= level for row in found)
        assert stats.binom.sf(below - 1, len(found), level) > 1e-4


def test_joint(evidence_from):
    row = any_difference(evidence_from([0.0, 1.0] * 20, [1.0, 2.0] * 20), 0.95)
    assert joint_p_value([]) is None
    assert joint_p_value([replace(row, value=None)]) is None
    several = [replace(row, value=value) for value in (0.3, 0.02, 0.9)]
    assert joint_p_value(several) == pytest.approx(0.06)
    assert joint_p_value([replace(row, value=0.7)] * 2) == 1
