"""Inputs that are of their format and say odd things: an answer or one clear error comes of each.

None may end in a bug or an abort, take more than 20 seconds or 1 GiB, tell a value of the data or
leave anything half written. The long form (``make fuzz``) makes more than 100,000 of them.
"""

from __future__ import annotations

import os
import random
import signal
import sys
import time
from pathlib import Path

import pytest

if sys.platform == "win32":
    pytest.skip("needs fork", allow_module_level=True)

from tests.fuzz import runs
from tests.fuzz.grammars import KINDS
from tests.fuzz.mutation import CASES, LONG, SEED
from tests.fuzz.runs import case_of, outcomes

# Cases of each kind, as a multiple; the mutated inputs of the other tests are 36,000 in all.
OFTEN = dict(archives=6, policies=4, cuts=3, summaries=3, reports=6, statements=4)  # noqa: C408
PARTS = 4
MUTATED = 9
# Of the inputs of each kind, the fewest that are of their format; of a few, chance has a say.
PAST = 0.7
LEAST = PAST if CASES >= LONG else 0.5


@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize("name", KINDS)
def test_every_input_has_an_answer_or_one_clear_error(tmp_path, name, part):
    kind, count = KINDS[name], CASES * OFTEN[name] // PARTS
    kind.make(random.Random(SEED))  # noqa: S311 - loads what each child would load

    found = [
        *outcomes(
            lambda at: case_of(name, kind, SEED, at),
            range(part * count, (part + 1) * count),
            tmp_path,
        )
    ]

    wrong = [(one, case_of(name, kind, SEED, one.number).words) for one in found if one.wrong]
    assert wrong[:5] == []
    assert len(found) == count
    past = sum(map(kind.is_past_the_parser, found))
    assert past >= LEAST * count


FAULTS = {
    "bug": (lambda: 70, "exit code 70"),
    "abort": (lambda: os.kill(os.getpid(), signal.SIGSEGV), "the process ended with -11"),
    "endless": (lambda: time.sleep(9), "longer than"),
    "greedy": (lambda: len(b"x" * (runs.BYTES // 2)) * 0, "more than 1 GiB"),
    "stray": (lambda: Path(".out.1.tmp").write_bytes(b"") or 0, "left behind"),
    "early": (lambda: Path("out").write_bytes(b"") or 2, "written with exit code 2"),
    "half": (
        lambda: Path("out.sha256").write_bytes(b"") or Path("out").write_bytes(b"") or 0,
        "not what its digest says",
    ),
    "told": (lambda: sys.stderr.write("row 3 holds 0.7391\n") and 2, "a value of the data"),
    "none": (lambda: Path("out").write_bytes(b"") or 0, ""),
}


def test_every_fault_of_the_program_is_seen_and_the_cases_after_it_run(tmp_path, monkeypatch):
    monkeypatch.setattr(runs, "SECONDS", 2)
    monkeypatch.setattr(runs, "BYTES", 400 << 20)
    monkeypatch.setattr("mipaudit.cli.app.run", lambda words: FAULTS[words[0]][0]())
    names = [*FAULTS]

    found = [
        *outcomes(
            lambda at: runs.Case((names[at],), {}, secrets=("0.7391",)), range(len(names)), tmp_path
        )
    ]

    assert [one.number for one in found] == [*range(len(names))]
    for one, name in zip(found, names, strict=True):
        assert FAULTS[name][1] in one.wrong, name
        assert bool(one.wrong) == (name != "none")


def test_the_long_form_has_100_000_inputs_and_half_are_past_the_parser():
    assert set(OFTEN) == set(KINDS)
    made = LONG * sum(OFTEN.values())
    assert made >= 100_000
    assert PAST * made >= (made + MUTATED * LONG) / 2
