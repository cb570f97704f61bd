"""A cell to replicate, and methods whose coverage is known."""

from __future__ import annotations

import pytest

from mipaudit.report.validation import CoverageRow
from mipaudit.scenarios.cell import Cell


class Saying:
    """Methods made from one function of a file."""

    strict = False

    def __init__(self, say):
        self._say = say

    def say(self, audited, law):
        del law
        return self._say(audited)


@pytest.fixture
def saying():
    return Saying


@pytest.fixture
def cell():
    def make(name="two-valued", *, order="shuffled", prior=0.5, n=(200, 300), replications=400):
        return Cell(
            scenario=name,
            n_members=n[0],
            n_holdout=n[1],
            prior=prior,
            order=order,
            replications=replications,
        )

    return make


@pytest.fixture
def row():
    def make(misses, **changes):
        replications = changes.get("replications", 1000)
        nominal = changes.get("nominal", 0.975)
        from mipaudit.scenarios.shortfall import miss_p_value

        fields = {
            "scenario": "null-gaussian",
            "n_members": 10,
            "n_holdout": 20,
            "prior": 0.5,
            "order": "shuffled",
            "discrete": False,
            "estimand": "advantage",
            "label": "advantage",
            "source": "mipaudit",
            "side": "lower",
            "nominal": nominal,
            "replications": replications,
            "stated": replications,
            "misses": misses,
            "coverage": (replications - misses) / replications,
            "coverage_error": 0.005,
            "p_value": miss_p_value(misses, replications, nominal),
            "false_alarms": misses / replications,
            "truth": 0.25,
            "mean_gap": 0.125,
            "median_gap": 0.0625,
            "mean_width": None,
            "median_width": None,
            "bias": None,
        }
        return CoverageRow(**{**fields, **changes})

    return make
