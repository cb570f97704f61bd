"""Mutated inputs end in an answer or in one clear error: never in a bug, never in an abort."""

from __future__ import annotations

import faulthandler
import io
import os
import random
import sys
from typing import TYPE_CHECKING

import numpy as np
import pytest

from tests.fuzz.bases import table
from tests.fuzz.mutation import CASES, SEED, changed_bytes, changed_text, keep, status_of

if TYPE_CHECKING:
    from pathlib import Path

ENDINGS = {0, 1, 2, 3}

POLICIES = {
    "estimate": """
scores = ["s.csv"]
require_policy = true
delta = 1e-5
unit_rows = "mean"
prior = 0.5
confidence = 0.99
max_advantage = 0.1
metric = ["ppv", "f1"]
on_inconclusive = "fail"
seed = 7

[estimate]
nan = "drop"

[records]
by = "sex,race"

[[limit]]
quantity = "tpr_at_fpr"
fpr = 0.01
max = 0.05
score = "score"

[[limit]]
quantity = "excess"
max = 0.1
against = "thresholds"
prior = 0.5

[[waiver]]
score = "score"
quantity = "excess"
reason = "known"
person = "A. Person"
expires = 2099-12-31
""",
    "records": """
max_risk = 0.9
tau = 0.8
fdr = 0.05
by = "note"

[[limit]]
quantity = "difference"
group = "*"
max = 0.5
""",
    "attack": """
max_advantage = 0.2
loss_bound = 5
score_col = ["score"]
[[limit]]
quantity = "advantage"
max = 0.5
""",
}


@pytest.fixture(autouse=True)
def alone(tmp_path, monkeypatch):
    """Run in an empty folder, where no policy is found."""
    (tmp_path / ".git").mkdir()
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("command", POLICIES)
def test_policies(tmp_path, command):
    draw = random.Random(f"{command}{SEED}")  # noqa: S311 - no secret
    table().to_csv("s.csv", index=False)
    whole = keep(tmp_path, "whole.toml", POLICIES[command].encode())
    assert status_of(command, "s.csv", "--config", whole, "-q", "-o", "out.csv") in {0, 1, 3}
    for case in range(CASES):
        policy = keep(tmp_path, "policy.toml", changed_text(POLICIES[command], draw))
        # Most are read and not audited with, which is where most can go wrong.
        scores = "s.csv" if case % 5 == 0 else "absent.csv"
        status = status_of(command, scores, "--config", policy, "-q", "-o", "out.csv")
        assert status in ENDINGS, (case, (tmp_path / "policy.toml").read_bytes())


def forked(folder: Path, *arguments: str) -> int:
    """Return the exit code of the program in a child, or minus its signal."""
    pid = os.fork()
    if not pid:
        status = 70
        try:
            faulthandler.disable()
            os.dup2(os.open(folder / "stderr", os.O_WRONLY | os.O_CREAT | os.O_TRUNC), 2)
            status = status_of(*arguments)
        finally:
            os._exit(status)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def parquet() -> bytes:
    file = io.BytesIO()
    table().to_parquet(file, row_group_size=25)
    return file.getvalue()


def archive() -> bytes:
    draw, file = np.random.default_rng(0), io.BytesIO()
    label, member = draw.integers(0, 3, 40), draw.random(40) < 0.5
    np.savez_compressed(file, logits=draw.normal(size=(40, 3)), label=label, member=member)
    return file.getvalue()


def csv() -> bytes:
    return table().to_csv(index=False).encode()


FILES = {
    "parquet": (parquet, ("estimate", "{}", "-q", "-o", "out")),
    "parquet shift": (parquet, ("shift", "{}", "good.csv", "-q", "-o", "out")),
    "csv": (csv, ("estimate", "{}", "-q", "-o", "out")),
    "csv attack": (csv, ("attack", "{}", "-q", "-o", "out")),
    "npz": (archive, ("query", "losses", "--logits", "{}", "-q", "-o", "out.csv")),
}


@pytest.mark.skipif(sys.platform == "win32", reason="needs fork")
@pytest.mark.parametrize("kind", FILES)
def test_files(tmp_path, kind):
    make, arguments = FILES[kind]
    data, draw = make(), random.Random(f"{kind}{SEED}")  # noqa: S311 - no secret
    table().to_csv("good.csv", index=False)
    status_of(*(word.format("good.csv") for word in arguments))  # loads what is loaded once
    for case in range(CASES // 2):
        place = keep(tmp_path, "case", changed_bytes(data, draw))
        status = forked(tmp_path, *(word.format(place) for word in arguments))
        assert status in ENDINGS, (case, (tmp_path / "stderr").read_text(errors="replace"))


@pytest.mark.skipif(sys.platform == "win32", reason="needs fork")
@pytest.mark.parametrize("skipped", [False, True])
def test_hive_parts(tmp_path, skipped):
    draw = random.Random(SEED)  # noqa: S311 - no secret
    data = parquet()
    for at, folder in enumerate(("fold=1", "fold=2")):
        (tmp_path / "parts" / folder).mkdir(parents=True)
        (tmp_path / "parts" / folder / f"{at}.parquet").write_bytes(data)
    options = ("--on-bad-part", "skip") if skipped else ()
    for case in range(CASES // 4):
        keep(tmp_path / "parts/fold=2", "1.parquet", changed_bytes(data, draw))
        status = forked(tmp_path, "estimate", "parts", "-q", "-o", "out", *options)
        assert status in ENDINGS, (case, (tmp_path / "stderr").read_text(errors="replace"))


@pytest.mark.parametrize("command", ["render", "verify", "compare"])
def test_reports(tmp_path, command):
    table().to_csv("s.csv", index=False)
    assert status_of("estimate", "s.csv", "-f", "json", "-q", "-o", "good.json") == 0
    text = (tmp_path / "good.json").read_text(encoding="utf-8")
    asked = {
        "render": ("render", "case.json", "-f", "html", "-o", "out.html"),
        "verify": ("verify", "case.json", "--input", "s.csv", "-o", "out"),
        "compare": ("compare", "old=good.json", "new=case.json", "-q", "-o", "out"),
    }[command]
    draw = random.Random(f"{command}{SEED}")  # noqa: S311 - no secret
    for case in range(CASES):
        keep(tmp_path, "case.json", changed_text(text, draw))
        assert status_of(*asked) in ENDINGS, (case, (tmp_path / "case.json").read_bytes())
