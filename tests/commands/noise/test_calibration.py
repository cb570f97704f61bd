from __future__ import annotations

import math
import time
from itertools import product

import numpy as np
import pytest
from scipy import stats
from scipy.stats import special_ortho_group

from mipaudit.commands.noise.calibration import fewest_splits
from mipaudit.commands.noise.options import NoiseOptions
from mipaudit.commands.noise.yardsticks import shift_gaps
from mipaudit.errors import InputError, UsageError
from mipaudit.maths import noise_scales
from mipaudit.report.messages.told import told
from tests.fixtures.noise import calibrated, swap_pairs

GAUSSIAN = [("gaussian", kind) for kind in ("isotropic", "diagonal", "full")]
PLAIN = list(product(("gaussian", "norm-exponential"), ("isotropic", "diagonal")))
EVERY = {*PLAIN, *GAUSSIAN}
PAPER = ("paper", "norm-exponential", "isotropic", "every-record")
SWAP = ("gaussian", "isotropic", "tested-records")
ONE = {"shape": "isotropic", "mechanism": "gaussian"}


def run(splits, seed=0, pairs=None, **asked):
    asked = NoiseOptions(**{"eta": 0.1, "splits": splits, **asked})
    return calibrated(splits, asked, np.random.default_rng(seed), pairs)


def run_strict(splits, seed=0, pairs=None, **asked):
    return run(splits, seed, pairs, **{"strict": True, **asked})


def by_name(calibration):
    return {
        (row.noise.calibration, row.noise.mechanism, row.shape.kind, row.noise.protects): row
        for row in calibration.candidates
    }


def moments(calibration):
    return {key[1:3]: row for key, row in by_name(calibration).items() if key[0] == "moment"}


def codes(calibration):
    return {finding.code for finding in calibration.findings}


def multipliers(calibration, digits):
    rows = [row.noise for row in calibration.candidates]
    return {round(one.multiplier, digits) for one in rows if one.multiplier is not None}


def swaps(rng, records, each, step=0.05):
    """Return pairs of two numbers of so many records; the later ones move more."""
    record = np.repeat(np.arange(records), each)
    in_side = rng.standard_normal((record.size, 2))
    moved = step * (1 + record[:, None]) * rng.standard_normal((record.size, 2))
    return swap_pairs(in_side, in_side + moved, record)


@pytest.fixture
def pairs(rng):
    return swaps(rng, 12, 15, 0.01)


def test_real_splits_have_every_candidate(adult_splits):
    found = run(adult_splits)
    wanted = {(by, *one, "every-record") for by in ("moment", "direct") for one in EVERY}
    assert set(by_name(found)) == {*wanted, PAPER}
    assert found.findings == []
    proved = [row for row in found.candidates if row.noise.calibration != "paper"]
    assert found.chosen is min(proved, key=lambda row: row.noise.total_error)
    # Standardised: shaped noise is some ten standard deviations, isotropic noise absurd.
    assert (found.chosen.noise.mechanism, found.chosen.noise.calibration) == ("gaussian", "moment")
    ratios = found.chosen.coordinate_rms / adult_splits.std(axis=0)
    assert 8 < ratios.min() <= ratios.max() < 12


@pytest.mark.parametrize("scaled_by", ["upper", "value"])
def test_scales_are_multipliers_of_the_upper_limit_or_the_value(adult_splits, scaled_by):
    found = run(adult_splits, scaled_by=scaled_by)
    for one in (row.noise for row in found.candidates):
        assert (one.scaled_by, one.guaranteed) == (scaled_by, False)
        if one.calibration != "direct":
            assert (one.gap, one.scale) == (None, one.multiplier * getattr(one.moment, scaled_by))
    assert multipliers(found, 3) == {3.947, 4.933, 3794.56}
    assert by_name(found)[PAPER].noise.moment.order == 2
    # Splits for a shape are not those for its scale.
    rows = [moments(found)[key] for key in GAUSSIAN]
    counts = [(row.shape.n_splits, row.noise.moment.n_splits) for row in rows]
    assert counts == [(0, 256), (128, 128), (128, 128)]


def test_one_coordinate_is_for_laplace_and_gaussian_noise(adult_splits):
    rows = moments(run(adult_splits[:, :1]))
    assert set(rows) == {("gaussian", "isotropic"), ("laplace", "isotropic")}
    assert rows["laplace", "isotropic"].noise.multiplier == pytest.approx(4.4814, abs=1e-4)
    assert run(adult_splits[:, :1], mechanism="laplace").chosen.noise.mechanism == "laplace"


