"""What is sent to a worker is small, whatever the size of the file."""

from __future__ import annotations

import os
import pickle
import threading
import time

import pytest

from mipaudit.data.parts import BadPartsError
from mipaudit.engine.fold import fold
from mipaudit.engine.run import Run, fold_run, runs_of
from mipaudit.engine.workers import Engine, Workers, default_jobs
from mipaudit.errors import InputError
from tests.fixtures.codes import refused
from tests.fixtures.files import opened
from tests.fixtures.parts import columns, write_parts


def hired(jobs):
    return Workers(Engine(jobs=jobs))


class Batch:
    def __init__(self, values):
        self.values = values
        self.source_rows = len(values)


class Part:
    """A partition that yields two batches, after a while."""

    def __init__(self, values, delay=0.0, fault=None):
        self.values, self.delay, self.fault = values, delay, fault
        self.read = 0

    def batches(self, intake):
        time.sleep(self.delay)
        if self.fault is not None:
            raise self.fault
        half = len(self.values) // 2
        for piece in (self.values[:half], self.values[half:]):
            self.read += 1
            yield Batch(piece)


class Total:
    def __init__(self):
        self.values = []
        self.threads = {threading.get_ident()}

    def add(self, rows):
        self.values += rows.values

    def merge(self, other):
        self.values += other.values
        self.threads |= other.threads


def test_several_threads_are_used():
    assert len(fold([Part([1], delay=0.05) for _ in range(6)], Total, workers=hired(3)).threads) > 1


@pytest.mark.parametrize("jobs", [1, 3])
def test_a_fault_ends_the_run(jobs):
    late = [Part([1, 2], delay=0.01) for _ in range(200)]
    with pytest.raises(ValueError, match="damaged"):
        fold([Part([0], fault=ValueError("damaged")), *late], Total, workers=hired(jobs))
    assert sum(part.read for part in late) < 200


def test_default_jobs():
    assert 1 <= default_jobs() <= 4


@pytest.fixture
def source(tmp_path):
    table = columns()
    table["person"] = list(range(len(table["loss"])))
    path = write_parts(tmp_path / "parts", (), group=10, table=table)
    with opened(str(path), unit_column="person") as source:
        yield source


def test_a_partition_leaves_the_footer_and_the_others_behind(source):
    partitions = source.partitions()
    assert len(partitions) == 600
    alone = len(pickle.dumps(partitions[300]))
    together = len(pickle.dumps(tuple(partitions[:256])))
    assert alone < 2_500
    assert together < 256 * 400 + alone


def test_a_file_that_changed_is_no_damaged_one(source, tmp_path):
    there = pickle.loads(pickle.dumps(source.partitions()[0]))  # noqa: S301
    os.utime(tmp_path / "parts" / "part-000.parquet", ns=(1, 1))
    error = refused("input_changed", lambda: list(there.batches()))
    assert not isinstance(error, BadPartsError)


def test_an_error_of_a_worker_holds_none_of_its_words(source):
    class Start:
        def __reduce__(self):
            return (int, ("the secret score 0.25",))

    run = Run(first=0, partitions=tuple(source.partitions()[:1]))
    outcome = fold_run(pickle.dumps(Start()), run, False)  # noqa: FBT003
    assert "secret" not in str(outcome.error)
    assert outcome.summary is None


@pytest.mark.parametrize(("parts", "workers"), [(1, 4), (10, 2), (10_000, 4), (100_000, 64)])
def test_many_parts_make_few_tasks(parts, workers):
    runs = runs_of(range(parts), workers)
    assert sum(len(run.partitions) for run in runs) == parts
    assert all(len(run.partitions) <= 256 for run in runs)
    assert len(runs) <= max(16 * workers, parts / 256 + 1)


def test_errors_travel():
    bad = BadPartsError.of(InputError("bad_parquet", "a: no.", hint="Try."), ("a", "b"))
    again = pickle.loads(pickle.dumps(bad))  # noqa: S301
    assert (again.code, again.message, again.hint) == ("bad_parquet", "a: no.", "Try.")
    assert again.parts == ("a", "b")
