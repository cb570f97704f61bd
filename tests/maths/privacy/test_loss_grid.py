from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mipaudit.maths.privacy.loss_grid import Half, Losses, half_of_atom, half_of_profile, mirrored
from mipaudit.maths.privacy.mechanism import GaussianDP


def gaussian_half(mu, interval):
    exact = GaussianDP(mu=mu)
    return half_of_profile(
        lambda dots: np.array([exact.profile(float(dot)) for dot in dots]),
        mu * mu / 2 + 9 * mu,
        interval,
    )


def test_the_curve_goes_through_the_dots():
    half = gaussian_half(1, 0.01)
    deltas = mirrored(half, half, 0.01).deltas(0.01)
    exact = [GaussianDP(mu=1).profile(0.01 * dot) for dot in range(deltas.size)]
    assert deltas == pytest.approx(exact, rel=1e-9, abs=1e-17)


def test_both_directions_are_distributions():
    half = gaussian_half(1, 0.01)
    losses = mirrored(half, half, 0.01)
    at = (np.arange(losses.masses.size) + losses.lower) * 0.01
    assert math.fsum(losses.masses) + losses.endless == pytest.approx(1, abs=1e-15)
    # Q = e^-loss P, also where reading the profile off would have left rounding errors.
    assert math.fsum(losses.masses * np.exp(-at)) == pytest.approx(1, abs=1e-9)


@given(loss=st.floats(1e-6, 50), interval=st.floats(1e-3, 3), mass=st.floats(0.01, 1))
def test_an_atom_keeps_its_mass_in_both_directions(loss, interval, mass):
    half = half_of_atom(loss, mass, 0.0, interval)
    at = np.arange(1, half.masses.size + 1) * interval
    below = np.append(at[0] - interval, at)[:-1]
    assert half.masses.min() >= 0
    # Below the first dot the rest is at 0, where mirroring puts it.
    rest = mass - half.masses.sum()
    assert rest == pytest.approx(0 if below[-1] > 0 else rest, abs=1e-9)
    there = half.masses @ np.exp(-at) + rest
    assert there == pytest.approx(mass * math.exp(-loss), rel=1e-6, abs=1e-9)


def test_powers_are_repeated_sums():
    pytest.importorskip("dp_accounting")
    half = half_of_atom(0.02, 0.505, 0.001, 0.01)
    one = mirrored(half, half, 0.01)
    five = one.plus(one).plus(one).plus(one).plus(one)
    found = one.power(5)
    assert found.endless == pytest.approx(five.endless, rel=1e-12)
    assert found.deltas(0.01)[:10] == pytest.approx(five.deltas(0.01)[:10], rel=1e-12)


def test_many_steps_at_a_time_change_nothing(monkeypatch):
    pytest.importorskip("dp_accounting")
    half = half_of_atom(0.05, 0.51, 1e-7, 0.01)
    one = mirrored(half, half, 0.01)
    at_once = one.power(1000)
    monkeypatch.setattr("mipaudit.maths.privacy.loss_grid._AT_A_TIME", 20)
    staged = one.power(1000)
    assert staged.endless == pytest.approx(at_once.endless, rel=1e-9)
    assert staged.deltas(0.01)[:500] == pytest.approx(at_once.deltas(0.01)[:500], rel=1e-9)


def test_losses_all_above_or_below_zero():
    above = Losses(lower=3, masses=np.array([0.4, 0.5]), endless=0.1)
    expected = [
        0.1 + 0.4 * -math.expm1(0.1 * (i - 3)) + 0.5 * -math.expm1(0.1 * (i - 4)) for i in range(3)
    ]
    assert above.deltas(0.1)[:3] == pytest.approx(expected)
    below = Losses(lower=-3, masses=np.array([0.4, 0.5]), endless=0.1)
    assert below.deltas(0.1) == pytest.approx([0.1])


def test_an_unlikely_half_leaves_the_rest_at_zero():
    half = Half(masses=np.array([0.1]), endless=0.05)
    losses = mirrored(half, half, 1.0)
    assert losses.masses == pytest.approx([0.1 / math.e, 0.85 - 0.1 / math.e, 0.1])
