"""Which answer an audit has in which situation, as a code with its numbers; and its pages."""

from __future__ import annotations

import re
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest

import mipaudit
from mipaudit.commands.estimate.report import lines, open_limits, remarks
from mipaudit.report.forms import brief_report, report_as, report_text
from mipaudit.report.messages.told import is_serious, told
from mipaudit.report.messages.words import right_at_least
from mipaudit.statements.rounding import lower_text, upper_text, value_text
from tests.fixtures.codes import findings, refused
from tests.fixtures.leaks import beside_records, coins, table, with_rows


def audit(*leaks, rows=400, seed=1, **asked):
    return mipaudit.estimate(table(*leaks, rows=rows, seed=seed), **asked)


def codes(report):
    """Return the codes of the remarks."""
    return {one.code for one in remarks(report)}


def plainly(report):
    """Return the answer in right guesses, which the top of a page has."""
    return told(report.answer.get("plainly") or report.answer)


def brief(report):
    return " ".join(brief_report(report, width=80).split())


def advantages(report):
    return [one for one in report.estimates if one.quantity == "advantage"]


def top(report):
    """Return what a page shows before all sections."""
    return report_as(report, "html").partition("</nav>")[0].partition("<header>")[2]


# What is found where nothing was asked for.


def test_no_answer_is_silent_on_a_row_that_shows():
    shown = set()
    for number in range(12):
        found = audit(0.3, rows=600, seed=[7, number])
        (auc,) = (one for one in found.estimates if one.quantity == "auc")
        points = [one for one in found.estimates if one.fpr and (one.lower or 0.0) > one.fpr]
        if auc.lower > 0.5 or points:
            assert found.answer.code != "no_leak"
            if advantages(found)[0].lower == 0:
                shown.add(found.answer.code)
                assert found.answer.get("plainly").get("but").code == "but_above_chance"
    assert shown <= {"auc_above_chance", "tpr_above_chance"}
    assert shown


def test_a_row_that_shows_at_a_prior_where_nothing_is_gained():
    report = audit(1.0, prior=0.02)
    assert report.answer.code in {"auc_above_chance", "tpr_above_chance"}
    assert report.estimates[0].lower <= report.design.baseline


def test_the_exact_test_is_over_all_scores():
    frame = table(0.0, seed=3)
    found = mipaudit.estimate(frame.assign(b=frame["s0"] ** 3))
    first, second = (one for one in found.estimates if one.quantity == "any_difference")
    assert first.value == second.value  # an increasing map changes no p-value
    shut = with_rows(found, "advantage", lower=0.0)
    small, large = (with_rows(shut, "any_difference", value=one) for one in (0.02, 0.03))
    assert (small.answer.code, small.answer.get("p")) == ("differ_by_test", 0.04)
    assert large.answer.code == "no_leak"
    assert "difference_p" in codes(small)
    assert "no_difference_p" in codes(large)


@pytest.mark.parametrize("prior", [0.5, 0.2])
@pytest.mark.parametrize("method", ["prequential", "kde"])
def test_at_most_is_never_that_of_an_estimator_without_limits(prior, method):
    report = audit(0.0, rows=1000, seed=10, prior=prior, method=method)
    widest = max(
        one.upper
        for one in advantages(report)
        # That of the score with noise is of another release.
        if one.upper and one.validity != "not-an-interval" and one.attackers != "noised-query"
    )
    assert report.answer.get("upper") == widest
    assert report.answer.get("against") != "any"
    assert report.answer.get("baseline") == (pytest.approx(0.6) if prior != 0.5 else None)
    assert f"at most {upper_text(widest)}" in told(report.answer)


