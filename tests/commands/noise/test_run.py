"""``noise`` and ``add_noise`` as functions: every input and option, and what is published."""

from __future__ import annotations

import hashlib
import json
import math

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import stats

import mipaudit
from mipaudit.commands.noise.run import add_noise, noise
from mipaudit.errors import InputError, UsageError
from mipaudit.report.codec import to_json
from mipaudit.report.messages.told import told
from tests.fixtures.codes import codes

UNITS = np.array([1.0, 50.0, 0.02])
NAMES = ("age", "income", "rate")
ROW = np.array([41.25, 2150.0, 0.31])
OTHER_ORDER = [2, 0, 1]
RELEASES = ("release.csv", "release.parquet", "release.npy", "release.json")


@pytest.fixture(scope="module")
def splits():
    return ROW + UNITS * np.random.default_rng(5).normal(size=(160, 3))


@pytest.fixture(scope="module")
def folder(tmp_path_factory, splits):
    """One folder with the splits in three forms, swap pairs and releases."""
    path = tmp_path_factory.mktemp("noise")
    frame = pd.DataFrame(splits, columns=NAMES)
    frame.to_csv(path / "splits.csv", index=False)
    frame.to_parquet(path / "splits.parquet")
    np.save(path / "splits.npy", splits)
    # 60 pairs of 6 records; the sides differ by a twentieth of the spread.
    steps = UNITS * np.random.default_rng(6).normal(scale=0.05, size=(60, 3))
    sides = (("in", splits[:60]), ("out", splits[:60] + steps))
    pairs = pd.concat(
        pd.DataFrame(values, columns=NAMES).assign(
            pair_id=range(60), side=side, record=np.arange(60) % 6
        )
        for side, values in sides
    )
    pairs.to_csv(path / "pairs.csv", index=False)
    mixed = ["rate", "record", "age", "pair_id", "income", "side"]
    pairs[mixed].to_csv(path / "shuffled.csv", index=False)
    pairs.drop(columns="record").to_csv(path / "nameless.csv", index=False)
    one = pd.DataFrame([ROW], columns=NAMES)
    one.iloc[:, OTHER_ORDER].to_csv(path / "release.csv", index=False)
    one.to_parquet(path / "release.parquet")
    np.save(path / "release.npy", ROW.reshape(3, 1).astype(np.float32))
    (path / "release.json").write_text(json.dumps(dict(zip(NAMES, ROW, strict=True))))
    (path / "list.json").write_text(json.dumps(ROW.tolist()))
    return path


def chosen(report):
    (one,) = [candidate for candidate in report.measured.candidates if candidate.chosen]
    return one


def numbers(noised):
    return noised.values  # noqa: PD011 - no frame


def settings_of(report):
    return {one.name: (one.value, one.source) for one in report.provenance.settings}


@pytest.mark.parametrize("q", [0.3, 0.7])
def test_another_train_fraction(q):
    report = mipaudit.noise(eta=0.05, train_fraction=q, k=np.float32(4))
    found = (report.advantage, report.equivalent_epsilon, report.k)
    assert found == pytest.approx((0.5, math.log(3), 4))
    assert codes(report) == {"paper_needs_half"}


# What the splits say is not said twice, and nothing is chosen where there are no splits.
IDLE = {"columns": ["age"], "ignore": ("age",), "calibration": "moment", "mechanism": "gaussian"}
IDLE |= {"shape": "full", "confidence": 0.9, "protect": "average-record", "seed": 0}
IDLE |= {"pairs": "pairs.csv", "error_units": "given", "scaled_by": "value"}


@pytest.mark.parametrize("name", IDLE)
def test_what_would_do_nothing_without_splits_is_refused(name):
    with pytest.raises(UsageError) as caught:
        noise(eta=0.1, **{name: IDLE[name]})
    assert caught.value.code == name
    assert f"--{name.replace('_', '-')} can only be used with --from." in caught.value.message


@pytest.mark.parametrize("name", ["moment", "swap_distance", "sensitivity", "dimension"])
def test_what_is_measured_is_not_said_as_well(splits, name):
    with pytest.raises(UsageError) as caught:
        noise(eta=0.1, splits=splits, **{name: 3})
    assert caught.value.code == "measured_instead"


