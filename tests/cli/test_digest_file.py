"""``-o FILE`` also writes ``FILE.sha256``."""

from __future__ import annotations

import errno
import hashlib
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from mipaudit.errors import OutputError
from mipaudit.output.destination import Destination

NAMES = ["r.json", "two words.json", "back\\slash.json", "new\nline.json", "ünï.json", "-r.json"]


def listed(folder):
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize("name", NAMES)
def test_it_is_what_sha256sum_writes_and_checks(mipaudit, tmp_path, name):
    done = mipaudit("noise", "--eta", "0.1", "-f", "json", "-o", f"./{name}")

    assert (done.returncode, listed(tmp_path)) == (0, sorted([name, f"{name}.sha256"]))
    digest = hashlib.sha256((tmp_path / name).read_bytes()).hexdigest()
    line = (tmp_path / f"{name}.sha256").read_bytes()
    assert digest.encode() in line
    tool = shutil.which("sha256sum")
    if tool is not None:
        written = subprocess.run([tool, "--", name], cwd=tmp_path, capture_output=True, check=True)
        assert line == written.stdout
        subprocess.run([tool, "-c", "--", f"{name}.sha256"], cwd=tmp_path, check=True)


@pytest.mark.parametrize(
    ("lines", "left"),
    [
        ("noise --eta 0.1 -o r.txt --no-sha256", ["r.txt"]),
        ("noise --eta 0.1 -o -", []),
        # Scores and risks are inputs of other programs, hashed when they are read.
        (
            "simulate laplace-1 -q -o s.csv; records s.csv -q -o risks.csv",
            ["risks.csv", "s.csv", "s.csv.truth.json"],
        ),
        (f"noise --eta 0.1 -o {os.devnull}", []),
    ],
)
def test_what_is_no_report_in_a_file_has_none(mipaudit, tmp_path, lines, left):
    for line in lines.split("; "):
        assert mipaudit(*line.split()).returncode == 0
    assert listed(tmp_path) == left
    assert not os.path.exists(f"{os.devnull}.sha256")  # noqa: PTH110


def test_both_are_written_or_neither(mipaudit, tmp_path):
    (tmp_path / "r.json.sha256").mkdir()

    done = mipaudit("noise", "--eta", "0.1", "-o", "r.json")

    assert done.returncode == 2
    assert listed(tmp_path) == ["r.json.sha256"]


def test_a_new_report_brings_a_new_digest(mipaudit, tmp_path):
    for eta in ("0.1", "0.2"):
        assert mipaudit("noise", "--eta", eta, "-o", "r.txt").returncode == 0

    digest = hashlib.sha256((tmp_path / "r.txt").read_bytes()).hexdigest()
    assert (tmp_path / "r.txt.sha256").read_text() == f"{digest}  r.txt\n"


def test_a_digest_that_cannot_be_replaced_is_put_back(tmp_path, monkeypatch):
    path = tmp_path / "r.txt"
    Destination.open(str(path), sha256=True).write(b"old")
    beside = tmp_path / "r.txt.sha256"
    beside.chmod(0o640)
    before = beside.read_bytes()
    replace = Path.replace

    def refuse(self, target):
        raise PermissionError(errno.EACCES, "no")

    monkeypatch.setattr(Path, "replace", refuse)
    with pytest.raises(OutputError):
        Destination.open(str(path), sha256=True).write(b"new")
    assert (path.read_bytes(), beside.read_bytes()) == (b"old", before)
    monkeypatch.setattr(Path, "replace", replace)
    Destination.open(str(path), sha256=True).write(b"new")
    assert hashlib.sha256(b"new").hexdigest() in beside.read_text()
    assert beside.stat().st_mode & 0o777 == 0o640
    assert listed(tmp_path) == ["r.txt", "r.txt.sha256"]


def test_no_old_digest_comes_back_beside_a_new_file(tmp_path, monkeypatch):
    path = tmp_path / "r.txt"
    Destination.open(str(path), sha256=True).write(b"old")
    replace = Path.replace

    def interrupted(self, target):
        replace(self, target)
        raise KeyboardInterrupt

    monkeypatch.setattr(Path, "replace", interrupted)
    with pytest.raises(KeyboardInterrupt):
        Destination.open(str(path), sha256=True).write(b"new")

    assert path.read_bytes() == b"new"
    assert listed(tmp_path) == ["r.txt"]
