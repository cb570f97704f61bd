"""``mipaudit check`` on real and on odd files."""

from __future__ import annotations

import json

import jsonschema
import numpy as np
import pandas as pd
import pytest

import mipaudit as package
from tests.fixtures.briefs import answer, shown
from tests.fixtures.codes import refused


def test_json_follows_the_schema_and_runs_differ_in_the_provenance_only(mipaudit, data_dir):
    arguments = ("check", str(data_dir / "lira_digits_target0.parquet"), "-f", "json")
    one, two = (mipaudit(*arguments, env={"SOURCE_DATE_EPOCH": epoch}).stdout for epoch in "12")
    assert one != two
    assert one.split('"provenance"')[0] == two.split('"provenance"')[0]

    found = json.loads(one)
    jsonschema.Draft202012Validator(package.schema()).validate(found)
    assert found["schema"] == "mipaudit.check/3"
    assert found["design"]["n_members"] + found["design"]["n_holdout"] == 1797


def test_counts_are_exact_on_arrays():
    members = np.array([1.0, 1.0, 1.0, 2.5, np.inf])
    holdout = np.array([1.0, 3.5, 4.5, 5.5])

    report = package.check(members=members, holdout=holdout)

    (column,) = report.columns
    assert (report.design.n_members, report.design.n_holdout) == (5, 4)
    assert (column.distinct, column.atoms, column.tied_rows, column.infinite) == (6, 1, 4, 1)
    found = [finding.code for finding in report.findings]
    assert found == ["small_class", "small_class", "infinite_scores"]


def test_a_constant_column_among_others_is_a_finding():
    rng = np.random.default_rng(1)
    members, holdout = rng.normal(size=(50, 2)), rng.normal(size=(60, 2))
    members[:, 1] = holdout[:, 1] = 7.0

    report = package.check(members=members, holdout=holdout)

    assert [finding.code for finding in report.findings] == ["constant_column"]
    assert "7.0" not in str(report.findings)


REFUSED = {
    "constant_scores": (np.ones(30), np.ones(40)),
    "identical_classes": (np.arange(30.0), np.arange(30.0)[::-1]),
    "mixed_inputs": ("a.csv", np.ones(3)),
}


def test_arrays_without_information_or_beside_a_path_are_refused():
    for code, (members, holdout) in REFUSED.items():
        refused(code, package.check, members=members, holdout=holdout)
    # Equal counts of two values are no error.
    coins = np.tile([0.0, 1.0], 40)
    assert package.check(members=coins, holdout=coins[::-1]).columns[0].distinct == 2


@pytest.mark.parametrize("scores", [1, 8, 60])
def test_every_column_has_a_line_while_there_is_room(scores):
    random = np.random.default_rng(8)
    columns = {f"a_score_with_a_long_name_{at}": random.normal(size=200) for at in range(scores)}
    frame = pd.DataFrame({"split": np.arange(200) % 2, "id": np.arange(200), **columns})
    report = package.check(frame, member_col="split", score_col=tuple(columns))
    text = shown(report)
    assert answer(report).startswith("The input can be audited. It holds 100 members")
    assert "(column 'split')" in answer(report)
    lines = [line for line in text.splitlines() if " continuous " in line]
    assert len({line.split()[0] for line in lines}) == len(lines) >= min(scores, 12)
    if scores == 60:
        assert "more: --full" in text
    else:
        assert "Not used: id." in text


def test_a_class_with_few_records_is_a_warning():
    few = package.check(members=np.arange(9.0), holdout=np.arange(0.5, 30))
    assert "! Few members (9)" in shown(few)
