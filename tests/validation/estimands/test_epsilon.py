from __future__ import annotations

import math

import numpy as np
import pytest

from mipaudit.validation.estimands.estimand import AuditedFile
from mipaudit.validation.estimands.methods import ESTIMANDS, default_estimands
from mipaudit.validation.laws import law

EPSILON = ESTIMANDS["epsilon_runs"]


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
    assert EPSILON.truth(law(name), 0.5) == pytest.approx(truth, rel=1e-9)


@pytest.mark.parametrize("name", ["comb-64", "leaked-atoms", "gauss-scale-3", "float16-ties"])
def test_what_is_no_mechanism_has_no_epsilon(name):
    assert not EPSILON.concerns(law(name))


@pytest.fixture
def laplace_file():
    members, holdout = law("laplace-1").sample(np.random.default_rng(3), 2000, 2000)
    return AuditedFile(
        member=np.repeat([True, False], 2000),
        score=np.concatenate([members, holdout]),
        prior=0.5,
        seed=1,
    )


def test_every_valid_method_states_a_limit(laplace_file):
    intervals = EPSILON.intervals(laplace_file)
    assert [interval.label for interval in intervals] == [
        "epsilon_runs",
        "epsilon_runs, bands",
    ]
    assert all(0.5 < interval.lower < 1 for interval in intervals)
    assert {(interval.upper, interval.nominal) for interval in intervals} == {(None, 0.95)}


def test_one_run_states_two_limits_of_coins_that_are_fair(laplace_file):
    by_grid, fixed = ESTIMANDS["epsilon_one_run"].intervals(laplace_file)
    assert 0 < by_grid.lower < 1
    assert 0 < fixed.lower < 1
    assert (by_grid.nominal, fixed.nominal) == (0.95, 0.95)


def test_epsilon_is_validated_only_when_asked_for():
    assert not {"epsilon_runs", "epsilon_gdp", "epsilon_one_run"} & set(default_estimands())


def test_the_gaussian_method_is_asked_where_its_assumption_is_true():
    gaussian = ESTIMANDS["epsilon_gdp"]
    applies = [gaussian.concerns(law(name)) for name in ("gauss-shift-1", "null-ties", "laplace-1")]
    assert applies == [True, True, False]
