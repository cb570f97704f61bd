from __future__ import annotations

import math
import time

import numpy as np
import pytest
from scipy import stats
from scipy.stats import special_ortho_group

from mipaudit.commands.noise.calibration import calibrate, fewest_splits
from mipaudit.commands.noise.options import NoiseOptions
from mipaudit.commands.noise.yardsticks import SwapPairs, shift_gaps
from mipaudit.errors import InputError, UsageError
from mipaudit.maths import noise_scales
from mipaudit.report.messages.told import told


def run(splits, seed=0, pairs=None, **asked):
    asked = NoiseOptions(**{"eta": 0.1, "splits": splits, **asked})
    return calibrate(splits, asked, np.random.default_rng(seed), pairs)


def by_name(calibration):
    return {
        (row.noise.calibration, row.way.mechanism, row.shape.kind, row.noise.protects): row
        for row in calibration.candidates
    }


def codes(calibration):
    return {finding.code for finding in calibration.findings}


def moments(calibration):
    return {
        (row.way.mechanism, row.shape.kind): row
        for row in calibration.candidates
        if row.noise.calibration == "moment"
    }


GAUSSIAN = [("gaussian", kind) for kind in ("isotropic", "diagonal", "full")]


def test_real_splits_have_every_candidate(adult_splits):
    found = run(adult_splits)
    assert set(by_name(found)) == {
        ("moment", "gaussian", "isotropic", "every-record"),
        ("moment", "norm-exponential", "isotropic", "every-record"),
        ("moment", "gaussian", "diagonal", "every-record"),
        ("moment", "norm-exponential", "diagonal", "every-record"),
        ("moment", "gaussian", "full", "every-record"),
        ("direct", "gaussian", "isotropic", "every-record"),
        ("direct", "norm-exponential", "isotropic", "every-record"),
        ("direct", "gaussian", "diagonal", "every-record"),
        ("direct", "norm-exponential", "diagonal", "every-record"),
        ("direct", "gaussian", "full", "every-record"),
        ("paper", "norm-exponential", "isotropic", "every-record"),
    }
    assert found.findings == ()
    assert found.chosen is min(
        (row for row in found.candidates if row.noise.calibration != "paper"),
        key=lambda row: row.noise.total_error,
    )
    # Standardised: shaped noise is some ten standard deviations, isotropic noise absurd.
    assert found.chosen.way.mechanism == "gaussian"
    ratios = found.chosen.coordinate_rms / adult_splits.std(axis=0)
    assert (ratios > 8).all()
    assert (ratios < 12).all()


def test_scales_are_multipliers_of_the_upper_limit_or_the_value(adult_splits):
    for scaled_by in ("upper", "value"):
        for row in run(adult_splits, scaled_by=scaled_by).candidates:
            assert row.noise.scaled_by == scaled_by
            assert not row.noise.guaranteed
            if row.noise.calibration != "direct":
                assert row.noise.gap is None
                assert row.noise.scale == row.noise.multiplier * getattr(
                    row.noise.moment, scaled_by
                )
    rows = by_name(run(adult_splits))
    multipliers = {
        row.noise.multiplier for row in rows.values() if row.noise.multiplier is not None
    }
    assert {round(multiplier, 3) for multiplier in multipliers} == {3.947, 4.933, 3794.56}
    assert rows["paper", "norm-exponential", "isotropic", "every-record"].noise.moment.order == 2


def test_splits_for_the_shape_are_not_those_for_its_scale(adult_splits):
    rows = moments(run(adult_splits))
    found = [rows[key] for key in GAUSSIAN]
    counts = [(row.shape.n_splits, row.noise.moment.n_splits) for row in found]
    assert counts == [(0, 256), (128, 128), (128, 128)]


def test_one_coordinate_is_for_laplace_and_gaussian_noise(adult_splits):
    found = run(adult_splits[:, :1])
    rows = moments(found)
    assert set(rows) == {("gaussian", "isotropic"), ("laplace", "isotropic")}
    assert rows["laplace", "isotropic"].noise.multiplier == pytest.approx(4.4814, abs=1e-4)
    only = run(adult_splits[:, :1], mechanism="laplace")
    assert only.chosen.way.mechanism == "laplace"


def test_units_of_the_table_do_not_matter_by_default(adult_splits):
    units = np.array([1e-9, 1e9, 12.0, 1e-3, 7.0, 1e6])
    plain, changed = run(adult_splits), run(adult_splits * units)
    assert changed.chosen.noise.total_error == pytest.approx(
        plain.chosen.noise.total_error, rel=1e-6
    )
    for key in GAUSSIAN[1:]:
        a, b = moments(plain)[key], moments(changed)[key]
        assert b.noise.scale == pytest.approx(a.noise.scale, rel=1e-6)
        np.testing.assert_allclose(b.coordinate_rms / units, a.coordinate_rms, rtol=1e-6)


