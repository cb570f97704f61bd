from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import mipaudit
from mipaudit.audit.figures import lower_text, upper_text, value_text
from mipaudit.render.records_table import render_records


@pytest.fixture(scope="module")
def report():
    rng = np.random.default_rng(0)
    n = 3_000
    member = rng.random(n) < 0.5
    table = pa.table(
        {
            "member": member,
            "score": rng.normal(size=n) + 2 * member,
            "sex": rng.choice(["F", "M"], n),
        }
    )
    return mipaudit.records(table, by="sex", top=4, max_risk=0.5)


def test_numbers_are_those_of_the_report(report):
    text = render_records(report, width=100)
    largest = report.estimates[0]
    for shown in (
        lower_text(largest.lower),
        value_text(largest.value),
        upper_text(largest.upper),
    ):
        assert shown in text
    assert text.startswith("Verdict: NOT MET.")
    for one in report.top:
        assert any(
            line.split()[:2] == [str(one.row), "member" if one.member else "holdout"]
            for line in text.splitlines()
        )
    for group in report.groups:
        line = next(line for line in text.splitlines() if line.strip().startswith(group.group))
        assert lower_text(group.lower) in line
        assert group.differs.split()[0] in line


def test_prose_keeps_to_the_width(report):
    text = render_records(report, width=72)
    prose = [line for line in text.splitlines() if line.startswith("    ")]
    assert prose
    assert max(map(len, prose)) <= 72
    assert not any(line.endswith(" ") for line in text.splitlines())


def test_a_larger_risk_of_a_cell_comes_first(report):
    lower = [one.lower for one in report.cells]
    assert lower == sorted(lower, reverse=True)
