"""``noise`` and ``add_noise`` as functions: every input and option, and what is published."""

from __future__ import annotations

import hashlib
import json
import math

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy import stats

from mipaudit.commands.noise.run import add_noise, noise
from mipaudit.errors import InputError, UsageError
from mipaudit.report.codec import to_json
from mipaudit.report.messages.told import told

UNITS = np.array([1.0, 50.0, 0.02])
NAMES = ("age", "income", "rate")
ROW = np.array([41.25, 2150.0, 0.31])


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
    pairs = swap_pairs(splits)
    pairs.to_csv(path / "pairs.csv", index=False)
    pairs[["rate", "record", "age", "pair_id", "income", "side"]].to_csv(
        path / "shuffled.csv", index=False
    )
    pairs.drop(columns="record").to_csv(path / "nameless.csv", index=False)
    write_releases(path)
    return path


def swap_pairs(splits):
    """Return 60 pairs of 6 records; the sides differ by a twentieth of the spread."""
    rng = np.random.default_rng(6)
    rows = []
    for i, base in enumerate(splits[:60]):
        moved = base + UNITS * rng.normal(scale=0.05, size=3)
        rows += [(i, "in", i % 6, *base), (i, "out", i % 6, *moved)]
    return pd.DataFrame(rows, columns=["pair_id", "side", "record", *NAMES])


def write_releases(path):
    frame = pd.DataFrame([ROW], columns=NAMES)
    frame[["rate", "age", "income"]].to_csv(path / "release.csv", index=False)
    pq.write_table(pa.table({n: [v] for n, v in zip(NAMES, ROW, strict=True)}), path / "r.parquet")
    np.save(path / "release.npy", ROW.reshape(3, 1).astype(np.float32))
    (path / "release.json").write_text(json.dumps(dict(zip(NAMES, ROW, strict=True))), "utf-8")
    (path / "list.json").write_text(json.dumps(ROW.tolist()), encoding="utf-8")


def chosen(report):
    (one,) = [candidate for candidate in report.measured.candidates if candidate.chosen]
    return one


def candidates(report, **wanted):
    return [
        candidate
        for candidate in report.measured.candidates
        if all(getattr(candidate, name) == value for name, value in wanted.items())
    ]


def numbers(noised):
    return noised.values  # noqa: PD011 - no frame


def codes(report):
    return {finding.code for finding in report.findings}


# Mathematics


@pytest.mark.parametrize(("k", "shown"), [(math.inf, None), (1, 1.0), (np.float32(4), 4.0)])
def test_k(k, shown):
    assert noise(eta=0.1, k=k).k == shown


@pytest.mark.parametrize("q", [0.3, 0.7])
def test_another_train_fraction(q):
    report = noise(eta=0.05, train_fraction=q)

    assert report.advantage == pytest.approx(0.5)
    assert report.equivalent_epsilon == pytest.approx(math.log(3))
    assert codes(report) == {"paper_needs_half"}


def test_a_promise_that_guessing_keeps(folder):
    mathematics = noise(eta=0.3, train_fraction=0.8)
    measured = noise(eta=0.3, train_fraction=0.8, splits=str(folder / "splits.csv"))

    for report in (mathematics, measured):
        assert (report.calibrations, report.equivalent_epsilon) == ((), None)
        assert [f.code for f in report.findings] == ["no_noise_needed"]
        assert report.advantage == 1


WRONG = {
    "eta": ((0, 0.5, -1, math.nan, math.inf, 1e-13, "0.1", None), "at least 1e-12 and below 0.5"),
    "k": ((0.5, 0, -math.inf, math.nan, "two"), "at least 1; it may be inf"),
    "train_fraction": ((0, 1, -0.1, math.nan), "above 0 and below 1"),
    "moment": ((0, -1, math.nan, math.inf), "above 0 and finite"),
    "swap_distance": ((0, math.nan), "above 0"),
    "sensitivity": ((-2, math.inf), "above 0"),
    "dimension": ((0, -3, 1.5, 10**13), "at least 1 and at most 1e12"),
}


@pytest.mark.parametrize(
    ("name", "value"), [(name, value) for name, (values, _) in WRONG.items() for value in values]
)
def test_a_number_out_of_range_is_refused_with_the_range(name, value):
    with pytest.raises(UsageError) as caught:
        noise(**{"eta": 0.1, name: value})
    assert caught.value.code == name
    if isinstance(value, float) or value == 0:
        assert WRONG[name][1] in str(caught.value)


IDLE = {
    "pairs": "pairs.csv",
    "columns": ["age"],
    "ignore": ("age",),
    "calibration": "moment",
    "mechanism": "gaussian",
    "shape": "full",
    "confidence": 0.9,
    "protect": "average-record",
    "error_units": "given",
    "scaled_by": "value",
    "seed": 0,
}


