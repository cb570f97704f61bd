"""A run that is killed, at whichever write, leaves the old file or the new one, whole."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from mipaudit.output.destination import Destination

# Runs the program once, and then, as often as it is asked to, in a copy of the process that has
# all loaded: the copy gets a signal at a step of writing, counted over all files.
KILLER = """
import os, signal, sys
from mipaudit.output import staged_file

named = sys.argv.pop(1) == "named"
number = int(sys.argv.pop(1))
left = 10**6


def step():
    global left
    left -= 1
    if left == -1:
        os.kill(os.getpid(), number)


class Doomed:
    def __init__(self, file):
        self.file = file

    def write(self, data):
        step()
        half = len(data) // 2
        self.file.write(data[:half])
        self.file.flush()
        step()
        return half + self.file.write(data[half:])

    def __getattr__(self, name):
        return getattr(self.file, name)

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        step()
        self.file.close()


def before(function):
    def call(*arguments, **options):
        step()
        return function(*arguments, **options)

    return call


fdopen = os.fdopen
os.fdopen = lambda *a, **k: Doomed(fdopen(*a, **k))
for name in ("link", "fsync", "fchmod", "rename", "replace", "unlink"):
    setattr(os, name, before(getattr(os, name)))
if named:
    staged_file._open_nameless = lambda *_: None
from mipaudit.cli.app import main, run

answers = fdopen(os.dup(1), "w")
os.dup2(2, 1)
print(run(sys.argv[1:]), file=answers, flush=True)
for line in sys.stdin:
    left = int(line)
    child = os.fork()
    if not child:
        main()
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), file=answers, flush=True)
"""


@pytest.fixture
def scores(tmp_path):
    generator = np.random.default_rng(0)
    member = generator.random(400) < 0.5
    table = pd.DataFrame({"member": member, "score": generator.normal(size=400) + member})
    table.to_csv(tmp_path / "scores.csv", index=False)
    (tmp_path / "out").mkdir()
    return tmp_path / "out"


@contextmanager
def killer(environment, folder, arguments, way, number=signal.SIGKILL):
    """Run the program; yield a function that runs it up to a step and returns how it ended."""
    with (
        (folder.parent / "errors").open("w+", encoding="utf-8") as errors,
        subprocess.Popen(
            [sys.executable, "-c", KILLER, way, str(number.value), *arguments],
            env={**environment, "OPENBLAS_NUM_THREADS": "1", "SOURCE_DATE_EPOCH": "1700000000"},
            cwd=folder.parent,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
            bufsize=1,
        ) as process,
    ):

        def status():
            line = process.stdout.readline()
            errors.seek(0)
            assert line.strip(), errors.read()
            return int(line)

        def up_to(steps):
            process.stdin.write(f"{steps}\n")
            return status()

        # The first run loads what a report then names the versions of.
        assert status() == 0
        yield up_to


def every_end(up_to, folder, old):
    """Yield how the program ended, stopped at each step, over old files; at last by itself."""
    for steps in range(60):
        for path in folder.iterdir():
            path.unlink()
        for name, content in old.items():
            (folder / name).write_bytes(content)
        status = up_to(steps)
        yield status
        if status == 0:
            assert steps >= 4
            return
    pytest.fail("it never got to its end")


COMMANDS = [
    ("estimate", "scores.csv", "-f", "json", "-o", "out/report.json"),
    # A seed of its own at every run would make other bytes.
    ("summarize", "scores.csv", "--seed", "1", "-o", "out/x.summary"),
    ("records", "scores.csv", "-q", "-o", "out/risks.csv"),
]


@pytest.mark.slow
@pytest.mark.parametrize("way", ["nameless", "named"])
@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command[0])
def test_whatever_is_there_is_whole(environment, scores, command, way):
    name = Path(command[-1]).name
    old = {name: b"old", f"{name}.sha256": b"older"}
    with killer(environment, scores, command, way) as up_to:
        assert up_to(10**6) == 0
        whole = {path.name: path.read_bytes() for path in scores.iterdir()}
        for status in every_end(up_to, scores, old):
            assert status in {-signal.SIGKILL, 0}
            for path in scores.iterdir():
                if path.name.endswith(".tmp"):
                    # Hidden, and left only where files cannot be without a name, or whole.
                    assert path.name.startswith(".")
                    assert way == "named" or path.read_bytes() in whole.values()
                else:
                    assert path.read_bytes() in {old.get(path.name), whole.get(path.name)}
            pair = [(scores / one).read_bytes() for one in old if (scores / one).exists()]
            if command[0] == "estimate" and len(pair) == len(old):
                # A digest is never that of another file than the one that is there.
                assert pair in ([*old.values()], [whole[one] for one in old])
    assert {path.name: path.read_bytes() for path in scores.iterdir()} == {**old, **whole}


@pytest.mark.parametrize("way", ["nameless", "named"])
@pytest.mark.parametrize(
    ("number", "command"),
    [
        (signal.SIGTERM, COMMANDS[0]),
        (signal.SIGINT, ("bounds", "--epsilon", "1", "-q", "-o", "out/b.json")),
        (signal.SIGTERM, ("init", "-q", "-o", "out/new.toml")),
    ],
    ids=lambda one: one[0] if isinstance(one, tuple) else one.name,
)
def test_a_run_that_is_told_to_end_leaves_nothing(environment, scores, number, command, way):
    name = Path(command[-1]).name
    old = {} if command[0] == "init" else {name: b"old"}  # which is never written over
    with killer(environment, scores, command, way, number) as up_to:
        for status in every_end(up_to, scores, old):
            assert {path.name for path in scores.iterdir()} <= {name, f"{name}.sha256"}
            assert not old or (scores / name).exists()
            assert status in {-number, 130, 0}


@pytest.mark.skipif(not hasattr(os, "O_TMPFILE"), reason="no files without a name here")
def test_a_file_has_no_name_until_it_is_whole(tmp_path):
    destination = Destination.open(str(tmp_path / "x"))
    with destination.stream() as file:
        file.write(b"half")
        file.flush()
        assert list(tmp_path.iterdir()) == []
    assert (tmp_path / "x").read_bytes() == b"half"
    assert list(tmp_path.iterdir()) == [tmp_path / "x"]


def test_a_file_that_cannot_be_named_is_copied(tmp_path, monkeypatch):
    def refuse(*_, **__):
        raise PermissionError

    monkeypatch.setattr(os, "link", refuse)
    path = tmp_path / "x"
    path.write_bytes(b"old")
    path.chmod(0o640)
    Destination.open(str(path)).write(b"new content")
    assert path.read_bytes() == b"new content"
    assert path.stat().st_mode & 0o777 == 0o640
    assert list(tmp_path.iterdir()) == [path]
