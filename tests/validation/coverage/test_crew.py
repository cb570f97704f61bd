"""Several processes, one answer."""

from __future__ import annotations

import os
import signal
from multiprocessing import active_children

import pytest

from mipaudit.errors import MipauditError
from mipaudit.validation.coverage.crew import run_tasks
from mipaudit.validation.coverage.panel import Panel
from mipaudit.validation.coverage.replication import Task
from mipaudit.validation.rivals.alternatives import ALTERNATIVES

PANEL = Panel(estimands=("advantage", "tpr_at_fpr"), alternatives=tuple(ALTERNATIVES))


def collect(tasks, **options):
    found = []
    run_tasks(tasks, finished=lambda task, rows: found.append((task, rows)), **options)
    return found


class Fatal:
    """Methods that end their process, or raise, at one file."""

    strict = False

    def __init__(self, *, kill):
        self.kill = kill

    def say(self, audited, law):
        del audited, law
        if self.kill:
            os.kill(os.getpid(), signal.SIGKILL)
        raise ZeroDivisionError


def test_the_answer_does_not_depend_on_the_number_of_processes(cell):
    tasks = [
        Task(cell=cell("null-ties", replications=120), methods=PANEL),
        Task(cell=cell("gauss-shift-1", prior=0.1, replications=3), methods=PANEL),
    ]
    alone = collect(tasks, seed=3, jobs=1)
    assert alone == collect(tasks, seed=3, jobs=2)
    assert alone != collect(tasks, seed=4, jobs=1)
    assert [task for task, _ in alone] == tasks
    assert {row.replications for _, rows in alone for row in rows} == {120, 3}
    assert active_children() == []


def test_progress_goes_from_little_to_all(cell):
    seen = []
    tasks = [Task(cell=cell(replications=300), methods=Panel(estimands=("auc",), alternatives=()))]
    collect(tasks, seed=0, jobs=1, progress=lambda done, total: seen.append((done, total)))
    assert len({total for _, total in seen}) == 1
    done = [at for at, _ in seen]
    assert done == sorted(done)
    assert len(done) > 1
    assert done[-1] == pytest.approx(seen[0][1], rel=1e-6)


def test_nothing_to_do_is_done(cell):
    assert collect([], seed=0, jobs=2) == []


@pytest.mark.skipif(os.name != "posix", reason="kills a process")
def test_a_process_that_is_killed_is_reported(cell):
    tasks = [Task(cell=cell(replications=400), methods=Fatal(kill=True))]
    with pytest.raises(MipauditError, match="ended before its work was done") as caught:
        collect(tasks, seed=0, jobs=2)
    assert caught.value.code == "worker_lost"
    assert active_children() == []


def test_an_error_in_a_process_ends_the_run(cell):
    tasks = [Task(cell=cell(replications=400), methods=Fatal(kill=False))]
    with pytest.raises(ZeroDivisionError):
        collect(tasks, seed=0, jobs=2)
    assert active_children() == []
