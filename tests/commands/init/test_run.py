"""``mipaudit init`` writes a policy file that is valid, explains itself and is used at once."""

from __future__ import annotations

import os
import shutil
import tomllib

import pytest

from mipaudit.commands.init.run import policy_text
from mipaudit.options.checked_limits import check_limits
from tests.places import ROOT

COPIES = {"release": (False, True), "synthetic": (True, False), "research": (False, False)}
POLICIES = tuple(COPIES)


@pytest.mark.parametrize("policy", POLICIES)
def test_it_is_used_at_once(mipaudit, tmp_path, policy):
    shutil.copy(ROOT / "sample_data" / "private.parquet", tmp_path)
    shutil.copy(ROOT / "sample_data" / "leaky.parquet", tmp_path)

    done = mipaudit("init", "--policy", policy)

    assert (done.returncode, done.stdout) == (0, "")
    assert "mipaudit estimate scores.parquet" in done.stderr
    assert (tmp_path / "mipaudit.toml").read_text() == policy_text(policy)
    # Scores that do not tell of copies are open where none may be.
    first = "INCONCLUSIVE" if policy == "synthetic" else "MET"
    assert mipaudit("estimate", "private.parquet").stdout.startswith(first)
    assert mipaudit("estimate", "leaky.parquet").returncode == (3 if policy == "research" else 1)


@pytest.mark.parametrize("policy", POLICIES)
def test_every_limit_carries_its_reason_and_every_remark_is_a_key(mipaudit, tmp_path, policy):
    text = policy_text(policy)
    found = tomllib.loads(text)

    check_limits(found.get("limit", []), 0.5)
    for key in found:
        line = f"[[{key}]]" if key == "limit" else f"[{key}]" if key == "estimate" else f"{key} ="
        before = text.partition(line)[0]
        assert before.rstrip().rpartition("\n")[2].startswith("# "), key
    assert max(map(len, text.splitlines())) <= 100
    # That of synthetic tables is the release with no copy.
    assert ("max_copies" in found, "# max_copies = 0" in text) == COPIES[policy]
    release = tomllib.loads(policy_text("release"))
    assert policy == "research" or {**found, "max_copies": 0} == release | {"max_copies": 0}
    # What stands behind a mark is valid as well.
    (tmp_path / "mipaudit.toml").write_text(text.replace("# max_copies", "max_copies"))
    done = mipaudit("bounds", "--epsilon", "1")
    assert done.returncode == 0, done.stderr


def test_nothing_is_written_over(mipaudit, tmp_path):
    (tmp_path / "mipaudit.toml").write_text("prior = 0.3\n")
    done = mipaudit("init")
    assert done.returncode == 2
    assert "mipaudit.toml exists, and is not overwritten." in done.stderr
    assert (tmp_path / "mipaudit.toml").read_text() == "prior = 0.3\n"
    other = mipaudit("init", "-o", "other.toml", "-q")
    assert (other.returncode, other.stderr) == (0, "")
    assert (tmp_path / "other.toml").read_text() == policy_text("release", "other.toml")


@pytest.mark.parametrize("policy", POLICIES)
def test_a_file_of_another_name_says_how_it_is_used(mipaudit, tmp_path, policy):
    shutil.copy(ROOT / "sample_data" / "leaky.parquet", tmp_path / "scores.parquet")
    done = mipaudit("init", "--policy", policy, "-o", "other.toml")
    text = (tmp_path / "other.toml").read_text()

    said = "mipaudit estimate scores.parquet --config other.toml"
    assert f"#   {said}\n" in text
    assert said in done.stderr
    assert "Every run" not in text
    assert mipaudit("estimate", "scores.parquet").returncode == 0  # it is not used unnamed
    assert mipaudit(*said.split()[1:]).returncode == (3 if policy == "research" else 1)


def test_all_of_it_is_there_or_nothing(mipaudit, tmp_path, monkeypatch):
    def fail(_descriptor):
        raise OSError(28, "No space left")

    with monkeypatch.context() as patch:
        patch.setattr("os.fsync", fail)
        done = mipaudit("init")

    assert (done.returncode, [*tmp_path.iterdir()]) == (2, [])
    assert "cannot be written: No space left on device" in done.stderr
    assert "cannot be written" in mipaudit("init", "-o", "no/such/folder.toml").stderr
    (tmp_path / "mipaudit.toml").symlink_to("nothing")
    assert "exists, and is not overwritten" in mipaudit("init").stderr
    (tmp_path / "mipaudit.toml").unlink()
    # Nor is a file that appears meanwhile.
    sync = os.fsync

    def meanwhile(descriptor):
        (tmp_path / "mipaudit.toml").write_text("prior = 0.3\n")
        sync(descriptor)

    monkeypatch.setattr("os.fsync", meanwhile)
    done = mipaudit("init")
    assert (done.returncode, "exists" in done.stderr) == (2, True)
    assert [path.read_text() for path in tmp_path.iterdir()] == ["prior = 0.3\n"]
