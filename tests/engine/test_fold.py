from __future__ import annotations

import threading
import time

import pytest

from mipaudit.engine.fold import fold
from mipaudit.engine.workers import Engine, Workers, default_jobs


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
