"""What a page says first: the verdict in right guesses, exactly as far as it holds."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import mipaudit
from mipaudit.commands.estimate.brief import estimate_brief
from mipaudit.commands.estimate.front import estimate_front
from mipaudit.formats.report_forms import report_as
from mipaudit.report.messages.told import told
from mipaudit.statements.origin import Setting
from mipaudit.statements.text.guesses import right_at_least, right_at_most

SAMPLES = "sample_data"


def front(report):
    return estimate_front(report, estimate_brief(report))


@pytest.fixture(scope="module")
def leaky():
    return mipaudit.estimate(f"{SAMPLES}/leaky.parquet", max_advantage=0.1)


@pytest.fixture(scope="module")
def private():
    return mipaudit.estimate(f"{SAMPLES}/private.parquet", max_advantage=0.2)


def scores(shift, n=400, seed=1):
    rng = np.random.default_rng(seed)
    return {"members": rng.normal(shift, 1, n), "holdout": rng.normal(0, 1, n)}


def test_what_is_not_met_is_said_in_guesses_with_what_the_limit_allows(leaky):
    found = front(leaky)
    least = right_at_least(leaky.policy[0].lower, (0.1, 0.0))

    assert found.answer.startswith("NOT MET: whoever sees the score 'lira_online' can guess whose")
    assert f"right at least {least} times in 100 (a coin: 50; the limit: 55)" in found.answer
    assert found.mood == "bad"
    assert found.figures == f"{told(leaky.verdict.reasons[0])}."


def test_of_several_scores_each_outcome_is_counted(leaky):
    statuses = [one.status for one in leaky.policy]
    above, undecided, within = (statuses.count(one) for one in ("not_met", "inconclusive", "met"))
    assert f"Of 3 scores, {above} above the limit, {undecided} undecided, {within} within it." in (
        front(leaky).also
    )


def test_what_is_met_names_who_is_meant_and_that_others_may_do_better(private):
    found = front(private)
    (check,) = private.policy
    most = right_at_most(check.upper, (0.2, 0.0))

    assert found.answer == (
        "MET, for attackers of a simple kind: those who choose up to four ranges of the score are "
        f"right at most {most} times in 100 (a coin: 50; the limit: 60). For cleverer ones this "
        "test rules nothing out."
    )
    assert "To pass does not prove that nothing leaks." in found.unsaid


def test_of_a_discrete_score_nobody_is_left_out():
    rng = np.random.default_rng(2)
    frame = pd.DataFrame({"member": np.arange(8000) < 4000, "score": rng.integers(0, 2, 8000)})

    answer = front(mipaudit.estimate(frame, score_col="score", max_advantage=0.2)).answer

    assert answer.startswith("MET: nobody who sees the score guesses right more often than ")
    assert "cleverer" not in answer


def test_an_open_verdict_says_between_what_and_never_at_least_nothing():
    found = front(mipaudit.estimate(**scores(0.0, n=60), max_advantage=0.05))

    assert found.answer == "INCONCLUSIVE: this test neither passes nor fails the release."
    assert "It is not shown that whoever sees the score" in found.also[0]
    assert "guesses better than a coin" in found.also[0]
    assert "cleverer ones may be right more often" in found.also[0]
    assert "0.0000" not in " ".join((found.answer, *found.also, found.figures))


def test_an_open_verdict_over_a_shown_leak_says_both_ends():
    report = mipaudit.estimate(**scores(0.6), max_advantage=0.25)
    (check,) = report.policy
    assert check.status == "inconclusive"

    said = front(report).also[0]

    assert f"right at least {right_at_least(check.lower, (0.25, 0.0))} times in 100" in said
    assert f"right at most {right_at_most(check.upper, (0.25, 0.0))} times in 100" in said


def test_copies_stand_first_and_whether_they_count(tmp_path):
    rng = np.random.default_rng(3)
    frame = pd.DataFrame(
        {
            "member": np.arange(600) < 300,
            "score": rng.normal(size=600),
            "exact_copy": (np.arange(600) < 27).astype(int),
        }
    )
    path = tmp_path / "scores.csv"
    frame.to_csv(path, index=False)

    found = front(mipaudit.estimate(path, max_advantage=0.1))
    limited = front(mipaudit.estimate(path, max_advantage=0.1, max_copies=0))
    page = report_as(mipaudit.estimate(path, max_advantage=0.1), "html")

    (first,) = found.first
    assert first == (
        "27 of 300 members, and 0 of 300 holdout records, stand in the release word for word. No "
        "limit on copies was set: they do not count in what follows."
    )
    assert "No limit" not in limited.first[0]
    assert limited.answer.startswith("NOT MET")
    assert "27 of 300 members" in limited.answer
    top = page.partition("</nav>")[0].partition("<header>")[2]
    assert top.index("word for word") < top.index("INCONCLUSIVE")
    assert "--max-copies" not in top


def test_a_second_test_that_disagrees_is_in_the_box():
    report = mipaudit.estimate(**scores(0.0, n=60), max_advantage=0.05)
    tested = replace(
        report,
        estimates=tuple(
            replace(one, value=0.001) if one.quantity == "any_difference" else one
            for one in report.estimates
        ),
    )

    assert not any("second" in one for one in front(report).also)
    assert any("a second, exact test finds" in one for one in front(tested).also)
    assert any("(p = 0.0010)" in one for one in front(tested).also)
    assert any("do not read this page as 'nothing leaks'" in one for one in front(tested).also)


@pytest.mark.parametrize(("shift", "says"), [(1.0, "can guess whose"), (0.0, "is not shown")])
def test_without_a_limit_nothing_passes_or_fails(shift, says):
    found = front(mipaudit.estimate(**scores(shift)))

    assert says in found.answer
    assert found.answer.endswith(
        "No limit was set, so this page neither passes nor fails the release."
    )
    assert found.mood == "plain"
    assert ("limit", "none was set") in found.facts


def test_at_another_prior_blind_guessing_is_not_a_coin():
    found = front(mipaudit.estimate(**scores(1.0), prior=0.2, max_eta=0.01))

    assert "(blind guessing: 80; the limit: 81)" in " ".join((found.answer, *found.also))
    assert "coin" not in " ".join((found.answer, *found.also, *map(" ".join, found.terms)))


def test_a_limit_on_something_else_keeps_the_words_of_the_terminal():
    report = mipaudit.estimate(**scores(1.0), max_tpr_at_fpr=(0.02, 0.01))

    assert front(report).answer == estimate_brief(report).answer


def test_what_set_the_limit_is_a_fact(leaky):
    from_file = replace(
        leaky,
        provenance=replace(
            leaky.provenance,
            settings=(Setting(name="max_advantage", value=0.1, source="file", where="m.toml"),),
        ),
    )
    assert ("limit", "advantage at most 0.1, set in Python") in front(leaky).facts
    assert ("limit", "advantage at most 0.1, set in m.toml") in front(from_file).facts


def test_the_page_repeats_no_verdict_and_says_what_is_not_stated(leaky):
    page = report_as(leaky, "html")

    assert page.count("<dd>not stated</dd>") == 2
    assert "<h2>Why</h2>" not in page
    assert (
        page.count("The advantage is an average over records.")
        == page.count('"The advantage is an average over records.') + 1
    ), "once for people, once in the report for programs"
