"""The true optimum of a metric, and that the limits cover it."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from scipy.stats import norm

from mipaudit.evidence.metrics import metric_evidence
from mipaudit.maths.metrics.names import parse_metric
from mipaudit.validation.estimands.estimand import AuditedFile
from mipaudit.validation.estimands.methods import ESTIMANDS
from mipaudit.validation.laws import law

METRIC = ESTIMANDS["metric"]


@pytest.mark.parametrize("name", ["f1", "fbeta:2", "wa:2,2,1,1", "cost:fp=1,fn=5", "am"])
@pytest.mark.parametrize("prior", [0.1, 0.5])
def test_the_truth_of_a_shift_is_that_of_its_best_cut(name, prior):
    metric = parse_metric(name, prior=prior)
    found = minimize_scalar(
        lambda cut: -metric.value(norm.sf(cut - 1), norm.sf(cut)), bounds=(-9, 6), method="bounded"
    )
    for attackers in ("any", "thresholds", "intervals-1"):
        truth = METRIC.truth(law("gauss-shift-1"), prior, name, attackers)
        assert truth == pytest.approx(-found.fun, abs=1e-5)


def test_the_truth_of_ppv_is_at_the_floor():
    cut = 1 + norm.isf(0.01)
    expected = 0.1 * 0.01 / (0.1 * 0.01 + 0.9 * norm.sf(cut))
    for attackers in ("any", "thresholds"):
        truth = METRIC.truth(law("gauss-shift-1"), 0.1, "ppv", attackers)
        assert truth == pytest.approx(expected, abs=1e-3)


def test_the_truth_of_randomized_response():
    share = math.e / (1 + math.e)
    for name, truth in (("ppv", share), ("npv", share), ("am", share), ("tpr", 1)):
        found = METRIC.truth(law("randomized-response-1"), 0.5, name, "any")
        assert found == pytest.approx(truth, abs=1e-9)


def test_a_class_reaches_at_most_what_all_attackers_do():
    for name in ("f1", "ppv", "wa:1,2,3,4"):
        best = METRIC.truth(law("comb-64"), 0.3, name, "any")
        for attackers in (("thresholds",), ("intervals-4",), ("bins-16", (0.2, 0.5))):
            truth = METRIC.truth(law("comb-64"), 0.3, name, *attackers)
            assert METRIC.baseline(0.3, name) - 1e-9 <= truth <= best + 2e-3


@pytest.mark.parametrize(
    ("name", "of_law", "discrete"),
    [("f1", "null-gaussian", False), ("ppv", "randomized-response-1", True)],
)
def test_coverage(name, of_law, discrete):
    files, misses = 60, np.zeros(2, dtype=int)
    truth = METRIC.truth(law(of_law), 0.5, name, "any")
    for number in range(files):
        rng = np.random.default_rng([5, number])
        members, holdout = law(of_law).sample(rng, 60, 60)
        file = AuditedFile(
            member=np.arange(120) < 60,
            score=np.concatenate([members, holdout]),
            prior=0.5,
            seed=number,
            discrete=discrete,
        )
        found = metric_evidence(file.evidence, parse_metric(name, prior=0.5))
        upper = found.upper("any" if discrete else "thresholds", 0.025)
        misses += [found.lower(0.025) > truth, upper < truth]
    # At 2.5% each, more than 6 misses in 60 happen once in 700 runs.
    assert misses.max() <= 6


def test_the_estimand_states_every_row():
    members, holdout = law("gauss-shift-1").sample(np.random.default_rng(0), 40, 40)
    file = AuditedFile(
        member=np.arange(80) < 40, score=np.concatenate([members, holdout]), prior=0.5, seed=0
    )
    said = METRIC.intervals(file)
    assert len({interval.label for interval in said}) == len(said)
    assert {interval.args[1] for interval in said} >= {"any", "thresholds", "intervals-4"}