@pytest.mark.parametrize(
    ("values", "given", "code"),
    [
        ("two", {}, "leaks_beyond_records"),
        ("two", {"blind_bound": 0.1}, "leaks_beyond_records"),
        ("many", {}, "told_apart"),
        ("many", {"blind_bound": 0.9}, "told_apart"),
    ],
)
def test_what_the_records_may_explain_is_not_called_a_leak(values, given, code):
    report = beside_records(values, **given)
    answer, beyond = report.answer, report.blind.excess[0].lower
    said = answer.get("plainly")
    assert (answer.code, said.code) == (code, f"right_{code}")
    assert (beyond > 0) == (code == "leaks_beyond_records")
    if beyond > 0:
        assert answer.get("lower") == said.get("lower") == beyond
        assert answer.get("asserted") == said.get("asserted") == (bool(given) or None)
        words = f"right at least {right_at_least(beyond, (0.0,))} times"
        assert words in plainly(report)


def test_the_gravest_claim_is_told_whichever_score_it_is_of():
    report = audit(0.3, 0.0, claimed_epsilon=2)
    assert report.answer.code == "answer_consistent"
    assert "do not refute the claim (nor prove it)" in told(report.answer)
    assert " MET" not in report_as(report, "markdown")
    strongest, weaker = report.claims
    worse = replace(report, claims=(strongest, replace(weaker, status="not_comparable")))
    assert worse.answer.code == "answer_not_comparable"
    broken = audit(0.0, 2.0, claimed_epsilon=0.1)
    assert broken.answer.code == "answer_not_met"
    assert told(broken.answer).startswith("NOT MET: for 's1', the advantage is at least")


# How a verdict is told.


def test_what_is_not_met_is_said_in_guesses_with_what_the_limit_allows():
    report = audit(2.0, 0.0, max_advantage=0.1)
    (check, other), found = report.policy, report.answer.get("plainly")
    assert (found.code, found.get("score"), found.get("lower")) == (
        *("right_above", "s0"),
        check.lower,
    )
    assert (report.answer.get("alike"), report.answer.get("limits")) == (1, 2)
    assert other.status != "not_met"
    least = right_at_least(check.lower, (0.1, 0.0))
    words = f"right at least {least} times in 100 (a coin: 50; the limit: 55)"
    assert words in plainly(report)
    assert words in top(report)


def test_what_is_met_names_who_is_meant():
    report = audit(0.0, 0.0, rows=4000, max_advantage=0.3)
    found = report.answer.get("plainly")
    assert (found.code, found.get("against")) == ("right_within_kind", "intervals-4")
    assert "cleverer" in plainly(report)
    assert "Passing does not prove that nothing leaks." in report_text(report, width=200)
    widest = max(one.upper or 0.0 for one in advantages(report))
    assert audit(0.0, 0.0, rows=4000).answer.get("upper") == widest  # of all scores
    nobody = mipaudit.estimate(coins(8000), max_advantage=0.2)
    assert nobody.answer.get("plainly").code == "right_within"
    assert "cleverer" not in plainly(nobody)
    closest = audit(0.5, rows=4000, max_advantage=0.9, max_tpr_at_fpr=(0.12, 0.01)).answer
    # It is said by what is closest to its limit.
    assert (closest.code, closest.get("reason").get("quantity")) == ("answer_met", "tpr_at_fpr")


def test_an_open_verdict_says_between_what_and_never_at_least_nothing():
    report = audit(0.0, rows=120, max_advantage=0.05)
    assert report.answer.get("plainly").code == "right_open"
    assert "0.0000" not in plainly(report)
    above = audit(0.6, rows=800, max_advantage=0.25).answer.get("plainly")
    assert (above.code, above.get("most").code) == ("right_open_above", "right_most_kind")
    # Nobody is right more than 100 times in 100: cleverer attackers neither.
    few = audit(0.0, rows=12, max_advantage=0.05)
    assert few.policy[0].upper == 1
    assert few.answer.get("plainly").get("most").code == "right_unlimited"


@pytest.mark.parametrize("given", [{"max_tpr_at_fpr": (0.02, 0.01)}, {"max_metric": ["ppv=0.6"]}])
def test_a_limit_on_something_else_keeps_the_words_of_the_terminal(given):
    report = audit(1.0, **given)
    assert report.answer.get("plainly") is None
    assert told(report.answer) in top(report).replace("&#39;", "'")


def test_at_another_prior_blind_guessing_is_not_a_coin():
    report = audit(1.0, prior=0.2, max_eta=0.01)
    assert "(blind guessing: 80; the limit: 81)" in plainly(report)
    assert "coin" not in plainly(report)


