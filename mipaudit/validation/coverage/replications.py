"""Replications: files drawn from a cell and judged by a panel of methods, in several processes.

What is found, and the order in which it is reported, do not depend on how many there are.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, TypeVar

import numpy as np

from mipaudit.engine.workers import ProcessPool
from mipaudit.errors import MipauditError
from mipaudit.evidence.scores.evidence import learn_together
from mipaudit.validation.coverage.grid import Cell, draw_file, stream_of
from mipaudit.validation.coverage.tally import Statements, gather
from mipaudit.validation.estimands.audited_file import AuditedFile, AuditedVector
from mipaudit.validation.estimands.estimands import ESTIMANDS
from mipaudit.validation.estimands.rivals import ALTERNATIVES
from mipaudit.validation.laws.catalogue import law
from mipaudit.validation.laws.vector_law import VectorLaw

if TYPE_CHECKING:
    from mipaudit.validation.estimands.estimand import Interval
    from mipaudit.validation.laws.law import Law

T = TypeVar("T")

# CPU time of one replication, roughly: for equal pieces of work and the time left.
_SECONDS: Final = 3.3e-3
_SECONDS_PER_ROW: Final = 5e-7
# The same where records are learned from.
_VECTOR_SECONDS: Final = 7e-3
_VECTOR_SECONDS_PER_ROW: Final = 4.5e-5
_PIECE_SECONDS: Final = 0.3


@dataclass(frozen=True, slots=True, kw_only=True)
class Panel:
    """Names of estimands and of other methods; light, so that it travels to processes.

    Attributes:
        estimands: whose limits by the tool are tested.
        alternatives: other methods beside them.
        strict: whether the tool's finite-sample methods are asked for.
        named: whether the estimands were asked for by name, so that dear ones are tried on
            every file.
    """

    estimands: tuple[str, ...]
    alternatives: tuple[str, ...]
    strict: bool = False
    named: bool = True

    def say(self, audited: AuditedFile, law: Law) -> list[Interval]:
        """Return all that the methods say of a file drawn from a law."""
        said: list[Interval] = []
        for one in (ESTIMANDS[name] for name in self.estimands):
            asked = self.named or one.usually(law, audited.member.size, audited.number)
            if asked and one.concerns(law):
                said += one.intervals(audited)
        for other in (ALTERNATIVES[name] for name in self.alternatives):
            if ESTIMANDS[other.estimand].concerns(law):
                said.append(other.interval(audited))
        return said


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """A cell, and the methods that are run on its files."""

    cell: Cell
    methods: Panel

    @property
    def seconds(self) -> float:
        """About how long one replication takes, in CPU seconds."""
        if law(self.cell.scenario).width > 1:
            return _VECTOR_SECONDS + _VECTOR_SECONDS_PER_ROW * self.cell.records
        return _SECONDS + _SECONDS_PER_ROW * self.cell.records

    def pieces(self) -> list[range]:
        """Return the replications in runs that take about as long."""
        step = max(1, int(_PIECE_SECONDS / self.seconds))
        everything = range(self.cell.replications)
        return [everything[start : start + step] for start in everything[::step]]


def replicate(task: Task, seed: int, replications: range) -> Statements:
    """Return what the methods say about these replications, beside the truth.

    Args:
        task: the cell and the methods.
        seed: of the whole run; every replication has its own stream.
        replications: their numbers.
    """
    law_of_cell = law(task.cell.scenario)
    files = [_drawn(task, law_of_cell, seed, number) for number in replications]
    if law_of_cell.width == 1 and "advantage" in task.methods.estimands:
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
    if isinstance(drawn_from, VectorLaw):
        return AuditedVector(law=drawn_from, **file)
    return AuditedFile(**file)


def results(
    function: Callable[..., T], work: Iterable[tuple[Any, ...]], *, jobs: int
) -> Generator[T, None, None]:
    """Yield what a function returns for each of several arguments, in their order.

    Args:
        function: that a fresh process can import.
        work: its arguments, in the order in which they are begun.
        jobs: processes, at least 1; 1 runs here.

    Raises:
        MipauditError: ``worker_lost``, when a process was ended from outside.
    """
    if jobs <= 1:
        yield from (function(*one) for one in work)
        return
    try:
        with ProcessPool(jobs) as pool:
            begun = [pool.submit(function, *one) for one in work][::-1]
            while begun:
                yield begun.pop().result()
    except BrokenProcessPool:
        raise MipauditError(
            "worker_lost",
            "A process of the run ended before its work was done.",
            hint="Was there enough memory? Try `jobs` 1; with `resume` FILE no cell is run twice.",
        ) from None
