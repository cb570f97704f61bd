"""The page of ``noise``: what it says is so, figures are rounded outward, names do nothing."""

from __future__ import annotations

import re
from dataclasses import replace
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest

import mipaudit
from mipaudit.commands.noise.run import add_noise, noise
from mipaudit.report.forms import report_text

SPREADS = [1.0, 250.0, 0.04]
HOSTILE = ("\x1b[2Jclear", "\u202egnp.exe\u202c", "a\nb\x07", "\u200b", "x" * 200)
LITTLE = 1 - Decimal("1e-11")


@pytest.fixture(scope="module")
def splits():
    return np.random.default_rng(7).normal(size=(64, 3)) * SPREADS


@pytest.fixture(scope="module")
def measured(splits):
    frame = pd.DataFrame(splits, columns=["age", "income", "rate"])
    report = noise(eta=0.05, splits=frame, calibration="moment", mechanism="gaussian")
    kept = [c for c in report.measured.candidates if c.calibration in {"moment", "paper"}]
    return with_candidates(report, kept)


def with_candidates(report, kept, **changes):
    kept = tuple(replace(one, **changes) for one in kept)
    return replace(report, measured=replace(report.measured, candidates=kept))


def flat(report, width=1000):
    return " ".join(report_text(report, width=width).split())


def test_figures_are_rounded_outward():
    report = noise(eta=0.1, moment=0.5, swap_distance=0.1, sensitivity=20.0)
    text = flat(report)
    shown = [Decimal(word) for word in re.findall(r"(?<![\w.])\d+\.?\d*(?![\w.])", text)]
    for multiplier in (Decimal(row.multiplier) for row in report.calibrations):
        least = min(one for one in shown if one >= multiplier * LITTLE)
        assert least <= multiplier * Decimal("1.00001")
    epsilon = Decimal(re.search(r"at epsilon ([0-9.]+)", text)[1].rstrip("."))
    assert epsilon <= Decimal(report.equivalent_epsilon)
    limits = [row.quieter_than_dp_below for row in report.calibrations if row.calibration != "dp"]
    printed = re.findall(r"< ([0-9.e-]+) x sensitivity", text)
    for limit, one in zip(limits, printed, strict=True):
        assert Decimal(one) <= Decimal(limit) * (1 + Decimal("1e-11"))


def test_limits_of_moments_are_rounded_outward(measured):
    lines = [line.split() for line in report_text(measured, width=200).split("\n")]
    shapes = {"isotropic", "diagonal", "full"}
    rows = [line[-2:] for line in lines if shapes & set(line[-3:-2])]
    moments = {tuple(line[-4:]): line[:-4] for line in lines if shapes & set(line[-4:-3])}
    for candidate, row in zip(measured.measured.candidates, rows, strict=True):
        scale, error = map(Decimal, row)
        assert scale >= Decimal(candidate.scale) * LITTLE
        assert float(error) == pytest.approx(candidate.total_error**0.5, rel=2e-4)
        assert any(
            shape == candidate.shape
            and Decimal(lower) <= Decimal(candidate.moment.lower)
            and Decimal(upper) >= Decimal(candidate.moment.upper) * LITTLE
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
        ("every-record", "The promise, for any record: an"),
        (
            "tested-records",
            "The promise, for any record that is exchanged in your pairs of releases: an",
        ),
        ("average-record", "The promise, for a record picked at random: an"),
    ],
)
def test_the_promise_names_whom_it_protects(measured, protects, words):
    changed = with_candidates(measured, measured.measured.candidates, protects=protects)
    assert words in flat(changed)


def test_an_estimate_without_limits_has_no_confidence(measured):
    kept = measured.measured.candidates
    none = {"lower": None, "upper": None, "validity": "not-an-interval"}
    bare = [replace(one, moment=replace(one.moment, **none)) for one in kept]
    text = flat(with_candidates(measured, bare, scaled_by="value"))
    assert "Of this moment, the best estimate was taken" in text
    assert "confidence" not in text


def test_what_a_user_must_know_is_said(splits, tmp_path):
    np.save(tmp_path / "r.npy", np.array(SPREADS) / 2)
    mathematics, applied, untouched = (
        flat(noise(eta=0.1)),
        flat(add_noise(tmp_path / "r.npy", eta=0.05, splits=splits, seed=1).report),
        flat(add_noise(tmp_path / "r.npy", eta=0.3, train_fraction=0.2, splits=splits).report),
    )
    for text in (mathematics, applied):
        assert "The promise is for one release" in text
        assert "a single release can still give a record away" in text
    for words in ("Izzo et al. 2022", "density ~ exp(-|x| / scale)", "standard deviation"):
        assert words in mathematics
    assert "Noise was added to 3 numbers, with random numbers from the seed" in applied
    assert "not a private release" in applied
    assert "Nothing was added to the 3 released numbers" in untouched
    assert "Noise was added" not in untouched
    assert "64 splits of 1 number." in flat(noise(eta=0.1, splits=splits[:, :1]))


def test_csv_always_has_its_header(splits):
    """Also where no noise is needed, so that there is no row to be named after."""
    plain, unneeded, measured = (
        mipaudit.render_report(noise(eta=0.1, **more), format="csv").splitlines()[0].split(",")
        for more in ({}, {"train_fraction": 0.05}, {"splits": splits})
    )
    for header in (plain, unneeded, measured):
        assert {"part", "calibration", "mechanism"} <= set(header)
    assert len(set(unneeded)) == len(unneeded)
    assert set(plain) <= set(unneeded)


def test_hostile_names_are_shown_and_do_nothing(splits):
    data = np.hstack([splits, splits[:, :2] + 1])
    frame = pd.DataFrame(data, columns=HOSTILE)
    named = noise(eta=0.1, splits=frame)
    text, wide = (report_text(named, width=width) for width in (100, 140))
    skipped = report_text(noise(eta=0.1, splits=frame, ignore=HOSTILE[:3]), width=100)
    for page in (text, skipped):
        assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f\u200b\u202a-\u202e]", page)
        for shown in ("\\x1b[2Jclear", "\\u202egnp.exe\\u202c", "a\\x0ab\\x07"):
            assert shown in page
    assert "Not used: \\x1b[2Jclear" in skipped
    assert "x" * 80 + "..." in wide  # where no name is broken
    assert "x" * 81 not in text + wide
