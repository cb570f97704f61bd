"""A run of partitions summarized by one worker: what is sent, done and sent back.

Nothing is shared: a task may be done twice, or by a worker that is lost, and only what
comes back counts.
"""

from __future__ import annotations

import math
import pickle
import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Protocol, Self, TypeVar

from mipaudit.data.parts import BadPartsError, Partition
from mipaudit.data.rows.intake import Intake
from mipaudit.errors import MipauditError
from mipaudit.version import __version__

if TYPE_CHECKING:
    from mipaudit.summaries.rows import Rows

# At most so many for each worker keep all busy to the end, though some are slower than others.
_RUNS_EACH: Final = 16
# Each is this part of the worker's share of what is left: few summaries are sent back.
_PART: Final = 2
# What a lost worker costs at most.
_LONGEST_RUN: Final = 256


class Summary(Protocol):
    """What can be folded: takes rows, and merges with its like in any order."""

    def add(self, rows: Rows) -> None:
        """Take in a batch of rows."""

    def merge(self, other: Self) -> None:
        """Take in another summary of the same kind."""


SummaryT = TypeVar("SummaryT", bound=Summary)


class WorkerFaultError(Exception):
    """A bug that showed in a worker; the words hold its kind and no data."""


@dataclass(slots=True, kw_only=True)
class Outcome:
    """What came of some partitions.

    Attributes:
        summary: of all rows; None where a part is bad, or the work failed.
        intake: what was left out of them.
        rows: source rows that were read.
        bad: number of the partition, and why it cannot be read.
        error: what ended the work.
        version: of the program that did it.
    """

    summary: Any = None
    intake: Intake = field(default_factory=Intake)
    rows: int = 0
    bad: list[tuple[int, BadPartsError]] = field(default_factory=list)
    error: BaseException | None = None
    version: str = __version__


@dataclass(slots=True, kw_only=True)
class Run:
    """Consecutive partitions, and how often a worker was lost with them."""

    first: int
    partitions: tuple[Partition, ...]
    lost: int = 0

    def halves(self) -> tuple[Run, Run]:
        """Return both halves: which one is to blame is yet to be seen."""
        middle = len(self.partitions) // 2
        return (
            Run(first=self.first, partitions=self.partitions[:middle], lost=1),
            Run(first=self.first + middle, partitions=self.partitions[middle:], lost=1),
        )


def runs_of(partitions: Sequence[Partition], workers: int) -> list[Run]:
    """Return the partitions in runs that get shorter: some for each worker, however many parts."""
    count = len(partitions)
    shortest = math.ceil(count / (_RUNS_EACH * workers))
    runs = []
    at = 0
    while at < count:
        length = max(shortest, math.ceil((count - at) / (_PART * workers)))
        end = at + min(length, _LONGEST_RUN)
        runs.append(Run(first=at, partitions=tuple(partitions[at:end])))
        at = end
    return runs


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """How partitions are read by those who share them out.

    Attributes:
        tolerant: go on after a bad part, to find all of them.
        progress: called with the source rows of each batch.
        stop: ends the work of all.
    """

    tolerant: bool
    progress: Callable[[int], None] | None = None
    stop: threading.Event = field(default_factory=threading.Event)

    def work(self, start: Callable[[], Summary], left: Iterable[tuple[int, Partition]]) -> Outcome:
        """Take partitions, each with its number, until none is left."""
        outcome = Outcome(summary=start())
        for at, partition in left:
            if self.stop.is_set():
                break
            try:
                self._read(partition, outcome)
            except BadPartsError as error:
                outcome.bad.append((at, error))
                if not self.tolerant:
                    self.stop.set()
        return outcome

    def _read(self, partition: Partition, outcome: Outcome) -> None:
        for rows in partition.batches(outcome.intake):
            outcome.summary.add(rows)
            outcome.rows += rows.source_rows
            if self.progress is not None:
                self.progress(rows.source_rows)
            if self.stop.is_set():
                return


def fold_run(start: bytes, run: Run, tolerant: bool) -> Outcome:  # noqa: FBT001 - sent by position
    """Summarize a run, anywhere.

    Args:
        start: makes an empty summary, pickled.
        run: what to read.
        tolerant: go on after a bad part, to find all of them.
    """
    try:
        own = pickle.loads(start)  # noqa: S301 - our own
        outcome = Reading(tolerant=tolerant).work(own, enumerate(run.partitions, run.first))
    except Exception as error:  # noqa: BLE001 - told to the coordinator, without its words
        return Outcome(error=portable(error))
    if outcome.bad:
        outcome.summary = None
    return outcome


def portable(error: Exception) -> Exception:
    """Return an error that can travel, and says nothing of the data."""
    if isinstance(error, MipauditError):
        return error
    if isinstance(error, MemoryError):
        return MemoryError()
    if isinstance(error, OSError) and error.errno is not None:
        return OSError(error.errno, error.strerror)
    place = error.__traceback__
    while place is not None and place.tb_next is not None:
        place = place.tb_next
    where = "" if place is None else f" at {place.tb_frame.f_code.co_name}:{place.tb_lineno}"
    return WorkerFaultError(f"{type(error).__name__}{where}")
