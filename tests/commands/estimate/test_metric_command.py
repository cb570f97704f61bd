"""Metrics on the command line: exit codes and what is printed."""

from __future__ import annotations

import pytest


@pytest.fixture
def scores(tmp_path):
    rows = [f"{int(i % 2)},{(i * 7919 % 1000) / 1000 + (i % 2) * 0.5}" for i in range(800)]
    (tmp_path / "s.csv").write_text("member,score\n" + "\n".join(rows) + "\n")
    return "s.csv"


@pytest.mark.parametrize(
    ("limit", "code"),
    [("am=0.55", 1), ("am=0.95", 0), ("cost:fp=1,fn=5=-0.01", 0), ("am=0.4", 2), ("am", 2)],
)
def test_limits_set_the_exit_code(mipaudit, scores, limit, code):
    done = mipaudit("estimate", scores, "--max-metric", limit)
    assert done.returncode == code, done.stderr
    assert "Traceback" not in done.stderr


def test_metrics_are_printed_with_their_floor(mipaudit, scores):
    done = mipaudit("estimate", scores, "--metric", "ppv", "--metric", "f1", "--min-recall", "0.2")
    assert done.returncode == 0
    text = " ".join(done.stdout.split())
    assert "Metrics (larger: a better attacker)" in text
    assert "'score' ppv any " in text
    assert "a TPR of at least 0.2" in text


def test_an_unknown_metric_lists_the_forms(mipaudit, scores):
    done = mipaudit("estimate", scores, "--metric", "recall")
    assert done.returncode == 2
    assert "tpr" in done.stderr
    assert done.stdout == ""
