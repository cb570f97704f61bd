"""``--score-col d1,d2`` on the command line: output and exit codes."""

from __future__ import annotations

import json

import numpy as np
import pytest


@pytest.fixture
def scores(tmp_path):
    """Write 60 rows of two numbers: too few for gradient boosting, which is slow to start."""
    rng = np.random.default_rng(0)
    member = np.arange(60) < 30
    columns = rng.standard_normal((60, 2)) + 4 * member[:, None]
    lines = ["d1,d2,member"]
    lines += [f"{a},{b},{int(m)}" for (a, b), m in zip(columns, member, strict=True)]
    (tmp_path / "scores.csv").write_text("\n".join(lines))
    return "scores.csv"


def test_a_leak_breaks_the_policy(mipaudit, scores):
    run = mipaudit(
        "estimate", scores, "--score-col", "d1,d2", "--max-advantage", "0.2", "-f", "json"
    )
    assert run.returncode == 1, run.stderr
    report = json.loads(run.stdout)
    assert report["design"]["score_columns"] == ["d1,d2"]
    assert {"learned", "product-grid"} <= {row["attackers"] for row in report["estimates"]}


def test_the_page_reads_right(mipaudit, scores):
    run = mipaudit("estimate", scores, "--score-col", "d1,d2", "--score-col", "d1")
    assert run.returncode == 0, run.stderr
    for text in (
        "  'd1,d2'  any ",
        "  'd1'     any ",
        "one threshold on a learned score",
        "a grid of cells",
        "[vector_score]",
    ):
        assert text in run.stdout


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["estimate", "--score-col", "d1,d3"], "no column 'd3'"),
        (["estimate", "--score-col", "d1,d1"], "more than once"),
        (
            ["estimate", "--score-col", "d1,d2", "--against", "thresholds", "--max-eta", "0.1"],
            "no upper limit for attackers 'thresholds'",
        ),
        (["epsilon", "--score-col", "d1,d2", "--design", "one-model"], "this command cannot take"),
    ],
)
def test_wrong_use_is_an_error_and_says_what_to_try(mipaudit, scores, arguments, text):
    command, *options = arguments
    run = mipaudit(command, scores, *options)
    assert run.returncode == 2
    assert text in " ".join(run.stderr.split())
    assert not run.stdout
