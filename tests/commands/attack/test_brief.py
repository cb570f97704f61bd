"""A line for each attack and for the best attacker, and one answer over all of them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import mipaudit
from tests.fixtures.briefs import answer, shown


def table(leak, scores=1, rows=1200, seed=2):
    random = np.random.default_rng(seed)
    member = np.arange(rows) % 2 == 0
    return pd.DataFrame(
        {
            "member": member,
            "label": random.integers(4, size=rows),
            **{
                f"a_long_name_of_a_score_{at}": random.normal(size=rows) + leak * member
                for at in range(scores)
            },
        }
    )


def columns(scores):
    return tuple(f"a_long_name_of_a_score_{at}" for at in range(scores))


@pytest.mark.parametrize("leak", [0.0, 0.2, 2.0])
@pytest.mark.parametrize("scores", [1, 3, 9])
@pytest.mark.parametrize("options", [{}, {"by": "label"}, {"loss_bound": 2}, {"prior": 0.2}])
def test_nothing_is_said_not_to_leak_where_a_line_shows_it(leak, scores, options):
    report = mipaudit.attack(table(leak, scores), score_col=columns(scores), **options)
    text = shown(report)
    surely = [
        one.lower
        for one in (*report.optimum, *report.attacks, *report.groups, *report.together)
        if one.lower is not None and one.lower > report.design.baseline
    ]
    gaps = [one for one in report.gaps if one.lower is not None and one.lower * one.upper > 0]
    assert ("No leak is shown" in text) == (not surely and not gaps)
    assert "No limit was given: no verdict." in answer(report)


def test_the_answer_is_the_limit_that_may_be_picked():
    report = mipaudit.attack(table(2.0, 3), score_col=columns(3))
    most = max(one.lower for one in report.together)
    assert f"at least {most:.5f}"[:-1] in answer(report)
    # Without it, what holds by itself says so.
    assert "at a confidence of its own" in answer(replace(report, together=()))


def test_every_attack_and_the_best_attacker_have_a_line():
    report = mipaudit.attack(table(0.5), loss_bound=3, score_col=columns(1))
    lines = [line for line in shown(report).splitlines() if line.startswith("  ")]
    assert len(lines) == 1 + len(report.attacks) + 1  # the head, and the best attacker


@pytest.mark.parametrize(("limit", "word"), [(0.02, "NOT MET"), (0.95, "MET"), (0.2, "INCON")])
def test_what_is_met_is_met_by_these_attackers_alone(limit, word):
    report = mipaudit.attack(table(0.5), max_advantage=limit, score_col=columns(1))
    first, last = answer(report), shown(report).split("\n\n")[-1]
    assert first.startswith(word)
    assert f"\n{word}" in f"\n{last}"
    met = report.verdict.status == "met"
    assert ("by these attackers alone" in first) == met == ("alone" in last)
    if met:
        most = max(one.upper for one in report.policy)
        assert f"{np.ceil(most * 1e4) / 1e4:.4f}" in first


def test_a_loss_that_differs_from_all_others_is_no_place_on_the_axis():
    report = mipaudit.attack(table(0.0), score_col=columns(1))
    worse = tuple(replace(one, value=-0.3, lower=-0.4, upper=-0.2) for one in report.attacks)
    from mipaudit.formats.report_forms import brief_report

    assert "← below 0" in brief_report(replace(report, attacks=worse), width=80)
