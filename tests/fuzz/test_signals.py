"""A signal at any moment of a write leaves the old file or the new one, whole, and no other."""

from __future__ import annotations

import io
import os
import random
import signal
import sys
import time
from hashlib import sha256
from pathlib import Path

import numpy as np
import pytest

if sys.platform == "win32":
    pytest.skip("needs fork", allow_module_level=True)

from tests.fuzz.bases import base_files
from tests.fuzz.mutation import CASES, LONG, SEED
from tests.fuzz.runs import clear

# What writes a file, a file and its digest, two files, or none but on purpose.
WRITERS = {
    "noise": ("noise", "--eta", "0.1", "-q", "-o", "out"),
    "page": ("render", "good.json", "-f", "html", "-q", "-o", "out"),
    "scores": ("query", "losses", "--logits", "x.npz", "-q", "-o", "out.csv"),
    "records": ("records", "a.csv", "-q", "-o", "out.csv", "--report", "out"),
    "summary": ("summarize", "a.csv", "--seed", "7", "-q", "-o", "out"),
    "init": ("init", "-q", "-o", "out"),
}
OUTPUTS = ("out", "out.csv")
# The long form sends 1,000 signals.
EACH = -(-1000 * CASES // (LONG * len(WRITERS)))
_WRITING = (f"{os.sep}output{os.sep}", f"{os.sep}init{os.sep}")
ENDS = {0, 130, 143, -signal.SIGTERM, -signal.SIGINT}


class Watch:
    """Counts the lines that a run passes where it writes, and sends a signal at one of them."""

    def __init__(self, at, sent):
        self.left, self.sent, self.lines = at, sent, 0

    def __call__(self, frame, event, argument):
        del event, argument
        here = frame.f_code.co_filename
        wanted = "mipaudit" in here and any(part in here for part in _WRITING)
        return self.step if wanted else None

    def step(self, frame, event, argument):
        del frame, argument
        if event == "line":
            self.lines += 1
            if self.lines == self.left:
                os.kill(os.getpid(), self.sent)
        return self.step


def started(words, at=None, sent=None):
    """Run the program in a child, which is sent a signal at a line; return its id."""
    pid = os.fork()
    if pid:
        return pid
    # A signal may come before the program has begun: then it is not the program that it ends.
    status = 130
    try:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        silent = Path("said").open("w", encoding="utf-8")  # noqa: SIM115 - to the child's end
        sys.stdout = sys.stderr = silent
        for stream in (1, 2):
            os.dup2(silent.fileno(), stream)
        from mipaudit.cli.app import main

        sys.argv[1:] = words
        watch = Watch(at, sent)
        sys.settrace(watch if at is not None else None)
        status = ended(main)
        if at == 0:
            Path("lines").write_text(str(watch.lines), encoding="ascii")
    finally:
        os._exit(status)


def ended(program):
    """Return the exit code of the whole program; 70 where an error leaves it."""
    try:
        program()
    except SystemExit as end:
        return end.code
    except Exception:  # noqa: BLE001 - whatever it is
        return 70


def ending(pid):
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


@pytest.fixture
def folder(tmp_path, monkeypatch):
    base_files()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    file, draw = io.BytesIO(), np.random.default_rng(0)
    label, member = draw.integers(0, 3, 40), draw.random(40) < 0.5
    np.savez(file, logits=draw.normal(size=(40, 3)), label=label, member=member)
    return {"x.npz": file.getvalue(), **{n: base_files()[n] for n in ("a.csv", "good.json")}}


def laid_out(folder, inputs, old):
    """Put down the inputs, and what is written over."""
    clear(folder)
    for name, data in {**inputs, **old}.items():
        (folder / name).write_bytes(data)
    (folder / "said").touch()


@pytest.mark.parametrize("name", WRITERS)
def test_no_signal_leaves_half_a_file(tmp_path, folder, name):
    draw = random.Random(f"{name}{SEED}")  # noqa: S311 - no secret
    words = WRITERS[name]
    laid_out(tmp_path, folder, {})
    before = time.monotonic()
    assert ending(started(words, at=0)) == 0
    took = time.monotonic() - before
    lines = int((tmp_path / "lines").read_text(encoding="ascii"))
    assert lines > 10
    new = {path.name: path.read_bytes() for path in map(Path, OUTPUTS) if path.exists()}
    assert new
    digested = [one for one in new if Path(f"{one}.sha256").exists()]
    for trial in range(EACH):
        # What has a policy already is not written over by init.
        old = {one: b"old" for one in new if name != "init" and draw.random() < 0.5}
        old |= {f"{one}.sha256": digest(b"old", one) for one in digested if one in old}
        laid_out(tmp_path, folder, old)
        sent = draw.choice((signal.SIGTERM, signal.SIGINT))
        if draw.random() < 0.7:
            moment = draw.randrange(1, lines + 1)
            end = ending(started(words, moment, sent))
        else:
            moment = draw.uniform(0, took)
            pid = started(words)
            time.sleep(moment)
            os.kill(pid, sent)
            end = ending(pid)
        case = trial, sent, moment, end, (tmp_path / "said").read_text(errors="replace")
        assert end in ENDS, case
        there = {path.name for path in tmp_path.iterdir()}
        digests = {f"{one}.sha256" for one in OUTPUTS}
        assert there <= {*folder, *OUTPUTS, *digests, "said", "lines"}, case
        assert old.keys() & {*OUTPUTS} <= there, case
        for one in there.intersection(OUTPUTS):
            require_whole(tmp_path / one, old, new[one], case)


def digest(data, name):
    return f"{sha256(data).hexdigest()}  {name}\n".encode()


def require_whole(path, old, new, case):
    """Hold a file to the old one or the new one, and its digest to it."""
    data, beside = path.read_bytes(), path.with_name(f"{path.name}.sha256")
    assert data in {b"old", new}, case
    if beside.exists():
        assert beside.read_bytes() == digest(data, path.name), case
