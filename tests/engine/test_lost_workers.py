"""A worker that is lost costs time, never a row; a part that kills its workers is named."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import pytest

import mipaudit
from mipaudit.data.opening import ReadRequest, open_input
from mipaudit.engine.fold import fold_remotely
from mipaudit.engine.run import Run, runs_of
from mipaudit.engine.workers import Engine, ProcessPool, Workers
from mipaudit.errors import MipauditError
from mipaudit.summaries.plan import BurnInSample
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


def start():
    return BurnInSample(1, 0)


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
    with open_input(str(parts), None, None, ReadRequest()) as source:
        runs = len(runs_of(source.every_row(), 2))
    expected = plain(mipaudit.estimate(parts, jobs=1))
    assert plain(mipaudit.estimate(parts, engine="processes", jobs=2)) == expected
    assert len(killer) > runs  # some were given out twice


def test_a_part_that_kills_every_worker_is_named():
    with Workers(Engine(name="processes", jobs=2)) as workers:
        parts = [Deadly()]
        with pytest.raises(MipauditError) as caught:
            fold_remotely(parts, start, workers.remote, tolerant=False, progress=None)
    assert caught.value.code == "worker_lost"
    assert "deadly.parquet" in caught.value.message


def test_the_deadly_part_is_found_in_a_run_of_many():
    run = Run(first=0, partitions=(*[Harmless()] * 6, Deadly(), Harmless()))
    halves = run.halves()
    assert [half.first for half in halves] == [0, 4]
    assert sum(len(half.partitions) for half in halves) == 8


def test_a_borrowed_executor_that_breaks_is_an_error():
    from concurrent.futures import ProcessPoolExecutor
    from multiprocessing import get_context

    with (
        ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool,
        Workers(Engine(executor=pool)) as workers,
        pytest.raises(MipauditError) as caught,
    ):
        fold_remotely([Deadly()], start, workers.remote, tolerant=False, progress=None)
    assert caught.value.code == "worker_lost"


def children(pid):
    path = f"/proc/{pid}/task/{pid}/children"
    with open(path) as stream:  # noqa: PTH123
        return [int(word) for word in stream.read().split()]


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks for processes in /proc")
def test_control_c_ends_all_workers(tmp_path):
    folder = write_parts(tmp_path / "parts", range(300, 6_000, 300), group=2)
    code = "from mipaudit.cli.app import main; main()"
    process = subprocess.Popen(
        [sys.executable, "-c", code, "estimate", str(folder), "--engine", "processes", "--jobs=2"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
    )
    deadline = time.monotonic() + 30
    while len(children(process.pid)) < 3:  # two workers and multiprocessing's own tracker
        assert time.monotonic() < deadline
        assert process.poll() is None
        time.sleep(0.02)
    workers = children(process.pid)
    os.killpg(process.pid, signal.SIGINT)  # as the terminal does
    out, err = process.communicate(timeout=30)
    assert process.returncode == 130, err
    assert out == b""
    assert err.count(b"\n") == 1
    for pid in workers:
        deadline = time.monotonic() + 10
        while os.path.exists(f"/proc/{pid}"):  # noqa: PTH110
            assert time.monotonic() < deadline
            time.sleep(0.02)
