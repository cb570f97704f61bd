from __future__ import annotations

import json

import msgspec
import numpy as np
import pyarrow as pa
import pytest

import mipaudit
from mipaudit.errors import UsageError
from mipaudit.validation.truth import ScenarioList, TruthReport
from tests.fixtures.codes import refused

# Each draws another table: limits at 95% confidence, so that these seeds were not chosen.
AUDITED = ("gauss-shift-1", "laplace-4", "leaked-shift", "infinite-scores", "imbalanced")
AUDITED += ("subgroup-leak", "yeom-regression-1-1.5", "covariate-shift-0.5", "null-ties")
AUDITED += ("canaries-laplace-1", "humphries-20")


def test_the_table_is_as_the_truth_says():
    found = mipaudit.simulate("laplace-2.5", n_members=300, n_holdout=200, prior=0.2, seed=7)
    assert isinstance(found.table, pa.Table)
    assert tuple(found.table.column_names) == found.truth.columns
    assert found.table.column("member").to_numpy().sum() == 300
    assert found.truth.rows == {"members": 300, "holdout": 200}
    assert (found.truth.prior, found.truth.parameters) == (0.2, {"eps": 2.5})
    assert found.truth.provenance.seed == 7
    settings = {s.name: (s.value, s.source) for s in found.truth.provenance.settings}
    assert settings["scenario"] == ("laplace-2.5", "api")
    assert settings["n_members"] == (300, "api")


def test_the_seed_fixes_the_table_and_the_prior_does_not_change_it():
    first = mipaudit.simulate("gauss-shift-1", seed=3)
    again = mipaudit.simulate("gauss-shift-1", seed=3, prior=0.1)
    other = mipaudit.simulate("gauss-shift-1", seed=4)
    assert first.table.equals(again.table)
    assert not first.table.equals(other.table)
    assert first.truth.truths != again.truth.truths


@pytest.mark.parametrize("name", AUDITED)
def test_estimate_takes_the_table_and_brackets_the_truth(name):
    drawn = mipaudit.simulate(name, seed=5)
    report = mipaudit.estimate(drawn.table)
    truths = {
        (t.quantity, t.attackers, t.fpr, t.side): t.value
        for t in drawn.truth.truths
        if t.sees == "score" and t.group is None
    }
    seen = 0
    for found in report.estimates:
        attackers = "thresholds" if found.quantity == "tpr_at_fpr" else found.attackers
        attackers = None if found.quantity == "auc" else attackers
        truth = truths.get((found.quantity, attackers, found.fpr, found.side))
        if truth is None:
            continue
        seen += 1
        assert found.lower is None or found.lower <= truth + 1e-9, found
        # An AUC is that of the side on which the members were found.
        if found.upper is not None and (found.quantity != "auc" or truth >= 0.5):
            assert found.upper >= truth - 1e-9, found
    assert seen >= 5


READ = {
    "xor2d-0.4": ["d1", "d2"],
    "covariate-shift-0.5": ["score"],
    "mace-corrupted": ["score"],
    "canaries-gauss-shift-1": ["score"],
}


@pytest.mark.parametrize("name", READ)
def test_estimate_takes_vectors_and_features_for_what_they_are(name):
    design = mipaudit.estimate(mipaudit.simulate(name).table).design
    assert sorted(design.score_columns) == READ[name]
    assert (design.member_column == "included") == name.startswith("canaries")


def test_sorted_rows_are_audited_the_same_way():
    for order in ("sorted", "members-first"):
        drawn = mipaudit.simulate("gauss-shift-1", order=order, seed=2)
        (lower,) = [
            e.lower
            for e in mipaudit.estimate(drawn.table).estimates
            if (e.quantity, e.attackers) == ("advantage", "any")
        ]
        assert 0.2 < lower <= 0.3829


def test_truths_go_through_json_unharmed():
    for name in ("gauss-shift-1", "izzo-prop9-8", "canaries-randomized-response-1"):
        found = mipaudit.simulate(name).truth
        text = mipaudit.to_json(found)
        assert msgspec.json.decode(text, type=TruthReport) == found
        assert json.loads(text)["schema"] == "mipaudit.truth/3"
    # No epsilon at delta 0: null, with its reason.
    (endless,) = [
        t
        for t in json.loads(mipaudit.to_json(mipaudit.simulate("gauss-shift-1").truth))["truths"]
        if t["quantity"] == "epsilon" and t["delta"] == 0
    ]
    assert (endless["value"], endless["value_reason"]) == (None, "the privacy loss has no limit")


def test_the_list_goes_through_json_unharmed():
    found = mipaudit.list_scenarios()
    assert msgspec.json.decode(mipaudit.to_json(found), type=ScenarioList) == found
    assert len(found.scenarios) >= 30


OUT_OF_RANGE = {
    "rows": {"n_members": 6 * 10**8, "n_holdout": 6 * 10**8},
    "n_splits": {"n_splits": 5},
    "n_canaries": {"n_canaries": 5},
    "order": {"n_members": 4 * 10**7, "order": "sorted"},
}


def test_sizes_are_those_of_what_is_drawn_and_in_range():
    splits = mipaudit.simulate("izzo-prop9-8", n_splits=20)
    assert splits.table.num_rows == 20
    assert (splits.truth.order, splits.truth.prior) == (None, None)
    assert mipaudit.simulate("canaries-laplace-1", n_canaries=30).table.num_rows == 30
    for code, keywords in OUT_OF_RANGE.items():
        refused(code, mipaudit.simulate, "laplace-1", **keywords)


def test_settings_without_a_meaning():
    with pytest.raises(UsageError, match="--n-members cannot be used") as caught:
        mipaudit.simulate("canaries-laplace-1", n_members=10)
    assert caught.value.hint == "Its size is set by --n-canaries."
    with pytest.raises(UsageError, match="no order"):
        mipaudit.simulate("izzo-prop9-8", order="sorted")
    with pytest.raises(UsageError, match="SCENARIO must be a text"):
        mipaudit.simulate(3)


def test_numpy_numbers_are_numbers():
    found = mipaudit.simulate(
        "laplace-1", n_members=np.int64(5), n_holdout=np.int32(5), prior=np.float64(0.5)
    )
    assert found.table.num_rows == 10
    mipaudit.to_json(found.truth)