@pytest.mark.parametrize("name", IDLE)
def test_what_would_do_nothing_without_splits_is_refused(name):
    with pytest.raises(UsageError) as caught:
        noise(eta=0.1, **{name: IDLE[name]})
    assert caught.value.code == name
    assert f"--{name.replace('_', '-')} has no meaning without --from." in caught.value.message


# Splits


def test_every_form_of_the_same_splits_gives_the_same_noise(folder, splits):
    frame = pd.DataFrame(splits, columns=NAMES)
    forms = {
        "array": splits,
        "lists": splits.tolist(),
        "npy": str(folder / "splits.npy"),
        "csv": str(folder / "splits.csv"),
        "path": folder / "splits.csv",
        "parquet": str(folder / "splits.parquet"),
        "pandas": frame,
        "polars": pl.DataFrame(frame),
        "arrow": pa.Table.from_pandas(frame),
    }
    reports = {form: noise(eta=0.1, splits=data) for form, data in forms.items()}

    scales = {form: chosen(report).scale for form, report in reports.items()}
    assert scales == {form: pytest.approx(scales["array"], rel=1e-9) for form in forms}
    for form, report in reports.items():
        assert report.measured.n_splits == 160
        assert report.measured.n_coordinates == report.dimension == 3
        columns = [c.column for c in report.measured.coordinates]
        assert columns == (["c0", "c1", "c2"] if form in {"array", "lists", "npy"} else list(NAMES))


def test_each_choice_is_kept(splits):
    def one(**choice):
        return chosen(noise(**{"eta": 0.1, "splits": splits, "calibration": "moment", **choice}))

    assert one(mechanism="norm-exponential").mechanism == "norm-exponential"
    assert one(shape="isotropic").shape == "isotropic"
    assert one(shape="full").shape == "full"
    assert one(calibration="paper").calibration == "paper"
    assert one(scaled_by="value").scaled_by == "value"
    assert one(scaled_by="value").scale < one().scale
    assert one(confidence=0.8).moment.confidence == 0.8
    assert one(confidence=0.8).scale < one(confidence=0.99).scale
    assert noise(eta=0.1, splits=splits, error_units="given").measured.error_units == "given"
    assert one(error_units="given").rms_norm < one().rms_norm
    assert one(eta=0.05, train_fraction=0.3).multiplier == pytest.approx(7.92035, abs=6e-6)


def test_columns_are_chosen_or_left_out(folder):
    path = str(folder / "splits.csv")

    assert noise(eta=0.1, splits=path, columns="age").measured.n_coordinates == 1
    report = noise(eta=0.1, splits=path, ignore=["income"])
    assert report.measured.skipped_columns == ("income",)
    assert [c.column for c in report.measured.coordinates] == ["age", "rate"]


@pytest.mark.parametrize(
    ("name", "value", "code"),
    [
        # What the splits say is not said twice.
        *(
            (name, 3, "measured_instead")
            for name in ("moment", "swap_distance", "sensitivity", "dimension")
        ),
        ("calibration", "moments", "calibration"),
        ("mechanism", "normal", "mechanism"),
        ("shape", "round", "shape"),
        ("protect", "everybody", "protect"),
        ("error_units", np.ones(3), "error_units"),
        ("scaled_by", "Upper", "scaled_by"),  # would once have meant the smaller noise of "value"
        ("scaled_by", "lower", "scaled_by"),
        ("confidence", 0, "confidence"),
        ("confidence", 1, "confidence"),
        ("confidence", math.nan, "confidence"),
        ("seed", -1, "seed"),
        ("seed", 1.5, "seed"),
        ("calibration", "swap", "needs_pairs"),
    ],
)
def test_settings_that_make_no_sense_beside_splits_are_refused(splits, name, value, code):
    with pytest.raises(UsageError) as caught:
        noise(eta=0.1, splits=splits, **{name: value})
    assert caught.value.code == code
    number = isinstance(value, (int, float))
    assert number or code != name or "one of" in caught.value.message


BAD_SPLITS = {
    "one row": (ROW[None, :], "too_few_splits"),
    "all constant": (np.tile(ROW, (30, 1)), "constant_release"),
    "no column": (np.empty((30, 0)), None),
    "one dimension": (ROW, "wrong_shape"),
    "text": ([["a", "b"]] * 30, "bad_array"),
    "ragged": ([[1.0], [1.0, 2.0]], "bad_array"),
    "huge": (1e200 * np.random.default_rng(0).normal(size=(30, 2)), "numbers_out_of_range"),
    "tiny": (1e-200 * np.random.default_rng(0).normal(size=(30, 2)), "numbers_out_of_range"),
}