def test_units_and_origin_of_the_table_do_not_matter_by_default(adult_splits):
    units = np.array([1e-9, 1e9, 12.0, 1e-3, 7.0, 1e6])
    plain, changed, moved = map(run, (adult_splits, adult_splits * units, adult_splits + 1e7))
    error = plain.chosen.noise.total_error
    assert changed.chosen.noise.total_error == pytest.approx(error, rel=1e-6)
    for key, row in moments(plain).items():
        assert moments(moved)[key].noise.scale == pytest.approx(row.noise.scale, rel=1e-5)
        if key in GAUSSIAN[1:]:
            other = moments(changed)[key]
            assert other.noise.scale == pytest.approx(row.noise.scale, rel=1e-6)
            assert other.coordinate_rms / units == pytest.approx(row.coordinate_rms, rel=1e-6)


def test_given_units_are_those_of_the_table(adult_splits):
    row = moments(run(adult_splits, error_units="given"))["gaussian", "isotropic"]
    np.testing.assert_allclose(row.coordinate_rms, row.noise.scale)
    assert row.noise.total_error == pytest.approx(6 * row.noise.scale**2)


def test_rotation_does_not_matter_to_isotropic_and_full_noise(rng):
    splits = rng.standard_normal((120, 3)) * [1.0, 5.0, 20.0]
    turn = special_ortho_group.rvs(3, random_state=1)
    plain, turned = (
        {key: row.noise.total_error for key, row in moments(run(one, error_units="given")).items()}
        for one in (splits, splits @ turn)
    )
    for key in (GAUSSIAN[0], GAUSSIAN[2]):
        assert turned[key] == pytest.approx(plain[key], rel=1e-6)
    assert turned["gaussian", "diagonal"] > 1.1 * plain["gaussian", "diagonal"]


def test_shaped_noise_is_less_where_coordinates_are_unlike(rng):
    spreads = np.array([1.0, 1.0, 1.0, 50.0])
    rows = moments(run(rng.standard_normal((4000, 4)) * spreads, error_units="given"))
    closed_form = spreads.sum() ** 2 / (4 * (spreads**2).sum())
    for key in GAUSSIAN[1:]:
        ratio = rows[key].noise.total_error / rows["gaussian", "isotropic"].noise.total_error
        # The closed form is of second moments; scales are from first ones, in which the
        # one wide coordinate is less: E |Z| = 0.8 of its root mean square.
        assert closed_form < ratio < 1.6 * closed_form


def test_swap_distances_need_less_noise(rng, pairs):
    splits = rng.standard_normal((100, 2))
    assert run(splits, pairs=pairs).chosen.noise.protects == "every-record"
    found = run(splits, pairs=pairs, protect="tested-records")
    rows = {key: row.noise for key, row in by_name(found).items()}
    tested, direct = rows["swap", *SWAP], rows["direct-swap", *SWAP]
    assert rows["swap", "gaussian", "isotropic", "average-record"].scale < tested.scale
    half = noise_scales.scale_for_moment("gaussian", 0.1, 0.5) / 2
    assert tested.multiplier == pytest.approx(half)
    assert found.chosen.noise.protects == "tested-records"
    assert found.chosen.noise.calibration in {"swap", "direct-swap"}
    # A mean of unlike distances is hidden better than Jensen's inequality says.
    assert direct.scale < tested.scale
    assert direct.gap.at_most == 0.2 == pytest.approx(direct.gap.upper)
    assert "tested_records_only" in codes(found)
    average = run(splits, pairs=pairs, protect="average-record")
    assert average.chosen.noise.protects == "average-record"


def test_paper_is_never_chosen_unless_asked_for(adult_splits):
    asked = run(adult_splits, calibration="paper", k=4).chosen.noise
    assert asked.calibration == "paper"
    assert asked.multiplier == pytest.approx(483.48, abs=0.01)
    # With an infinite order it takes the largest distance.
    largest = run(adult_splits, k=math.inf).candidates[-1].noise
    assert (largest.multiplier, largest.scaled_by) == (pytest.approx(61.6), "value")


def test_other_train_fractions_have_no_published_scale(adult_splits):
    found = run(adult_splits, eta=0.05, train_fraction=0.3)
    assert multipliers(found, 5) == {9.90671, 7.92035}
    gaps = {row.noise.gap.at_most for row in found.candidates if row.noise.gap is not None}
    assert gaps == {0.05}
    # Guessing keeps a large eta of a small fraction.
    found = run(adult_splits, eta=0.2, train_fraction=0.1)
    assert (found.candidates, found.chosen, found.findings) == ([], None, [])


