from __future__ import annotations

import json

import numpy as np
import pytest


@pytest.fixture
def scores(tmp_path):
    rng = np.random.default_rng(0)
    member = np.arange(2000) % 2 == 0
    values = rng.normal(size=2000) + 0.8 * member
    path = tmp_path / "scores.csv"
    lines = [f"{int(m)},{v:.6f}" for m, v in zip(member, values, strict=True)]
    path.write_text("member,score\n" + "\n".join(lines) + "\n")
    return path


def estimates(out):
    return json.loads(out)["estimates"]


def test_adds_limits_with_noise_and_published_values(mipaudit, scores):
    done = mipaudit("estimate", str(scores), "--method", "kde", "-f", "json")
    assert done.returncode == 0
    plain = mipaudit("estimate", str(scores), "-f", "json")
    rows = estimates(done.stdout)
    noised = [row for row in rows if row["attackers"] == "noised-query"]
    published = [row for row in rows if row["validity"] == "not-an-interval"]
    assert noised
    assert len(published) == 2
    assert all(row["bandwidth"] > 0 and row["upper"] < 0.6 for row in noised)
    assert [row for row in rows if row not in noised + published] == estimates(plain.stdout)


def test_table_names_the_noise(mipaudit, scores):
    done = mipaudit("estimate", str(scores), "--method", "kde")
    assert done.returncode == 0
    assert "Advantage with Gaussian noise on the score" in done.stdout
    assert "s.d. of the noise" in done.stdout
    assert "MACE kernel density with one bandwidth" in done.stdout


def test_never_decides_a_verdict(mipaudit, scores):
    """Limits after noise lie below a policy that the score itself does not keep."""
    policy = ("--max-advantage", "0.05", "-f", "json")
    for method in ("prequential", "kde"):
        done = mipaudit("estimate", str(scores), "--method", method, *policy)
        assert done.returncode == 1
        assert json.loads(done.stdout)["verdict"]["status"] == "not_met"