def drawn(size):
    return size * np.random.default_rng(0).normal(size=(30, 2))


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (ROW[None, :], "too_few_splits"),
        (np.tile(ROW, (30, 1)), "constant_release"),
        (np.empty((30, 0)), None),
        (ROW, "wrong_shape"),
        ([["a", "b"]] * 30, "bad_array"),
        ([[1.0], [1.0, 2.0]], "bad_array"),
        *((drawn(size), "numbers_out_of_range") for size in (1e200, 1e-200)),
        (pd.DataFrame({"member": [1, 0] * 9, "loss": np.arange(18.0)}), "score_file"),
    ],
)
def test_splits_that_cannot_be_used_are_refused(data, code):
    with pytest.raises(InputError) as caught:
        noise(eta=0.1, splits=data)
    assert code in {None, caught.value.code}


def test_a_promise_that_guessing_keeps_takes_no_noise(folder):
    asked = {"eta": 0.3, "train_fraction": 0.3}
    noised = add_noise(folder / "list.json", splits=str(folder / "splits.npy"), **asked)
    assert numbers(noised).tolist() == ROW.tolist()
    assert noised.report.rounding.startswith("none")
    for report in (noise(**asked), noised.report):
        assert (report.calibrations, report.equivalent_epsilon) == ((), None)
        assert (report.advantage, codes(report)) == (1, {"no_noise_needed"})


def test_every_form_of_the_same_splits_gives_the_same_noise(folder, splits):
    frame = pd.DataFrame(splits, columns=NAMES)
    unnamed = [splits, splits.tolist(), str(folder / "splits.npy")]
    named = [*(folder / f"splits.{end}" for end in ("csv", "parquet")), str(folder / "splits.csv")]
    frames = [frame, pl.DataFrame(frame), pa.Table.from_pandas(frame)]
    for columns, forms in ((("c0", "c1", "c2"), unnamed), (NAMES, named + frames)):
        for data in forms:
            report = noise(eta=0.1, splits=data)
            scale = chosen(noise(eta=0.1, splits=splits)).scale
            assert chosen(report).scale == pytest.approx(scale, rel=1e-9)
            assert (report.measured.n_splits, report.measured.n_coordinates) == (160, 3)
            assert tuple(c.column for c in report.measured.coordinates) == columns


CHOICES = [
    *({"mechanism": "norm-exponential"}, {"shape": "isotropic"}, {"shape": "full"}),
    *({"calibration": "paper"}, {"scaled_by": "value"}),
]


@pytest.mark.parametrize("choice", CHOICES, ids=str)
def test_each_choice_is_kept(splits, choice):
    found = noise(**{"eta": 0.1, "splits": splits, "calibration": "moment", **choice})
    assert {name: getattr(chosen(found), name) for name in choice} == choice


def test_units_confidence_and_columns_are_kept(folder):
    def of_splits(**more):
        return noise(eta=0.1, splits=folder / "splits.csv", calibration="moment", **more)

    asked = ({}, {"error_units": "given"}, {"confidence": 0.8}, {"confidence": 0.99})
    plain, given, loose, strict = (chosen(of_splits(**more)) for more in asked)
    assert given.rms_norm < plain.rms_norm
    assert loose.moment.confidence == 0.8
    assert loose.scale < plain.scale < strict.scale
    assert of_splits(columns="age").measured.n_coordinates == 1
    measured = of_splits(ignore=["income"]).measured
    assert measured.skipped_columns == ("income",)
    assert [one.column for one in measured.coordinates] == ["age", "rate"]


@pytest.mark.parametrize("scale", [1e-49, 1e49])
@pytest.mark.parametrize("settings", [{}, {"error_units": "given"}])
@pytest.mark.parametrize("eta", [1e-12, 0.4999])
def test_the_ends_of_the_range_of_splits_give_finite_numbers(scale, settings, eta):
    report = noise(eta=eta, k=1, splits=drawn(1) * [scale, 1 / scale], **settings)
    assert json.loads(to_json(report))["eta"] == eta  # which refuses what is not finite
    assert all(one.total_error > 0 for one in report.measured.candidates)


def test_constant_columns_and_repeated_splits_are_said(splits):
    constant = splits.copy()
    constant[:, 1] = 7
    report = noise(eta=0.1, splits=constant)
    assert "constant_coordinates" in codes(report)
    assert report.measured.constant_columns == ("c1",)
    assert all(one.noise_rms > 0 for one in report.measured.coordinates)
    report = noise(eta=0.1, splits=np.concatenate([splits, splits[:7]]))
    (text,) = (told(one) for one in report.findings if one.code == "repeated_splits")
    assert text.startswith("7 of 167 splits")


