"""The registry: everything that a report or `bounds` can state has a true value."""

from __future__ import annotations

import math
from typing import get_args

import numpy as np
import pytest

from mipaudit.errors import UsageError
from mipaudit.evidence.scores.evidence import CLASSES
from mipaudit.model.row import Limited
from mipaudit.validation.estimands.estimand import AuditedFile
from mipaudit.validation.estimands.methods import ESTIMANDS, default_estimands, estimand
from mipaudit.validation.laws import LAWS, law

RESTATED = {"excess": 1, "eta": 0.5, "accuracy": 0.5}


def audited(name, *, strict=False, prior=0.5, n=300):
    members, holdout = law(name).sample(np.random.default_rng(4), n, n)
    return AuditedFile(
        member=np.arange(2 * n) < n,
        score=np.concatenate([members, holdout]),
        prior=prior,
        seed=1,
        strict=strict,
    )


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize("name", ["gauss-shift-1", "multinomial-1000", "randomized-response-1"])
def test_everything_that_estimate_states_has_one_estimand(name, strict):
    file = audited(name, strict=strict)
    homes = {pair: one for one in ESTIMANDS.values() for pair in one.statements}
    assert sum(len(one.statements) for one in ESTIMANDS.values()) == len(homes)
    pairs = {(estimate.quantity, estimate.attackers) for estimate in file.estimates}
    # The others are stated when they are asked for: by an option, or by another command.
    assert pairs == {
        pair for pair, one in homes.items() if not one.by_name_only or one.name in RESTATED
    }
    applicable = [one for one in ESTIMANDS.values() if one.concerns(law(name))]
    usual = [one for one in ESTIMANDS.values() if one.statements and not one.by_name_only]
    assert all(one in applicable for one in usual)
    for one in applicable:
        said = one.intervals(file)
        assert said
        assert {interval.estimand for interval in said} == {one.name}
        for interval in said:
            truth = one.truth(law(name), 0.5, *interval.args)
            assert math.isfinite(truth)


def test_every_quantity_and_class_of_a_report_is_covered():
    pairs = {pair for one in ESTIMANDS.values() for pair in one.statements}
    # A p-value is no limit of anything: tests/evidence/scores/test_rows.py has its level.
    assert {quantity for quantity, _ in pairs} == set(get_args(Limited)) - {"any_difference"}
    assert {attackers for quantity, attackers in pairs if quantity == "advantage"} == {
        "any",
        *CLASSES,
        "noised-query",
    }


def test_limits_and_values_are_those_of_the_report():
    file = audited("gauss-shift-1")
    printed = {(e.lower, e.upper) for e in file.estimates}
    asked = [ESTIMANDS[name] for name in default_estimands() if not ESTIMANDS[name].vectorial]
    both = [interval for one in asked for interval in one.intervals(file)]
    for interval in both:
        if interval.estimand.startswith("attack") or ESTIMANDS[interval.estimand].dear:
            continue  # of `bounds`, `attack` and `attribute`
        assert interval.nominal == pytest.approx(0.975)
        assert any(
            interval.lower in {None, lower} and interval.upper in {None, upper}
            for lower, upper in printed
        )
    (main,) = ESTIMANDS["advantage"].intervals(file)
    assert main.value == file.estimates[0].value


def test_limits_of_a_restatement_miss_when_those_of_its_original_do():
    for prior in (0.5, 0.1):
        file = audited("gauss-shift-2", prior=prior)
        (original,) = ESTIMANDS["advantage"].intervals(file)
        gap = law("gauss-shift-2").advantage(prior) - original.lower
        for name, slope in RESTATED.items():
            (interval,) = ESTIMANDS[name].intervals(file)
            moved = ESTIMANDS[name].truth(law("gauss-shift-2"), prior) - interval.lower
            assert moved == pytest.approx(slope * gap)
    assert not set(RESTATED) & set(default_estimands())


