"""Which epsilon is refuted, and what became of the claim, in a screenful."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import mipaudit
from tests.fixtures.briefs import answer, shown

RUNS = {"design": "independent-runs", "tp": 90, "fn": 10, "fp": 5, "tn": 95}
NOTHING = {**RUNS, "tp": 5, "fn": 95}
CANARIES = {"design": "one-run", "canaries": 1000, "guesses": 100, "correct": 90}


@pytest.mark.parametrize("counts", [RUNS, NOTHING, CANARIES])
@pytest.mark.parametrize("claim", [{}, {"claimed_epsilon": 0.5}, {"claimed_epsilon": 6}])
def test_the_answer_is_the_outcome_of_the_claim_and_the_limit(counts, claim):
    report = mipaudit.epsilon(**counts, **claim)
    text = shown(report)
    assert ("No claim was given: no verdict." in answer(report)) == (not claim)
    if claim:
        words = {"refuted": "CLAIM REFUTED", "not_refuted": "CLAIM NOT REFUTED"}
        word = words[report.claim.status]
        assert answer(report).startswith(f"{word}: ")
        assert text.splitlines()[-1].startswith(f"{word}. ")
        assert "┃" in text
    top = report.statements[0].lower
    if top:
        assert f"Every epsilon below {np.floor(top * 1e4) / 1e4:.4f}" in answer(report)
    elif not any(one.lower for one in report.statements):
        assert "which is no evidence of privacy" in answer(report)


def test_a_limit_that_does_not_decide_is_not_hidden_by_one_that_does():
    from dataclasses import replace

    report = mipaudit.epsilon(**RUNS)
    first, *others = report.statements
    told = replace(report, statements=(replace(first, lower=0.0, estimate=0.0), *others))
    from mipaudit.formats.report_forms import answer_of

    assert "another, by itself, refutes those below" in answer_of(told)
    assert "No epsilon is refuted" not in answer_of(told)


@pytest.mark.parametrize("leak", [0.0, 2.0])
@pytest.mark.parametrize("scores", [1, 12])
def test_one_model_certifies_nothing_whatever_it_leaks(leak, scores):
    random = np.random.default_rng(6)
    member = np.arange(1000) % 2 == 0
    columns = {f"score_{at}": random.normal(size=1000) + leak * member for at in range(scores)}
    report = mipaudit.epsilon(pd.DataFrame({"member": member, **columns}), design="one-model")
    assert answer(report).startswith("No epsilon is certified")
    assert ("If each row were one" in answer(report)) == (leak > 0)
    assert "as if rows were trials" in shown(report)
