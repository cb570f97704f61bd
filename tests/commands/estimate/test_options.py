"""What ``estimate`` is asked, checked together, and what a report says of it."""

from __future__ import annotations

import pytest

from mipaudit.commands.estimate.options import EstimateOptions
from mipaudit.errors import UsageError


def recorded(**given):
    return {one.name: one.value for one in EstimateOptions(**given).recorded()}


def test_what_strict_proves_is_proved_over_a_fresh_seed():
    assert EstimateOptions().chosen_seed.origin == "default"
    assert EstimateOptions(strict=True).chosen_seed.origin == "fresh"
    assert EstimateOptions(strict=True, seed=0).chosen_seed.origin == "stated"


def test_a_report_is_recorded_by_its_path_and_never_by_what_it_holds():
    assert recorded()["blind"] is None
    assert recorded(blind="shift.json")["blind"] == "shift.json"
    assert recorded(blind=b"{}")["blind"] == "a report in memory"


def test_a_claim_of_zero_is_a_claim():
    claim = EstimateOptions(claimed_epsilon=0, delta=0.1, adjacency="add-remove").claim
    assert (claim.epsilon, claim.delta, claim.adjacency) == (0.0, 0.1, "add-remove")
    assert EstimateOptions(claimed_epsilon=0).claim.adjacency == "unknown"
    assert EstimateOptions().claim is None


@pytest.mark.parametrize("name", ["blind_against", "blind_bound"])
def test_nothing_is_said_of_records_without_a_report_of_them(name):
    value = {"blind_against": "thresholds", "blind_bound": 0.1}[name]
    with pytest.raises(UsageError) as caught:
        EstimateOptions(**{name: value})
    assert caught.value.code == name
    assert "--blind" in caught.value.message


def test_metrics_are_those_asked_for_and_those_limited_each_once():
    asked = EstimateOptions(
        metric=("ppv", "f1"),
        max_metric={"ppv": 0.6},
        limits=[
            {"quantity": "metric", "metric": " F1", "max": 0.9},
            {"quantity": "risk", "max": 1},
        ],
    )
    assert [one.name for one in asked.judged.metrics] == ["ppv", "f1"]
    assert asked.judged.policy.max_metric == (("ppv", 0.6),)
    assert [one.metric for one in asked.judged.policy.limits] == ["f1"]
    assert asked.judged.elsewhere == 1
