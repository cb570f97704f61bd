import math
from statistics import NormalDist

import numpy as np
import pytest

from mipaudit.commands.query.model.lira import lira_offline, lira_online, shadow_law


def shadows(models=30, records=12, seed=0):
    rng = np.random.default_rng(seed)
    included = rng.random((models, records)) < 0.5
    phi = rng.normal(size=(models, records)) + included + np.arange(records) / 4
    return phi, included, rng.normal(size=records)


def slow_scores(phi, included, target, variance):
    """Record by record, as Carlini et al. write it, with an unbiased pooled variance."""
    records = phi.shape[1]
    samples = {
        kind: [phi[included[:, at] == kind, at] for at in range(records)] for kind in (True, False)
    }

    def deviation(kind, at):
        if variance == "per-record":
            return samples[kind][at].std(ddof=1)
        squares = sum(((one - one.mean()) ** 2).sum() for one in samples[kind])
        return math.sqrt(squares / sum(one.size - 1 for one in samples[kind]))

    online, offline = [], []
    for at in range(records):
        laws = {
            kind: NormalDist(samples[kind][at].mean(), deviation(kind, at))
            for kind in (True, False)
        }
        online.append(math.log(laws[True].pdf(target[at]) / laws[False].pdf(target[at])))
        offline.append(laws[False].zscore(target[at]))
    return online, offline


@pytest.mark.parametrize("variance", ["fixed", "per-record"])
def test_scores_are_those_of_the_slow_twin(variance):
    phi, included, target = shadows()
    inside = shadow_law(phi, included, variance)
    outside = shadow_law(phi, ~included, variance)
    online, offline = slow_scores(phi, included, target, variance)
    assert lira_online(target, inside, outside) == pytest.approx(online)
    assert lira_offline(target, outside) == pytest.approx(offline)


def test_the_fixed_variance_is_about_each_records_own_mean():
    # The spread of the means, 10 records far apart, must not count.
    rng = np.random.default_rng(1)
    phi = rng.normal(size=(400, 10)) + 1000.0 * np.arange(10)
    law = shadow_law(phi, np.ones(phi.shape, dtype=bool), "fixed")
    assert law.spread.tolist() == pytest.approx([1.0] * 10, abs=0.05)


def test_equal_confidences_of_a_record_do_not_make_it_infinitely_telling():
    phi, included, target = shadows()
    phi[:, 3] = 2.0
    law = shadow_law(phi, ~included, "per-record")
    assert law.floored == 1
    assert 0 < law.spread[3] < law.spread.max()
    assert np.isfinite(lira_offline(target, law)).all()


def test_confidences_that_never_vary_have_no_law():
    phi = np.zeros((5, 4))
    assert shadow_law(phi, np.ones(phi.shape, dtype=bool), "fixed") is None
    once = np.eye(4, dtype=bool)
    assert shadow_law(np.random.default_rng(0).normal(size=(4, 4)), once, "fixed") is None


def test_the_online_score_is_the_likelihood_ratio_where_the_laws_hold():
    # Known normal laws, many models: within the error of the estimated means.
    rng = np.random.default_rng(2)
    included = rng.random((4000, 3)) < 0.5
    phi = rng.normal(size=(4000, 3)) + 1.5 * included
    target = np.array([-1.0, 0.75, 2.0])
    inside, outside = (shadow_law(phi, one, "fixed") for one in (included, ~included))
    exact = 1.5 * target - 1.5**2 / 2
    assert lira_online(target, inside, outside) == pytest.approx(exact, abs=0.25)


@pytest.mark.parametrize("variance", ["fixed", "per-record"])
def test_level_laws_are_those_of_the_first_models_of_each_record(variance):
    phi, included, _ = shadows(models=40)
    law = shadow_law(phi, included, variance, level=True)
    least = included.sum(axis=0).min()
    firsts = [phi[included[:, at], at][:least] for at in range(phi.shape[1])]
    assert law.models.tolist() == [least] * phi.shape[1]
    assert law.mean.tolist() == pytest.approx([one.mean() for one in firsts])
    if variance == "per-record":
        assert law.spread.tolist() == pytest.approx([one.std(ddof=1) for one in firsts])
    else:
        assert law.spread.tolist() == shadow_law(phi, included, variance).spread.tolist()
