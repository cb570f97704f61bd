"""The page of ``noise``: what it says is so, figures are rounded outward, names do nothing."""

from __future__ import annotations

import re
from dataclasses import replace
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from syrupy.extensions.single_file import SingleFileSnapshotExtension, WriteMode

from mipaudit.commands.noise.run import add_noise, noise
from mipaudit.report.forms import report_text

SPREADS = [1.0, 250.0, 0.04]
HOSTILE = ("\x1b[2Jclear", "\u202egnp.exe\u202c", "a\nb\x07", "\u200b", "x" * 200)


class TextSnapshot(SingleFileSnapshotExtension):
    """One readable text file for each snapshot."""

    _write_mode = WriteMode.TEXT
    file_extension = "txt"


@pytest.fixture
def golden(snapshot):
    return snapshot.use_extension(TextSnapshot)


@pytest.fixture(scope="module")
def splits():
    return np.random.default_rng(7).normal(size=(64, 3)) * SPREADS


@pytest.fixture(scope="module")
def reports(splits, tmp_path_factory):
    """Return reports by name: mathematics, measured, and applied."""
    folder = tmp_path_factory.mktemp("release")
    np.save(folder / "release.npy", np.array(SPREADS) / 2)
    frame = pd.DataFrame(splits, columns=["age", "income", "rate"]).assign(row=range(64))
    common = {"eta": 0.05, "calibration": "moment", "mechanism": "gaussian"}
    measured = noise(splits=frame, **common)
    applied = add_noise(folder / "release.npy", splits=splits, seed=1, shape="isotropic", **common)
    return {
        "mathematics": noise(eta=0.1, moment=0.5, swap_distance=0.1, sensitivity=20.0),
        "measured": only_moment(measured),
        "applied": only_moment(applied.report),
    }


def only_moment(report):
    """Leave out calibrations that may be added: the page of these stays as it is."""
    kept = tuple(c for c in report.measured.candidates if c.calibration in {"moment", "paper"})
    return replace(report, measured=replace(report.measured, candidates=kept))


def flat(report, width=1000):
    return " ".join(report_text(report, width=width).split())


@pytest.mark.parametrize("name", ["mathematics", "measured", "applied"])
def test_golden(reports, golden, name):
    assert report_text(reports[name], width=80) == golden


def test_figures_are_rounded_outward(reports):
    rows = reports["mathematics"].calibrations
    text = flat(reports["mathematics"])

    for row in rows:
        shown = smallest_above(text, row.multiplier)
        assert Decimal(row.multiplier) * (1 - Decimal("1e-11")) <= shown
        assert shown <= Decimal(row.multiplier) * Decimal("1.00001")
    epsilon = Decimal(re.search(r"at epsilon ([0-9.]+)", text)[1].rstrip("."))
    assert epsilon <= Decimal(reports["mathematics"].equivalent_epsilon)
    limits = [row.quieter_than_dp_below for row in rows if row.calibration != "dp"]
    printed = [Decimal(found) for found in re.findall(r"< ([0-9.e-]+) x sensitivity", text)]
    assert len(printed) == len(limits)
    for limit, shown in zip(limits, printed, strict=True):
        assert shown <= Decimal(limit) * (1 + Decimal("1e-11"))


def smallest_above(text, number):
    found = [Decimal(word) for word in re.findall(r"(?<![\w.])\d+\.?\d*(?![\w.])", text)]
    least = Decimal(number) * (1 - Decimal("1e-11"))
    return min(word for word in found if word >= least)


def test_limits_of_moments_are_rounded_outward(reports):
    report = reports["measured"]
    lines = [line.split() for line in report_text(report, width=200).split("\n")]
    shapes = {"isotropic", "diagonal", "full"}
    rows = [line[-2:] for line in lines if shapes & set(line[-3:-2])]
    moments = {tuple(line[-4:]): line[:-4] for line in lines if shapes & set(line[-4:-3])}

    assert len(rows) == len(report.measured.candidates)
    for candidate, row in zip(report.measured.candidates, rows, strict=True):
        scale, error = map(Decimal, row)
        assert scale >= Decimal(candidate.scale) * (1 - Decimal("1e-11"))
        assert float(error) == pytest.approx(candidate.total_error**0.5, rel=2e-4)
        assert any(
            shape == candidate.shape
            and Decimal(lower) <= Decimal(candidate.moment.lower)
            and Decimal(upper) >= Decimal(candidate.moment.upper) * (1 - Decimal("1e-11"))
            and float(value) == pytest.approx(candidate.moment.value, rel=1e-3)
            and candidate.calibration in " ".join(named)
            for (shape, value, lower, upper), named in moments.items()
        )


