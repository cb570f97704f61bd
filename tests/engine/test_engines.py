"""The same numbers to the last bit, whoever does the work and in whatever order."""

from __future__ import annotations

import random
import threading
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import mipaudit
from mipaudit.summaries import plan
from tests.fixtures.codes import refused
from tests.fixtures.parts import ROWS, columns, plain, write_parts


class HostileExecutor(Executor):
    """Runs tasks in random order, some of them twice, and answers late."""

    _max_workers = 3

    def __init__(self, seed):
        self._random = random.Random(seed)  # noqa: S311
        self._waiting = []
        self.ran = 0

    def submit(self, fn, /, *args, **kwargs):
        future = Future()
        self._waiting.append((future, fn, args, kwargs))
        threading.Timer(self._random.random() * 0.01, self._run_one).start()
        return future

    def _run_one(self):
        place = self._random.randrange(len(self._waiting))
        future, fn, args, kwargs = self._waiting.pop(place)
        if not future.set_running_or_notify_cancel():
            return
        if self._random.random() < 0.3:
            self.ran += 1
            fn(*args, **kwargs)
        self.ran += 1
        future.set_result(fn(*args, **kwargs))


class FaultyExecutor(Executor):
    """Fails with an error of its own so many times, as Dask does while it loses a worker."""

    _max_workers = 1

    def __init__(self, faults):
        self.faults = faults

    def submit(self, fn, /, *args, **kwargs):
        future = Future()
        self.faults -= 1
        if self.faults >= 0:
            future.set_exception(TypeError("cannot unpack non-iterable object"))
        else:
            future.set_result(fn(*args, **kwargs))
        return future


@pytest.fixture(scope="module")
def one_file(tmp_path_factory):
    folder = write_parts(tmp_path_factory.mktemp("one") / "d", (), group=ROWS)
    return plain(mipaudit.estimate(folder, jobs=1))


@settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    cuts=st.lists(st.integers(1, ROWS - 1), max_size=5, unique=True).map(sorted),
    group=st.integers(100, ROWS),
    seed=st.integers(0, 2**32),
    engine=st.sampled_from(["inline", "threads", "executor", "hostile"]),
)
def test_partitions_order_and_engine_change_nothing(
    tmp_path_factory, one_file, cuts, group, seed, engine
):
    folder = write_parts(tmp_path_factory.mktemp("cut") / "d", cuts, group=group)
    match engine:
        case "inline":
            found = mipaudit.estimate(folder, jobs=1)
        case "threads":
            found = mipaudit.estimate(folder, jobs=3, engine="threads")
        case "executor":
            with ThreadPoolExecutor(3) as pool:
                found = mipaudit.estimate(folder, executor=pool)
        case _:
            found = mipaudit.estimate(folder, executor=HostileExecutor(seed))
    assert plain(found) == one_file


def test_processes_change_nothing(parts, one_file):
    assert plain(mipaudit.estimate(parts, engine="processes", jobs=2)) == one_file


def test_every_pass_is_the_same_on_processes(parts, monkeypatch):
    # Cells instead of exact scores, published bins, kernel densities: every summary travels.
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        for chosen in ({"method": "mace", "nan": "drop"}, {"method": "kde"}):
            here = plain(mipaudit.estimate(parts, jobs=2, **chosen))
            assert plain(mipaudit.estimate(parts, executor=pool, **chosen)) == here
        assert plain(mipaudit.check(parts, executor=pool)) == plain(mipaudit.check(parts))
        monkeypatch.setattr(plan, "EXACT_ROWS", 1_000)
        here = plain(mipaudit.estimate(parts, jobs=1))
        assert plain(mipaudit.estimate(parts, executor=pool)) == here


def test_vectors_groups_and_persons_travel(tmp_path):
    rows = 1_500
    table = columns(rows)
    table["second"] = table["loss"] ** 2
    table["sex"] = ["f", "m", "x"] * (rows // 3)
    table["member"] = table["member"].repeat(2)[:rows]
    table["person"] = [at // 2 for at in range(rows)]
    parts = write_parts(tmp_path / "parts", (100, 900), group=250, table=table)
    vector = {"score_col": ["loss,second", "loss"], "method": "mace"}
    vector["rows_are"] = "independent"
    risks = {"score_col": ["loss"], "by": ["sex"], "rows_are": "independent"}
    persons = {"score_col": ["loss"], "unit_col": "person", "unit_rows": "mean"}
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        for ask, chosen in (
            (mipaudit.estimate, vector),
            (mipaudit.estimate, persons),
            (mipaudit.records, risks),
        ):
            here = plain(ask(parts, jobs=1, **chosen))
            assert plain(ask(parts, executor=pool, **chosen)) == here


def test_what_is_in_memory_is_read_here(write):
    path = write("member,loss\n" + "".join(f"{n % 2},{n * 7 % 31}.5\n" for n in range(300)))
    executor = HostileExecutor(1)
    found = mipaudit.estimate(path, executor=executor)
    assert plain(found) == plain(mipaudit.estimate(path))
    assert executor.ran == 0


def test_faults_of_the_rows_are_counted_whoever_reads(tmp_path):
    table = columns()
    table["loss"][[5, 4_000]] = float("nan")
    parts = write_parts(tmp_path / "parts", (3_000,), table=table)
    with ThreadPoolExecutor(2) as pool:
        error = refused("nan_scores", mipaudit.estimate, parts, executor=pool)
    assert "2 rows, first in data row 6" in error.message


def test_progress_counts_all_rows(parts):
    seen = []
    mipaudit.estimate(parts, executor=HostileExecutor(3), progress=lambda *at: seen.append(at))
    # One pass: what is small enough to be kept is read once.
    assert seen[-1] == (ROWS, ROWS)
    assert seen == sorted(seen)


def test_a_fault_of_the_executor_is_tried_again_and_told_in_the_end(tmp_path, one_file):
    folder = write_parts(tmp_path / "d", (), group=ROWS)
    assert plain(mipaudit.estimate(folder, executor=FaultyExecutor(2))) == one_file
    with pytest.raises(TypeError, match="unpack"):
        mipaudit.estimate(folder, executor=FaultyExecutor(1_000))
