"""The same numbers on a Dask cluster, also where it loses a worker."""

from __future__ import annotations

import os
import signal
import sys

import pytest

import mipaudit
from mipaudit.engine.workers import DaskCluster
from tests.fixtures.codes import refused
from tests.fixtures.parts import plain, write_parts

distributed = pytest.importorskip("distributed")

# Dask and its network library warn of what they do themselves when they start and stop.
pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture
def cluster():
    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=2, processes=False, dashboard_address=None
    ) as started:
        yield started


def test_a_cluster_changes_nothing(parts, cluster):
    here = plain(mipaudit.estimate(parts, jobs=1))
    found = mipaudit.estimate(parts, engine="dask", scheduler=cluster.scheduler_address)
    assert plain(found) == here
    with distributed.Client(cluster, set_as_default=False) as client:
        executor = client.get_executor()
        assert plain(mipaudit.estimate(parts, executor=executor)) == here
        # It is the caller's, and stays open.
        assert executor.submit(sum, [1, 2]).result() == 3


@pytest.mark.slow
def test_a_lost_worker_of_a_cluster_changes_nothing(tmp_path):
    parts = write_parts(tmp_path / "parts", (1_700, 4_000), group=20)
    here = plain(mipaudit.estimate(parts, jobs=1))
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        killed = []

        def kill(done, total):
            if not killed:
                killed.append(next(iter(client.run(os.getpid).values())))
                os.kill(killed[0], signal.SIGKILL)

        executor = client.get_executor()
        assert plain(mipaudit.estimate(parts, executor=executor, progress=kill)) == here
        assert killed


def test_no_scheduler_is_an_error_that_says_how_to_start_one(parts):
    error = refused("no_scheduler", mipaudit.estimate, parts, engine="dask")
    for word in ("dask scheduler", "dask worker", "LocalCluster"):
        assert word in error.hint


def test_a_scheduler_that_does_not_answer(monkeypatch):
    monkeypatch.setattr("mipaudit.engine.workers._PATIENCE", "0.2s")
    for address in ("tcp://127.0.0.1:1", "nonsense://x"):
        refused("no_scheduler", DaskCluster, address)
    monkeypatch.setitem(sys.modules, "distributed", None)
    assert "mipaudit[dask]" in refused("dask_missing", DaskCluster, "tcp://127.0.0.1:1").hint
