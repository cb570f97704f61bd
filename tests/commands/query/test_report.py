"""What queries answer: copies first, then the scores that were made and what to run next."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest

import mipaudit
from mipaudit.report.forms import report_as, report_text
from tests.fixtures.briefs import answer, shown
from tests.places import ROOT


def queried(words="nn", *, copied=0, held=0, rows=60, **more):
    """Query tables of which some records are released; members have more columns."""
    random = np.random.default_rng(9)
    members, holdout, synthetic = (
        pd.DataFrame(random.normal(size=(rows, 3)), columns=["a b", "c d", "e f"]) for _ in range(3)
    )
    synthetic[:copied], synthetic[copied : copied + held] = members[:copied], holdout[:held]
    given = {"members": members.assign(**more), "holdout": holdout, "synthetic": synthetic}
    return mipaudit.query(words, **given)


@pytest.mark.parametrize(("copied", "held"), [(0, 0), (1, 0), (20, 0), (0, 3)])
def test_copies_are_the_answer_and_a_warning(copied, held):
    report = queried(copied=copied, held=held)
    found = report.answer
    assert found.code == ("copies_released" if copied or held else "no_copies")
    if copied or held:
        counts = [found.get(name) for name in ("copied", "members", "copied_holdout")]
        assert counts == [copied, 60, held]
    start = f"Exact copies: {copied} of 60 members" if copied or held else "No exact copies: "
    assert answer(report).startswith(start)
    assert ("appear in the synthetic table unchanged" in shown(report)) == bool(copied)
    assert "shows what they reveal" in shown(report)


def test_what_was_not_compared_is_named_with_its_reason():
    report = queried(more=1.0)
    text = report_text(report, width=100)
    assert "1 not compared" in text
    assert report.skipped[0][1] in " ".join(text.partition("Not compared\n")[2].split())


def test_distances_are_drawn_and_a_score_that_is_one_for_all_is_not():
    report = queried(["nn", "mc:1e-9"])
    assert [len(one.bins) > 1 for one in report.curves] == [True, False]
    assert all(one.members + one.holdout >= 10 for each in report.curves for one in each.bins)
    assert report_as(report, "html").count('class="drawn"') == 1
    assert "'nn', from low to high" in report.plot().alt


def test_what_to_run_next_is_never_cut_and_a_small_class_is_a_warning():
    lines = shown(queried([f"kth:{at}" for at in range(2, 50)])).splitlines()
    assert lines[-2].startswith("Next: mipaudit estimate SCORES")
    assert re.search(r"and \d+ more: --full", "\n".join(lines))
    assert "! Few members (12): imprecise figures." in shown(queried(rows=12))


def test_scores_of_a_model_are_listed_with_what_to_run_next(mipaudit):
    words = ("--logits", ROOT / "sample_data/model.npz", "-o", "scores.csv")
    brief = {"MIPAUDIT_FULL": "false", "COLUMNS": "80"}
    done = mipaudit("query", "losses", *words, env=brief)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert len(lines) <= 30
    assert max(map(len, lines)) <= 80
    assert lines[0].startswith("7 scores made from 886 members and 911 holdout records.")
    assert "Next: mipaudit estimate FILE --score-col NAME, for the score that matters" in lines