@pytest.mark.parametrize("name", BAD_SPLITS)
def test_splits_that_cannot_be_used_are_refused(name):
    data, code = BAD_SPLITS[name]
    with pytest.raises(InputError) as caught:
        noise(eta=0.1, splits=data)
    assert code in {None, caught.value.code}


@pytest.mark.parametrize("scale", [1e-49, 1e49])
@pytest.mark.parametrize("settings", [{}, {"error_units": "given"}])
@pytest.mark.parametrize("eta", [1e-12, 0.4999])
def test_the_ends_of_the_range_of_splits_give_finite_numbers(scale, settings, eta):
    data = np.random.default_rng(0).normal(size=(30, 2)) * [scale, 1 / scale]

    report = noise(eta=eta, k=1, splits=data, **settings)

    assert json.loads(to_json(report))["eta"] == eta  # which refuses what is not finite
    assert all(c.total_error > 0 for c in report.measured.candidates)


def test_findings_of_few_and_constant_splits(splits):
    constant = splits.copy()
    constant[:, 1] = 7
    wide = np.random.default_rng(1).normal(size=(12, 15))

    report = noise(eta=0.1, splits=constant)
    assert "constant_coordinates" in codes(report)
    assert report.measured.constant_columns == ("c1",)
    assert all(c.noise_rms > 0 for c in report.measured.coordinates)
    assert codes(noise(eta=0.1, splits=wide)) >= {
        *("few_splits", "fewer_splits_than_coordinates", "shapes_need_splits"),
    }


# Swap pairs


def test_a_score_file_is_no_table_of_splits(folder):
    scores = folder / "scores.csv"
    scores.write_text("member,loss\n1,0.5\n0,0.25\n1,0.75\n0,0.125\n", encoding="utf-8")
    with pytest.raises(InputError, match="rows are records") as caught:
        noise(eta=0.1, splits=scores)
    assert caught.value.code == "score_file"


def test_repeated_splits_are_said(splits):
    report = noise(eta=0.1, splits=np.concatenate([splits, splits[:7]]))
    (text,) = (told(f) for f in report.findings if f.code == "repeated_splits")
    assert text.startswith(f"7 of {len(splits) + 7} splits")


def test_pairs_with_records_protect_the_records_tested(folder):
    report = noise(
        eta=0.1,
        splits=folder / "splits.csv",
        pairs=folder / "pairs.csv",
        protect="tested-records",
    )

    one = chosen(report)
    assert "swap" in one.calibration
    assert one.protects == "tested-records"
    assert report.measured.n_pairs == 60
    assert "tested_records_only" in codes(report)
    assert len(report.provenance.inputs) == 2


def test_pairs_without_records_are_for_the_average_record_only(folder):
    common = {"eta": 0.1, "splits": str(folder / "splits.csv"), "pairs": folder / "nameless.csv"}

    assert chosen(noise(**common)).protects == "every-record"
    assert "records_not_named" in codes(noise(**common))
    assert chosen(noise(**common, protect="average-record")).protects == "average-record"
    with pytest.raises(InputError):
        noise(**common, calibration="swap")


def test_the_order_of_the_columns_of_pairs_does_not_matter(folder):
    found = [
        candidates(
            noise(eta=0.1, splits=str(folder / "splits.csv"), pairs=str(folder / name)),
            calibration="swap",
            mechanism="gaussian",
        )
        for name in ("pairs.csv", "shuffled.csv")
    ]

    assert {c.shape for c in found[0]} == {"isotropic", "diagonal", "full"}
    values = [[c.moment.value for c in swaps] for swaps in found]
    assert values[1] == pytest.approx(values[0], rel=1e-9)


# Seeds, settings, provenance


def test_the_same_seed_gives_the_same_answer(splits):
    def run(seed):
        report = noise(eta=0.1, splits=splits, seed=seed)
        return [(c.moment.value, c.scale) for c in report.measured.candidates]

    assert run(3) == run(3)
    assert run(3) != run(4)
    assert run(None) == run(None)


def test_provenance_says_what_was_read_and_set(folder):
    report = noise(eta=0.1, splits=str(folder / "splits.csv"), mechanism="gaussian")

    (source,) = report.provenance.inputs
    content = (folder / "splits.csv").read_bytes()
    assert (source.rows, source.bytes) == (160, len(content))
    assert source.sha256 == hashlib.sha256(content).hexdigest()
    assert report.provenance.seed is None
    assert noise(eta=0.1, splits=folder / "splits.csv", seed=8).provenance.seed == 8
    settings = {s.name: (s.value, s.source) for s in report.provenance.settings}
    assert settings["eta"] == (0.1, "api")
    assert settings["mechanism"] == ("gaussian", "api")
    assert "settings" not in settings