def test_origin_does_not_matter(adult_splits):
    plain, moved = moments(run(adult_splits)), moments(run(adult_splits + 1e7))
    for key, row in plain.items():
        assert moved[key].noise.scale == pytest.approx(row.noise.scale, rel=1e-5)


def test_rotation_does_not_matter_to_isotropic_and_full_noise(rng):
    splits = rng.standard_normal((120, 3)) * [1.0, 5.0, 20.0]
    turn = special_ortho_group.rvs(3, random_state=1)
    plain = moments(run(splits, error_units="given"))
    turned = moments(run(splits @ turn, error_units="given"))
    for key in (("gaussian", "isotropic"), ("gaussian", "full")):
        assert turned[key].noise.total_error == pytest.approx(
            plain[key].noise.total_error, rel=1e-6
        )
    diagonal = ("gaussian", "diagonal")
    assert turned[diagonal].noise.total_error > 1.1 * plain[diagonal].noise.total_error


def test_shaped_noise_is_less_where_coordinates_are_unlike(rng):
    spreads = np.array([1.0, 1.0, 1.0, 50.0])
    splits = rng.standard_normal((4000, 4)) * spreads
    rows = moments(run(splits, error_units="given"))
    closed_form = spreads.sum() ** 2 / (4 * (spreads**2).sum())
    for key in GAUSSIAN[1:]:
        ratio = rows[key].noise.total_error / rows["gaussian", "isotropic"].noise.total_error
        # The closed form is of second moments; scales are from first ones, in which the
        # one wide coordinate is less: E |Z| = 0.8 of its root mean square.
        assert closed_form < ratio < 1.6 * closed_form


def test_given_units_are_those_of_the_table(adult_splits):
    found = run(adult_splits, error_units="given")
    row = moments(found)["gaussian", "isotropic"]
    np.testing.assert_allclose(row.coordinate_rms, row.noise.scale)
    assert row.noise.total_error == pytest.approx(6 * row.noise.scale**2)


@pytest.fixture
def pairs(rng):
    record = np.repeat(np.arange(12), 15)
    in_side = rng.standard_normal((180, 2))
    step = 0.01 * (1 + record[:, None]) * rng.standard_normal((180, 2))
    return SwapPairs(in_side=in_side, out_side=in_side + step, record=record)


def test_swap_distances_need_less_noise(rng, pairs):
    splits = rng.standard_normal((100, 2))
    assert run(splits, pairs=pairs).chosen.noise.protects == "every-record"
    found = run(splits, pairs=pairs, protect="tested-records")
    rows = by_name(found)
    tested = rows["swap", "gaussian", "isotropic", "tested-records"]
    average = rows["swap", "gaussian", "isotropic", "average-record"]
    assert average.noise.scale < tested.noise.scale
    assert tested.noise.multiplier == pytest.approx(
        noise_scales.scale_for_moment("gaussian", 0.1, 0.5) / 2
    )
    assert found.chosen.noise.protects == "tested-records"
    assert found.chosen.noise.calibration in {"swap", "direct-swap"}
    direct = rows["direct-swap", "gaussian", "isotropic", "tested-records"]
    # A mean of unlike distances is hidden better than Jensen's inequality says.
    assert direct.noise.scale < tested.noise.scale
    assert direct.noise.gap.at_most == 0.2
    assert direct.noise.gap.upper == pytest.approx(0.2)
    assert "tested_records_only" in codes(found)


def test_average_record_is_chosen_only_when_asked_for(rng, pairs):
    splits = rng.standard_normal((100, 2))
    found = run(splits, pairs=pairs, protect="average-record")
    assert found.chosen.noise.protects == "average-record"
    unnamed = SwapPairs(in_side=pairs.in_side, out_side=pairs.out_side)
    found = run(splits, pairs=unnamed)
    assert found.chosen.noise.calibration == "moment"
    assert "records_not_named" in codes(found)


def test_few_pairs_of_a_record_are_named(rng, pairs):
    few = SwapPairs(
        in_side=pairs.in_side, out_side=pairs.out_side, record=np.repeat(np.arange(60), 3)
    )
    found = run(rng.standard_normal((100, 2)), pairs=few)
    tested = by_name(found)["swap", "gaussian", "isotropic", "tested-records"]
    assert tested.noise.scaled_by == "value"
    assert "few_pairs_of_a_record" in codes(found)


