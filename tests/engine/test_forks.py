"""Forks of the program give the answer of one process, whatever becomes of them."""

from __future__ import annotations

import json
import os
import signal
import sys

import pytest

from tests.engine.test_bad_parts import flip
from tests.engine.test_lost_workers import children, spawn, wait_for_end
from tests.fixtures.parts import columns, write_parts

pytestmark = pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="only Linux tells of threads"
)
# The program where 1,000 rows are many: it says how often it forked, and how many rows it was told.
PROGRAM = """
import gc, os, signal, sys, threading, time
os.environ["OPENBLAS_NUM_THREADS"] = "1"
from mipaudit.cli.app import main
from mipaudit.counting import counts
from mipaudit.summaries import plan
from mipaudit.summaries.tally import Survey

counts._ROWS_THAT_FORK = plan.EXACT_ROWS = 1_000
parent, forked, told = os.getpid(), [], []
os.register_at_fork(after_in_parent=lambda: forked.append(1))
fold, add = counts.fold, Survey.add
counts.fold = lambda *given, **named: fold(*given, **{**named, "progress": told.append})

def at_batch(number, act):
    # In each fork; the first process lets them take turns.
    seen = []
    def counted(self, rows):
        seen.append(1)
        if os.getpid() == parent:
            time.sleep(0.5)
        elif len(seen) == number:
            act()
        add(self, rows)
    Survey.add = counted

def die():
    os.kill(os.getpid(), signal.SIGKILL)

def fail():
    raise ValueError("0.123, a score")

def before_counting(act):
    over = counts.count_over
    counts.count_over = lambda *given, **named: (act(), over(*given, **named))[1]

{change}
try:
    main()
finally:
    print("forked", len(forked), "told", sum(told), file=sys.stderr)
"""


def start(folder, *words, change):
    program = PROGRAM.replace("{change}", change)
    words = ["estimate", str(folder), "--seed", "1", "-f", "json", *words]
    return spawn([sys.executable, "-c", program, *words], text=True)


def run(folder, *words, change="pass"):
    """Return the exit status, what is found or wrong, the forks and the rows told."""
    process = start(folder, *words, change=change)
    out, err = process.communicate(timeout=60)
    *said, counts = err.splitlines()
    _, forked, _, told = counts.split()
    found = json.loads(out or "\n".join(said))
    found.pop("provenance", None)
    return process.returncode, found, int(forked), int(told)


def alone(folder, *words):
    return run(folder, "--engine", "threads", "--jobs", "1", *words)


@pytest.fixture(scope="module")
def unforked(tmp_path_factory):
    """Parts, what is found in them, and the rows told."""
    folder = write_parts(tmp_path_factory.mktemp("whole") / "parts", (1_700, 2_000, 4_321))
    status, expected, forks, rows = alone(folder)
    assert (status, forks) == (0, 0)
    return folder, expected, rows


@pytest.mark.parametrize(
    ("change", "forks"),
    [
        ("pass", 2),
        ("os.register_at_fork(after_in_child=die)", 2),
        ("at_batch(1, die)", 2),
        ("at_batch(2, die)", 2),
        ("os.fork = lambda: os.close(-1)", 0),  # no room
        ("signal.signal(signal.SIGCHLD, signal.SIG_IGN)", 2),  # no news of children
        ("before_counting(gc.unfreeze)", 0),
        ("before_counting(threading.Thread(target=time.sleep, args=(.5,)).start)", 0),
    ],
)
def test_forks_change_nothing_whatever_becomes_of_them(unforked, change, forks):
    folder, expected, rows = unforked
    assert run(folder, "--jobs", "3", change=change) == (0, expected, forks, rows)


def test_few_rows_are_read_by_threads(unforked):
    folder, _, _ = unforked
    assert run(folder, "--jobs", "3", change="counts._ROWS_THAT_FORK = 10_000")[2] == 0


def test_many_row_groups_share_turns(tmp_path):
    folder = write_parts(tmp_path / "parts", (), group=11)  # 546 of them
    status, expected, _, rows = alone(folder)
    assert status == 0
    assert run(folder, "--jobs", "2") == (0, expected, 1, rows)


@pytest.mark.parametrize(
    ("words", "forks"),
    [(("loss,second", "--method", "mace"), 3), (("loss", "--method", "kde"), 2)],
)
def test_every_pass_is_the_same_in_forks(tmp_path, words, forks):
    table = columns(2_400)
    table["second"] = table["loss"] ** 2
    folder = write_parts(tmp_path / "parts", (1_200,), group=200, table=table)
    status, expected, _, rows = alone(folder, "--score-col", *words)
    assert status == 0
    found = run(folder, "--jobs", "2", "--score-col", *words)
    assert found == (0, expected, forks, rows)


def test_faults_are_those_of_one_process(tmp_path, parts):
    table = columns()
    table["loss"][[5, 4_000]] = float("nan")
    faulty = write_parts(tmp_path / "faulty", (3_000,), table=table)
    status, error, _, _ = alone(faulty)
    assert (status, error["error"]["code"]) == (2, "nan_scores")
    assert run(faulty, "--jobs", "3")[:2] == (2, error)

    flip(parts / "part-003.parquet")
    status, error, _, _ = alone(parts)
    assert (status, error["error"]["code"]) == (2, "bad_parquet")
    assert run(parts, "--jobs", "3")[:2] == (2, error)
    skipping = ("--on-bad-part", "skip")
    assert run(parts, "--jobs", "3", *skipping)[:2] == alone(parts, *skipping)[:2]

    (parts / "part-003.parquet").unlink()
    status, error, _, _ = run(parts, "--jobs", "3", change="at_batch(1, fail)")
    assert status == 70
    assert "WorkerFaultError" in error["error"]["message"]
    assert "0.123" not in json.dumps(error)


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGKILL, -9)])
def test_forks_end_with_the_program(parts, number, status):
    process = start(parts, "--jobs", "3", change="at_batch(1, lambda: time.sleep(1))")
    forks = children(process, 2)
    if number == signal.SIGINT:
        os.killpg(process.pid, number)  # as the terminal does
    else:
        process.kill()
    out, _ = process.communicate(timeout=30)
    assert (process.returncode, out) == (status, "")
    wait_for_end(forks)
