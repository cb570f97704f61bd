"""The multipliers of every calibration, against exact optimal attackers and seeded draws."""

from __future__ import annotations

import math
from itertools import product
from statistics import NormalDist
from types import SimpleNamespace

import numpy as np
import pytest

from mipaudit.commands.noise.report import noise_calibrations
from tests.noise_gaps import gap_left

NOTHING = {"moment": None, "swap_distance": None, "sensitivity": None}
ALL = {"moment": 0.5, "swap_distance": 0.8, "sensitivity": 20.0}
MECHANISMS = ("laplace", "norm-exponential", "gaussian")
# Fractions of the training set with an eta that they leave room for.
PROMISES = [
    *((eta, 0.5) for eta in (0.1, 0.02, 0.45)),
    *((0.05, 0.3), (0.05, 0.7), (0.001, 0.1), (0.2, 0.4)),
]


def calibrations(eta, q=0.5, k=2.0, known=NOTHING, dimension=1):
    return noise_calibrations(SimpleNamespace(eta=eta, k=k, train_fraction=q, **known), dimension)


def table(*promise, **known):
    rows = calibrations(*promise, **known)
    found = {(row.calibration, row.mechanism): row for row in rows}
    assert len(found) == len(rows)
    return found


def multipliers(rows, calibration):
    return [rows[calibration, mechanism].multiplier for mechanism in MECHANISMS]


def test_the_multipliers_at_eta_a_tenth():
    rows = table(0.1)

    assert rows["paper", "norm-exponential"].multiplier == pytest.approx(3794.56, rel=1e-12)
    assert multipliers(rows, "moment") == pytest.approx([4.481, 4.933, 3.947], abs=5e-4)
    halves = [m / 2 for m in multipliers(rows, "moment")]
    assert multipliers(rows, "swap") == pytest.approx(halves, rel=1e-12)
    epsilon = math.log(1.2 / 0.8)
    assert epsilon == pytest.approx(0.405, abs=5e-4)
    assert rows["dp", "laplace"].multiplier == pytest.approx(1 / epsilon, rel=1e-12)
    assert rows["dp", "norm-exponential"].multiplier == rows["dp", "laplace"].multiplier


@pytest.mark.parametrize(
    ("eta", "k", "wanted"),
    [(0.1, 4, 483.5), (0.02, 2, 94864.0), (0.1, math.inf, 61.6), (0.1, 1, 75.0**3)],
)
def test_the_published_multipliers(eta, k, wanted):
    row = table(eta, k=k)["paper", "norm-exponential"]

    assert row.multiplier == pytest.approx(wanted, rel=1e-3)
    assert row.of == {4: "sigma_4", 2: "sigma_2", math.inf: "sigma_inf", 1: "sigma_1"}[k]


@pytest.mark.parametrize(
    ("eta", "q", "wanted", "within"),
    [(0.02, 0.5, [24.50, 24.99, 19.94], 6e-3), (0.05, 0.3, [9.14136, 9.90671, 7.92035], 6e-6)],
)
def test_vectors(eta, q, wanted, within):
    rows = table(eta, q)
    assert multipliers(rows, "moment") == pytest.approx(wanted, abs=within)
    assert multipliers(rows, "swap") == pytest.approx([q * m for m in wanted], abs=within)
    # The published one is proved for one half only.
    assert (("paper", "norm-exponential") in rows) == (q == 0.5)


@pytest.mark.parametrize(("eta", "q"), PROMISES)
@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_moment_and_swap_leave_exactly_eta_to_their_bounds(eta, q, mechanism):
    rows, rarer = table(eta, q), min(q, 1 - q)

    # For every unit of sigma_1 the two sides are on average at most 1 / min(q, 1-q) apart.
    apart = {"moment": 1 / rarer, "swap": 1.0}
    for calibration, distance in apart.items():
        ratio = distance / rows[calibration, mechanism].multiplier
        assert rarer * gap_left(mechanism, ratio) == pytest.approx(eta, rel=1e-9)


def best_accuracy(tpr_fpr, q):
    """Return the accuracy of the best attacker who answers by one bit or not at all."""
    return max(q * t + (1 - q) * (1 - f) for t, f in [*tpr_fpr, (0.0, 0.0), (1.0, 1.0)])


def randomized_response(epsilon):
    """Return (TPR, FPR) of every rule on the answer that uses all of epsilon."""
    true = 1 / (1 + math.exp(-epsilon))
    for says_in in product((0, 1), repeat=2):  # to the answers 0 and 1
        yield tuple(np.array([[1 - true, true], [true, 1 - true]]) @ says_in)


