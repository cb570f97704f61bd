from __future__ import annotations

from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

TABLE = Path(__file__).parent.parent / "data" / "mip_adult_mean_numeric.csv"


@pytest.fixture
def rng():
    return np.random.default_rng(20240607)


@pytest.fixture(scope="session")
def adult_splits():
    """256 random halves of a table, six column means each."""
    return np.loadtxt(TABLE, delimiter=",", skiprows=1)


@pytest.fixture(scope="session")
def all_halves():
    """Return a function: mean of every half of some records, and who was in it."""

    def make(records):
        records = np.asarray(records, dtype=np.float64).reshape(len(records), -1)
        halves = list(combinations(range(len(records)), len(records) // 2))
        member = np.zeros((len(halves), len(records)), dtype=bool)
        for row, half in enumerate(halves):
            member[row, list(half)] = True
        return np.array([records[row].mean(axis=0) for row in member]), member

    return make
