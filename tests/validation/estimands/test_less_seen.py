"""The coverage of what ``shift`` says, on records drawn from known laws."""

from __future__ import annotations

import math

import numpy as np
import pytest

from mipaudit.commands.validate.options import ValidateOptions
from mipaudit.commands.validate.run import cells_asked
from mipaudit.evidence import derived_scores
from mipaudit.validation.estimands.estimand import AuditedFile, AuditedVector
from mipaudit.validation.estimands.methods import ESTIMANDS, default_estimands
from mipaudit.validation.laws import VECTOR_LAWS, law

NOISED = ESTIMANDS["advantage_noised"]
ESTIMAND = ESTIMANDS["advantage_blind"]


@pytest.mark.parametrize("width", [0.05, 0.3, 2.0])
def test_normal_scores_with_noise_are_normal(width):
    closed = math.erf(1 / (2 * math.sqrt(2) * math.hypot(1, width)))
    assert NOISED.truth(law("gauss-shift-1"), 0.5, width) == pytest.approx(closed, abs=5e-5)


@pytest.mark.parametrize("prior", [0.5, 0.2])
def test_atoms_with_noise_are_a_mixture_of_normals(prior):
    """By integration of the two mixtures themselves."""
    found = law("randomized-response-1")
    width = 0.4
    values, masses = found.members.atoms()
    other_values, other = found.holdout.atoms()
    points = np.linspace(-4, 5, 40_001)

    def density(at, mass):
        z = (points[:, None] - at[None]) / width
        return (np.exp(-0.5 * z**2) * mass).sum(axis=1) / (width * math.sqrt(2 * math.pi))

    gains = prior * density(values, masses) - (1 - prior) * density(other_values, other)
    expected = np.abs(gains).sum() * (points[1] - points[0])
    assert NOISED.truth(found, prior, width) == pytest.approx(expected, abs=1e-4)


@pytest.mark.parametrize(
    "name", ["laplace-1", "cauchy-shift", "softmax", "comb-64", "leaked-atoms", "float16-ties"]
)
@pytest.mark.parametrize("prior", [0.5, 0.1])
def test_noise_only_lowers_the_advantage(name, prior):
    found = law(name)
    values = [NOISED.truth(found, prior, width) for width in (0.05, 0.3, 2.0)]
    assert found.advantage(prior) + 1e-4 >= values[0]
    assert values[0] + 1e-6 >= values[1]
    assert values[1] + 1e-6 >= values[2] >= abs(2 * prior - 1)


def test_infinite_scores_stay_as_they_are():
    assert NOISED.truth(law("infinite-scores"), 0.5, 5.0) == pytest.approx(0.04, abs=1e-6)


def test_each_bandwidth_has_its_limit_and_its_truth():
    members, holdout = law("gauss-shift-1").sample(np.random.default_rng(0), 1500, 1500)
    audited = AuditedFile(
        member=np.repeat([True, False], 1500),
        score=np.concatenate([members, holdout]),
        prior=0.5,
        seed=2,
    )
    intervals = NOISED.intervals(audited)
    assert len({one.label for one in intervals}) == len(intervals) >= 1
    for one in intervals:
        truth = NOISED.truth(law("gauss-shift-1"), 0.5, *one.args)
        assert truth < one.upper < truth + 0.15
        assert (one.lower, one.nominal) == (None, 0.975)


def test_a_file_without_spread_has_no_limit():
    constant = AuditedFile(member=np.arange(100) < 50, score=np.zeros(100), prior=0.5, seed=2)
    assert NOISED.intervals(constant) == []


def test_is_run_by_name_only():
    assert NOISED.name not in default_estimands()


def audited(name, number, *, prior=0.5, n=200):
    law = VECTOR_LAWS[name]
    members, holdout = law.sample(np.random.default_rng([n, number]), n, n)
    return AuditedVector(
        score=np.concatenate([members, holdout]),
        member=np.arange(2 * n) < n,
        prior=prior,
        strict=False,
        discrete=False,
        seed=number,
        law=law,
    )


def grid(**asked):
    return cells_asked(ValidateOptions(**asked))[2]


def test_it_is_run_without_being_asked_for():
    assert "advantage_blind" in default_estimands()
    for form, sizes in (("quick", {50}), ("full", {50, 1000})):
        cells = grid(long=form == "full")
        on = [cell for cell in cells if ESTIMAND.concerns(law(cell.scenario))]
        assert {cell.records for cell in on} == sizes
        assert {cell.prior for cell in on} == {0.5}
        assert any(law(cell.scenario).advantage(0.5) == 0 for cell in on)
        assert any(law(cell.scenario).advantage(0.5) > 0 for cell in on)


def test_asked_for_alone_it_is_run_where_it_says_something():
    alone = grid(estimand=["advantage_blind"])
    assert {law(cell.scenario).width for cell in alone} == {2}
    other = grid(estimand=["auc"])
    assert {law(cell.scenario).width for cell in other} == {1}
    named = grid(estimand=["advantage_vector"])
    assert {cell.scenario for cell in named} == set(VECTOR_LAWS)
    sized = grid(estimand=["advantage_blind"], sizes=[60])
    assert {cell.scenario for cell in sized} == set(VECTOR_LAWS)


def test_it_is_at_prior_one_half():
    assert ESTIMAND.intervals(audited("null-cube-2", 0, prior=0.1)) == []
    assert ESTIMAND.truth(VECTOR_LAWS["plane-xor-0.3"], 0.1) == pytest.approx(0.3)
    assert ESTIMAND.baseline is None


@pytest.mark.parametrize("name", ["null-cube-2", "plane-xor-0.3"])
def test_limits_cover(name, monkeypatch):
    monkeypatch.setattr(derived_scores, "fit_boosting", lambda *_, **__: None)
    files, above, below = 40, 0, 0
    for number in range(files):
        for one in ESTIMAND.intervals(audited(name, number)):
            truth = ESTIMAND.truth(VECTOR_LAWS[name], 0.5, *one.args)
            above += one.lower is not None and one.lower > truth
            below += one.upper is not None and one.upper < truth
    most = 0.025 * files + 3 * math.sqrt(files * 0.025 * 0.975)
    assert above <= most
    assert below <= most