@pytest.mark.parametrize(
    ("shape", "said", "kinds"),
    [
        (
            (4, 3),
            {"few_splits", "shapes_need_splits", "full_shape_needs_splits"},
            {"isotropic"},
        ),
        ((30, 31), {"fewer_splits_than_coordinates"}, {"isotropic", "diagonal"}),
        # A full shape needs ten splits of its half for each coordinate.
        ((59, 3), {"full_shape_needs_splits"}, {"isotropic", "diagonal"}),
        ((60, 3), set(), {"isotropic", "diagonal", "full"}),
    ],
)
def test_shapes_need_splits(rng, shape, said, kinds):
    found = run(rng.standard_normal(shape))
    assert codes(found) == said
    assert {row.shape.kind for row in found.candidates} == kinds
    if shape == (59, 3):
        assert told(*found.findings) == (
            "Noise that follows how the released numbers vary together (full covariance) needs 60 "
            "splits. Given: 59."
        )


def test_what_pairs_and_coordinates_lack_is_said(rng, pairs):
    splits = rng.standard_normal((100, 2))
    unnamed = swap_pairs(pairs[0], pairs[1])
    found = run(splits, pairs=unnamed)
    assert found.chosen.noise.calibration == "moment"
    assert "records_not_named" in codes(found)
    few = run(splits, pairs=swaps(rng, 60, 3, 0.01))
    assert by_name(few)["swap", *SWAP].noise.scaled_by == "value"
    assert "few_pairs_of_a_record" in codes(few)
    # Pairs that never differ do not make noise of no scale.
    same = run(splits, pairs=swap_pairs(np.ones((20, 2)), np.ones((20, 2))))
    assert all(row.noise.scale > 0 for row in same.candidates)
    assert "pairs_do_not_differ" in codes(same)
    constant = run(np.column_stack([np.full(100, 3.0), splits, np.zeros(100)]))
    assert constant.constant == [0, 3]
    assert "constant_coordinates" in codes(constant)
    assert (constant.chosen.coordinate_rms > 0).all()


def test_rare_variation_outside_the_first_half_is_no_error():
    splits = np.zeros((20, 2))
    splits[7, 0] = 1.0
    for seed in range(8):
        chosen = run(splits, seed=seed).chosen
        assert 0 < chosen.noise.scale < math.inf
        assert (chosen.coordinate_rms > 0).all()


def ones(*shape):
    return swap_pairs(np.ones(shape), np.ones(shape))


@pytest.mark.parametrize(
    ("code", "splits", "asked"),
    [
        ("constant_release", np.full((40, 3), 1.5), {}),
        ("constant_release", np.full((300, 2), 1.5), {"strict": True}),
        ("too_few_splits", np.eye(3), {}),
        ("pairs_do_not_match", np.eye(30), {"pairs": ones(5, 3)}),
        ("too_few_pairs", np.eye(30), {"pairs": ones(1, 30)}),
        ("confidence_out_of_range", np.eye(30), {"strict": True, "confidence": 1 - 1e-13}),
        ("strict_needs_direct", np.eye(30), {"strict": True, "calibration": "moment"}),
        ("strict_needs_direct", np.eye(30), {"strict": True, "calibration": "paper"}),
    ],
)
def test_what_no_noise_can_be_made_of_is_refused(code, splits, asked):
    with pytest.raises((InputError, UsageError)) as caught:
        run(splits, **asked)
    assert caught.value.code == code
    assert "1.5" not in str(caught.value)


def test_many_coordinates_need_no_square_matrix(rng):
    splits = rng.standard_normal((60, 30_000)) * np.exp(rng.standard_normal(30_000))
    start = time.process_time()
    found = run(splits)
    # About 1 s; a matrix of 30,000 x 30,000 would need 7 GB and minutes.
    assert time.process_time() - start < 20
    assert set(moments(found)) == set(PLAIN)
    assert found.chosen.shape.kind == "diagonal"
    assert found.chosen.noise.moment.value == pytest.approx(math.sqrt(30_000), rel=0.1)


def guaranteed(found):
    return [row.noise for row in found.candidates if row.noise.guaranteed]