@pytest.mark.parametrize("until", ["2999-01-01", "2020-01-01"])
def test_a_waiver_is_never_missing(until):
    waiver = {"quantity": "advantage", "reason": "a test", "person": "A", "expires": until}
    report, ended = audit(2.0, max_advantage=0.1, max_eta=0.49, waivers=[waiver]), until < "2900"
    assert report.answer.code == ("answer_not_met" if ended else "answer_waived")
    assert report.answer.get("waived") == (None if ended else 1)
    said = (
        "; the waiver by A expired after 2020-01-01"
        if ended
        else ", with 1 limit accepted by waiver: "
    )
    assert said in brief(report)


@pytest.mark.parametrize(("how", "key"), [("pass", "passes"), ("fail", "fails")])
def test_what_a_policy_makes_of_an_open_answer_is_said(how, key):
    answer = audit(0.0, max_advantage=0.05, on_inconclusive=how).answer
    assert (answer.code, answer.get(key)) == ("answer_inconclusive", True)


# Remarks, and lines beside the answer.


def test_two_limits_of_one_advantage_are_explained():
    report = audit(1.0, 0.3, rows=1200, max_advantage=0.4, claimed_epsilon=2)
    (first, *_), check = advantages(report), report.policy[0]
    assert "verdict_shares_error" in codes(report)
    against = next(one for one in advantages(report) if one.attackers == check.against)
    same = (replace(check, lower=first.lower, upper=against.upper), *report.policy[2:])
    assert "verdict_shares_error" not in codes(replace(report, policy=same))


@pytest.mark.parametrize("leaks", [(0.9, 0.2), (0.0, 0.1, 0.7, 0.3, 0.0), (0.0, 0.0)])
@pytest.mark.parametrize("given", [{}, {"max_advantage": 0.04}, {"confidence": 0.9}])
def test_where_scores_share_the_error_their_figure_says_so(leaks, given):
    frame = table(*leaks, rows=1000, seed=10)
    report = mipaudit.estimate(frame, **given)
    alone = mipaudit.estimate(frame, score_col=report.design.score_columns[0], **given)
    (row,) = (one for one in advantages(alone) if one.attackers == "any")
    least, said = lower_text(row.lower), " ".join(brief(report).split())
    if report.policy:
        assert re.search(rf"If '\w+' were the only score, its 'at least' would be {least}", said)
    else:
        assert f"({least} if this were the only score)" in said
    assert "the only" not in brief(alone).lower()
    assert alone.design.alone is None


def test_limits_of_one_score_share_its_error_too():
    report = audit(0.9, max_advantage=0.9, max_eta=0.45)
    (shared,) = (one for one in remarks(report) if one.code == "error_shared")
    assert (shared.get("sharing"), shared.get("among")) == (2, "limits")


def test_records_that_settle_some_limits_are_not_said_to_settle_all():
    report = audit(0.4, 0.3, 0.2, rows=2000, max_advantage=0.2)
    first, *rest = report.policy
    assert report.verdict.status == first.status == "inconclusive"
    some = replace(report, policy=(replace(first, records_to_settle=None), *rest))
    assert "records_settle_each" in codes(report)
    (found,) = (one for one in remarks(some) if one.code == "records_settle_some")
    assert 0 < found.get("settled") < found.get("limits") <= 3
    # Where the limits have lines of their own each has its number of records there.
    several = audit(0.4, 0.3, rows=2000, max_advantage=0.2, max_tpr_at_fpr=(0.03, 0.01))
    assert {one.records_to_settle for one in open_limits(several)} >= {
        one.records_to_settle for one in several.policy if one.status == "inconclusive"
    }


