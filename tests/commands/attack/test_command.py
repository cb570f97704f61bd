"""``mipaudit attack``, ``attribute`` and the model queries on the command line."""

from __future__ import annotations

import json

import numpy as np
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
    assert "1 score made of" in made.stderr
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


@pytest.mark.parametrize(
    ("words", "status"),
    [
        (("attack", "losses.csv", "--score-col", "loss", "--max-advantage", "0.99"), 0),
        (("attack", "losses.csv", "--score-col", "loss", "--max-advantage", "0.01"), 1),
        (("attribute", "guesses.csv", "--max-attribute-advantage", "0.99"), 0),
        (("attribute", "guesses.csv", "--max-attribute-advantage", "0.01"), 1),
        (("attribute", "guesses.csv", "--max-advantage", "0.3"), 3),
    ],
)
def test_a_policy_sets_the_exit_code(mipaudit, tmp_path, words, status):
    rng = np.random.default_rng(0)
    n = 600
    member = rng.random(n) < 0.5
    right = rng.random(n) < 0.4 + 0.3 * member
    lines = [
        f"{int(m)},{x}" for m, x in zip(member, rng.normal(size=n) - 1.5 * member, strict=True)
    ]
    (tmp_path / "losses.csv").write_text("member,loss\n" + "\n".join(lines))
    lines = [f"{int(m)},x,{'x' if r else 'y'}" for m, r in zip(member, right, strict=True)]
    (tmp_path / "guesses.csv").write_text("member,attribute,guess\n" + "\n".join(lines))
    ended = mipaudit(*words)
    assert ended.returncode == status, ended.stderr
    assert ended.stdout.startswith({0: "MET, by these", 1: "NOT MET", 3: "INCONCLUSIVE"}[status])
    assert mipaudit(*words, "--exit-zero").returncode == 0
    written = mipaudit(*words, "-f", "json", "-o", "report.json")
    assert written.returncode == status
    again = mipaudit("render", "report.json", "-f", "junit")
    assert again.returncode == status
    assert ("<failure" in again.stdout) == (status != 0)
    verified = mipaudit("verify", "report.json", "--input", words[1])
    assert verified.returncode == 0, verified.stdout + verified.stderr
    typed = [word for word in words[:-2] if word]
    name, limit = words[-2].lstrip("-").replace("-", "_"), words[-1]
    (tmp_path / "mipaudit.toml").write_text(f"{name} = {limit}\nmax_eta = 0.1\n")
    by_file = mipaudit(*typed)
    assert by_file.returncode == status
    assert "'max_eta' in mipaudit.toml" in by_file.stderr
