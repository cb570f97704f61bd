"""Replications: files drawn from a cell and judged by a panel of methods, in several processes.

What is found, and the order in which it is reported, do not depend on how many there are.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from mipaudit.engine.workers import ProcessPool
from mipaudit.errors import MipauditError
from mipaudit.evidence.scores.evidence import learn_together
from mipaudit.validation.coverage.grid import Cell, draw_file, stream_of
from mipaudit.validation.coverage.tally import Statements, gather, joined, tally
from mipaudit.validation.estimands.audited_file import AuditedFile, AuditedVector
from mipaudit.validation.estimands.estimands import ESTIMANDS
from mipaudit.validation.estimands.rivals import ALTERNATIVES
from mipaudit.validation.laws.catalogue import law

if TYPE_CHECKING:
    from concurrent.futures import Future

    from mipaudit.validation.estimands.estimand import Interval
    from mipaudit.validation.laws.law import Law
    from mipaudit.validation.report import CoverageRow

    Finished = Callable[["Task", tuple[CoverageRow, ...]], None]

Progress = Callable[[int, int | None], None]

# CPU time of one replication, roughly: for equal pieces of work and the time left.
_SECONDS: Final = 3.3e-3
_SECONDS_PER_ROW: Final = 5e-7
# The same where records are learned from.
_VECTOR_SECONDS: Final = 7e-3
_VECTOR_SECONDS_PER_ROW: Final = 4.5e-5
_PIECE_SECONDS: Final = 0.3
_AHEAD: Final = 16  # pieces of work for each process
_MICRO: Final = 1_000_000  # progress is counted in whole numbers


@dataclass(frozen=True, slots=True, kw_only=True)
class Panel:
    """Names of estimands and of other methods; light, so that it travels to processes.

    Attributes:
        estimands: whose limits by the tool are tested.
        alternatives: other methods beside them.
        strict: whether the tool's finite-sample methods are asked for.
        named: whether the estimands were asked for by name, so that dear ones are tried on
            every file.
        only_selected: leave out what other methods say of other estimands.
    """

    estimands: tuple[str, ...]
    alternatives: tuple[str, ...]
    strict: bool = False
    named: bool = True
    only_selected: bool = True

    @property
    def judges_anyone(self) -> bool:
        """Tell whether the limits for any attacker are asked for."""
        asked = (ESTIMANDS[name].statements for name in self.estimands)
        return any(("advantage", "any") in statements for statements in asked)

    def say(self, audited: AuditedFile, law: Law) -> list[Interval]:
        """Return all that the methods say of a file drawn from a law."""
        said: list[Interval] = []
        for name in self.estimands:
            one = ESTIMANDS[name]
            asked = self.named or one.usually(law, audited.member.size, audited.number)
            if asked and one.concerns(law):
                said.extend(one.intervals(audited))
        if law.width > 1:
            return said  # the other methods are for one number
        others = (ALTERNATIVES[name] for name in self.alternatives)
        said.extend(
            one.interval(audited)
            for one in others
            if not self.only_selected or one.estimand in self.estimands
        )
        return said


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """A cell, and the methods that are run on its files."""

    cell: Cell
    methods: Panel

    def pieces(self) -> list[range]:
        """Return the replications in runs that take about as long."""
        step = max(1, int(_PIECE_SECONDS / seconds_each(self.cell)))
        everything = range(self.cell.replications)
        return [everything[start : start + step] for start in everything[::step]]


def seconds_each(cell: Cell) -> float:
    """Return about how long one replication takes, in CPU seconds."""
    if law(cell.scenario).width > 1:
        return _VECTOR_SECONDS + _VECTOR_SECONDS_PER_ROW * cell.records
    return _SECONDS + _SECONDS_PER_ROW * cell.records


def replicate(task: Task, seed: int, replications: range) -> Statements:
    """Return what the methods say about these replications, beside the truth.

    Args:
        task: the cell and the methods.
        seed: of the whole run; every replication has its own stream.
        replications: their numbers.
    """
    law_of_cell = law(task.cell.scenario)
    files = [_drawn(task, law_of_cell, seed, number) for number in replications]
    if law_of_cell.width == 1 and task.methods.judges_anyone:
        learn_together([one.evidence for one in files])
    said = [task.methods.say(one, law_of_cell) for one in files]
    return gather(law_of_cell, task.cell.prior, said)


def _drawn(task: Task, drawn_from: Law, seed: int, number: int) -> AuditedFile:
    """Return one file of a cell, audited as the law's kind of score is."""
    cell = task.cell
    rng = np.random.default_rng((seed, stream_of(cell), number))
    member, score = draw_file(cell, rng)
    file: dict[str, Any] = {
        "member": member,
        "score": score,
        "prior": cell.prior,
        "seed": int(rng.integers(2**63)),
        "strict": task.methods.strict,
        "discrete": cell.discrete,
        "number": number,
    }
    if drawn_from.width == 1:
        return AuditedFile(**file)
    from mipaudit.validation.laws.vector_law import VectorLaw

    assert isinstance(drawn_from, VectorLaw)  # noqa: S101 - no other has several numbers
    return AuditedVector(law=drawn_from, **file)


def run_tasks(
    tasks: Sequence[Task],
    *,
    seed: int,
    jobs: int,
    finished: Finished,
    progress: Progress | None = None,
) -> None:
    """Replicate all cells; what is found does not depend on the number of processes.

    Args:
        tasks: cells and methods.
        seed: of the whole run.
        jobs: processes, at least 1; 1 runs here.
        finished: called with each task and its rows, in the order of the tasks.
        progress: called with microseconds of CPU time behind us, and in all.

    Raises:
        MipauditError: ``worker_lost``, when a process was ended from outside.
    """
    meter = _Meter(tasks, progress)
    pieces = [(task, part) for task in tasks for part in task.pieces()]
    jobs = min(jobs, len(pieces))
    if jobs <= 1:
        _collect(tasks, (replicate(task, seed, part) for task, part in pieces), finished, meter)
        return
    with ProcessPool(jobs) as pool:
        _collect(tasks, _results(pool, pieces, seed, _AHEAD * jobs), finished, meter)


def _results(
    pool: ProcessPool, pieces: Iterable[tuple[Task, range]], seed: int, ahead: int
) -> Iterator[Statements]:
    """Yield the results in order, while ``ahead`` pieces of work are given out."""
    waiting: deque[Future[Statements]] = deque()
    try:
        for task, part in pieces:
            waiting.append(pool.submit(replicate, task, seed, part))
            if len(waiting) >= ahead:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    except BrokenProcessPool:
        raise MipauditError(
            "worker_lost",
            "A process of the run ended before its work was done.",
            hint="Was there enough memory? Try `jobs` 1; with `resume` FILE no cell is run twice.",
        ) from None


def _collect(
    tasks: Sequence[Task], results: Iterator[Statements], finished: Finished, meter: _Meter
) -> None:
    for task in tasks:
        parts = []
        for part in task.pieces():
            parts.append(next(results))
            meter.advance(task, len(part))
        finished(task, tally(task.cell, joined(parts)))


class _Meter:
    """Turns replications into the share of the work that is done."""

    def __init__(self, tasks: Sequence[Task], progress: Progress | None) -> None:
        self._progress = progress
        self._total = sum(task.cell.replications * seconds_each(task.cell) for task in tasks)
        self._done = 0.0

    def advance(self, task: Task, replications: int) -> None:
        """Take in that so many replications of a task are done."""
        self._done += replications * seconds_each(task.cell)
        if self._progress is not None:
            self._progress(int(self._done * _MICRO), int(self._total * _MICRO))
