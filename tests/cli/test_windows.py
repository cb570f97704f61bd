"""Every command in windows of several sizes: what gives way, and what never does."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import termios

import numpy as np
import pandas as pd
import pytest

from mipaudit.report.codec import from_json
from mipaudit.report.forms import answer_line, brief_report
from mipaudit.report.walk import walk_of
from tests.fixtures.commands import LEAKY, RUNS

POLICY = """max_advantage = {limit}
seed = 7
[[waiver]]
quantity = "{quantity}"
reason = "the next release has noise"
person = "Alexandra Person"
expires = 2999-12-31
"""
EIGHT = {
    "eight scores": ("estimate", "eight.csv"),
    "eight and a limit": ("estimate", "eight.csv", "--max-advantage", "0.9"),
    "eight and metrics": ("estimate", "eight.csv", "--metric", "ppv", "--max-advantage", "0.1"),
    "eight waived": ("estimate", "eight.csv", "--config", "waived.toml"),
    "eight and a waiver of nothing": ("estimate", "eight.csv", "--config", "astray.toml"),
    "eight with copies": ("estimate", "copies.csv", "--max-advantage", "0.1"),
    "eight with probabilities": (
        *("estimate", "probabilities.csv", "--score-col", "p_a", "--score-col", "p_b"),
        *("--score-col", "p_c", "--config", "waived.toml"),
    ),
    "eight attacked": ("attack", "eight.csv", "--max-advantage", "0.1"),
    "eight compared": ("compare", "eight.csv", "--max-increase", "0.1", "--baseline", "score_0"),
    "eight checked": ("check", "eight.csv"),
    "records by group": ("records", "eight.csv", "--score-col", "score_7", "--by", "site"),
    "shift alone": ("shift", "eight.csv", "copies.csv"),
    "epsilon of one model": ("epsilon", LEAKY, "--design", "one-model"),
    "bounds target": ("bounds", "--advantage", "0.1"),
}
WORDS = {name: words for name, words in (RUNS | EIGHT).items() if name != "schema"}


@pytest.fixture
def eight_scores(command_folder):
    rng = np.random.default_rng(1)
    member = np.repeat([True, False], 200)
    frame = pd.DataFrame(
        {
            "member": member,
            **{f"score_{at}": rng.normal(member * at / 6) for at in range(8)},
            "site": rng.choice(["a", "b", "c"], 400),
        }
    )
    frame.to_csv(command_folder / "eight.csv", index=False)
    copies = frame.drop(columns="site").assign(exact_copy=np.arange(400) % 40 == 0)
    copies.to_csv(command_folder / "copies.csv", index=False)
    shares = rng.dirichlet([1, 1, 1], 400)
    shares = pd.DataFrame(shares, columns=["p_a", "p_b", "p_c"]).assign(member=member)
    shares.to_csv(command_folder / "probabilities.csv", index=False)
    for name, limit, quantity in (("waived", 0.1, "advantage"), ("astray", 0.9, "auc")):
        policy = POLICY.format(limit=limit, quantity=quantity)
        (command_folder / f"{name}.toml").write_text(policy)
    return command_folder


def one_line(text):
    return " ".join(text.split())


@pytest.mark.parametrize("words", WORDS.values(), ids=WORDS)
def test_rows_give_way_to_the_height_of_a_window_and_warnings_never_do(
    mipaudit, eight_scores, words
):
    done = mipaudit(*words, "-q", "-f", "json")
    assert done.returncode in {0, 1, 3}, done.stderr
    report = from_json(done.stdout.encode())
    walk = walk_of(report)
    warnings = [one_line(f"! {one}") for one in walk.warnings]

    for width, height in ((80, 24), (80, 10), (120, 50), (200, 60)):
        text = brief_report(report, width=width, height=height - 1)
        lines = text.splitlines()
        assert max(map(len, lines)) <= width
        assert height == 10 or len(lines) < height
        assert [one for one in warnings if one not in one_line(text)] == []
        assert one_line(walk.answer) in one_line(text)
    # A pipe has no window.
    whole = brief_report(report, width=100, height=None)
    assert " more: --full" not in whole
    assert whole.splitlines()[-1].startswith("More:")
    # A legend is one line.
    assert [grid.caption for grid in walk.tables(80) if len(grid.caption) > 80] == []
    line, beside = answer_line(report)
    assert len(line) <= 120
    assert beside == walk.warnings


WARNED = {
    "eight waived": "chooses: seed = 7; 1 waiver",
    "eight and a waiver of nothing": "Waiver 1 of the policy (on auc) matches no limit",
    "eight with copies": "Exact copies: ",
    "eight with probabilities": "add up to 1",
}


@pytest.mark.parametrize("name", WARNED)
def test_copies_waivers_policies_and_probabilities_are_warnings(mipaudit, eight_scores, name):
    done = mipaudit(*EIGHT[name], "-q", env={"MIPAUDIT_FULL": "false"})
    assert done.returncode in {0, 1, 3}
    warned = [one for one in done.stderr.splitlines() if WARNED[name] in one]
    assert [one.startswith("! ") for one in warned] == [True]
    assert len(done.stdout) <= 121


def shown_on(size, words, environment, folder):
    """Run the program on a terminal of a size; return what is on it."""
    ours, theirs = pty.openpty()
    columns, lines = size
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
    kept = {name: text for name, text in environment.items() if name not in {"COLUMNS", "LINES"}}
    with subprocess.Popen(
        [sys.executable, "-m", "mipaudit", *words],
        stdout=theirs,
        stderr=subprocess.DEVNULL,
        cwd=folder,
        env={**kept, "MIPAUDIT_FULL": "false", "TERM": "xterm"},
    ):
        os.close(theirs)
        shown = b""
        try:
            while part := os.read(ours, 1 << 16):
                shown += part
        except OSError:  # the other end is closed
            pass
    os.close(ours)
    return re.sub(r"\x1b\[[0-9;]*m", "", shown.decode()).replace("\r\n", "\n")


def test_a_terminal_says_its_size(environment, eight_scores):
    words = ("attack", "eight.csv")
    small, low, large = (
        shown_on(size, words, environment, eight_scores) for size in ((80, 24), (80, 10), (120, 50))
    )

    assert small.count("\n") == 23 < large.count("\n") < 50
    assert len(re.findall(r"^  \S.* score_\d", low, re.MULTILINE)) == 1
    assert 80 < max(map(len, large.splitlines())) <= 120
    rows = [len(re.findall(r"^  \S.* score_\d", one, re.MULTILINE)) for one in (small, large)]
    assert 8 <= rows[0] < rows[1]
