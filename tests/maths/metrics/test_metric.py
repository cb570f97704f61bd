"""Metrics: what each name means, where the best attacker guesses, and what is refused."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mipaudit.errors import UsageError
from mipaudit.maths.metrics.metric import (
    MetricShapeError,
    closed_threshold,
    make_metric,
    posterior_threshold,
)
from mipaudit.maths.metrics.names import parse_metric, split_limit

RATES = [(0.0, 0.0), (0.3, 0.1), (0.9, 0.6), (1.0, 1.0), (0.2, 0.7)]

# As MACE's appendix B prints them, from the four shares.
BY_HAND = {
    "ppv": lambda tp, fp, fn, tn: tp / (tp + fp),
    "npv": lambda tp, fp, fn, tn: tn / (tn + fn),
    "tpr": lambda tp, fp, fn, tn: tp / (tp + fn),
    "tnr": lambda tp, fp, fn, tn: tn / (fp + tn),
    "am": lambda tp, fp, fn, tn: (tp / (tp + fn) + tn / (fp + tn)) / 2,
    "accuracy": lambda tp, fp, fn, tn: tp + tn,
    "f1": lambda tp, fp, fn, tn: 2 * tp / (2 * tp + fp + fn),
    "fbeta:2": lambda tp, fp, fn, tn: 5 * tp / (5 * tp + 4 * fn + fp),
    "wa:2,2,1,1": lambda tp, fp, fn, tn: (2 * tp + 2 * tn) / (2 * tp + 2 * tn + fp + fn),
    "wa:1,2,3,4": lambda tp, fp, fn, tn: (tp + 2 * tn) / (tp + 2 * tn + 3 * fp + 4 * fn),
    "cost:fp=1,fn=5": lambda tp, fp, fn, tn: -(fp + 5 * fn),
    "custom:a11=1,b11=1,b10=1": lambda tp, fp, fn, tn: tp / (tp + fp),
    "custom:a0=1,a01=-2": lambda tp, fp, fn, tn: 1 - 2 * fn,
}


@pytest.mark.parametrize("name", BY_HAND)
@pytest.mark.parametrize("prior", [0.1, 0.5])
def test_a_metric_is_what_the_paper_prints(name, prior):
    metric = parse_metric(name, prior=prior)
    for tpr, fpr in RATES[1:3]:
        shares = prior * tpr, (1 - prior) * fpr, prior * (1 - tpr), (1 - prior) * (1 - fpr)
        assert metric.value(tpr, fpr) == pytest.approx(BY_HAND[name](*shares))


def test_zero_over_zero_is_no_number():
    assert math.isnan(parse_metric("ppv", prior=0.5).value(0, 0))


@pytest.mark.parametrize(
    ("name", "prior", "threshold"),
    [
        ("accuracy", 0.3, 0.5),
        ("am", 0.3, 0.3),  # MACE: t_AM = p
        ("tpr", 0.3, 0.0),  # MACE: t_TPR = 0
        ("cost:fp=1,fn=5", 0.3, 1 / 6),  # Elkan 2001
    ],
)
def test_theorem_1(name, prior, threshold):
    assert closed_threshold(parse_metric(name, prior=prior)) == pytest.approx(threshold)


def test_weighted_accuracy_is_no_case_of_theorem_1_though_its_threshold_is_a_half():
    metric = parse_metric("wa:2,2,1,1", prior=0.3)
    assert closed_threshold(metric) is None
    assert posterior_threshold(metric, 0.9) == pytest.approx(0.5)


@given(
    st.lists(st.integers(1, 9), min_size=5, max_size=5),
    st.lists(st.integers(1, 9), min_size=5, max_size=5),
    st.sampled_from(["accuracy", "am", "f1", "fbeta:2", "wa:1,2,3,4", "cost:fp=1,fn=5"]),
    st.sampled_from([0.1, 0.5, 0.7]),
)
def test_the_optimal_set_by_enumeration_is_the_threshold_rule(members, holdout, name, prior):
    metric = parse_metric(name, prior=prior)
    p = np.array(members) / sum(members)
    q = np.array(holdout) / sum(holdout)
    best = max(
        metric.value(p[list(cells)].sum(), q[list(cells)].sum())
        for size in range(6)
        for cells in itertools.combinations(range(5), size)
    )
    posterior = prior * p / (prior * p + (1 - prior) * q)
    called = posterior >= posterior_threshold(metric, best) - 1e-9
    assert metric.value(p[called].sum(), q[called].sum()) == pytest.approx(best)


@given(
    st.tuples(*[st.floats(-3, 3).map(lambda weight: round(weight, 9))] * 5),
    st.tuples(*[st.floats(0.1, 3)] * 5),
    st.sampled_from([0.1, 0.5]),
    st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1), st.floats(0.1, 1)), min_size=1),
)
def test_an_average_of_sets_is_no_better_than_the_best_of_them(a, b, prior, mixed):
    metric = make_metric("m", a, b, prior=prior)
    weight = sum(w for *_, w in mixed)
    tpr = sum(w * t for t, _, w in mixed) / weight
    fpr = sum(w * f for _, f, w in mixed) / weight
    best = max(metric.value(t, f) for t, f, _ in mixed)
    assert metric.value(tpr, fpr) <= best + 1e-9


@given(st.floats(0.02, 1), st.floats(0, 1), st.floats(-1, 1))
def test_the_linear_form_has_the_sign_of_the_difference(tpr, fpr, level):
    for name in BY_HAND:
        metric = parse_metric(name, prior=0.2)
        c0, c1, c2 = metric.linear(level)
        gap = metric.value(tpr, fpr) - level
        if abs(gap) > 1e-9:
            assert np.sign(c0 + c1 * tpr - c2 * fpr) == np.sign(gap)


@pytest.mark.parametrize(
    ("name", "prior", "baseline", "most", "floor"),
    [
        ("ppv", 0.1, 0.1, 1, "recall"),
        ("npv", 0.1, 0.9, 1, "specificity"),
        ("f1", 0.5, 2 / 3, 1, None),
        ("am", 0.1, 0.5, 1, None),
        ("tpr", 0.1, 1, 1, None),
        ("cost:fp=1,fn=5", 0.1, -0.5, 0, None),
        ("wa:1,0,1,0", 0.1, 0.1, 1, "recall"),
    ],
)
def test_what_guessing_without_looking_reaches(name, prior, baseline, most, floor):
    metric = parse_metric(name, prior=prior)
    assert metric.baseline == pytest.approx(baseline)
    assert metric.most == pytest.approx(most)
    assert metric.floor == floor
    assert metric.trivial == (name == "tpr")
    assert metric.least == (0.0 if floor is None else 0.01)


def test_names_are_tidied():
    assert parse_metric(" F1 ", prior=0.5).name == "f1"
    assert parse_metric("fbeta:2.0", prior=0.5).name == "fbeta:2"
    assert parse_metric("cost:fn=5, fp=1", prior=0.5).name == "cost:fp=1,fn=5"
    assert parse_metric("custom:b10=1,a11=1,b11=1", prior=0.5).name == "custom:a11=1,b11=1,b10=1"
    assert parse_metric("custom:b0=1e6,a11=2.50", prior=0.5).name == "custom:a11=2.5,b0=1000000"
    # Both signs turned: the same metric.
    turned = parse_metric("custom:a11=-1,b11=-1,b10=-1", prior=0.5)
    assert turned.value(0.5, 0.2) == pytest.approx(parse_metric("ppv", prior=0.5).value(0.5, 0.2))


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("precision", "ppv"),
        ("accurcy", "accuracy"),
        ("", "Known"),
        ("ppv:3", "no numbers"),
        ("fbeta", "fbeta:2"),
        ("fbeta:-1", "above 0"),
        ("wa:1,2,3", "four numbers"),
        ("wa:1,2,3,nan", "four numbers"),
        ("cost:fp=1,tp=2", "false positive"),
        ("cost:fp=0,fn=0", "false positive"),
        ("custom:b0=1", "custom:a11=1"),
        ("custom:a11=1,a11=2", "custom:a11=1"),
        ("custom:a11=1,b11=1,b10=-1", "positive for some"),
        ("custom:a10=1,b10=1,b01=1", "high TPR and TNR"),
        ("custom:a11=1,b0=0", "0 for every attacker"),
        ("fbeta:1e155", "cannot be computed"),
        ("fbeta:1e-200", "above 0"),
        ("custom:a11=1e308,a00=1e308", "cannot be computed"),
        ("custom:a11=1,b0=1e-320", "cannot be computed"),
        ("custom:a11=1e29,b0=1e-29", "values beyond"),
        ("cost:fp=1e308,fn=1e308", "cannot be computed"),
    ],
)
def test_a_wrong_name_is_refused_with_help(text, says):
    with pytest.raises(UsageError) as caught:
        parse_metric(text, prior=0.5)
    assert says in str(caught.value)
    assert caught.value.code == "metric"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("fbeta:1.0000001", "fbeta:1.0000002"),
        ("custom:a11=1000001,a00=1", "custom:a11=1000002,a00=1"),
        ("wa:1.0000001,1,1,1", "wa:1.0000002,1,1,1"),
        ("cost:fp=1.0000001,fn=1", "cost:fp=1.0000002,fn=1"),
    ],
)
def test_metrics_that_differ_have_different_names(one, other):
    first, second = parse_metric(one, prior=0.5), parse_metric(other, prior=0.5)
    assert (first.name, second.name) == (one, other)


def test_small_weights_make_no_metric_trivial():
    assert not parse_metric("custom:a11=1e-14,a00=1e-14", prior=0.5).trivial


@pytest.mark.parametrize(
    ("name", "short", "mixed"),
    [("ppv", (0.05, 0.02), (0.1, 0.02 + 0.98 / 19)), ("npv", (0.97, 0.95), (0.97 * 18 / 19, 0.9))],
)
def test_who_is_short_of_the_floor_guesses_the_rest(name, short, mixed):
    metric = parse_metric(name, prior=0.5, least=0.1)
    tpr, fpr, share = metric.lifted(*short)
    assert (tpr, fpr) == pytest.approx(mixed)
    assert share == pytest.approx(1 / 19)
    assert metric.lifted(0.5, 0.2) == (0.5, 0.2, 0.0)


def test_a_weight_that_vanishes_without_a_floor_is_refused():
    with pytest.raises(MetricShapeError):
        make_metric("m", (0, 1, 0, 0, 0), (0, 0, 1, 1, 0), prior=0.5)


def test_limits_are_split_at_the_last_equals_sign():
    assert split_limit("ppv=0.6") == ("ppv", 0.6)
    assert split_limit("cost:fp=1,fn=5=-0.4") == ("cost:fp=1,fn=5", -0.4)
    for wrong in ("ppv", "=0.5", "ppv=x", "ppv=inf"):
        with pytest.raises(UsageError):
            split_limit(wrong)
