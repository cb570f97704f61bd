"""``mipaudit check`` on real and on odd files."""

from __future__ import annotations

import json

import numpy as np
import pytest

import mipaudit as package
from mipaudit.errors import InputError, UsageError


def test_a_file_that_can_be_audited(mipaudit, data_dir):
    done = mipaudit("check", str(data_dir / "yeom_diabetes_tree_d4_split0.csv"))

    assert done.returncode == 0
    assert "221 members and 221 holdout records" in " ".join(done.stdout.split())
    assert "residual  continuous  float" in done.stdout
    assert done.stderr == ""


def test_json_follows_the_schema_and_runs_differ_in_the_provenance_only(mipaudit, data_dir):
    import jsonschema

    arguments = ("check", str(data_dir / "lira_digits_target0.parquet"), "-f", "json")
    one, two = (mipaudit(*arguments, env={"SOURCE_DATE_EPOCH": epoch}).stdout for epoch in "12")
    assert one != two
    assert one.split('"provenance"')[0] == two.split('"provenance"')[0]

    found = json.loads(one)
    jsonschema.Draft202012Validator(package.schema()).validate(found)
    assert found["schema"] == "mipaudit.check/3"
    assert found["design"]["n_members"] + found["design"]["n_holdout"] == 1797


@pytest.mark.parametrize("name", ["missing.csv", "empty.csv"])
def test_what_cannot_be_audited_exits_2(mipaudit, tmp_path, name):
    (tmp_path / "empty.csv").write_text("", encoding="utf-8")

    done = mipaudit("check", name, "-o", "out.txt")

    assert done.returncode == 2
    assert done.stderr.startswith("Error: ")
    assert not (tmp_path / "out.txt").exists()


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["--members", "a.csv"], "no_input"),
        (["a.csv", "--members", "b.csv", "--holdout", "c.csv"], "two_inputs"),
        (["--seed", "1"], "no_input"),
    ],
)
def test_contradictory_inputs(mipaudit, arguments, code):
    done = mipaudit("check", *arguments, "-f", "json")

    assert done.returncode == 2
    assert json.loads(done.stderr)["error"]["code"] == code


def test_counts_are_exact_on_arrays():
    members = np.array([1.0, 1.0, 1.0, 2.5, np.inf])
    holdout = np.array([1.0, 3.5, 4.5, 5.5])

    report = package.check(members=members, holdout=holdout)

    (column,) = report.columns
    assert (report.design.n_members, report.design.n_holdout) == (5, 4)
    assert (column.distinct, column.atoms, column.tied_rows, column.infinite) == (6, 1, 4, 1)
    assert [finding.code for finding in report.findings] == [
        "small_class",
        "small_class",
        "infinite_scores",
    ]


def test_a_constant_column_among_others_is_a_finding():
    rng = np.random.default_rng(1)
    members, holdout = rng.normal(size=(50, 2)), rng.normal(size=(60, 2))
    members[:, 1] = holdout[:, 1] = 7.0

    report = package.check(members=members, holdout=holdout)

    assert [finding.code for finding in report.findings] == ["constant_column"]
    assert "7.0" not in str(report.findings)


@pytest.mark.parametrize(
    ("members", "holdout", "error", "code"),
    [
        (np.ones(30), np.ones(40), InputError, "constant_scores"),
        (np.arange(30.0), np.arange(30.0)[::-1], InputError, "identical_classes"),
        ("a.csv", np.ones(3), UsageError, "mixed_inputs"),
    ],
)
def test_arrays_without_information_or_beside_a_path_are_refused(members, holdout, error, code):
    with pytest.raises(error) as caught:
        package.check(members=members, holdout=holdout)
    assert caught.value.code == code
    # Equal counts of two values are no error.
    coins = np.tile([0.0, 1.0], 40)
    assert package.check(members=coins, holdout=coins[::-1]).columns[0].distinct == 2
