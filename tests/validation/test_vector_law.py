"""Laws of vectors, and the coverage of what is said of files drawn from them."""

from __future__ import annotations

import math

import numpy as np
import pytest

from mipaudit.evidence import derived_scores as candidates
from mipaudit.validation.estimands.estimand import AuditedVector
from mipaudit.validation.estimands.methods import ESTIMANDS, default_estimands
from mipaudit.validation.laws import LAWS, VECTOR_LAWS, law
from mipaudit.validation.replications import Cell, draw_file

ESTIMAND = ESTIMANDS["advantage_vector"]


@pytest.mark.parametrize("name", [n for n, one in VECTOR_LAWS.items() if one.width == 2])
def test_masses_of_cells_are_those_of_samples(name):
    found = VECTOR_LAWS[name]
    edges = (np.array([-1.2, 0.1, 0.9]), np.array([-0.4, 0.0]))
    n = 40_000
    samples = found.sample(np.random.default_rng(0), n, n)
    for masses, drawn in zip(found.masses(edges), samples, strict=True):
        place = [np.searchsorted(cut, drawn[:, at]) for at, cut in enumerate(edges)]
        counted = np.histogram2d(*place, bins=[np.arange(5) - 0.5, np.arange(4) - 0.5])[0]
        assert masses.sum() == pytest.approx(1)
        assert counted / n == pytest.approx(masses, abs=5 * math.sqrt(0.25 / n))


def test_truths():
    assert VECTOR_LAWS["plane-xor-0.3"].advantage(0.5) == pytest.approx(0.3)
    assert VECTOR_LAWS["plane-gauss-1"].advantage(0.5) == pytest.approx(0.38292, abs=1e-4)
    assert VECTOR_LAWS["cube-100-1"].advantage(0.5) == pytest.approx(0.38292, abs=1e-4)
    assert VECTOR_LAWS["null-cube-100"].advantage(0.1) == pytest.approx(0.8)
    xor = VECTOR_LAWS["plane-xor-0.3"]
    assert xor.advantage_cells(0.5, (np.zeros(1), np.zeros(1))) == pytest.approx(0.3)
    assert xor.advantage_cells(0.5, (np.zeros(1), np.zeros(0))) == pytest.approx(0)
    assert VECTOR_LAWS["cube-10-1"].advantage_cells(0.5, ()) is None


def test_estimands_of_one_number_are_not_asked_of_vectors_nor_the_reverse():
    plane, line = law("plane-xor-0.3"), LAWS["gauss-shift-1"]
    assert [name for name, one in ESTIMANDS.items() if one.concerns(plane)] == [
        "advantage_vector",
        "advantage_blind",
    ]
    assert not ESTIMAND.concerns(line)
    assert ESTIMANDS["advantage"].concerns(line)
    assert "advantage_vector" not in default_estimands()


def test_files_sorted_by_their_first_number():
    cell = Cell(
        scenario="plane-gauss-1",
        n_members=20,
        n_holdout=30,
        prior=0.5,
        order="sorted",
        replications=1,
    )
    member, score = draw_file(cell, np.random.default_rng(0))
    assert score.shape == (50, 2)
    assert member.sum() == 20
    assert (np.diff(score[:, 0]) >= 0).all()


@pytest.mark.parametrize(("name", "prior"), [("null-cube-2", 0.5), ("plane-xor-0.3", 0.5)])
def test_limits_cover(name, prior, monkeypatch):
    monkeypatch.setattr(candidates, "fit_boosting", lambda *_, **__: None)
    found, files, n = VECTOR_LAWS[name], 30, 300
    wrong: dict[str, int] = {}
    for number in range(files):
        rng = np.random.default_rng((11, number))
        drawn = np.concatenate(found.sample(rng, n // 2, n // 2))
        audited = AuditedVector(
            member=np.arange(n) < n // 2, score=drawn, prior=prior, seed=number, law=found
        )
        for interval in ESTIMAND.intervals(audited):
            truth = ESTIMAND.truth(found, prior, *interval.args)
            missed = (interval.lower is not None and interval.lower > truth) or (
                interval.upper is not None and interval.upper < truth
            )
            wrong[interval.label] = wrong.get(interval.label, 0) + missed
    assert len(wrong) == 3
    # More than 5 of 30 at an error of 0.025: once in 10,000 runs.
    assert max(wrong.values()) <= 5
