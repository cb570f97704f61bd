"""What ``compare`` may be asked of scores, and of reports."""

import pytest

from mipaudit.commands.compare.options import CompareOptions
from mipaudit.errors import UsageError

REPORTS = ("old.json", "new.json")


@pytest.mark.parametrize(
    "wrong",
    [
        {"prior": 0.3},
        {"confidence": 0.9},
        {"discrete": True},
        {"independent": True},
        {"seed": 3},
        {"nan": "drop"},
        {"score_col": ["loss"]},
        {"key_col": "id"},
        {"where": "a = b"},
    ],
    ids=str,
)
def test_what_only_scores_have_a_use_for_is_refused_of_reports(wrong):
    (name,) = wrong
    with pytest.raises(
        UsageError, match=f"--{name.replace('_', '-')} does not apply to reports"
    ) as caught:
        CompareOptions(scores=REPORTS, **wrong)
    assert caught.value.code == name


def test_reports_have_a_policy_and_a_way_to_be_read():
    asked = CompareOptions(
        scores=REPORTS, max_increase=0.1, against="learned", hash_inputs=True, jobs=2, prior=0.5
    )
    assert asked.of_reports


@pytest.mark.parametrize(
    ("given", "code"),
    [
        ({"scores": ("a.csv", "b.csv"), "against": "learned"}, "against"),
        ({"scores": ("a.csv", "b.csv"), "max_increase": 0.1}, "max_increase"),
        (
            {"scores": ("a.csv",), "max_increase": 0.5, "baseline": "x", "prior": 0.9},
            "max_increase",
        ),
        ({"scores": ("a.csv", "b.json")}, "mixed_inputs"),
        ({"scores": ("b.json",), "members": "m.csv"}, "mixed_inputs"),
        ({"scores": ("-", "-")}, "two_stdin"),
        ({"scores": ("a.csv",), "holdout": "h.csv"}, "two_inputs"),
        ({"members": "m.csv"}, "no_input"),
    ],
)
def test_what_does_not_go_together_is_refused(given, code):
    with pytest.raises(UsageError) as caught:
        CompareOptions(**given)
    assert caught.value.code == code


def test_what_is_read_has_its_name_and_is_not_written_over():
    asked = CompareOptions(scores=("old=a.csv", "dir/b.csv"))
    assert [one.name for one in asked.named_scores] == ["old", "b"]
    assert {"a.csv", "dir/b.csv"} <= set(asked.inputs())
