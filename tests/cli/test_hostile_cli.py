"""Inputs survive, output is whole or refused once, and errors keep the form asked for."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from mipaudit.errors import OutputError, UsageError
from mipaudit.output.destination import Destination

ROWS = "member,loss\n" + "".join(f"{i % 2},{i * 0.37 % 1}\n" for i in range(200))
FULL = Path("/dev/full")
UNBUFFERED = {"PYTHONUNBUFFERED": "1"}


@pytest.fixture
def parts(tmp_path):
    """Two directories with two parts each; one more is below the first."""
    for folder in ("p2", "p3", "p2/deep"):
        (tmp_path / folder).mkdir()
        for name in ("a.csv", "b.csv"):
            (tmp_path / folder / name).write_text(ROWS, encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize(
    ("words", "output"),
    [
        ("p2", "p2/a.csv"),
        ("p3/*.csv", "p3/b.csv"),
        ("p2", "p2/deep/b.csv"),
        ("p2", "link"),
        ("--members p2/*.csv --holdout p3", "p2/b.csv"),
        ("--members p2/*.csv --holdout p3", "p3/a.csv"),
        ("-", "p2/a.csv"),  # redirected
    ],
)
def test_a_part_of_the_input_is_never_overwritten(mipaudit, parts, words, output):
    (parts / "link").symlink_to("p2/a.csv")

    with (parts / "p2/a.csv").open("rb") as stdin:
        done = mipaudit("estimate", *words.split(), "-o", output, stdin=stdin)

    assert done.returncode == 2
    assert done.stderr.startswith(f"Error: The output {output} is one of the inputs.")
    assert (parts / output).read_text(encoding="utf-8") == ROWS


@pytest.mark.parametrize("output", ["p2/new.json", "p2/deep/new.json", "p3/../p2/new.json"])
@pytest.mark.parametrize("source", ["p2", "p2/**"])
def test_a_new_file_does_not_join_the_folder(parts, monkeypatch, source, output):
    monkeypatch.chdir(parts)
    assert code_of(source, output) == "output_among_inputs"


@pytest.mark.parametrize(
    "words",
    [
        *("p3/*.csv p3/new.csv", "p*/?.csv p3/c.csv", "**/*.csv p2/deep/new.csv"),
        *("**/*.csv new.csv", "*.csv new.csv", "./p[23]/* p3/new.json", "p2 p2/dangling"),
    ],
)
def test_a_new_file_does_not_join_the_inputs(parts, monkeypatch, words):
    monkeypatch.chdir(parts)
    (parts / "p2/dangling").symlink_to("../elsewhere")
    (parts / "x.csv").write_text(ROWS, encoding="utf-8")

    assert code_of(*words.split()) == "output_among_inputs"


def code_of(source, output):
    with pytest.raises(UsageError) as caught:
        Destination.open(output, inputs=(source,))
    assert not Path(output).exists()
    return caught.value.code


@pytest.mark.parametrize(
    "words",
    [
        *("p2 new.csv", "p2 p2/_report.json", "p2 p2/.report.json", "p3/*.csv p3/report.json"),
        *("p3/*.csv p2/new.csv", "p3/a*.csv p3/new.csv", "p3/*.csv new.csv", "p2/a.csv p2/new.csv"),
        *("**/*.csv _out/new.csv", "**/*.csv new.json", "missing/*.csv new.csv"),
        "s3://bucket/*.csv new.csv",
    ],
)
def test_a_file_that_would_not_be_read_is_allowed(parts, monkeypatch, words):
    monkeypatch.chdir(parts)
    (parts / "_out").mkdir()
    source, output = words.split()

    assert Destination.open(output, inputs=(source, None, "-")).atomic


def test_links_in_a_ring_are_refused(tmp_path):
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")

    with pytest.raises(OutputError):
        Destination.open(str(tmp_path / "a"))


class Sluggish:
    """A stream that takes a few bytes at a time, as an unbuffered one may."""

    def __init__(self, *, until=10**9):
        self.taken = b""
        self.until = until

    def write(self, data):
        if len(self.taken) >= self.until:
            return None
        self.taken += bytes(data[:7])
        return len(data[:7])

    def flush(self):
        pass


def stand_for_stdout(monkeypatch, stream):
    monkeypatch.setattr(sys, "stdout", SimpleNamespace(buffer=stream, flush=stream.flush))


def test_short_writes_are_continued_until_a_stream_takes_no_more(monkeypatch):
    stream = Sluggish()
    stand_for_stdout(monkeypatch, stream)
    Destination.open(None).write(bytes(range(256)))
    assert stream.taken == bytes(range(256))

    stand_for_stdout(monkeypatch, Sluggish(until=20))
    with pytest.raises(OutputError):
        Destination.open(None).write(bytes(range(256)))


@pytest.mark.skipif(os.name != "posix", reason="file size limits are for POSIX")
@pytest.mark.parametrize("env", [{}, UNBUFFERED])
def test_standard_output_is_never_cut_in_silence(stand_in, tmp_path, env):
    import resource

    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))

    with (tmp_path / "out.json").open("wb") as out:
        done = stand_in(
            *("met", "estimate", "x.csv", "-f", "json"),
            env={**env, "PYTHONDONTWRITEBYTECODE": "1"},  # the limit would cut bytecode too
            capture_output=False,
            stdout=out,
            stderr=-1,
            preexec_fn=limit,
        )

    assert done.returncode == 2
    assert json.loads(done.stderr)["error"]["code"] == "unwritable_output"


@pytest.mark.skipif(not FULL.exists(), reason="there is no /dev/full")
@pytest.mark.parametrize("env", [{}, UNBUFFERED])
@pytest.mark.parametrize("form", ["table", "json"])
def test_a_full_disk_is_reported_once(stand_in, env, form):
    with FULL.open("wb") as out:
        done = stand_in(
            *("met", "estimate", "x.csv", "-f", form),
            env=env,
            capture_output=False,
            stdout=out,
            stderr=-1,
        )

    assert done.returncode == 2
    assert done.stderr.count("No space left on device") == 1
    assert "Exception" not in done.stderr
