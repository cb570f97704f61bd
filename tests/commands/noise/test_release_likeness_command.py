"""``noise --apply`` as users run it, with a release that does not belong to its splits."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

APPLY = ("noise", "--eta", "0.1", "--from", "splits.csv", "-o", "out.csv", "--apply")


@pytest.fixture
def files(tmp_path):
    splits = pd.DataFrame(np.random.default_rng(0).normal(50, 1, (60, 1)), columns=["income"])
    splits.to_csv(tmp_path / "splits.csv", index=False)
    pd.DataFrame({"income": [50123.456]}).to_csv(tmp_path / "far.csv", index=False)
    splits.iloc[[6]].to_csv(tmp_path / "same.csv", index=False)
    return tmp_path


def test_a_release_in_another_unit_is_refused_and_nothing_is_written(mipaudit, files):
    before = sorted(files.iterdir())
    done = mipaudit(*APPLY, "far.csv")
    assert (done.returncode, done.stdout) == (2, "")
    assert "--release-unlike-splits accept" in done.stderr
    assert "50123" not in done.stderr
    assert sorted(files.iterdir()) == before
    (files / "mipaudit.toml").write_text('[noise]\nrelease_unlike_splits = "accept"\n')
    done = mipaudit(*APPLY, "far.csv", "-q")
    assert done.returncode == 0
    assert "release_beyond_splits" in done.stderr
    assert "50123" not in done.stderr + done.stdout


def test_what_is_told_of_the_release_is_for_its_owner_alone(mipaudit, files):
    done = mipaudit(*APPLY, "same.csv")
    assert done.returncode == 0
    assert "release_among_splits: The release is row 7" in done.stderr
    report = (files / "out.csv.report.json").read_text(encoding="utf-8")
    assert "release_among" not in done.stdout + report


def test_the_choice_needs_a_release(mipaudit, files):
    choice = ("noise", "--eta", "0.1", "--from", "splits.csv", "--release-unlike-splits")
    for word, said in (("accept", "--apply"), ("maybe", "refuse")):
        done = mipaudit(*choice, word)
        assert (done.returncode, done.stdout) == (2, "")
        assert said in done.stderr
