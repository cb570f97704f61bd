"""Strict mode: limits of the mean of h that hold at every number of splits."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from mipaudit.commands.noise.calibration import SwapPairs, calibrate, fewest_splits, shift_gaps
from mipaudit.commands.noise.options import NoiseOptions
from mipaudit.errors import InputError

ONE = {"shape": "isotropic", "mechanism": "gaussian"}


def run(splits, seed=0, pairs=None, **asked):
    asked = NoiseOptions(**{"eta": 0.1, "splits": splits, "strict": True, **asked})
    return calibrate(splits, asked, np.random.default_rng(seed), pairs)


def guaranteed(found):
    return [row for row in found.candidates if row.noise.guaranteed]


def test_only_direct_noise_is_guaranteed(adult_splits):
    found = run(adult_splits)
    rows = guaranteed(found)
    assert {row.noise.calibration for row in rows} == {"direct"}
    assert len(rows) == 5
    assert [row.noise.calibration for row in found.candidates if not row.noise.guaranteed] == [
        "paper"
    ]
    for row in rows:
        assert (row.noise.gap.validity, row.noise.gap.n_splits) == ("finite-sample", 128)
        assert row.noise.gap.confidence == pytest.approx(1 - 0.05 / 5)
        assert row.noise.gap.value < row.noise.gap.upper == 0.1
        assert row.noise.multiplier is None
        assert (row.noise.moment.lower, row.noise.moment.upper) == (None, None)
    assert found.chosen.shape.kind == "diagonal"


def test_noise_on_real_splits_is_the_documented_amount(adult_splits):
    def errors(**demand):
        rows = run(adult_splits, **demand).candidates
        return {
            row.noise.calibration: round((row.noise.total_error / 6) ** 0.5, 2)
            for row in rows
            if (row.way.mechanism, row.shape.kind) == ("gaussian", "diagonal")
        }

    assert errors(strict=False) == {"moment": 9.61, "direct": 9.68}
    assert errors() == {"direct": 15.0}
    assert errors(shape="diagonal", mechanism="gaussian") == {"direct": 12.53}


def test_fewer_candidates_need_less_noise(adult_splits):
    every = next(r for r in run(adult_splits).candidates if r.shape.kind == "isotropic")
    assert run(adult_splits, **ONE).chosen.noise.scale < every.noise.scale


def test_too_few_splits_are_refused_with_the_number_that_would_do(rng):
    splits = rng.standard_normal((40, 3))
    with pytest.raises(InputError) as caught:
        run(splits)
    assert caught.value.code == "too_few_splits_for_eta"
    (needed,) = (int(word) for word in str(caught.value).split() if word.isdigit() and word != "40")
    assert needed == 87
    assert run(rng.standard_normal((needed, 3))).chosen.noise.guaranteed
    with pytest.raises(InputError, match=str(needed)):
        run(rng.standard_normal((needed - 1, 3)))
    # One kind of noise takes the whole error: 2 * 29 - 1.
    assert run(rng.standard_normal((57, 3)), **ONE).chosen.noise.guaranteed
    with pytest.raises(InputError, match="57"):
        run(rng.standard_normal((56, 3)), **ONE)


@pytest.mark.parametrize("eta", [1e-6, 0.02, 0.1, 0.49])
@pytest.mark.parametrize("dimension", [1, 2, 50])
def test_fewest_splits_count_the_shapes_that_they_allow(eta, dimension):
    asked = NoiseOptions(eta=eta, strict=True, splits="s.csv")
    needed = fewest_splits(asked, 4, dimension)
    assert fewest_splits(asked, needed, dimension) == needed
    more = fewest_splits(asked, needed + 1, dimension)
    assert needed < more <= needed + 1 + 0.25 * needed


def test_huge_rare_outputs_do_not_matter(rng):
    splits = rng.standard_normal((400, 2))
    plain = run(splits).chosen.noise.scale
    splits[rng.choice(400, 4, replace=False)] = 1e12
    assert run(splits, error_units="given").chosen.noise.scale < 2 * plain


def test_splits_that_never_vary_are_refused():
    with pytest.raises(InputError) as caught:
        run(np.ones((300, 2)))
    assert caught.value.code == "constant_release"


def test_swap_pairs_have_sure_limits(rng):
    record = np.repeat(np.arange(4), 60)
    in_side = rng.standard_normal((240, 2))
    step = 0.05 * (1 + record[:, None]) * rng.standard_normal((240, 2))
    pairs = SwapPairs(in_side=in_side, out_side=in_side + step, record=record)
    tested = {"pairs": pairs, "protect": "tested-records"}
    found = run(rng.standard_normal((200, 2)), **tested)
    assert found.chosen.noise.calibration == "direct-swap"
    assert found.chosen.noise.protects == "tested-records"
    assert found.chosen.noise.gap.at_most == 0.2
    assert {row.noise.calibration for row in guaranteed(found)} == {"direct", "direct-swap"}
    asked = NoiseOptions(
        eta=0.1,
        splits="splits.csv",
        pairs="pairs.csv",
        strict=True,
        protect="tested-records",
        calibration="direct-swap",
    )
    only = calibrate(rng.standard_normal((20, 2)), asked, rng, pairs)
    assert only.chosen.noise.calibration == "direct-swap"


def test_swaps_share_the_error(rng):
    in_side = rng.standard_normal((180, 2))
    pairs = SwapPairs(
        in_side=in_side,
        out_side=in_side + 0.01 * rng.standard_normal((180, 2)),
        record=np.repeat(np.arange(3), 60),
    )
    splits = rng.standard_normal((400, 2))
    found = guaranteed(run(splits, pairs=pairs, protect="tested-records"))
    # Five mechanisms and shapes, for the splits and for the largest swap distance; the average
    # record cannot be chosen and takes no share.
    assert {row.noise.protects for row in found} == {"every-record", "tested-records"}
    assert {row.noise.gap.confidence for row in found} == {1 - (1 - 0.95) / 10}
    average = run(splits, pairs=pairs, protect="average-record")
    assert average.chosen.noise.gap.confidence == 1 - (1 - 0.95) / 15


@pytest.mark.parametrize("dimension", [1, 3])
def test_choice_keeps_the_promise_together(rng, dimension):
    """Of 120 calibrations of everything, at most 5% choose noise with a mean of h above eta."""

    def draw(count):
        points = rng.standard_normal((count, dimension))
        points[rng.random(count) < 0.08] *= 1e5
        return points

    law, runs, eta = draw(10_000), 120, 0.1
    misses = 0
    for seed in range(runs):
        row = run(draw(150), seed=seed, eta=eta, error_units="given").chosen
        # The law is symmetric: no centre has a lesser mean than 0.
        lengths = np.linalg.norm(row.shape.whiten(law), axis=1)
        misses += shift_gaps(row.way.mechanism, lengths / row.noise.scale).mean() > eta + 1e-3
    assert misses <= stats.binom.isf(1e-4, runs, 0.05)