def test_without_a_file_there_is_nothing_to_hash(splits):
    (source,) = noise(eta=0.1, splits=splits).provenance.inputs
    assert (source.rows, source.bytes, source.sha256) == (160, None, None)


def test_the_public_function_is_not_hidden_by_the_room_of_its_name():
    import mipaudit
    import mipaudit.commands.noise.calibration

    assert mipaudit.noise(eta=0.1).eta == 0.1


# Adding it


def added(folder, release, seed=None, **settings):
    return add_noise(
        str(folder / release), eta=0.1, splits=str(folder / "splits.csv"), seed=seed, **settings
    )


def test_a_csv_release_with_names_in_another_order_keeps_its_own(folder):
    noised = added(folder, "release.csv", seed=1)

    header, cells = noised.content.decode().splitlines()
    assert header == "rate,age,income"
    written = np.array([float(cell) for cell in cells.split(",")])
    assert written.tolist() == numbers(noised).tolist()
    rms = {c.column: c.noise_rms for c in noised.report.measured.coordinates}
    for name, value, plain in zip(("rate", "age", "income"), written, ROW[[2, 0, 1]], strict=True):
        # The spreads are 2,500 apart: noise on the wrong number would show.
        assert 1e-3 < abs(value - plain) / rms[name] < 5


@pytest.mark.parametrize("release", ["release.csv", "r.parquet", "release.npy", "release.json"])
def test_without_a_seed_two_runs_differ_and_none_gives_the_input_back(folder, release):
    one, two = added(folder, release), added(folder, release)

    assert not (numbers(one) == numbers(two)).any()
    plain = ROW[[2, 0, 1]] if release == "release.csv" else ROW
    assert not np.isclose(numbers(one), plain, rtol=1e-6).any()
    assert one.report.applied.entropy == "operating system"
    assert one.report.provenance.seed is None
    assert one.content != (folder / release).read_bytes()


def test_a_seed_repeats_the_noise_and_is_confessed(folder):
    one, two, other = (added(folder, "release.csv", seed=seed) for seed in (9, 9, 10))

    assert one.content == two.content
    assert one.content != other.content
    assert one.report.applied.entropy == "seed"
    assert one.report.provenance.seed == 9
    assert any("experiment" in told(one_said) for one_said in one.report.limitations)


def test_the_noise_follows_the_law_that_the_report_says(tmp_path):
    # One calibration of few splits is quick enough to be run 500 times from the start.
    data = np.random.default_rng(0).normal(size=(16, 2)) * [1, 30]
    release = np.array([0.5, -10.0])
    np.save(tmp_path / "r.npy", release)
    standardised = []
    settings = {"eta": 0.1, "calibration": "moment", "shape": "diagonal", "mechanism": "gaussian"}
    for seed in range(500):
        noised = add_noise(tmp_path / "r.npy", splits=data, seed=seed, **settings)
        rms = [c.noise_rms for c in noised.report.measured.coordinates]
        standardised.append((numbers(noised) - release) / rms)

    for column in np.array(standardised).T:
        assert stats.kstest(column, "norm").pvalue > 0.001
    assert abs(np.corrcoef(np.array(standardised).T)[0, 1]) < 0.18


def test_the_report_gives_nothing_of_the_release_away(folder):
    report = added(folder, "release.csv").report

    text = to_json(report).decode()
    assert hashlib.sha256((folder / "release.csv").read_bytes()).hexdigest() not in text
    source = report.provenance.inputs[-1]
    assert source.name.endswith("release.csv")
    assert (source.rows, source.bytes, source.sha256, source.fingerprint) == (1, None, None, None)
    assert report.provenance.inputs[0].sha256 is not None
    assert all(repr(value) not in text for value in ROW.tolist())


def test_where_no_noise_is_needed_none_is_added_and_that_is_said(folder):
    noised = add_noise(
        folder / "list.json", eta=0.3, train_fraction=0.3, splits=str(folder / "splits.npy")
    )

    assert numbers(noised).tolist() == ROW.tolist()
    assert codes(noised.report) == {"no_noise_needed"}
    assert noised.report.applied.rounding.startswith("none")


def test_eta_and_splits_are_needed(folder):
    with pytest.raises(TypeError, match="'eta'"):
        add_noise(str(folder / "release.csv"), splits=str(folder / "splits.csv"))
    with pytest.raises(UsageError) as caught:
        add_noise(str(folder / "release.csv"), eta=0.1)
    assert caught.value.code == "needs_splits"


def test_standard_input_is_for_one_input_only(folder):
    for inputs in ({"splits": "-", "pairs": "-"}, {"splits": "-"}):
        with pytest.raises(UsageError) as caught:
            add_noise("-", eta=0.1, **inputs)
        assert caught.value.code == "stdin_twice"
    with pytest.raises(UsageError):
        noise(eta=0.1, splits="-", pairs="-")
