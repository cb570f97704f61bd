"""What an audit by named attacks answers, as codes, and a line for each attack."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import mipaudit
from mipaudit.report.forms import brief_report
from mipaudit.report.messages.estimate import ATTACK
from mipaudit.report.messages.told import told
from tests.fixtures.briefs import shown
from tests.fixtures.codes import said
from tests.fixtures.leaks import table


def audit(*leaks, infinite=0, **options):
    """Return the attacks on scores of long names, some of whose cells are infinite."""
    frame = table(*leaks, rows=1200).add_prefix("a_long_name_of_a_score_")
    columns = frame.columns[1:]
    frame.loc[: infinite - 1, columns[0]] = np.inf
    frame = frame.rename(columns=lambda name: name.removeprefix("a_long_name_of_a_score_m"))
    frame["label"] = np.random.default_rng(2).integers(4, size=1200)
    return mipaudit.attack(
        frame.rename(columns={"ember": "member"}), score_col=(*columns,), **options
    )


def alone(report, *nought):
    """Return a report without the limits that share the error, and some lower limits at 0."""
    changed = {
        name: tuple(replace(one, lower=0.0) for one in getattr(report, name)) for name in nought
    }
    return replace(report, together=(), **changed)


SMALLEST = {
    lambda: audit(0.5): "leaks right_leaks answer_of_all_lines best_of_kind",
    lambda: alone(audit(0.5)): "best_attack_leaks right_best_attack_leaks",
    lambda: alone(audit(0.5), "optimum"): "named_attack_leaks right_named_attack_leaks",
    lambda: alone(audit(0.5, loss_bound=3), "optimum", "attacks"): "means_apart",
    lambda: audit(0.0): "no_attack_leaks right_no_attack_leaks",
    lambda: audit(2.0, max_advantage=0.1): (
        "answer_not_met right_attack_above any_attacker_of_all_lines"
    ),
    lambda: audit(0.5, max_advantage=0.95): "answer_met right_within_attacks",
    lambda: audit(0.5, max_advantage=0.2): "answer_inconclusive right_undecided",
    lambda: audit(0.0, infinite=21, member_side="low"): "not_judged",
    lambda: audit(2.0, by="label"): "class_leaks_most",
    lambda: audit(0.0, by="label"): "no_class_leaks",
}


def test_every_code_has_a_smallest_input():
    for make, codes in SMALLEST.items():
        assert {*said(make())} >= {*codes.split()}
    assert {code for codes in SMALLEST.values() for code in codes.split()} >= {*ATTACK}


@pytest.mark.parametrize("leak", [0.0, 0.2, 2.0])
@pytest.mark.parametrize("scores", [1, 9])
@pytest.mark.parametrize("options", [{}, {"by": "label", "loss_bound": 2}, {"prior": 0.2}])
def test_nothing_is_said_not_to_leak_where_a_line_shows_it(leak, scores, options):
    report = audit(*[leak] * scores, **options)
    shown(report)
    rows = (*report.optimum, *report.attacks, *report.groups, *report.together)
    surely = [one for one in rows if (one.lower or 0.0) > report.design.baseline]
    gaps = [one for one in report.gaps if one.lower is not None and one.lower * one.upper > 0]
    assert (report.answer.code == "no_attack_leaks") == (not surely and not gaps)


def test_the_answer_is_the_limit_that_may_be_picked():
    report = audit(2.0, 2.0, 2.0)
    assert report.answer.get("lower") == max(one.lower for one in report.together)
    # Without it, what holds by itself says so, and guesses say it too.
    for one in (alone(report).answer, alone(report).answer.get("plainly")):
        assert "picked from several, so it is less sure than its confidence says" in told(one)


def test_every_attack_and_the_best_attacker_have_a_line():
    report = audit(0.5, loss_bound=3)
    lines = [line for line in shown(report).splitlines() if line.startswith("  ")]
    assert len(lines) == 1 + len(report.attacks) + 1  # the head, and the best attacker


def test_what_is_met_is_met_by_these_attackers_alone():
    met, open_one = audit(0.5, max_advantage=0.95), audit(0.5, max_advantage=0.2)
    most = max(one.upper for one in met.policy)
    assert (met.answer.get("alone"), open_one.answer.get("alone")) == (True, None)
    assert met.answer.get("reason").get("upper") == met.answer.get("plainly").get("upper") == most
    assert "not about the best attacker" in told(met.verdict.reasons[-1])
    assert any("not for the best attacker" in told(one) for one in met.limitations)
    assert "for other attacks this test rules nothing out" in told(met.answer.get("plainly"))


def test_a_loss_that_differs_from_all_others_is_no_place_on_the_axis():
    report = audit(0.0)
    worse = tuple(replace(one, value=-0.3, lower=-0.4, upper=-0.2) for one in report.attacks)
    assert "← below 0" in brief_report(replace(report, attacks=worse), width=80)


@pytest.mark.parametrize("given", [{}, {"mean_loss": -0.4}])
def test_that_a_mean_was_given_is_said(capsys, given):
    audit(0.5, member_side="low", **given).show(full=True)
    told = "The mean score of members was given, not learned." in capsys.readouterr().out
    assert told == bool(given)
