"""What ``epsilon`` may be asked: by which design, and in which numbers."""

import pytest

import mipaudit as package
from mipaudit.commands.epsilon.options import EpsilonOptions
from mipaudit.errors import UsageError

FOREIGN = {
    "independent-runs": [
        *({"guesses": 5}, {"member_side": "low"}, {"canaries": 9}, {"correct": 3}),
        {"inclusion_rate": 0.5},
    ],
    "one-run": [{"method": "gdp"}, {"tp": 0}, {"curve": True}],
    "one-model": [{"tn": 5}, {"guesses": 5}, {"claimed_mu": 1}, {"assume_gdp": True}],
}
CASES = [(design, idle) for design, options in FOREIGN.items() for idle in options]


@pytest.mark.parametrize(("design", "idle"), CASES, ids=str)
def test_what_belongs_to_another_design_is_refused_by_its_name(design, idle):
    with pytest.raises(UsageError) as refused:
        EpsilonOptions(design=design, **idle)

    (name,) = idle
    assert refused.value.code == "other_design"
    flag = f"--{name.replace('_', '-')}"
    assert refused.value.message == f"{flag} has no meaning with --design {design}."


@pytest.mark.parametrize("many", [10_000, 1e4, "10000", "1e4"])
def test_counts_may_be_written_in_short(many):
    asked = EpsilonOptions(canaries=many, guesses=many, correct="5e3")

    assert asked.kind == "one-run"
    assert asked.totals == (10_000, 10_000, 5_000)


@pytest.mark.parametrize("wrong", [0.5, "half", "1e400", "", True, None, [5]])
def test_what_is_no_count_is_refused(wrong):
    with pytest.raises(UsageError) as refused:
        EpsilonOptions(design="independent-runs", tp=wrong, fn=5, fp=5, tn=5)

    assert refused.value.code == ("tp" if wrong is not None else "counts")


def test_a_report_of_counts_in_short_is_verified(mipaudit):
    counts = ("--tp", "9e2", "--fn", "1e2", "--fp", "1e2", "--tn", "9e2")
    done = mipaudit(
        "epsilon", "--design", "independent-runs", *counts, "-f", "json", "-o", "counts.json"
    )

    assert done.returncode == 0
    assert mipaudit("verify", "counts.json").returncode == 0


def test_points_of_a_curve_are_recorded_by_a_word():
    asked = EpsilonOptions(canaries=9, guesses=5, correct=3, claimed_curve=([0.1], [0.2]))

    assert asked.curve_read[0] == "the points given"
    assert {one.name: one.value for one in asked.recorded()}["claimed_curve"] == "the points given"
    assert package.epsilon(canaries=9, guesses=5, correct=3, claimed_curve=[[0.1], [0.2]]).claim
