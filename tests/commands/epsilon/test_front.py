"""What a page of ``epsilon`` says first: whether the promise is broken, and on what that rests."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import mipaudit
from mipaudit.statements.text.rounding import lower_figure
from tests.fixtures.fronts import front_of

RUNS = {"design": "independent-runs"}


def runs(leak, rows=4000, seed=4):
    random = np.random.default_rng(seed)
    member = np.arange(rows) % 2 == 0
    return pd.DataFrame({"member": member, "score": random.normal(size=rows) + leak * member})


def test_a_promise_that_is_broken_is_said_to_be():
    report = mipaudit.epsilon(runs(1.5), **RUNS, claimed_epsilon=0.5)
    found = front_of(report)
    assert found.answer == (
        f"REFUTED: the promise that was made is not kept. {report.claim.reason}"
    )
    assert found.mood == "bad"
    assert dict(found.facts)["promised"] == "epsilon 0.5 at delta 1e-5"


def test_what_rests_on_gaussian_noise_says_so_first():
    given = {**RUNS, "method": "gdp", "assume_gdp": True}
    found = front_of(mipaudit.epsilon(runs(1.5), **given, claimed_epsilon=0.5))
    assert found.answer.startswith("REFUTED, if the noise is Gaussian: the promise that was made")
    assert "would not be kept, if the noise is Gaussian." in found.also[0]


def test_a_promise_that_is_not_broken_is_not_said_to_be_kept():
    found = front_of(mipaudit.epsilon(runs(0.1), **RUNS, claimed_epsilon=9))
    assert found.answer.startswith("NOT REFUTED: this test found nothing against the promise")
    assert found.answer.endswith("That does not show that it is kept.")
    assert found.mood == "plain"


@pytest.mark.parametrize("leak", [1.5, 0.0])
def test_without_a_promise_the_largest_broken_one_is_named(leak):
    report = mipaudit.epsilon(runs(leak), **RUNS)
    answer = front_of(report).answer
    limit = report.statements[0].lower
    assert bool(limit) == bool(leak)
    if leak:
        said = (
            f"A promise of an epsilon below {lower_figure(limit)} at delta 1e-5 would not be kept."
        )
    else:
        said = "This test would break no promise. That is no evidence of privacy."
    assert answer.startswith(said)
    assert answer.endswith("so this page neither confirms nor refutes one.")


def test_one_model_breaks_nothing():
    for claim in ({}, {"claimed_epsilon": 0.01}):
        report = mipaudit.epsilon(runs(2.0), design="one-model", **claim)
        answer = front_of(report).answer
        assert answer.startswith("NOT TESTED" if claim else "Records of one model cannot break")
        assert "would not be kept" not in answer