@pytest.mark.parametrize("limit", [0.05, 0.2])
@pytest.mark.parametrize("leaks", [(0.9,), (0.9, 0.6, 0.3)])
def test_every_limit_that_is_not_kept_has_a_line_the_gravest_first(limit, leaks):
    limits = {"max_advantage": limit, "max_tpr_at_fpr": (0.03, 0.01), "max_eta": 0.4}
    report = audit(*leaks, rows=2000, **limits)
    failing = {id(one) for one in report.policy if one.status != "met"}
    shown = open_limits(report)
    assert len(shown) == len(failing) > 1
    assert {id(one) for one in shown} == failing
    orders = [["not_met", "inconclusive"].index(one.status) for one in shown]
    assert orders == sorted(orders)


def test_of_limits_that_are_all_met_each_is_shown_at_the_score_that_comes_closest():
    report = audit(0.5, 0.1, rows=4000, max_advantage=0.9, max_tpr_at_fpr=(0.2, 0.01))
    assert report.verdict.status == "met"
    for quantity in ("advantage", "tpr_at_fpr"):
        (line,) = (one for one in open_limits(report) if one.quantity == quantity)
        assert line.upper == max(one.upper for one in report.policy if one.quantity == quantity)


def test_one_limit_that_the_scores_are_drawn_beside_is_not_listed_again():
    report = audit(0.9, 0.6, max_advantage=0.05)
    assert open_limits(report) == ()
    shown, judged = (
        [(one.lower, one.upper) for one in some] for some in (lines(report), report.policy)
    )
    assert shown == judged


@pytest.mark.parametrize("leak", [0.0, 0.3, 1.2])
@pytest.mark.parametrize("rows", [100, 1000])
def test_auc_and_tpr_stand_between_their_limits_and_never_alone(leak, rows):
    report = audit(leak, rows=rows)
    (line,) = lines(report)
    for span, quantity, fpr in ((line.auc, "auc", None), (line.tpr, "tpr_at_fpr", 0.01)):
        (row,) = (one for one in report.estimates if (one.quantity, one.fpr) == (quantity, fpr))
        if span is None:
            assert row.lower is row.upper is None
        else:
            assert span == (row.lower or 0.0, 1.0 if row.upper is None else row.upper)


# What is said of copies, of the second test, and of a seed that was stated.


@pytest.mark.parametrize(
    ("given", "key"),
    [
        ({}, "copied"),
        # More records would decide neither, as long as no limit accepts copies.
        ({"max_advantage": 0.1}, "copies_not_accepted"),
        ({"max_advantage": 0.9}, "open_copies"),
        ({"max_advantage": 0.1, "max_copies": 0}, "copies_above_limit"),
    ],
)
def test_copies_stand_first_on_every_answer(given, key):
    frame = table(0.0).assign(exact_copy=np.arange(400) % 80 == 0)
    report = mipaudit.estimate(frame, **given)
    if given:
        assert report.answer.get("reason").code == key
        assert "more records" not in brief_report(report, width=80)
    else:
        assert report.answer.get(key) is True
    assert given or report.answer.code == "no_leak"
    assert "unchanged" in top(report)
    assert "5 of 200 members" in brief_report(report, width=80)


@pytest.mark.parametrize("given", [{}, {"max_advantage": 0.05}])
def test_a_second_test_that_disagrees_is_at_the_top_of_a_page(given):
    tested = with_rows(audit(0.0, rows=120, **given), "any_difference", value=0.001)
    assert "p = 0.0010" in top(tested)
    assert "difference_p" in codes(tested)


PROVED = re.compile(r"finite.sample|\bproved|every sample size", re.IGNORECASE)


def says_proved(report, *forms):
    """Tell whether a report says in any of its forms that something is proved."""
    written = [report_as(report, form) for form in ("markdown", "junit", *forms)]
    text = "\n".join((mipaudit.to_json(report).decode(), repr(report), *written))
    return bool(PROVED.search(text))