def test_only_direct_noise_is_guaranteed(adult_splits):
    found = run_strict(adult_splits)
    rows = guaranteed(found)
    assert [one.calibration for one in rows] == ["direct"] * 5
    assert {row.noise.calibration for row in found.candidates} == {"direct", "paper"}
    for one in rows:
        assert (one.gap.validity, one.gap.n_splits) == ("finite-sample", 128)
        assert one.gap.confidence == pytest.approx(1 - 0.05 / 5)
        assert one.gap.value < one.gap.upper == 0.1
        assert (one.multiplier, one.moment.lower, one.moment.upper) == (None, None, None)
    assert found.chosen.shape.kind == "diagonal"
    # Fewer candidates need less noise.
    every = next(row for row in found.candidates if row.shape.kind == "isotropic")
    assert run_strict(adult_splits, **ONE).chosen.noise.scale < every.noise.scale


@pytest.mark.parametrize(
    ("demand", "wanted"),
    [
        ({"strict": False}, {"moment": 9.61, "direct": 9.68}),
        ({}, {"direct": 15.0}),
        ({"shape": "diagonal", "mechanism": "gaussian"}, {"direct": 12.53}),
    ],
)
def test_noise_on_real_splits_is_the_documented_amount(adult_splits, demand, wanted):
    found = {
        key[0]: round((row.noise.total_error / 6) ** 0.5, 2)
        for key, row in by_name(run_strict(adult_splits, **demand)).items()
        if key[1:3] == ("gaussian", "diagonal")
    }
    assert found == wanted


# One kind of noise takes the whole error: 2 * 29 - 1.
@pytest.mark.parametrize(("asked", "needed"), [({}, 87), (ONE, 57)])
def test_too_few_splits_are_refused_with_the_number_that_would_do(rng, asked, needed):
    for count in (40, needed - 1):
        with pytest.raises(InputError) as caught:
            run_strict(rng.standard_normal((count, 3)), **asked)
        assert caught.value.code == "too_few_splits_for_eta"
        said = [int(word) for word in str(caught.value).split() if word.isdigit()]
        assert [one for one in said if one != count] == [needed]
    assert run_strict(rng.standard_normal((needed, 3)), **asked).chosen.noise.guaranteed


@pytest.mark.parametrize("eta", [1e-6, 0.02, 0.1, 0.49])
@pytest.mark.parametrize("dimension", [1, 2, 50])
def test_fewest_splits_count_the_shapes_that_they_allow(eta, dimension):
    asked = NoiseOptions(eta=eta, strict=True, splits="s.csv")
    needed = fewest_splits(asked, 4, dimension)
    assert fewest_splits(asked, needed, dimension) == needed
    assert needed < fewest_splits(asked, needed + 1, dimension) <= 1.25 * needed + 1


def test_huge_rare_outputs_do_not_matter(rng):
    splits = rng.standard_normal((400, 2))
    plain = run_strict(splits).chosen.noise.scale
    splits[rng.choice(400, 4, replace=False)] = 1e12
    assert run_strict(splits, error_units="given").chosen.noise.scale < 2 * plain


def test_swap_pairs_have_sure_limits(rng):
    tested = {"pairs": swaps(rng, 4, 60), "protect": "tested-records"}
    found = run_strict(rng.standard_normal((200, 2)), **tested)
    chosen = found.chosen.noise
    assert (chosen.calibration, chosen.protects) == ("direct-swap", "tested-records")
    assert chosen.gap.at_most == 0.2
    assert {one.calibration for one in guaranteed(found)} == {"direct", "direct-swap"}
    asked = NoiseOptions(
        eta=0.1,
        splits="s.csv",
        pairs="p.csv",
        strict=True,
        protect="tested-records",
        calibration="direct-swap",
    )
    only = calibrated(rng.standard_normal((20, 2)), asked, rng, tested["pairs"])
    assert only.chosen.noise.calibration == "direct-swap"


def test_swaps_share_the_error(rng):
    splits, pairs = rng.standard_normal((400, 2)), swaps(rng, 3, 60, 0.01)
    found = guaranteed(run_strict(splits, pairs=pairs, protect="tested-records"))
    # Five mechanisms and shapes, for the splits and for the largest swap distance; the average
    # record cannot be chosen and takes no share.
    assert {one.protects for one in found} == {"every-record", "tested-records"}
    assert {one.gap.confidence for one in found} == {1 - (1 - 0.95) / 10}
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
        misses += shift_gaps(row.noise.mechanism, lengths / row.noise.scale).mean() > eta + 1e-3
    assert misses <= stats.binom.isf(1e-4, runs, 0.05)
