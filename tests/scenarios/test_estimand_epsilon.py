from __future__ import annotations

import math

import numpy as np
import pytest

from mipaudit.scenarios.audited_file import AuditedFile
from mipaudit.scenarios.estimand_epsilon import EpsilonRuns
from mipaudit.scenarios.estimands import default_estimands
from mipaudit.scenarios.laws import law

EPSILON = EpsilonRuns()


@pytest.mark.parametrize(
    ("name", "truth"),
    [
        ("null-gaussian", 0.0),
        ("null-discrete-1000", 0.0),
        ("constant", 0.0),
        # At delta 1e-5 a pure mechanism has almost the epsilon that it is named after.
        ("laplace-1", 1 + 2 * math.log1p(-1e-5)),
        ("randomized-response-1", math.log(math.e - 1e-5 * (1 + math.e))),
        ("gauss-shift-1", 4.377178095681),
    ],
)
def test_truth_is_the_mechanisms_epsilon(name, truth):
    assert EPSILON.truth(law(name), 0.5, ()) == pytest.approx(truth, rel=1e-9)


@pytest.mark.parametrize("name", ["comb-64", "leaked-atoms", "gauss-scale-3", "float16-ties"])
def test_what_is_no_mechanism_has_no_epsilon(name):
    assert not EPSILON.applies(law(name))
    with pytest.raises(ValueError, match="epsilon_runs"):
        EPSILON.truth(law(name), 0.5, ())


def test_a_limit_is_stated_and_only_when_asked_for():
    rng = np.random.default_rng(3)
    members, holdout = law("laplace-1").sample(rng, 2000, 2000)
    file = AuditedFile(
        member=np.repeat([True, False], 2000),
        score=np.concatenate([members, holdout]),
        prior=0.5,
        seed=1,
    )
    (interval,) = EPSILON.intervals(file)
    assert 0.5 < interval.lower < 1 < interval.value + 0.3
    assert interval.upper is None
    assert interval.nominal == 0.95
    assert "epsilon_runs" not in default_estimands()