def test_paper_is_never_chosen_unless_asked_for(adult_splits):
    assert run(adult_splits).chosen.noise.calibration == "moment"
    asked = run(adult_splits, calibration="paper", k=4)
    assert asked.chosen.noise.calibration == "paper"
    assert asked.chosen.noise.multiplier == pytest.approx(483.48, abs=0.01)


def test_paper_with_an_infinite_order_takes_the_largest_distance(adult_splits):
    row = run(adult_splits, k=math.inf).candidates[-1]
    assert row.noise.multiplier == pytest.approx(61.6)
    assert row.noise.scaled_by == "value"


def test_other_train_fractions_have_no_published_scale(adult_splits):
    found = run(adult_splits, eta=0.05, train_fraction=0.3)
    multipliers = {
        row.noise.multiplier for row in found.candidates if row.noise.calibration == "moment"
    }
    assert {round(multiplier, 5) for multiplier in multipliers} == {9.90671, 7.92035}
    direct = next(row for row in found.candidates if row.noise.calibration == "direct")
    assert direct.noise.gap.at_most == 0.05


def test_large_eta_of_a_small_fraction_needs_no_noise(adult_splits):
    found = run(adult_splits, eta=0.2, train_fraction=0.1)
    assert (found.candidates, found.chosen) == ((), None)
    assert codes(found) == set()


def test_constant_coordinates_are_named_and_get_noise(rng):
    splits = np.column_stack([np.full(60, 3.0), rng.standard_normal((60, 2)), np.zeros(60)])
    found = run(splits)
    assert found.constant == (0, 3)
    assert "constant_coordinates" in codes(found)
    assert (found.chosen.coordinate_rms > 0).all()


def test_constant_release_is_refused():
    splits = np.full((40, 3), 1.5)
    with pytest.raises(InputError) as caught:
        run(splits)
    assert caught.value.code == "constant_release"
    assert "1.5" not in str(caught.value)


def test_few_splits_are_named_or_refused(rng):
    splits = rng.standard_normal((4, 3))
    found = run(splits)
    assert codes(found) == {
        "few_splits",
        "shapes_need_splits",
        "full_shape_needs_splits",
    }
    assert found.chosen.shape.kind == "isotropic"
    with pytest.raises(InputError) as caught:
        run(splits[:3])
    assert caught.value.code == "too_few_splits"


def test_more_coordinates_than_splits_have_no_full_shape(rng):
    found = run(rng.standard_normal((30, 31)))
    assert "fewer_splits_than_coordinates" in codes(found)
    assert {row.shape.kind for row in found.candidates} == {"isotropic", "diagonal"}


def test_full_shape_needs_ten_splits_of_its_half_a_coordinate(rng):
    splits = rng.standard_normal((60, 3))
    assert ("gaussian", "full") in moments(run(splits))
    found = run(splits[:59])
    assert ("gaussian", "full") not in moments(found)
    (finding,) = found.findings
    assert told(finding) == "Noise of full covariance needs 60 splits; there are 59."


def test_rare_variation_outside_the_first_half_is_no_error():
    splits = np.zeros((20, 2))
    splits[7, 0] = 1.0
    for seed in range(8):
        chosen = run(splits, seed=seed).chosen
        assert 0 < chosen.noise.scale < math.inf
        assert (chosen.coordinate_rms > 0).all()


def test_pairs_that_do_not_fit_are_refused(rng):
    splits = rng.standard_normal((30, 2))
    cases = {
        "pairs_do_not_match": SwapPairs(in_side=np.ones((5, 3)), out_side=np.ones((5, 3))),
        "too_few_pairs": SwapPairs(in_side=np.ones((1, 2)), out_side=np.ones((1, 2))),
    }
    for code, bad in cases.items():
        with pytest.raises(InputError) as caught:
            run(splits, pairs=bad)
        assert caught.value.code == code


def test_pairs_that_never_differ_do_not_make_noise_of_no_scale(rng):
    same = np.ones((20, 2))
    found = run(rng.standard_normal((30, 2)), pairs=SwapPairs(in_side=same, out_side=same))
    assert all(row.noise.scale > 0 for row in found.candidates)
    assert "pairs_do_not_differ" in codes(found)


@pytest.mark.parametrize(
    ("asked", "code"),
    [
        ({"strict": True, "confidence": 1 - 1e-13}, "confidence_out_of_range"),
        ({"strict": True, "calibration": "moment"}, "strict_needs_direct"),
        ({"strict": True, "calibration": "paper"}, "strict_needs_direct"),
    ],
)
def test_what_no_limit_can_keep_is_refused(rng, asked, code):
    with pytest.raises(UsageError) as caught:
        run(rng.standard_normal((30, 2)), **asked)
    assert caught.value.code == code


