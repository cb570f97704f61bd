"""The evidence about a metric: held-out limits, class limits, rows, findings, judgement."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from mipaudit.evidence.judgement.policy_on_scores import judge
from mipaudit.evidence.metric_rows import metric_estimates, metric_findings, published_metric
from mipaudit.evidence.metrics import RatioEvidence, fixed_metric, metric_evidence
from mipaudit.evidence.scores.averaged_lower import Averaged
from mipaudit.evidence.scores.findings import prior_findings
from mipaudit.evidence.scores.rows import ErrorShare
from mipaudit.maths.binomial import MeanRate
from mipaudit.maths.metrics.limits import metric_lower
from mipaudit.maths.metrics.names import parse_metric
from mipaudit.model.row import VACUOUS
from mipaudit.report.messages.told import told
from mipaudit.statements.claim import judge_claim
from mipaudit.statements.policy import Policy
from tests.contents import worst_miss

SHARE = ErrorShare(confidence=0.95, columns=1)
NAMES = ["ppv", "npv", "tpr", "am", "accuracy", "f1", "wa:2,2,1,1", "cost:fp=1,fn=5"]


@pytest.fixture(scope="module")
def shifted(evidence_from):
    rng = np.random.default_rng(0)
    return evidence_from(rng.normal(1.5, 1, 1500), rng.normal(size=1500))


def rows_of(evidence, name, **settings):
    found = metric_evidence(evidence, parse_metric(name, prior=evidence.prior, **settings))
    return metric_estimates(found, SHARE)


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize("name", NAMES)
def test_every_row_is_complete(evidence_from, name, strict):
    rng = np.random.default_rng(1)
    evidence = evidence_from(rng.normal(1, 1, 150), rng.normal(size=90), prior=0.3, strict=strict)
    metric = parse_metric(name, prior=0.3)
    rows = rows_of(evidence, name)
    assert [row.attackers for row in rows] == ["any", *evidence.classes]
    for row in rows:
        assert (row.quantity, row.metric) == ("metric", metric.name)
        assert row.validity == ("finite-sample" if strict else "approximate")
        for part in ("value", "lower", "upper"):
            number = getattr(row, part)
            if number is None:
                assert getattr(row, part + "_reason")
            else:
                assert math.isfinite(number)
                assert metric.baseline - 1e-9 <= number <= metric.most + 1e-9
        assert ("at least 0.01" in row.method) == (name in {"ppv", "npv"})
    assert rows[0].lower <= rows[0].value


def test_a_limit_that_says_nothing_is_vacuous(evidence_from):
    rng = np.random.default_rng(2)
    evidence = evidence_from(rng.normal(1, 1, 300), rng.normal(size=300))
    any_attacker, *classes = rows_of(evidence, "ppv")
    assert any_attacker.unlimited == "none"  # there is no limit for all attackers
    for row in classes:
        assert row.upper is None
        assert row.upper_reason.code == "vacuous_metric"
        assert row.unlimited == VACUOUS
    for row in rows_of(evidence, "ppv", least=0.5)[1:2]:
        assert row.upper < 1


def test_a_limit_that_is_shown_as_the_largest_value_says_nothing(evidence_from, monkeypatch):
    evidence = evidence_from(np.arange(300.0) + 0.5, np.arange(300.0))
    for upper, shown in ((0.99991, None), (0.9998, 0.9998)):
        monkeypatch.setattr(RatioEvidence, "upper", lambda *_, known=upper: known)
        assert {row.upper for row in rows_of(evidence, "ppv")} == {shown}


def test_no_valid_limit_of_ppv_can_say_more_in_so_many_files(evidence_from):
    """Where the best attacker picks out l holdout records it is vacuous in exp(-l) - a files."""
    rng, n, files = np.random.default_rng(3), 1000, 12
    picked = n * stats.norm.sf(stats.norm.isf(0.01) + 1)
    least = math.exp(-picked) - SHARE.one_sided
    vacuous = 0
    for _ in range(files):
        evidence = evidence_from(rng.normal(1, 1, n), rng.normal(size=n))
        vacuous += rows_of(evidence, "ppv")[1].unlimited == VACUOUS
    assert vacuous >= stats.binom.ppf(0.001, files, least)


def test_accuracy_and_am_say_what_the_advantage_says(shifted):
    accuracy, am = rows_of(shifted, "accuracy"), rows_of(shifted, "am")
    for row, same in zip(accuracy, am, strict=True):
        assert (row.lower, row.upper) == pytest.approx((same.lower, same.upper))
        if row.upper is not None:
            expected = (1 + shifted.upper(row.attackers, 0.025)) / 2
            assert row.upper == pytest.approx(expected)
    assert accuracy[0].lower == pytest.approx((1 + shifted.lower(0.025)) / 2)


@pytest.mark.parametrize("name", ["f1", "ppv", "wa:2,2,1,1", "cost:fp=1,fn=5"])
def test_a_strong_leak_is_found_and_limited(shifted, name):
    rows = rows_of(shifted, name, **({"least": 0.2} if name == "ppv" else {}))
    metric = parse_metric(name, prior=0.5)
    assert rows[0].lower > metric.baseline + 0.01
    for row in rows[1:]:
        if row.upper is None:  # four intervals pick out 20% of the members and nobody else
            assert (name, row.attackers) == ("ppv", "intervals-4")
        else:
            assert rows[0].lower < row.upper < metric.most


@pytest.mark.parametrize(("name", "best"), [("ppv", 0.954), ("npv", 0.954)])
def test_a_floor_is_met_by_few_sure_guesses(shifted, name, best):
    # Phi(-z - 1.5) at Phi(-z) = 0.2; the guesses that are best for the advantage reach 0.773.
    row = rows_of(shifted, name, least=0.2)[0]
    assert 0.85 < row.lower < best


def test_a_two_valued_score_has_a_limit_for_all_attackers(evidence_from):
    rng = np.random.default_rng(2)
    evidence = evidence_from(
        (rng.random(1000) < 0.8).astype(float),
        (rng.random(1000) < 0.2).astype(float),
        discrete=True,
    )
    row = rows_of(evidence, "ppv", least=0.5)[0]
    assert 0.7 < row.lower < row.plugin < row.upper < 0.88
    assert row.selection.count("P(member | score)") == 1


def test_the_set_aimed_at_is_that_of_the_metric(evidence_from):
    # Among 1% members a high recall pays in F2, hardly in weighted accuracy.
    rng = np.random.default_rng(3)
    evidence = evidence_from(rng.normal(2, 1, 2000), rng.normal(size=2000), prior=0.05)
    f2, accuracy = rows_of(evidence, "fbeta:2")[0], rows_of(evidence, "accuracy")[0]
    baseline = parse_metric("fbeta:2", prior=0.05).baseline
    assert f2.lower > baseline + 0.2
    assert accuracy.lower < 0.96


@pytest.mark.parametrize(("name", "tpr", "fpr"), [("ppv", 0.0099, 0.0001), ("npv", 0.9999, 0.9901)])
def test_the_best_estimate_just_below_the_floor_is_not_below_its_lower_limit(
    shifted, name, tpr, fpr
):
    metric = parse_metric(name, prior=0.5)
    found = metric_evidence(shifted, metric)
    size = 10**6
    rates = [MeanRate(r, r * (1 - r) / size, 1 / size) for r in (tpr, fpr)]
    found.__dict__["_rates"] = Averaged(
        tpr=rates[0], fpr=rates[1], prior=0.5, assignments=1, n_members=size, n_holdout=size
    )
    assert metric.baseline + 0.3 < found.lower(0.025) < found.value

    def value(t, f):
        return metric.value(*metric.lifted(t, f)[:2])

    # The step up to the floor is a part of the error, here by moving the rates a little.
    assert found.value == pytest.approx(value(tpr, fpr))
    slopes = (value(tpr + 1e-7, fpr) - found.value, value(tpr, fpr + 1e-7) - found.value)
    spreads = [r * (1 - r) / size for r in (tpr, fpr)]
    expected = math.hypot(*(d / 1e-7 * math.sqrt(s) for d, s in zip(slopes, spreads, strict=True)))
    assert found.standard_error == pytest.approx(expected, rel=1e-3)


def test_coins_that_keep_the_floor_count_against_every_attacker(evidence_from):
    members, holdout = np.zeros(20_000), np.zeros(20_000)
    members[:160] = 1
    evidence = evidence_from(members, holdout, discrete=True)
    metric = parse_metric("ppv", prior=0.5)
    truth = metric.value(*metric.lifted(0.008, 0.0)[:2])
    for row in rows_of(evidence, "ppv"):
        assert row.upper is None or row.upper > truth
    assert rows_of(evidence, "ppv")[0].plugin > 0.7


@pytest.mark.parametrize("name", ["f1", "am"])
def test_strict_rows_name_the_strict_methods(evidence_from, name):
    rng = np.random.default_rng(1)
    scores = rng.normal(1, 1, 150), rng.normal(size=150)
    strict, loose = (
        rows_of(evidence_from(*scores, strict=strict), name) for strict in (True, False)
    )
    for one, other in zip(strict, loose, strict=True):
        assert one.method != other.method
        assert "oracle" not in one.method
    assert ("earlier blocks" in strict[0].selection) == (name == "am")  # bets adapt
    assert "earlier blocks" in loose[0].selection


def test_labels_have_the_row_of_all_attackers_alone(evidence_from):
    rng = np.random.default_rng(4)
    evidence = evidence_from(
        rng.integers(0, 4, 100), rng.integers(0, 4, 100), kind="string", ordered=False
    )
    (row,) = rows_of(evidence, "f1")
    assert row.attackers == "any"
    assert row.upper is not None


def test_published_row_is_no_interval(shifted, evidence_from):
    row = published_metric(shifted, parse_metric("am", prior=0.5), 0.95)
    assert row.validity == "not-an-interval"
    assert row.value == pytest.approx(0.77, abs=0.05)
    tiny = evidence_from([1.0, 2.0], [0.0, 3.0])
    assert published_metric(tiny, parse_metric("am", prior=0.5), 0.95) is None


def test_a_policy_on_metrics_shares_the_error(shifted):
    policy = Policy(max_advantage=0.9, max_metric=(("f1", 0.7), ("am", 0.99)))
    assert len(policy.every_limit) == 3
    metrics = {
        ("s", name): metric_evidence(shifted, parse_metric(name, prior=0.5))
        for name in ("f1", "am")
    }
    checks = judge([shifted], policy, None, 0.95, metrics)[0]
    assert [(c.quantity, c.metric, c.status) for c in checks] == [
        ("advantage", None, "met"),
        ("metric", "f1", "not_met"),
        ("metric", "am", "met"),
    ]
    assert checks[1].lower == metrics["s", "f1"].lower(0.025 / 3)
    assert checks[2].upper == metrics["s", "am"].upper("intervals-4", 0.025)
    assert told(checks[1].reason).startswith("metric f1 is at least")
    close = Policy(max_metric=(("f1", metrics["s", "f1"].value - 0.005),))
    (check,) = judge([shifted], close, None, 0.95, metrics)[0]
    assert check.status == "inconclusive"
    assert check.records_to_settle is None or check.records_to_settle > 3000


def test_findings_about_metrics_and_priors():
    assert [f.code for f in metric_findings(parse_metric("tpr", prior=0.1))] == ["trivial_metric"]
    assert metric_findings(parse_metric("ppv", prior=0.1)) == []
    assert prior_findings(0.5, [0.0], []) == []
    assert prior_findings(0.1, [0.85], []) == []
    assert [f.code for f in prior_findings(0.1, [0.8, 0.8], [])] == ["prior_hides_leaks"]


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 2.0])
def test_a_claim_excludes_all_attackers_below_a_prior(epsilon):
    edge = 1 / (1 + math.exp(epsilon))
    for prior, excluded in ((edge * 0.99, True), (edge * 1.01, False), (1 - edge * 0.99, True)):
        claimed = (epsilon, 0.0, "substitution")
        claim = judge_claim(claimed, score="s", prior=prior, lower=abs(2 * prior - 1))
        codes = [f.code for f in prior_findings(prior, [1.0], [claim])]
        assert codes == (["prior_excludes_attackers"] if excluded else [])


@pytest.mark.parametrize(
    ("name", "prior", "swapped", "n"),
    [
        ("ppv", 0.5, False, 64),
        ("npv", 0.1, True, 83),
        ("f1", 0.1, False, 47),
        ("ppv", 0.9, False, 21),
    ],
)
def test_no_limit_of_few_contents_rests_on_one_assignment(evidence_from, name, prior, swapped, n):
    metric, found = parse_metric(name, prior=prior), []
    for shared in range(n + 1):
        sides = np.ones(n), (np.arange(n) < shared).astype(float)
        evidence = evidence_from(
            *(sides[::-1] if swapped else sides), prior=prior, discrete=True, seed=shared
        )
        counts, own = evidence.counts, metric_evidence(evidence, metric)
        one = fixed_metric(counts.blocks, counts.burn_in, metric)
        alone = metric_lower(metric, one.tpr, one.fpr, 0.025)
        found.append((own.lower(0.025), own.upper("any", 0.025), alone))
    lower, upper, alone = np.transpose(found)

    def truth(share):
        rates = (1 - share, 0.0) if swapped else (1.0, share)
        return max(metric.baseline, metric.value(*rates))

    assert worst_miss(truth, lower=lower) <= 0.025
    assert worst_miss(truth, upper=upper) <= 1.02 * 0.025
    if n == 64:  # luck of one assignment for each content: not at every size
        assert worst_miss(truth, lower=alone) > 1.3 * 0.025
    # Where next to no holdout record shares the value, the limit says as much as a fixed set's.
    fixed = MeanRate(1.0, 0.0, 1 / n), MeanRate(0.0, 0.0, 1 / n)
    assert lower[0] == pytest.approx(metric_lower(metric, *fixed, 0.025), abs=1e-3)
