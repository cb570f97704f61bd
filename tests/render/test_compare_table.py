"""The table of ``compare``."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import mipaudit
from mipaudit.render.compare_table import render_compare


@pytest.fixture(scope="module")
def report():
    rng = np.random.default_rng(0)
    member = rng.random(1000) < 0.5
    strong, weak = rng.standard_normal(1000) + 2 * member, rng.random(1000)
    data = pd.DataFrame({"member": member, "a\x1b[2J": strong, "b": weak})
    return mipaudit.compare(data, baseline="b", max_increase=0.1)


def test_every_section_is_there_and_nothing_steers_the_terminal(report):
    text = render_compare(report, width=100)
    for words in (
        "Ranking, attackers with one threshold",
        "Advantage of each query",
        "Difference of advantage",
        "The largest advantage",
        "Two scores seen together",
        "Policy: NOT MET",
        "Keep in mind",
    ):
        assert words in text
    assert "\x1b" not in text


def test_limits_are_rounded_outward(report):
    text = render_compare(report, width=100)
    first = report.differences[0]
    assert f"{np.floor(first.lower * 1e4) / 1e4:.4f}" in text
    assert f"{np.ceil(first.upper * 1e4) / 1e4:.4f}" in text