@pytest.mark.parametrize(
    ("name", "args", "truth", "baseline"),
    [
        ("advantage", (), 0.5, 0),
        ("excess", (), 0.5, 0),
        ("eta", (), 0.25, 0),
        ("accuracy", (), 0.75, 0.5),
        ("advantage_thresholds", (), 1 / 64, 0),
        ("advantage_intervals", (4,), 4 / 64, 0),
        ("advantage_bins", ((1 / 64, 2 / 64),), 1 / 64, 0),
        ("auc", ("high",), 0.5 - 1 / 128, 0.5),
        ("auc", ("low",), 0.5 + 1 / 128, 0.5),
        ("tpr_at_fpr", (0.5 / 64, "low"), 1.5 / 64, 0.5 / 64),
        ("tpr_at_fpr", (0.5 / 64, "high"), 0.5 / 64 / 3, 0.5 / 64),
        ("tpr_at_fpr", (0.5 / 64, "either"), 1.5 / 64, 0.5 / 64),
        ("attack_epsilon", (), 0, 0),
        ("attack_mu", (), 0, 0),
    ],
)
def test_truth_and_baseline(name, args, truth, baseline):
    one = estimand(name)
    assert one.truth(law("comb-64"), 0.5, *args) == pytest.approx(truth, abs=1e-7)
    assert nothing(one, 0.5, *args) == pytest.approx(baseline)


def nothing(one, prior, *args):
    return 0.0 if one.baseline is None else one.baseline(prior, *args)


@pytest.mark.parametrize("name", [name for name in LAWS if name.startswith("null-")])
@pytest.mark.parametrize("prior", [0.5, 0.1])
def test_where_nothing_leaks_the_truth_is_the_baseline(name, prior):
    for one in ESTIMANDS.values():
        if not one.concerns(law(name)):
            continue
        if one.name in {"difference", "joint_gain"}:  # of scores that they draw themselves
            continue
        if one.dear and prior != 0.5:  # a fixed attack does not know the prior
            continue
        if one.name.startswith("named_shortfall"):  # it may fall short where nothing leaks
            continue
        if one.name == "record_risk":  # a margin, not a risk
            continue
        for interval in one.intervals(audited(name, prior=prior, n=60)):
            truth = one.truth(law(name), prior, *interval.args)
            assert truth == pytest.approx(nothing(one, prior, *interval.args), abs=1e-9)


@pytest.mark.parametrize("epsilon", [0.5, 1, 4])
def test_the_attack_on_a_laplace_mechanism(epsilon):
    # A threshold half way between the centres: the errors are exp(-epsilon/2)/2 on either side.
    rate = math.exp(-epsilon / 2) / 2
    truth = estimand("attack_epsilon").truth(law(f"laplace-{epsilon:g}"), 0.5)
    assert truth == pytest.approx(math.log((1 - rate) / rate))
    assert truth <= epsilon


def test_randomized_response_is_what_its_attack_says():
    assert estimand("attack_epsilon").truth(law("randomized-response-1"), 0.5) == pytest.approx(1)
    assert estimand("attack_mu").truth(law("gauss-shift-2"), 0.5) == pytest.approx(2)


def test_an_attack_that_leaves_nothing_standing_has_no_estimand():
    assert not estimand("attack_epsilon").concerns(law("separated"))
    assert not estimand("attack_mu").concerns(law("separated"))
    assert all(estimand("advantage").concerns(one) for one in LAWS.values())


def test_attack_limits_are_those_of_bounds():
    import mipaudit

    file = audited("laplace-1")
    report = mipaudit.bounds(**file.refuted.counts, delta=0.0)
    stated = {
        (limits.epsilon_lower, limits.epsilon_upper)
        for limits in report.refuted.limits
        if limits.method == "clopper-pearson"
    }
    said = estimand("attack_epsilon").intervals(file)
    assert {(interval.lower, interval.upper) for interval in said} == stated
    nominal = {interval.label: round(interval.nominal, 9) for interval in said}
    assert nominal == {"attack_epsilon": 0.975, "attack_epsilon, one-sided": 0.95}


def test_unknown_name_lists_the_nearest():
    with pytest.raises(UsageError, match="advantage_bins") as caught:
        estimand("advantage_bin")
    assert caught.value.code == "unknown_estimand"
