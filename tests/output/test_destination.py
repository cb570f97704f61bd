"""A report file is whole, or not there."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path

import pytest

from mipaudit.errors import OutputError, UsageError
from mipaudit.output.destination import Destination, row_file


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_the_report_goes_to_the_file_alone(stand_in, tmp_path):
    words = ("not_met", "estimate", "x.csv")
    done = stand_in(*words, "-f", "json", "-o", "out.json")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("NOT MET: advantage is at least 0.2113, ")
    assert done.stderr.endswith(" Written: the report to out.json.\n")
    assert json.loads((tmp_path / "out.json").read_bytes())["schema"] == "mipaudit.report/3"
    assert names(tmp_path) == ["out.json", "out.json.sha256"]
    assert stand_in("met", "estimate", "x.csv", "-q", "-o", "out.txt").stderr == ""
    done = stand_in("met", "estimate", "x.csv", "-f", "json", "-o", "-")
    assert json.loads(done.stdout)["command"] == "estimate"
    assert "-" not in names(tmp_path)


@pytest.mark.parametrize("ending", ["input", "bug", "interrupt"])
def test_on_error_nothing_is_left_and_nothing_is_lost(stand_in, tmp_path, ending):
    (tmp_path / "old.json").write_text("kept", encoding="utf-8")

    stand_in(ending, "estimate", "x.csv", "-o", "old.json")
    stand_in(ending, "estimate", "x.csv", "-o", "new.json")

    assert names(tmp_path) == ["old.json"]
    assert (tmp_path / "old.json").read_text(encoding="utf-8") == "kept"


@pytest.mark.parametrize("output", ["missing/out.json", "folder", "file/out.json", "x" * 300])
def test_an_unwritable_output_is_found_before_the_audit(stand_in, tmp_path, output):
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").write_text("", encoding="utf-8")
    touched = {"STAND_IN_TOUCH": str(tmp_path / "ran")}
    done = stand_in("met", "estimate", "x.csv", "-o", output, env=touched)
    assert done.returncode == 2
    assert done.stderr.startswith(f"Error: The output {output[:200]}")
    assert " cannot be written: " in done.stderr
    assert names(tmp_path) == ["file", "folder"]


def test_an_input_is_never_overwritten(stand_in, tmp_path):
    (tmp_path / "x.csv").write_text("data", encoding="utf-8")
    (tmp_path / "link.csv").symlink_to("x.csv")
    for output in ("x.csv", "link.csv", "./x.csv"):
        done = stand_in("met", "estimate", "x.csv", "-o", output)
        assert (done.returncode, "one of the inputs" in done.stderr) == (2, True)
    assert (tmp_path / "x.csv").read_text(encoding="utf-8") == "data"
    inputs = (None, "-", str(tmp_path / "x.csv"))
    with pytest.raises(UsageError):
        Destination.open(str(tmp_path / "x.csv"), inputs=inputs)
    assert Destination.open(str(tmp_path / "x.csv"), inputs=(None, "-", "missing")).atomic


def test_a_device_is_written_through_not_replaced():
    destination = Destination.open(os.devnull)
    destination.write(b"text")

    assert not destination.atomic
    assert stat.S_ISCHR(Path(os.devnull).stat().st_mode)


def test_a_link_keeps_pointing_at_the_file_that_changes(tmp_path):
    (tmp_path / "real").write_bytes(b"old")
    (tmp_path / "link").symlink_to("real")

    Destination.open(str(tmp_path / "link")).write(b"new")

    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_bytes() == b"new"


def test_where_permissions_cannot_be_kept_a_file_is_written_all_the_same(tmp_path, monkeypatch):
    monkeypatch.delattr("os.fchmod")  # as on Windows before Python 3.13
    monkeypatch.delattr("os.O_TMPFILE", raising=False)
    path = tmp_path / "report.txt"
    path.write_text("old")
    Destination.open(str(path)).write(b"new")
    assert path.read_bytes() == b"new"


def test_permissions_follow_the_umask_or_the_old_file(tmp_path):
    (tmp_path / "old").write_bytes(b"")
    (tmp_path / "old").chmod(0o640)
    before = os.umask(0o027)
    try:
        Destination.open(str(tmp_path / "new")).write(b"1")
        Destination.open(str(tmp_path / "old")).write(b"1")
    finally:
        os.umask(before)

    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o640
    assert stat.S_IMODE((tmp_path / "old").stat().st_mode) == 0o640


def test_a_write_that_fails_leaves_the_old_file(tmp_path, monkeypatch):
    (tmp_path / "out").write_bytes(b"old")
    destination = Destination.open(str(tmp_path / "out"))

    def fail(descriptor):
        raise OSError(28, "secret")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(OutputError) as caught:
        destination.write(b"new")
    assert "secret" not in str(caught.value)
    assert (names(tmp_path), (tmp_path / "out").read_bytes()) == (["out"], b"old")


@pytest.mark.parametrize(("before", "after"), [(0o666, 0o660), (0o604, 0o600), (0o640, 0o640)])
def test_of_rows_that_belong_to_persons_nobody_else_has_rights(tmp_path, before, after):
    path = tmp_path / "rows.csv"
    for private, expected in ((True, after), (False, before)):
        path.write_bytes(b"old")
        path.chmod(before)
        Destination.open(str(path), private=private).write(b"new")
        assert stat.S_IMODE(path.stat().st_mode) == expected
    path.chmod(before)
    with row_file(path) as file:
        file.write(b"new")
    assert stat.S_IMODE(path.stat().st_mode) == after


@pytest.fixture
def shared(tmp_path):
    """A folder such as /tmp: of another, and open to everybody, who may remove their own alone."""
    if os.geteuid():
        pytest.skip("only root can make files of others")
    folder = tmp_path / "shared"
    folder.mkdir()
    os.chown(folder, 4001, 4001)
    folder.chmod(0o1777)
    (tmp_path / "mine").mkdir()
    return folder


def laid(link, target, owner):
    link.symlink_to(target)
    os.chown(link, owner, owner, follow_symlinks=False)


@pytest.mark.parametrize("name", ["out.json", "deep/out.json", "../shared/out.json", "ring.json"])
def test_a_link_that_another_laid_in_a_shared_folder_is_not_followed(
    mipaudit, shared, tmp_path, name
):
    laid(shared / "out.json", tmp_path / "mine" / "rc", 4002)
    laid(shared / "deep", tmp_path / "mine", 4002)
    laid(tmp_path / "ring.json", shared / "out.json", 0)

    folder = tmp_path if name == "ring.json" else shared
    done = mipaudit("bounds", "--epsilon", "1", "-o", str(folder / name))

    assert done.returncode == 2
    assert "a link that another user made" in done.stderr
    assert names(tmp_path / "mine") == []


def test_other_links_are_followed(shared, tmp_path):
    for place, (owner, mode) in enumerate([(0, 0o1777), (4001, 0o1777), (4002, 0o777)]):
        shared.chmod(mode)
        laid(shared / f"{place}", tmp_path / "mine" / f"{place}", owner)
        Destination.open(str(shared / f"{place}")).write(b"text")
    assert names(tmp_path / "mine") == ["0", "1", "2"]


def test_a_ring_of_links_or_a_name_with_nul_is_no_place(tmp_path):
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    for name in (str(tmp_path / "a"), "a\0b"):
        with pytest.raises(OutputError):
            Destination.open(name)