def test_pairs_with_records_protect_the_records_tested(folder):
    def of_pairs(name, **more):
        return noise(eta=0.1, splits=folder / "splits.csv", pairs=folder / name, **more)

    report = of_pairs("pairs.csv", protect="tested-records")
    assert "swap" in chosen(report).calibration
    assert (chosen(report).protects, report.measured.n_pairs) == ("tested-records", 60)
    assert "tested_records_only" in codes(report)
    assert len(report.provenance.inputs) == 2
    # The order of the columns does not matter.
    values = [
        [
            one.moment.value
            for one in of_pairs(name).measured.candidates
            if (one.calibration, one.mechanism) == ("swap", "gaussian")
        ]
        for name in ("pairs.csv", "shuffled.csv")
    ]
    assert len(values[0]) == 6
    assert values[1] == pytest.approx(values[0], rel=1e-9)
    # Pairs without records are for the average record only.
    nameless = of_pairs("nameless.csv")
    assert chosen(nameless).protects == "every-record"
    assert "records_not_named" in codes(nameless)
    average = of_pairs("nameless.csv", protect="average-record")
    assert chosen(average).protects == "average-record"
    for error, pairs in ((InputError, {"pairs": folder / "nameless.csv"}), (UsageError, {})):
        with pytest.raises(error):
            noise(eta=0.1, splits=folder / "splits.csv", calibration="swap", **pairs)


def test_the_same_seed_gives_the_same_answer(splits):
    three, again, four, none, unasked = (
        [(one.moment.value, one.scale) for one in report.measured.candidates]
        for report in (noise(eta=0.1, splits=splits, seed=seed) for seed in (3, 3, 4, None, None))
    )
    assert three == again != four
    assert none == unasked


def test_provenance_says_what_was_read_and_set(folder, splits):
    report = noise(eta=0.1, splits=str(folder / "splits.csv"), mechanism="gaussian")
    (source,) = report.provenance.inputs
    content = (folder / "splits.csv").read_bytes()
    hashed = hashlib.sha256(content).hexdigest()
    assert (source.rows, source.bytes, source.sha256) == (160, len(content), hashed)
    assert report.provenance.seed is None
    wanted = {"eta": (0.1, "api"), "mechanism": ("gaussian", "api")}
    assert settings_of(report).items() >= wanted.items()
    seeded = noise(eta=0.1, splits=splits, seed=8).provenance
    # Without a file there is nothing to hash.
    (source,) = seeded.inputs
    assert (seeded.seed, source.rows, source.bytes, source.sha256) == (8, 160, None, None)


def added(folder, release, **settings):
    given = {"eta": 0.1, "splits": str(folder / "splits.csv"), **settings}
    return add_noise(str(folder / release), **given)


def test_a_csv_release_with_names_in_another_order_keeps_its_own(folder):
    noised = added(folder, "release.csv", seed=1)
    header, cells = noised.content.decode().splitlines()
    assert header == "rate,age,income"
    written = np.array([float(cell) for cell in cells.split(",")])
    assert written.tolist() == numbers(noised).tolist()
    rms = np.array([one.noise_rms for one in noised.report.measured.coordinates])[OTHER_ORDER]
    # The spreads are 2,500 apart: noise on the wrong number would show.
    steps = np.abs(written - ROW[OTHER_ORDER]) / rms
    assert 1e-3 < steps.min() <= steps.max() < 5


@pytest.mark.parametrize("release", RELEASES)
def test_without_a_seed_two_runs_differ_and_none_gives_the_input_back(folder, release):
    one, two = added(folder, release), added(folder, release)
    assert not (numbers(one) == numbers(two)).any()
    plain = ROW[OTHER_ORDER] if release == "release.csv" else ROW
    assert not np.isclose(numbers(one), plain, rtol=1e-6).any()
    assert one.report.entropy == "operating system"
    assert one.report.provenance.seed is None
    assert one.content != (folder / release).read_bytes()


def test_a_seed_repeats_the_noise_and_is_confessed(folder):
    one, two, other = (added(folder, "release.csv", seed=seed) for seed in (9, 9, 10))
    assert one.content == two.content != other.content
    assert (one.report.entropy, one.report.provenance.seed) == ("seed", 9)
    assert any("experiment" in told(said) for said in one.report.limitations)


