from __future__ import annotations

import numpy as np
import pytest

from mipaudit.validation.law import (
    atoms,
    beta,
    cauchy,
    drift,
    laplace,
    log_normal,
    mixture,
    normal,
    pareto,
    rounded,
    steps,
)

NAMES = ["normal", "log-normal", "laplace", "cauchy", "pareto", "beta", "steps", "drift"]
DENSITIES = [
    normal(mean=1.0, sd=2.0),
    log_normal(log_mean=0.5, log_sd=2.0),
    laplace(centre=-1.0, scale=0.25),
    cauchy(centre=2.0),
    pareto(index=1.5, shift=0.2),
    beta(a=8.0, b=0.5),
    steps(masses=(0.2, 0.5, 0.3), start=-1.0, stop=2.0),
    drift(start=-1.0, stop=0.5),
]


@pytest.mark.parametrize("part", DENSITIES, ids=NAMES)
def test_quantile_inverts_the_distribution_function(part):
    level = np.array([1e-6, 0.01, 0.3, 0.5, 0.77, 0.999])
    assert part.cdf(part.quantile(level)) == pytest.approx(level, rel=1e-9)


@pytest.mark.parametrize("part", DENSITIES, ids=NAMES)
def test_distribution_function_runs_from_0_to_1(part):
    assert part.cdf(np.array([-np.inf, np.inf])).tolist() == [0.0, 1.0]
    assert (np.diff(part.cdf(np.linspace(-20, 20, 999))) >= 0).all()


def test_no_cell_holds_more_than_its_share():
    for part in DENSITIES:
        levels = part.cdf(np.unique(part.edges(64)))
        assert np.diff(levels, prepend=0.0, append=1.0).max() < 1 / 64 + 1e-12


def test_rounding_agrees_with_numpy_half_precision():
    half = np.arange(2**16, dtype=np.uint16).view(np.float16).astype(np.float64)
    values = np.unique(half[np.abs(half) <= 12])
    drawn = rounded(base=normal(), values=values).draw(np.random.default_rng(1), 20_000)
    same = np.random.default_rng(1).normal(0, 1, 20_000).astype(np.float16).astype(np.float64)
    assert (drawn == same).all()


def test_rounded_masses_are_those_of_the_nearest_values():
    part = rounded(base=normal(), values=np.array([-1.0, 0.0, 1.0]))
    values, masses = part.atoms()
    assert values.tolist() == [-1.0, 0.0, 1.0]
    assert masses == pytest.approx([0.3085375, 0.3829249, 0.3085375], abs=1e-7)
    assert part.cdf(np.array([-1.1, -1.0, 0.5, np.inf])) == pytest.approx(
        [0.0, 0.3085375, 0.6914625, 1.0], abs=1e-7
    )


def test_mixture_counts_an_atom_at_its_value_and_not_below():
    law = mixture((0.75, steps(masses=(1.0,))), (0.25, atoms(np.array([0.5]), np.ones(1))))
    at = np.array([np.nextafter(0.5, 0), 0.5, 1.0])
    assert law.cdf(at) == pytest.approx([0.375, 0.625, 1.0])
    assert law.continuous_cdf(at) == pytest.approx([0.375, 0.375, 0.75])


def test_a_drift_is_the_mean_of_its_rows():
    part, x = drift(start=0.0, stop=1.0), np.array([-2.0, 0.1, 0.5, 1.7])
    means = (np.arange(10_000) + 0.5) / 10_000
    each = [normal(mean=mean).cdf(x) for mean in means]
    assert part.cdf(x) == pytest.approx(np.mean(each, axis=0), abs=1e-8)
    early, late = np.split(part.draw(np.random.default_rng(2), 20_000), 2)
    assert late.mean() - early.mean() == pytest.approx(0.5, abs=0.05)
