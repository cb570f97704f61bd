"""A worker that is lost costs time, never a row; a part that kills its workers is named."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path

import pytest

import mipaudit
from mipaudit.engine.fold import fold_remotely
from mipaudit.engine.run import Run, runs_of
from mipaudit.engine.workers import Engine, ProcessPool, Workers
from mipaudit.summaries.plan import BurnInSample
from tests.fixtures.codes import refused
from tests.fixtures.files import opened
from tests.fixtures.parts import plain, write_parts


class Deadly:
    """A part that ends whoever unpacks it."""

    part = "deadly.parquet"

    def __reduce__(self):
        return os._exit, (9,)


class Harmless:
    part = "harmless.parquet"

    def __reduce__(self):
        return list, ()


def lost(workers):
    """Return the error of a part that kills whoever reads it."""
    given = {"tolerant": False, "progress": None}
    start = partial(BurnInSample, 1, 0)
    return refused("worker_lost", fold_remotely, [Deadly()], start, workers.remote, **given)


@pytest.fixture
def killer(monkeypatch):
    """Kill a process of the pool with SIGKILL after the third task is given out."""
    given = []
    real = ProcessPool.submit

    def submit(self, task, /, *arguments):
        future = real(self, task, *arguments)
        given.append(task)
        if len(given) == 3:
            os.kill(next(iter(self._pool._processes)), signal.SIGKILL)
        return future

    monkeypatch.setattr(ProcessPool, "submit", submit)
    return given


def test_a_killed_worker_changes_nothing(parts, killer):
    with opened(str(parts)) as source:
        runs = len(runs_of(source.every_row(), 2))
    expected = plain(mipaudit.estimate(parts, jobs=1))
    assert plain(mipaudit.estimate(parts, engine="processes", jobs=2)) == expected
    assert len(killer) > runs  # some were given out twice


def test_a_part_that_kills_every_worker_is_named():
    with Workers(Engine(name="processes", jobs=2)) as workers:
        assert "deadly.parquet" in lost(workers).message


def test_the_deadly_part_is_found_in_a_run_of_many():
    run = Run(first=0, partitions=(*[Harmless()] * 6, Deadly(), Harmless()))
    halves = run.halves()
    assert [half.first for half in halves] == [0, 4]
    assert sum(len(half.partitions) for half in halves) == 8


def test_a_borrowed_executor_that_breaks_is_an_error():
    with (
        ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool,
        Workers(Engine(executor=pool)) as workers,
    ):
        lost(workers)


def spawn(words, **more):
    """Start a program in a session of its own, with its output in pipes."""
    pipes = dict.fromkeys(("stdout", "stderr"), subprocess.PIPE)
    path = os.pathsep.join(filter(None, sys.path))
    env = {**os.environ, "PYTHONPATH": path}
    return subprocess.Popen(words, start_new_session=True, env=env, **pipes, **more)


def children(process, count):
    """Wait until a process has so many children, and return them."""
    deadline = time.monotonic() + 30
    while True:
        text = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text()
        if len(found := [*map(int, text.split())]) >= count:
            return found
        assert time.monotonic() < deadline
        assert process.poll() is None
        time.sleep(0.02)


def wait_for_end(pids):
    deadline = time.monotonic() + 10
    while any(Path(f"/proc/{pid}").exists() for pid in pids):
        assert time.monotonic() < deadline
        time.sleep(0.02)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks for processes in /proc")
def test_control_c_ends_all_workers(tmp_path):
    folder = write_parts(tmp_path / "parts", range(300, 6_000, 300), group=2)
    code = "from mipaudit.cli.app import main; main()"
    words = ["estimate", str(folder), "--engine", "processes", "--jobs=2"]
    process = spawn([sys.executable, "-c", code, *words])
    workers = children(process, 3)  # two workers and multiprocessing's own tracker
    os.killpg(process.pid, signal.SIGINT)  # as the terminal does
    out, err = process.communicate(timeout=30)
    assert process.returncode == 130, err
    assert out == b""
    assert err.count(b"\n") == 1
    wait_for_end(workers)