@pytest.mark.parametrize("seed", [7, "fresh", None])
def test_with_a_stated_seed_strict_proves_nothing(seed):
    rng, known = np.random.default_rng(11), seed == 7
    frame = pd.DataFrame({"member": np.arange(360) < 160, "a": rng.integers(0, 5, 360)})
    frame["b"] = rng.normal(size=360)
    given = {"strict": True, "seed": seed}
    asked = {"metric": ["ppv", "accuracy"], "max_advantage": 0.3, "claimed_epsilon": 1}
    report = mipaudit.estimate(frame, **asked, **given)
    found = [one for one in report.findings if one.code == "strict_seed"]
    assert [is_serious(one) for one in found] == [True] * known
    assert says_proved(report, "html") is not known
    assert mipaudit.verify(mipaudit.to_json(report), input=frame).agrees
    assert says_proved(mipaudit.rejudge(report, max_advantage=0.2)) is not known
    assert "strict_seed" not in findings(mipaudit.estimate(frame, seed=seed))
    tables = (frame[side].drop(columns="member") for side in (frame["member"], ~frame["member"]))
    blind = mipaudit.shift(*tables, **given)
    counted = mipaudit.summarize(frame, **({"seed": 7} if known else {}))
    for one in (blind, mipaudit.estimate(counted, strict=True)):
        assert ("strict_seed" in findings(one)) is known
        assert says_proved(one) is not known
    if known:
        words = "stated seed"
        refused("blind", mipaudit.estimate, frame, blind=blind, strict=True, says=words)


# A report as a page of text, and as HTML.


@pytest.mark.parametrize("width", [1, 40, 80, 200])
@pytest.mark.parametrize(
    "name", ["one_score", "three_scores", "eight_scores", "no_policy", "claim"]
)
def test_no_number_is_ever_cut(sample, name, width):
    report = sample(name)
    tokens = set(report_text(report, width=width).split())
    for one in report.estimates:
        value = None if one.quantity == "excess" else one.value
        for number, text in (
            *((one.lower, lower_text), (one.upper, upper_text)),
            (value, value_text),
        ):
            assert number is None or text(number) in tokens
    assert "…" not in "".join(tokens)


def test_scores_stand_in_the_order_of_the_estimates_and_reasons_are_footnotes(sample):
    report = sample("three_scores")
    turned = replace(report, estimates=tuple(reversed(report.estimates)))
    assert [one.score for one in lines(report)] == ["loss", "confidence", "margin"]
    assert [one.score for one in lines(turned)] == ["margin", "confidence", "loss"]
    text = report_text(report, width=100)
    assert " ".join(text.split()).count("if the score can be any number; see the classes") == 1
    assert re.search(r"'loss' +any .* unknown \[1\]", text)
    assert re.search(r"^  \[1\]: no 'at most' holds for all attackers if", text, flags=re.MULTILINE)
    published = report_text(sample("no_policy"), width=100)
    assert "As published: not a valid interval\n" in published


def test_colour_only_when_asked_for(sample, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "60")
    plain, coloured = (report_text(sample("one_score"), width=80, color=x) for x in (False, True))
    assert "\x1b" not in plain
    assert "\x1b[1;31mNOT MET: " in coloured
    stripped = re.sub(r"\x1b\[[0-9;]*m", "", coloured)
    assert [line.rstrip() for line in stripped.split("\n")] == plain.split("\n")


class Checker(HTMLParser):
    """Collects text and tags, and checks that tags close in order."""

    def __init__(self, html):
        super().__init__()
        self.open, self.tags, self.text = [], set(), ""
        self.feed(html)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.open.append(tag)
        self.tags.add(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data


@pytest.mark.parametrize("name", ["one_score", "three_scores", "no_policy", "claim"])
def test_a_notebook_shows_the_answer_and_figures(sample, name):
    report = sample(name)
    page = Checker(report._repr_html_())
    assert told(report.answer) in page.text
    assert lower_text(report.estimates[0].lower) in page.text
    assert all(f"'{one}'" in page.text for one in report.design.score_columns)


def test_every_name_and_text_is_escaped(hostile):
    html = hostile._repr_html_()
    assert Checker(html).tags <= {
        *("header", "div", "p", "h1", "h2", "h3", "ul", "li", "dl", "dt", "dd"),
        *("table", "caption", "thead", "tbody", "tr", "th", "td"),
        *("b", "strong", "code", "h4"),
        *("figure", "figcaption", "img", "details", "summary", "style"),
    }
    assert not [one for one in ("<script>", "<b>draws", "\x1b") if one in html]
