"""``mipaudit attack``, ``attribute`` and the model queries on the command line."""

from __future__ import annotations

import json

import pytest


@pytest.mark.parametrize(
    ("command", "file"), [("attack", "scores.csv"), ("attribute", "guesses.csv")]
)
def test_a_report_is_verified_against_its_input(mipaudit, query_inputs, command, file):
    mipaudit("query", "losses", "--logits", "logits.csv", "-q", "-o", "scores.csv")
    done = mipaudit(command, file, "-f", "json", "-o", "kept.json")
    assert (done.returncode, done.stdout) == (0, "")
    verified = mipaudit("verify", "kept.json", "--input", file)
    assert verified.returncode == 0, verified.stderr
    assert "AGREES" in verified.stdout
    assert mipaudit("render", "kept.json", "-f", "markdown").returncode == 0


def test_scores_are_piped_into_an_audit(mipaudit, query_inputs):
    made = mipaudit("query", "losses", "--logits", "logits.csv", "--scores", "loss")
    assert made.stdout.splitlines()[0] == "member,label,loss"
    assert "scores were made" in made.stderr
    audited = mipaudit("estimate", "-", "-f", "json", input=made.stdout)
    assert json.loads(audited.stdout)["design"]["score_columns"] == ["loss"]


def test_a_file_of_scores_is_not_written_over_its_input(mipaudit, query_inputs):
    before = (query_inputs / "logits.csv").read_bytes()
    done = mipaudit("query", "losses", "--logits", "logits.csv", "-o", "logits.csv")
    assert done.returncode == 2
    assert (query_inputs / "logits.csv").read_bytes() == before
    wrong = mipaudit("query", "lira", "--shadow", "shadows.npz", "-o", "scores.txt")
    assert wrong.returncode == 2
    assert ".parquet" in wrong.stderr


@pytest.mark.parametrize(
    "words",
    [
        ("attack",),
        ("attack", "nowhere.csv"),
        ("attack", "guesses.csv"),
        ("attribute", "logits.csv"),
        ("query", "losses"),
        ("query", "losses", "--logits", "guesses.csv"),
        ("query", "lira", "--shadow", "logits.csv"),
    ],
)
def test_bad_input_ends_with_2_and_one_message(mipaudit, query_inputs, words):
    done = mipaudit(*words)
    assert done.returncode == 2
    assert done.stdout == ""
    assert "Traceback" not in done.stderr
