"""What bounds concludes: the smallest question for each of its codes, and figures as they read."""

from __future__ import annotations

from functools import cache

import pytest

from mipaudit.commands.bounds import report as conclusion
from mipaudit.commands.bounds.run import bounds
from mipaudit.model.message import Message
from mipaudit.report.forms import brief_report, report_as, report_text
from mipaudit.report.messages.epsilon import BOUNDS
from mipaudit.report.messages.told import told
from mipaudit.statements.rounding import lower_figure, upper_figure
from tests.fixtures.codes import within

CLAIM, NOISE = {"epsilon": 1.0, "delta": 1e-5}, {"noise_sd": 2.0, "sensitivity": 3.0}
BY_EXCHANGE, MEANS = {"adjacency": "substitution"}, {"k": 100, "n": 1000}
STEPS = {"noise_multiplier": 1.0, "q": 0.1, "steps": 20}
# Each asks for the codes below it, and perhaps others.
QUESTIONS = {
    "claim": (
        CLAIM,
        (
            "promise_allows right_at_most bounds_as_tight release_not_seen one_exchanged "
            "added_or_removed promised_approximate_dp figure_advantage figure_accuracy "
            "figure_eta figure_tpr figure_precision figure_certainty"
        ),
    ),
    "add_remove": (
        {"epsilon": 1.0, "adjacency": "add-remove", "prior": 0.1},
        "figure_excess present_or_absent",
    ),
    "success": (
        {"epsilon": 1.0, "baseline": (0.1, 0.37)},
        "success_allowed success_of_one_step figure_success",
    ),
    "gaussian": ({"mu": 1.0, **BY_EXCHANGE}, "promised_gaussian_dp figure_divergence"),
    "concentrated": ({"rho": 0.5}, "promised_zero_concentrated_dp"),
    "renyi": ({"rdp": {2.0: 0.1}}, "promised_renyi_dp"),
    "without_epsilon": ({**NOISE, "delta": 0.0}, "promised_gaussian_noise unbounded_at_delta"),
    "laplace": ({"scale": 2.0}, "promised_laplace_noise"),
    "geometric": ({"geometric_scale": 2.0, "sensitivity": 3}, "promised_geometric_noise"),
    "response": ({"randomized_response": 0.7}, "promised_randomized_response"),
    "dp_sgd": ({"dp_sgd": STEPS}, "promised_dp_sgd"),
    "composition": ({"compose": ("gaussian:noise_multiplier=2,count=3",)}, "promised_composition"),
    "tuned": ({"noise_sd": 3.0, "best_of": 3, "drawn": "poisson"}, "promised_tuned_runs"),
    "averages": ({"counting_queries": MEANS, "noise_sd": 0.01}, "promised_counting_queries"),
    "target": ({"advantage": 0.1, "delta": 1e-5}, "keeps_quantity"),
    "target_of_tpr": ({"tpr_at_fpr": (0.02, 0.001), "sensitivity": 2.0}, "keeps_tpr_at_fpr"),
    "target_of_success": ({"success": (0.2, 0.1)}, "keeps_success"),
    "target_of_delta": ({"gaussian_noise_for": CLAIM}, "keeps_delta"),
    "target_of_nothing": ({"eta": 0.0}, "no_noise_hides"),
    "target_of_anything": ({"accuracy": 1.0}, "any_attacker_allowed"),
    "target_below_delta": ({"eta": 0.01, "delta": 0.1}, "delta_allows_more"),
    "rates": ({"tpr": 1.0, "fpr": 0.0}, "rules_out"),
    "counts": ({"tp": 50, "fn": 0, "fp": 0, "tn": 50}, "one_sided perfect_not_excluded"),
}


@cache
def asked(name):
    return bounds(**QUESTIONS[name][0])


def messages(report):
    """Yield every message of a report, and those within them."""
    guarantee, refuted = report.guarantee, report.refuted
    shown = [report.answer, *conclusion.remarks(report), conclusion.promised(report)]
    shown += [conclusion.reading(report), conclusion.other_reading(report)]
    shown += [*conclusion.allowed(report), *conclusion.divergences(report)]
    shown += [] if guarantee is None else [guarantee.epsilon_reason]
    for one in report.needed:
        shown += [one.epsilon_reason, one.mu_reason]
    shown += [] if refuted is None else [one.upper_reason for one in refuted.limits]
    for one in filter(None, shown):
        yield from within(one)


def test_every_code_has_a_question():
    whole = {code for code in BOUNDS if not code.endswith(".line")}
    assert {code for _, codes in QUESTIONS.values() for code in codes.split()} == whole


@pytest.mark.parametrize("name", QUESTIONS)
def test_the_smallest_question_makes_its_codes_appear(name):
    found = list(messages(asked(name)))
    assert {*QUESTIONS[name][1].split()} <= {one.code for one in found}
    for one in found:
        assert told(one)
        assert not set(told(one)) & set("{}[]")


@pytest.mark.parametrize("width", [1, 80, 200])
@pytest.mark.parametrize("name", QUESTIONS)
def test_no_number_is_ever_cut(name, width):
    report = asked(name)
    text = report_text(report, width=width)
    tokens = set(text.replace(".\n", "\n").split())
    for allowed in filter(None, (report.attacker, *report.other_readings)):
        for figure in (allowed.advantage, allowed.eta, allowed.precision):
            assert upper_figure(figure) in tokens
    for bound in report.bounds:
        assert upper_figure(bound.advantage) in tokens
    for needed in report.needed:
        # An epsilon that was asked for is said by the answer.
        asked_for = report.target.quantity == "delta"
        for figure in (None if asked_for else needed.epsilon, needed.mu):
            assert figure is None or lower_figure(figure) in tokens
        assert needed.gaussian_sd is None or upper_figure(needed.gaussian_sd) in tokens
    for limit in report.refuted.limits if report.refuted else ():
        assert lower_figure(limit.epsilon_lower) in tokens
        assert limit.epsilon_upper is None or upper_figure(limit.epsilon_upper) in tokens
    brief = brief_report(report, width=80).splitlines()
    assert len(brief) <= 30
    assert max(map(len, brief)) <= 80
    assert text.isascii()
    assert not {"inf", "Infinity", "nan", "None", "-0"} & set(text.split())


def test_limits_are_rounded_outward():
    # An upper bound up: tanh(1/2) + 2e-5 / (1 + e) is 0.4621225...
    assert " 0.46213 " in report_text(asked("claim"), width=100)
    # What may be at most down: 0.2006529...; what must be at least up: 3.97894...
    assert " 0.20065 " in report_text(asked("target"), width=100)
    assert " 3.979 " in report_text(asked("target"), width=100)


def test_everybody_is_told_of_each_reading_and_that_nothing_was_measured():
    report = asked("claim")
    (harsher,) = report.other_readings
    plainly = report.answer.get("plainly")
    told_of = plainly.get("upper"), plainly.get("other")
    assert told_of == (report.attacker.advantage, harsher.advantage)
    assert plainly.get("other_reading") == Message("added_or_removed")
    assert "Nothing was measured" in report_as(report, "html")
    assert asked("gaussian").answer.get("other") is None


def test_a_table_has_a_reason_as_its_sentence():
    table = report_as(asked("target_below_delta"), "csv")
    assert "delta alone allows more than the target" in table


def test_the_page_draws_the_published_bounds_and_nothing_where_there_are_none():
    assert "<svg" in report_as(asked("claim"), "html")
    assert "<svg" in report_as(bounds(epsilon=0.0), "html")
    assert "<svg" not in report_as(asked("target"), "html")
