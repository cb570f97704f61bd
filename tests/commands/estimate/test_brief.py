"""What the answer of an audit may not hide, and whom it speaks for."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import mipaudit
from mipaudit.commands.estimate.brief import estimate_brief
from mipaudit.commands.estimate.front import estimate_front
from mipaudit.formats.report_forms import brief_report
from mipaudit.statements.text.guesses import right_at_least
from mipaudit.statements.text.rounding import lower_text, upper_text
from tests.fixtures.briefs import answer, shown


def table(leaks=(0.0,), rows=1000, seed=10):
    random = np.random.default_rng(seed)
    member = np.arange(rows) % 2 == 0
    return pd.DataFrame(
        {
            "member": member,
            **{f"s{at}": random.normal(size=rows) + one * member for at, one in enumerate(leaks)},
        }
    )


@pytest.mark.parametrize("prior", [0.5, 0.2])
@pytest.mark.parametrize("method", ["prequential", "kde"])
def test_at_most_is_never_that_of_an_estimator_without_limits(prior, method):
    report = mipaudit.estimate(table(), prior=prior, method=method)
    assert "for any attacker" not in answer(report)
    widest = max(
        one.upper
        for one in report.estimates
        if one.quantity == "advantage"
        and one.upper
        and one.validity != "not-an-interval"
        # That of the score with noise is of another release.
        and one.attackers != "noised-query"
    )
    assert f"at most {np.ceil(widest * 1e4) / 1e4:.4f}" in answer(report)
    if prior != 0.5:
        assert "(blind guessing: 0.6000)" in answer(report)


def test_at_most_is_the_largest_of_all_scores():
    report = mipaudit.estimate(table((0.0, 0.0, 0.0)))
    widest = max(one.upper for one in report.estimates if one.quantity == "advantage" and one.upper)
    assert f"at most {np.ceil(widest * 1e4) / 1e4:.4f}" in answer(report)


def test_copies_stand_in_the_answer_where_no_score_shows_a_leak():
    frame = table().assign(exact_copy=np.arange(1000) < 5)
    assert answer(mipaudit.estimate(frame)).startswith("Exact copies stand in the release.")


def test_a_difference_that_no_limit_sizes_says_what_to_conclude():
    report = mipaudit.estimate(table(rows=60))
    tested = replace(
        report,
        estimates=tuple(
            replace(one, value=0.001) if one.quantity == "any_difference" else one
            for one in report.estimates
        ),
    )
    assert answer(report).startswith("No leak is shown")
    said = answer(tested)
    assert said.startswith("Members and holdout differ (an exact test, p = 0.0010)")
    assert "This is not 'no leak'" in said
    assert "mipaudit shift" in said


@pytest.mark.parametrize(
    ("records", "given", "said"),
    [
        ("alike", {}, "Membership leaks beyond the records: among those that are alike, whoever"),
        ("alike", {"blind_bound": 0.1}, "Membership leaks beyond the records: "),
        ("many", {}, "Members and holdout are told apart: whoever sees 's0' has an advantage of"),
        ("many", {"blind_bound": 0.9}, "Members and holdout are told apart: whoever sees 's0'"),
    ],
)
def test_what_the_records_may_explain_is_not_called_a_leak(records, given, said):
    random = np.random.default_rng(7)
    frame = table((2.0,), rows=2000)
    values = random.integers(2, size=2000) if records == "alike" else random.normal(size=2000)
    both = pd.DataFrame({"value": values})
    shift = mipaudit.shift(both[frame.member], both[~frame.member])
    report = mipaudit.estimate(frame, blind=shift, **given)
    found, beyond = answer(report), report.blind.excess[0].lower
    plainly = estimate_front(report, estimate_brief(report)).answer
    assert found.startswith(said)
    assert (beyond > 0) == ("beyond" in said)
    if beyond > 0:
        assert f"at least {lower_text(beyond)}" in found
        assert f"right at least {right_at_least(beyond, (0.0,))} times" in plainly
        assert ("if what is asserted of the records is so" in found) == bool(given)
    else:
        assert "the records alone may explain all of it" in found
        assert "that may be because the groups differ" in plainly


def test_a_metric_that_was_asked_for_has_a_line():
    text = shown(mipaudit.estimate(table((0.5, 1.0)), metric=("ppv", "f1")), height=24)
    assert [line.split()[1] for line in text.splitlines() if "ppv" in line or "f1" in line] == [
        *("ppv", "f1") * 2
    ]


def test_what_is_met_is_said_by_what_is_closest_to_its_limit():
    report = mipaudit.estimate(
        table((0.5,), rows=4000), max_advantage=0.9, max_tpr_at_fpr=(0.12, 0.01)
    )
    assert report.verdict.status == "met"
    assert answer(report).startswith("MET (2 of 2 limits): TPR at FPR 0.01 is at most")
    assert shown(report).splitlines()[-1].startswith("MET (2 of 2 limits). ")


def limit_lines(text):
    """Return the lines below the caption of the limits."""
    lines = text.splitlines()
    start = next(
        at for at, line in enumerate(lines) if "imit" in line and "  limit " in lines[at + 1]
    )
    return list(itertools.takewhile(str.strip, lines[start + 2 :]))


@pytest.mark.parametrize("limit", [0.05, 0.2])
@pytest.mark.parametrize("leaks", [(0.9,), (0.9, 0.5), (0.9, 0.6, 0.3)])
def test_every_limit_that_is_not_kept_has_a_line_with_its_own_limits(limit, leaks):
    report = mipaudit.estimate(
        table(leaks, rows=2000), max_advantage=limit, max_tpr_at_fpr=(0.03, 0.01), max_eta=0.4
    )
    lines = limit_lines(shown(report, height=24))
    failing = [one for one in report.policy if one.status != "met"]
    assert len(lines) == len(failing) > 1
    for check in failing:
        what = "TPR" if check.quantity == "tpr_at_fpr" else check.quantity
        own = [
            line for line in lines if line.startswith(f"  {what} ") and f" {check.score} " in line
        ]
        (line,) = own
        assert f" {lower_text(check.lower)} " in line
        assert f" {upper_text(check.upper)}" in line
        assert check.against in line


def test_more_limits_than_fit_are_counted_and_the_gravest_stay():
    report = mipaudit.estimate(
        table((1.5, *[0.3] * 7)), max_advantage=0.1, max_tpr_at_fpr=(0.02, 0.01), max_eta=0.06
    )
    text = brief_report(report, width=80)
    failing = [one for one in report.policy if one.status != "met"]
    *lines, more = limit_lines(text)
    assert len(text.splitlines()) <= 24
    assert len(lines) == 3
    surely = sum(one.status == "not_met" for one in failing)
    assert [" not met " in line for line in lines] == [at < surely for at in range(3)]
    assert more == f"  and {len(failing) - 3} more: --full"


def test_of_limits_that_are_all_met_each_is_shown_at_the_score_that_comes_closest():
    report = mipaudit.estimate(
        table((0.5, 0.1), rows=4000), max_advantage=0.9, max_tpr_at_fpr=(0.2, 0.01)
    )
    assert report.verdict.status == "met"
    lines = limit_lines(shown(report, height=24))
    assert len(lines) == 2
    for what, quantity in (("advantage", "advantage"), ("TPR", "tpr_at_fpr")):
        (line,) = [one for one in lines if one.startswith(f"  {what} ")]
        most = max(one.upper for one in report.policy if one.quantity == quantity)
        assert line.endswith(upper_text(most))


def test_one_limit_that_the_scores_are_drawn_beside_is_not_listed_again():
    text = shown(mipaudit.estimate(table((0.9, 0.6)), max_advantage=0.05), height=24)
    assert "Limits that" not in text


@pytest.mark.parametrize("leak", [0.0, 0.3, 1.2])
@pytest.mark.parametrize("rows", [100, 1000])
def test_auc_and_tpr_stand_between_their_limits_and_never_alone(leak, rows):
    report = mipaudit.estimate(table((leak,), rows=rows))
    (line,) = [
        one for one in brief_report(report, width=80).splitlines() if one.startswith("  s0 ")
    ]
    found = {}
    for name, cell in zip(("tpr_at_fpr", "auc"), line.split()[:-3:-1], strict=True):
        if cell != "-":
            scale = 100 if cell.endswith("%") else 1
            low, high = (float(one) / scale for one in cell.removesuffix("%").split("-"))
            (row,) = [
                one for one in report.estimates if one.quantity == name and one.fpr in {None, 0.01}
            ]
            assert (row.lower or 0.0) - 0.01 < low <= (row.lower or 0.0)
            assert (1.0 if row.upper is None else row.upper) <= high < (row.upper or 1.0) + 0.01
            found[name] = cell
    assert "auc" in found


def open_report(**options):
    """Return an inconclusive report on scores, the first without a number of records."""
    report = mipaudit.estimate(table((0.4, 0.3, 0.2), rows=2000), max_advantage=0.2, **options)
    first, *rest = report.policy
    assert first.status == report.verdict.status == "inconclusive"
    return replace(report, policy=(replace(first, records_to_settle=None), *rest))


def test_records_that_settle_some_limits_are_not_said_to_settle_all():
    report = open_report()
    numbers = [one.records_to_settle for one in report.policy if one.status == "inconclusive"]
    known = [one for one in numbers if one is not None]
    assert 0 < len(known) < len(numbers)
    said = f"{len(known)} of {len(numbers)} open limits; the rest may stay open with more."
    assert said in " ".join(shown(report).split())


def test_beside_limits_of_several_kinds_each_has_its_own_number_of_records():
    report = open_report(max_tpr_at_fpr=(0.03, 0.01))
    text = shown(report, height=24)
    assert "open limits" not in text
    found = sorted(line.split()[-1] for line in limit_lines(text))
    planned = [one.records_to_settle for one in report.policy if one.status == "inconclusive"]
    assert found == sorted("-" if one is None else f"{one:,}" for one in planned)
    assert "-" in found


@pytest.mark.parametrize("until", ["2999-01-01", "2020-01-01"])
def test_a_waiver_is_told_first_and_last(until):
    waiver = {"quantity": "advantage", "reason": "a test", "person": "A", "expires": until}
    report = mipaudit.estimate(table((2.0,)), max_advantage=0.1, max_eta=0.49, waivers=[waiver])
    last = shown(report).split("\n\n")[-1]
    if until > "2900":
        assert ", with 1 waiver: " in answer(report)
        assert ", with 1 waiver. " in last
    else:
        assert answer(report).startswith("NOT MET")
        assert "waiver by A expired" in answer(report)


def test_the_figures_beside_a_verdict_are_those_that_it_rests_on():
    random = np.random.default_rng(4)
    member = np.repeat([True, False], 500)
    columns = {f"score_{at}": random.normal(member * at / 3) for at in range(3)}
    report = mipaudit.estimate(pd.DataFrame({"member": member, **columns}), max_advantage=0.2)
    text = brief_report(report, width=80)
    for check in report.policy:
        (row,) = [line for line in text.splitlines() if line.startswith(f"  {check.score} ")]
        assert f" {lower_text(check.lower)} " in row
        assert f" {upper_text(check.upper)} " in row


@pytest.mark.parametrize("leaks", [(0.9, 0.2), (0.0, 0.1, 0.7, 0.3, 0.0), (0.0, 0.0)])
@pytest.mark.parametrize("given", [{}, {"max_advantage": 0.04}, {"confidence": 0.9}])
def test_where_scores_share_the_error_their_figure_says_so(leaks, given):
    frame = table(leaks)
    report = mipaudit.estimate(frame, **given)
    first = report.design.score_columns[0]
    alone = mipaudit.estimate(frame, score_col=first, **given)
    (row,) = (
        one for one in alone.estimates if (one.quantity, one.attackers) == ("advantage", "any")
    )
    said = f"shared by {len(leaks)} scores; alone {lower_text(row.lower)}"
    text = " ".join(brief_report(report, width=80).split())
    assert said in text
    assert said in report.summary
    assert "shared by" not in brief_report(alone, width=80) + alone.summary
    assert alone.design.alone is None


def test_limits_of_one_score_share_its_error_too():
    report = mipaudit.estimate(table((0.9,)), max_advantage=0.9, max_eta=0.45)
    (row,) = (
        one for one in report.estimates if (one.quantity, one.attackers) == ("advantage", "any")
    )
    text = " ".join(brief_report(report, width=80).split())
    assert f"shared by 2 limits; alone {lower_text(row.lower)}" in text
    assert "shared by" not in report.summary


@pytest.mark.parametrize("scores", range(1, 9))
@pytest.mark.parametrize(
    "given",
    [
        {},
        {"max_advantage": 0.3},
        {"max_advantage": 0.9, "max_eta": 0.2, "against": "thresholds"},
        {"joint": True, "prior": 0.3},
    ],
)
def test_the_answer_of_up_to_eight_scores_fits_a_screen(scores, given):
    frame = table(np.linspace(0, 1, scores), rows=600)
    named = frame.rename(columns={f"s{at}": f"a score of number {at}" for at in range(scores)})
    text = brief_report(mipaudit.estimate(named, **given), width=80)
    lines = text.splitlines()
    assert len(lines) <= 24
    assert max(map(len, lines)) <= 80
