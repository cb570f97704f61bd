"""What queries answer: copies first, then the scores that were made and what to run next."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest

import mipaudit
from mipaudit.report.forms import report_as, report_text
from tests.fixtures.briefs import answer, shown


def tables(copied, rows=60, columns=3, seed=9):
    random = np.random.default_rng(seed)
    names = [f"column {at}" for at in range(columns)]
    members, holdout, synthetic = (
        pd.DataFrame(random.normal(size=(rows, columns)), columns=names) for _ in range(3)
    )
    synthetic.iloc[:copied] = members.iloc[:copied]
    return {"members": members, "holdout": holdout, "synthetic": synthetic}


@pytest.mark.parametrize("copied", [0, 1, 20])
def test_copies_are_the_answer_and_a_warning(copied):
    report = mipaudit.query("nn", **tables(copied))
    text = shown(report)
    if copied:
        found = (report.answer.code, report.answer.get("copied"), report.answer.get("members"))
        assert found == ("copies_released", copied, 60)
        assert answer(report).startswith(f"Exact copies: {copied} of 60 members")
        assert "! The synthetic table holds, word for word," in text
    else:
        assert report.answer.code == "no_copies"
        assert answer(report).startswith("No exact copies: ")
    assert "how much they leak is not said yet" in text


def test_copies_of_holdout_records_alone_are_told():
    given = tables(3)
    given["members"], given["holdout"] = given["holdout"], given["members"]
    report = mipaudit.query("nn", **given)
    assert (report.answer.get("copied"), report.answer.get("copied_holdout")) == (0, 3)


def test_what_was_not_compared_is_named_with_its_reason():
    given = tables(0)
    given["members"]["more"] = 1.0
    report = mipaudit.query("nn", **given)
    text = report_text(report, width=100)
    assert report.skipped
    assert "1 not compared" in text
    assert report.skipped[0][1] in " ".join(text.partition("Not compared\n")[2].split())


def test_distances_are_drawn_and_a_score_that_is_one_for_all_is_not():
    report = mipaudit.query(["nn", "mc:1e-9"], **tables(0))
    assert [len(one.bins) > 1 for one in report.curves] == [True, False]
    assert all(one.members + one.holdout >= 10 for each in report.curves for one in each.bins)
    assert report_as(report, "html").count("<svg") == 1
    assert "'nn', from low to high" in report.plot().alt


def test_what_to_run_next_is_never_cut_and_can_be_copied():
    kinds = [f"kth:{at}" for at in range(2, 50)]
    report = mipaudit.query(kinds, **tables(0))
    lines = shown(report).splitlines()
    assert lines[-2].startswith("Next: mipaudit estimate SCORES")
    assert re.search(r"and \d+ more: --full", "\n".join(lines))


def test_a_class_under_twenty_is_a_warning():
    report = mipaudit.query("nn", **tables(0, rows=12))
    assert "! Only 12 members: limits will be wide." in shown(report)


def test_scores_of_a_model_are_listed_with_what_to_run_next(mipaudit, tmp_path):
    from tests.places import ROOT

    done = mipaudit(
        *("query", "losses", "--logits", ROOT / "sample_data/model.npz", "-o", "scores.csv"),
        env={"MIPAUDIT_FULL": "false", "COLUMNS": "80"},
    )
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert len(lines) <= 30
    assert max(map(len, lines)) <= 80
    assert lines[0].startswith("7 scores made of 886 members and 911 holdout records.")
    assert "Next: mipaudit estimate FILE, with the file of these scores" in lines
