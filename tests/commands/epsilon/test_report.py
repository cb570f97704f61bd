"""What an audit of epsilon concludes: the smallest input for each of its codes, and its figures."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from mipaudit.commands.epsilon import report as conclusion
from mipaudit.commands.epsilon.run import encode_profile, epsilon
from mipaudit.report.forms import answer_line, brief_report, report_as, report_text
from mipaudit.report.messages.epsilon import EPSILON
from mipaudit.report.messages.told import told
from mipaudit.report.walk import walk_of
from mipaudit.statements.rounding import lower_figure
from tests.fixtures.codes import said, within

RUNS = {"design": "independent-runs", "tp": 90, "fn": 10, "fp": 5, "tn": 95}
NOTHING = {**RUNS, "tp": 5, "fn": 95}
FEW = {**RUNS, "tp": 3, "fn": 0, "fp": 0, "tn": 3}
RIGHT = {**RUNS, "tp": 480, "fn": 20, "fp": 40, "tn": 460}
SAME = np.arange(50.0)
CANARIES = {"design": "one-run", "canaries": 1000, "guesses": 100, "correct": 90}


def scores(leak, rows=400, share=0.5, seed=4):
    """Return scores of which so many are of members, who score higher by so much."""
    random = np.random.default_rng(seed)
    member = np.arange(rows) < share * rows
    return pd.DataFrame({"member": member, "score": random.normal(size=rows) + leak * member})


def of_runs(table, **more):
    return epsilon(table, design="independent-runs", **more)


def of_one(table, **more):
    return epsilon(table, design="one-run", **more)


def beside():
    """Return an audit whose deciding limit is 0, where another one is not."""
    report = epsilon(**RUNS)
    first, *others = report.statements
    return replace(report, statements=(replace(first, lower=0.0), *others))


# Each makes the codes below it, and perhaps others.
AUDITS = {
    lambda: epsilon(**RUNS, claimed_epsilon=1.0): (
        "claim_refuted not_as_claimed claimed_epsilon epsilons_refuted promise_broken decides "
        "beside_it runs_seen guesses_of_both runs_alike attack_was_fixed "
        "every_size neighbours_of_runs"
    ),
    lambda: epsilon(**RUNS, claimed_epsilon=2.5, delta=0.0, numerator="member"): (
        "claim_not_refuted nothing_against_claim promise_not_broken no_size_would_refute "
        "guesses_of_member gaussian_without_epsilon"
    ),
    lambda: epsilon(**RUNS, method="gdp", assume_gdp=True, claimed_mu=1.0): (
        "claimed_mu assumes-gdp taken_for_gaussian"
    ),
    lambda: epsilon(**RIGHT): "epsilon_limited promise_would_break guesses_of_holdout",
    lambda: epsilon(**NOTHING): (
        "no_epsilon_refuted no_promise_would_break why_no_more difference_within_chance"
    ),
    beside: "epsilons_refuted_beside",
    lambda: epsilon(**{**RUNS, "tp": 800, "fn": 200, "fp": 500, "tn": 500}, delta=0.5): (
        "delta_allows"
    ),
    lambda: epsilon(**FEW, claimed_epsilon=5.0): "size_would_refute none_up_to",
    lambda: epsilon(**RUNS, claimed_epsilon=1.0, true_epsilon=1.0001): "no_size_does",
    lambda: of_runs(scores(0.0), claimed_curve=([0.1], [0.9])): "claimed_curve all_rows_judged",
    lambda: of_runs(scores(0.0).assign(score=1.0), claimed_epsilon=1.0): (
        "nothing_to_judge no_attack"
    ),
    lambda: epsilon(members=SAME, holdout=SAME, design="independent-runs"): "no_difference_found",
    lambda: epsilon(**CANARIES, claimed_epsilon=1.0): (
        "one_run_seen guesses_of_canaries claim_p_value coins_fair guesses_blind "
        "neighbours_of_canaries"
    ),
    lambda: epsilon(**{**CANARIES, "correct": 51}): "guesses_within_chance",
    lambda: epsilon(**CANARIES, delta=0.1): "not_even_right_guesses",
    lambda: of_one(scores(1.0)): "coins_seen coins_unstated if-fair-coins",
    lambda: of_one(scores(1.0), inclusion_rate=0.5): "coins_stated",
    lambda: of_one(scores(1.0, share=0.1), claimed_epsilon=1.0): (
        "claim_not_certifiable coins_test_nothing promise_not_tested"
    ),
    lambda: epsilon(scores(2.0), design="one-model", claimed_epsilon=1.0): (
        "one_model_tests_nothing if-exchangeable to_certify one_model_seen "
        "one_model_certifies_nothing as_if_trials"
    ),
    lambda: epsilon(scores(0.0), design="one-model"): (
        "no_epsilon_certified one_model_breaks_none advantage_within_chance"
    ),
}
MAKES = {code: audit for audit, codes in AUDITS.items() for code in codes.split()}
made = cache(lambda audit: audit())


def messages(report):
    """Yield every message of a report, and those within them."""
    yield from said(report).values()
    power = report.claim.power if report.claim else ()
    shown = [conclusion.seen(report), *report.rests_on]
    shown += [conclusion.common(report)]
    for one in report.statements:
        shown += [one.standing, one.worth, one.lower_reason, one.judged]
    for one in power:
        shown += [one.refutable_reason, one.needed_reason]
    for one in filter(None, shown):
        yield from within(one)


def test_every_code_has_an_input():
    assert {*MAKES} == {
        code
        for code in EPSILON
        if not code.endswith(".line")  # the same in fewer words
    }


@pytest.mark.parametrize("code", MAKES)
def test_the_smallest_input_makes_it_appear(code):
    found = [one for one in messages(made(MAKES[code])) if one.code == code]
    assert found
    assert told(found[0])
    assert not set(told(found[0])) & set("{}[]")


@pytest.mark.parametrize("width", [40, 200])
@pytest.mark.parametrize("audit", AUDITS)
def test_every_limit_is_on_the_page_and_nothing_is_missing(audit, width):
    report = made(audit)
    text = report_text(report, width=width)
    limits = [one.lower for one in report.statements if one.lower is not None]
    assert not [one for one in limits if lower_figure(one) not in text]
    assert not [word for word in ("None", " nan", "inf ", "{", "}") if word in text]


@pytest.mark.parametrize("counts", [RUNS, NOTHING, CANARIES])
@pytest.mark.parametrize("claim", [{}, {"claimed_epsilon": 0.5}, {"claimed_epsilon": 6}])
def test_the_answer_is_the_outcome_of_the_claim_and_the_limit(counts, claim):
    report = epsilon(**counts, **claim)
    text = brief_report(report, width=80)
    moods = {None: "plain", "refuted": "bad", "not_refuted": "plain"}
    status = report.claim and report.claim.status
    assert walk_of(report).mood == moods[status]
    assert text.startswith({"refuted": "CLAIM REFUTED: ", None: ""}.get(status, "CLAIM NOT REF"))
    line, _ = answer_line(report)  # also where no epsilon is refuted, so that no limit decides
    assert line.startswith({"refuted": "CLAIM REFUTED", None: ""}.get(status, "CLAIM NOT REF"))
    assert ("No claim was given: no verdict." in " ".join(text.split())) == (not claim)
    assert ("┃" in text) == bool(claim)
    top = report.statements[0].lower
    limit = report.answer.get("limit")
    assert limit is None or limit.get("lower") == (top or None)
    assert (limit is None) == (status == "refuted" and not top)


def test_what_rests_on_gaussian_noise_says_so_first():
    report = epsilon(**RUNS, method="gdp", assume_gdp=True, claimed_epsilon=0.5)
    page = report_as(report, "html")
    assert "CLAIM REFUTED: if the noise is Gaussian, the promise that the" in page
    assert told(report.claim.reason).startswith("if the noise is Gaussian, then with 95%")


@pytest.mark.parametrize("leak", [0.0, 2.0])
@pytest.mark.parametrize("columns", [1, 12])
def test_one_model_certifies_nothing_whatever_it_leaks(leak, columns):
    random = np.random.default_rng(6)
    member = np.arange(1000) % 2 == 0
    found = {f"score_{at}": random.normal(size=1000) + leak * member for at in range(columns)}
    report = epsilon(pd.DataFrame({"member": member, **found}), design="one-model")
    assert told(report.answer).startswith("No lower limit of epsilon is proved")
    assert (report.answer.get("limit").get("lower") is not None) == (leak > 0)
    lines = brief_report(report, width=80).splitlines()
    assert "if each row were a trial" in " ".join(lines)
    assert len(lines) <= 24


def test_a_profile_keeps_every_digit_and_quotes_names():
    points = [SimpleNamespace(score='a,"b"', delta=0.1, lower=1 / 3, value=0.4)]
    assert json.loads(encode_profile(points, "json"))[0]["lower"] == 1 / 3
    text = encode_profile(points, "csv").decode()
    assert text.splitlines()[1] == f'"a,""b""",0.1,{1 / 3!r},0.4'