def test_the_noise_follows_the_law_that_the_report_says(tmp_path):
    # One calibration of few splits is quick enough to be run 500 times from the start.
    data = np.random.default_rng(0).normal(size=(16, 2)) * [1, 30]
    release = np.array([0.5, -10.0])
    np.save(tmp_path / "r.npy", release)
    settings = {"eta": 0.1, "calibration": "moment", "shape": "diagonal", "mechanism": "gaussian"}
    found = [
        add_noise(tmp_path / "r.npy", splits=data, seed=seed, **settings) for seed in range(500)
    ]
    rms = [[one.noise_rms for one in noised.report.measured.coordinates] for noised in found]
    columns = ((np.array([numbers(one) for one in found]) - release) / rms).T
    assert all(stats.kstest(column, "norm").pvalue > 0.001 for column in columns)
    assert abs(np.corrcoef(columns)[0, 1]) < 0.18


def test_the_report_gives_nothing_of_the_release_away(folder):
    report = added(folder, "release.csv").report
    text = to_json(report).decode()
    assert hashlib.sha256((folder / "release.csv").read_bytes()).hexdigest() not in text
    splits, source = report.provenance.inputs
    assert source.name.endswith("release.csv")
    assert (source.rows, source.bytes, source.sha256, source.fingerprint) == (1, None, None, None)
    assert splits.sha256 is not None
    assert all(repr(value) not in text for value in ROW.tolist())


def test_splits_are_needed_and_standard_input_is_for_one_input_only(folder):
    with pytest.raises(TypeError, match="'eta'"):
        add_noise(str(folder / "release.csv"), splits=str(folder / "splits.csv"))
    for release, inputs, code in (
        (str(folder / "release.csv"), {}, "needs_splits"),
        ("-", {"splits": "-", "pairs": "-"}, "stdin_twice"),
        ("-", {"splits": "-"}, "stdin_twice"),
    ):
        with pytest.raises(UsageError) as caught:
            add_noise(release, eta=0.1, **inputs)
        assert caught.value.code == code
    with pytest.raises(UsageError):
        noise(eta=0.1, splits="-", pairs="-")


# A release that does not belong to its splits gets no noise made for them.
FAR, BEYOND, GOOD = ([50123.456, 50.2], [54.5, 50.2], [50.1, 49.7])


@pytest.fixture
def likened(tmp_path):
    """Add noise for sixty splits of two numbers near 50 to a release of two numbers."""
    splits = pd.DataFrame(
        np.random.default_rng(0).normal(50, 1, (60, 2)), columns=["income", "age"]
    )

    def run(release, **settings):
        row = splits.iloc[[release]] if isinstance(release, int) else [release]
        pd.DataFrame(row, columns=splits.columns).to_csv(tmp_path / "r.csv", index=False)
        return add_noise(tmp_path / "r.csv", eta=0.1, splits=splits, **settings)

    return run


def test_a_release_in_another_unit_is_refused_unless_its_owner_accepts_it(likened):
    with pytest.raises(InputError) as caught:
        likened(FAR)
    assert caught.value.code == "release_unlike_splits"
    said = f"{caught.value} {caught.value.hint}"
    assert ["'income'" in said, "'age'" in said, "50123" in said] == [True, False, False]
    found = likened(FAR, release_unlike_splits="accept")
    assert [one.code for one in found.findings] == ["release_beyond_splits"]
    assert any("accept" in told(one) for one in found.report.limitations)
    assert settings_of(found.report)["release_unlike_splits"] == ("accept", "api")
    # What is published does not depend on whether the release is unlike.
    good = likened(GOOD, release_unlike_splits="accept").report
    assert good.limitations == found.report.limitations
    assert good.findings == found.report.findings
    with pytest.raises(UsageError) as caught:
        likened(GOOD, release_unlike_splits="maybe")
    assert caught.value.code == "release_unlike_splits"


def test_what_is_told_of_the_release_is_not_in_the_report(likened):
    beyond, same, good = map(likened, (BEYOND, 6, GOOD))
    assert [one.code for one in beyond.findings] == ["release_beyond_splits"]
    assert [one.code for one in same.findings] == ["release_among_splits"]
    assert "row 7 of the splits" in told(same.findings[0])
    assert good.findings == ()
    assert beyond.report.findings == same.report.findings == good.report.findings