def test_many_coordinates_need_no_square_matrix(rng):
    splits = rng.standard_normal((60, 30_000)) * np.exp(rng.standard_normal(30_000))
    start = time.process_time()
    found = run(splits)
    # About 1 s; a matrix of 30,000 x 30,000 would need 7 GB and minutes.
    assert time.process_time() - start < 20
    rows = moments(found)
    assert set(rows) == {
        (mechanism, kind)
        for mechanism in ("gaussian", "norm-exponential")
        for kind in ("isotropic", "diagonal")
    }
    assert found.chosen.shape.kind == "diagonal"
    assert found.chosen.noise.moment.value == pytest.approx(math.sqrt(30_000), rel=0.1)


ONE = {"shape": "isotropic", "mechanism": "gaussian"}


def run_strict(splits, seed=0, pairs=None, **asked):
    return run(splits, seed, pairs, **{"strict": True, **asked})


def guaranteed(found):
    return [row for row in found.candidates if row.noise.guaranteed]


def test_only_direct_noise_is_guaranteed(adult_splits):
    found = run_strict(adult_splits)
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
        rows = run_strict(adult_splits, **demand).candidates
        return {
            row.noise.calibration: round((row.noise.total_error / 6) ** 0.5, 2)
            for row in rows
            if (row.way.mechanism, row.shape.kind) == ("gaussian", "diagonal")
        }

    assert errors(strict=False) == {"moment": 9.61, "direct": 9.68}
    assert errors() == {"direct": 15.0}
    assert errors(shape="diagonal", mechanism="gaussian") == {"direct": 12.53}


def test_fewer_candidates_need_less_noise(adult_splits):
    every = next(r for r in run_strict(adult_splits).candidates if r.shape.kind == "isotropic")
    assert run_strict(adult_splits, **ONE).chosen.noise.scale < every.noise.scale


def test_too_few_splits_are_refused_with_the_number_that_would_do(rng):
    splits = rng.standard_normal((40, 3))
    with pytest.raises(InputError) as caught:
        run_strict(splits)
    assert caught.value.code == "too_few_splits_for_eta"
    (needed,) = (int(word) for word in str(caught.value).split() if word.isdigit() and word != "40")
    assert needed == 87
    assert run_strict(rng.standard_normal((needed, 3))).chosen.noise.guaranteed
    with pytest.raises(InputError, match=str(needed)):
        run_strict(rng.standard_normal((needed - 1, 3)))
    # One kind of noise takes the whole error: 2 * 29 - 1.
    assert run_strict(rng.standard_normal((57, 3)), **ONE).chosen.noise.guaranteed
    with pytest.raises(InputError, match="57"):
        run_strict(rng.standard_normal((56, 3)), **ONE)


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
    plain = run_strict(splits).chosen.noise.scale
    splits[rng.choice(400, 4, replace=False)] = 1e12
    assert run_strict(splits, error_units="given").chosen.noise.scale < 2 * plain


def test_splits_that_never_vary_are_refused():
    with pytest.raises(InputError) as caught:
        run_strict(np.ones((300, 2)))
    assert caught.value.code == "constant_release"


def test_swap_pairs_have_sure_limits(rng):
    record = np.repeat(np.arange(4), 60)
    in_side = rng.standard_normal((240, 2))
    step = 0.05 * (1 + record[:, None]) * rng.standard_normal((240, 2))
    pairs = SwapPairs(in_side=in_side, out_side=in_side + step, record=record)
    tested = {"pairs": pairs, "protect": "tested-records"}
    found = run_strict(rng.standard_normal((200, 2)), **tested)
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
    found = guaranteed(run_strict(splits, pairs=pairs, protect="tested-records"))
    # Five mechanisms and shapes, for the splits and for the largest swap distance; the average
    # record cannot be chosen and takes no share.
    assert {row.noise.protects for row in found} == {"every-record", "tested-records"}
    assert {row.noise.gap.confidence for row in found} == {1 - (1 - 0.95) / 10}
    average = run_strict(splits, pairs=pairs, protect="average-record")
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
        row = run_strict(draw(150), seed=seed, eta=eta, error_units="given").chosen
        # The law is symmetric: no centre has a lesser mean than 0.
        lengths = np.linalg.norm(row.shape.whiten(law), axis=1)
        misses += shift_gaps(row.way.mechanism, lengths / row.noise.scale).mean() > eta + 1e-3
    assert misses <= stats.binom.isf(1e-4, runs, 0.05)