@pytest.mark.parametrize(("eta", "q"), PROMISES)
def test_dp_rows_allow_the_best_attacker_eta_and_no_more(eta, q):
    rows = table(eta, q)
    epsilon = 1 / rows["dp", "laplace"].multiplier
    allowed = max(q, 1 - q) + eta

    assert best_accuracy(randomized_response(epsilon), q) == pytest.approx(allowed, abs=1e-12)
    tighter = best_accuracy(randomized_response(0.999 * epsilon), q)
    assert tighter < allowed - 1e-9
    closed = max(q, 1 - q, math.exp(epsilon) / (1 + math.exp(epsilon)))
    assert closed == pytest.approx(allowed, abs=1e-12)


@pytest.mark.parametrize(("eta", "q"), PROMISES)
def test_the_gaussian_dp_row_is_exact_by_its_trade_off_curve(eta, q):
    shift = 1 / table(eta, q)["dp", "gaussian"].multiplier
    normal = NormalDist()
    cuts = np.linspace(-30, 30, 60_001) + shift / 2
    by_threshold = max(
        q * normal.cdf(shift - cut) + (1 - q) * normal.cdf(cut)
        for cut in [*cuts, shift / 2 + math.log((1 - q) / q) / shift]
    )

    assert by_threshold == pytest.approx(max(q, 1 - q) + eta, abs=1e-9)


@pytest.mark.parametrize(("eta", "q"), PROMISES)
@pytest.mark.parametrize("dimension", [1, 5])
def test_the_breakeven_is_where_both_noises_are_the_same(eta, q, dimension):
    rows = table(eta, q, dimension=dimension)

    for (calibration, mechanism), row in rows.items():
        limit = row.quieter_than_dp_below
        if calibration == "dp":
            assert limit is None
        else:
            # At one half swap is DP with the expected move in place of the largest.
            if (calibration, q) == ("swap", 0.5) and mechanism != "laplace":
                assert limit == pytest.approx(1, rel=1e-12)
            other = rows["dp", mechanism].multiplier
            assert row.multiplier * limit == pytest.approx(other, rel=1e-12)
            assert row.multiplier * (0.99 * limit) < other < row.multiplier * (1.01 * limit)


def test_scales_are_multiples_of_what_is_known():
    rows = table(0.1, known=ALL)

    known = {"paper": 0.5, "moment": 0.5, "swap": 0.8, "dp": 20.0}
    for (calibration, _), row in rows.items():
        assert row.scale == pytest.approx(row.multiplier * known[calibration], rel=1e-12)
    for row in table(0.1).values():
        assert (row.scale, row.coordinate_rms, row.expected_norm) == (None, None, None)


def test_laplace_noise_is_for_one_number():
    assert {name for _, name in table(0.1)} == set(MECHANISMS)
    several = table(0.1, dimension=2)
    assert {name for _, name in several} == set(MECHANISMS) - {"laplace"}


def test_what_is_beyond_the_floats_is_none_and_not_infinite():
    rows = table(1e-200, k=1, known=ALL)
    paper = rows["paper", "norm-exponential"]
    assert (paper.multiplier, paper.scale, paper.coordinate_rms) == (None, None, None)
    assert paper.quieter_than_dp_below == 0
    assert rows["moment", "gaussian"].multiplier == pytest.approx(1e200 / math.sqrt(2 * math.pi))

    paper = table(1e-12, k=1, known=ALL | {"moment": 1e300})["paper", "norm-exponential"]
    assert paper.multiplier == pytest.approx(7.5e12**3)
    assert (paper.scale, paper.expected_norm) == (None, None)


@pytest.mark.parametrize(("eta", "q"), [(0.3, 0.3), (0.4, 0.3), (0.1, 0.9), (0.49, 0.1)])
def test_a_promise_that_guessing_keeps_needs_no_calibration(eta, q):
    assert calibrations(eta, q, known=ALL) == ()


@pytest.mark.parametrize("eta", [1e-12, 1e-6, 0.499999, 0.4999999999])
@pytest.mark.parametrize("q", [0.5, 0.4999999999, 0.50001])
def test_the_ends_of_the_range_are_finite_and_ordered(eta, q):
    rows = table(min(eta, 0.9999 * min(q, 1 - q)), q)

    for calibration in ("moment", "swap", "dp"):
        found = multipliers(rows, calibration)
        assert all(0 < m < math.inf for m in found)
        assert found[0] <= found[1] * (1 + 1e-12)  # Laplace asks for no more than any norm
