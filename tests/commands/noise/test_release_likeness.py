"""``noise --apply``: a release that does not belong to its splits gets no noise made for them."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import mipaudit
from mipaudit.errors import InputError, UsageError
from mipaudit.report.messages.told import told

SECRET = 50123.456


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    splits = pd.DataFrame(rng.normal(50, 1, (60, 2)), columns=["income", "age"])
    splits.to_csv("splits.csv", index=False)
    pd.DataFrame({"income": [SECRET], "age": [50.2]}).to_csv("far.csv", index=False)
    pd.DataFrame({"income": [54.5], "age": [50.2]}).to_csv("beyond.csv", index=False)
    splits.iloc[[6]].to_csv("same.csv", index=False)
    pd.DataFrame({"income": [50.1], "age": [49.7]}).to_csv("good.csv", index=False)
    return tmp_path


def applied(release, **settings):
    return mipaudit.add_noise(release, eta=0.1, splits="splits.csv", **settings)


def test_a_release_in_another_unit_is_refused(files):
    with pytest.raises(InputError) as caught:
        applied("far.csv")
    assert caught.value.code == "release_unlike_splits"
    said = f"{caught.value} {caught.value.hint}"
    assert "'income'" in said
    assert "'age'" not in said
    assert "50123" not in said


def test_the_owner_may_accept_it(files):
    found = applied("far.csv", release_unlike_splits="accept")
    assert [one.code for one in found.findings] == ["release_beyond_splits"]
    assert any("accept" in told(one) for one in found.report.limitations)
    settings = {one.name: one.value for one in found.report.provenance.settings}
    assert settings["release_unlike_splits"] == "accept"
    # What is published does not depend on whether the release is unlike.
    good = applied("good.csv", release_unlike_splits="accept").report
    assert good.limitations == found.report.limitations
    assert good.findings == found.report.findings


def test_what_is_told_of_the_release_is_not_in_the_report(files):
    beyond, same, good = (applied(f"{name}.csv") for name in ("beyond", "same", "good"))
    assert [one.code for one in beyond.findings] == ["release_beyond_splits"]
    assert [one.code for one in same.findings] == ["release_among_splits"]
    assert "row 7 of the splits" in told(same.findings[0])
    assert good.findings == ()
    assert beyond.report.findings == same.report.findings == good.report.findings


APPLY = ("noise", "--eta", "0.1", "--from", "splits.csv", "-o", "out.csv", "--apply")


@pytest.fixture
def command(mipaudit):
    return mipaudit


def header(**settings):
    report = mipaudit.noise(eta=0.1, **settings)
    return mipaudit.render_report(report, format="csv").splitlines()[0].split(",")


def test_csv_always_has_its_header(files):
    """Also where no noise is needed, so that there is no row to be named after."""
    headers = [header(), header(train_fraction=0.05), header(splits="splits.csv")]
    assert all({"part", "calibration", "mechanism"} <= set(one) for one in headers)
    assert len(set(headers[1])) == len(headers[1])
    assert set(headers[0]) <= set(headers[1])


def test_a_word_that_is_no_choice(files):
    with pytest.raises(UsageError) as caught:
        applied("good.csv", release_unlike_splits="maybe")
    assert caught.value.code == "release_unlike_splits"


def test_a_release_in_another_unit_is_refused_and_nothing_is_written(command, files):
    before = sorted(files.iterdir())
    done = command(*APPLY, "far.csv")
    assert (done.returncode, done.stdout) == (2, "")
    assert "--release-unlike-splits accept" in done.stderr
    assert "50123" not in done.stderr
    assert sorted(files.iterdir()) == before
    (files / "mipaudit.toml").write_text('[noise]\nrelease_unlike_splits = "accept"\n')
    done = command(*APPLY, "far.csv", "-q")
    assert done.returncode == 0
    assert "release_beyond_splits" in done.stderr
    assert "50123" not in done.stderr + done.stdout


def test_what_is_told_of_the_release_is_for_its_owner_alone(command, files):
    done = command(*APPLY, "same.csv")
    assert done.returncode == 0
    assert "release_among_splits: The release is row 7" in done.stderr
    report = (files / "out.csv.report.json").read_text(encoding="utf-8")
    assert "release_among" not in done.stdout + report


def test_the_choice_needs_a_release(command, files):
    choice = ("noise", "--eta", "0.1", "--from", "splits.csv", "--release-unlike-splits")
    for word, said in (("accept", "--apply"), ("maybe", "refuse")):
        done = command(*choice, word)
        assert (done.returncode, done.stdout) == (2, "")
        assert said in done.stderr
