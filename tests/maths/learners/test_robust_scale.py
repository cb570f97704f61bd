"""One scale for all coordinates, whatever their extremes."""

from __future__ import annotations

import numpy as np
import pytest

from mipaudit.maths.learners.robust_scale import robust_scale


def test_normal_values_keep_their_order_and_get_unit_width():
    rng = np.random.default_rng(0)
    values = 7 + 3 * rng.standard_normal((20_000, 2))
    scaled = robust_scale(values).matrix(values)
    assert scaled.std(axis=0) == pytest.approx([1, 1], abs=0.03)
    assert (np.argsort(scaled[:, 0]) == np.argsort(values[:, 0])).all()


def test_infinite_and_huge_values_stay_within_twelve():
    column = np.array([0.0, 1.0, 2.0, 3.0, 1e300, -1e300, np.inf, -np.inf])
    scaled = robust_scale(column[:, None]).column(column, 0)
    assert np.isfinite(scaled).all()
    assert np.abs(scaled).max() == 12
    assert scaled[6] == scaled.max()
    assert scaled[7] == scaled.min()


@pytest.mark.parametrize(
    "column", [[5.0] * 6, [np.inf] * 4, [np.inf, -np.inf], [0.0] * 99 + [1.0], []]
)
def test_no_width_is_zero(column):
    values = np.array(column, dtype=np.float64)[:, None]
    scale = robust_scale(values)
    assert scale.width[0] > 0
    assert np.isfinite(scale.column(values[:, 0], 0)).all()


def test_the_scale_is_logarithmic_only_beyond_four_widths():
    scale = robust_scale(np.array([[-1.0], [0.0], [1.0]]))
    width = scale.width[0]
    near = np.array([3.9, 4.0]) * width
    assert scale.column(near, 0) == pytest.approx([3.9, 4.0])
    assert scale.column(np.array([103.0 * width]), 0)[0] == pytest.approx(4 + np.log(100))