@pytest.mark.parametrize(
    ("q", "eta", "wanted"),
    [
        (0.5, 0.1, "at most 0.6: 0.5 by guessing, and eta = 0.1 above"),
        (0.41, 0.07, "at most 0.66: 0.59 by guessing, and eta = 0.07 above"),
        (0.3, 0.4, "at most 1: 0.7 by guessing, and eta = 0.4 above"),
        (0.5, 1e-9, "at most 0.500000001: 0.5 by guessing, and eta = 1e-9 above"),
    ],
)
def test_the_promise_adds_up(q, eta, wanted):
    assert wanted in flat(noise(eta=eta, train_fraction=q))


@pytest.mark.parametrize(
    ("protects", "words"),
    [
        ("every-record", "says of any record whether"),
        ("tested-records", "says of any of the records that the pairs exchange whether"),
        ("average-record", "says of a record picked at random whether"),
    ],
)
def test_the_promise_names_whom_it_protects(reports, protects, words):
    report = reports["measured"]
    kept = tuple(replace(c, protects=protects) for c in report.measured.candidates)

    assert words in flat(replace(report, measured=replace(report.measured, candidates=kept)))


def test_an_estimate_without_limits_has_no_confidence(reports):
    report = reports["measured"]
    kept = tuple(
        replace(
            c,
            scaled_by="value",
            moment=replace(c.moment, lower=None, upper=None, validity="not-an-interval"),
        )
        for c in report.measured.candidates
    )
    text = flat(replace(report, measured=replace(report.measured, candidates=kept)))

    assert "times the best estimate of its moment" in text
    assert "confidence" not in text


def test_what_a_user_must_know_is_said(reports):
    mathematics, applied = flat(reports["mathematics"]), flat(reports["applied"])

    for report in (mathematics, applied):
        assert "does not compose" in report
        assert "one release can still give a record away" in report
    for words in ("Izzo et al. 2022", "density ~ exp(-|x| / scale)", "standard deviation"):
        assert words in mathematics
    assert "Noise was added to 3 numbers, with random numbers from the seed" in applied
    assert "not a private release" in applied


def test_nothing_was_added_where_no_noise_is_needed(splits, tmp_path):
    np.save(tmp_path / "r.npy", np.ones(3))
    noised = add_noise(tmp_path / "r.npy", eta=0.3, train_fraction=0.2, splits=splits)

    text = flat(noised.report)
    assert "Nothing was added to the 3 numbers of the release" in text
    assert "Noise was added" not in text


def test_one_number_is_one_number(splits):
    text = flat(noise(eta=0.1, splits=splits[:, :1]))

    assert "64 splits of 1 number." in text


def test_hostile_names_are_shown_and_do_nothing(splits):
    data = np.hstack([splits, splits[:, :2] + 1])
    frame = pd.DataFrame(data, columns=HOSTILE)
    text = report_text(noise(eta=0.1, splits=frame), width=100)
    skipped = report_text(noise(eta=0.1, splits=frame, ignore=HOSTILE[:3]), width=100)

    for page in (text, skipped):
        assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f\u200b\u202a-\u202e]", page)
        assert "\\x1b[2Jclear" in page
        assert "\\u202egnp.exe\\u202c" in page
        assert "a\\x0ab\\x07" in page
    assert "Not taken: \\x1b[2Jclear" in skipped
    wide = report_text(noise(eta=0.1, splits=frame), width=140)  # where no name is broken
    assert "x" * 80 + "..." in wide
    assert "x" * 81 not in text + wide
