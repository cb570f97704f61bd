"""What check found, as text."""

from __future__ import annotations

import pytest

from mipaudit.commands.check.report import CheckReport, ColumnProfile
from mipaudit.formats.report_forms import report_text
from mipaudit.statements.estimate import Finding


@pytest.fixture
def report(sample):
    base = sample("three_scores")
    columns = (
        ColumnProfile(
            score="loss", kind="float", discrete=False, distinct=1234, atoms=2, tied_rows=466,
            infinite=3,
        ),
        ColumnProfile(
            score="\x1b[31m[bold]hits", kind="integer", discrete=True, distinct=None, atoms=5,
            tied_rows=None, infinite=0,
        ),
    )  # fmt: skip
    return CheckReport(
        command="check",
        design=base.design,
        columns=columns,
        findings=(Finding.of("small_class", count=12, of="members"),),
        provenance=base.provenance,
    )


def test_columns_are_counted_not_shown(report):
    text = report_text(report, width=100)
    rows = [line.split() for line in text.split("\n")]

    assert ["loss", "continuous", "(float)", "1,234", "2", "466", "3"] in rows
    assert ["-:", "not", "counted:", "there", "are", "too", "many", "rows"] in rows
    assert "900 members, 800 holdout records" in text
    assert "There are only 12 members: limits will be wide. [small_class]" in text


def test_a_hostile_name_does_nothing(report):
    text = report_text(report, width=100)

    assert "\x1b" not in text
    assert r"\x1b[31m[bold]hits" in "".join(text.split())
