"""Replications: files drawn from a cell's law, and what the methods say of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Protocol

import numpy as np

from mipaudit.validation.coverage.cell import draw_file, stream_of
from mipaudit.validation.coverage.statement import gather
from mipaudit.validation.laws.catalogue import law
from mipaudit.validation.rivals.audited_file import AuditedFile

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mipaudit.validation.coverage.cell import Cell
    from mipaudit.validation.coverage.interval import Interval
    from mipaudit.validation.coverage.statement import Statements
    from mipaudit.validation.laws.law import Law

# CPU time of one replication, roughly: for equal pieces of work and the time left.
_SECONDS: Final = 3.3e-3
_SECONDS_PER_ROW: Final = 5e-7
# The same where records are learned from.
_VECTOR_SECONDS: Final = 7e-3
_VECTOR_SECONDS_PER_ROW: Final = 4.5e-5
_PIECE_SECONDS: Final = 0.3


class Methods(Protocol):
    """What is run on every file."""

    @property
    def strict(self) -> bool:
        """Whether the tool's finite-sample methods are asked for."""

    def say(self, audited: AuditedFile, law: Law) -> Sequence[Interval]:
        """Return what they say of a file drawn from a law."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """A cell, and the methods that are run on its files."""

    cell: Cell
    methods: Methods

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
    cell = task.cell
    drawn_from, stream = law(cell.scenario), stream_of(cell)
    said = []
    for number in replications:
        rng = np.random.default_rng((seed, stream, number))
        member, score = draw_file(cell, rng)
        audited = _audited(
            drawn_from,
            member=member,
            score=score,
            prior=cell.prior,
            seed=int(rng.integers(2**63)),
            strict=task.methods.strict,
            discrete=cell.discrete,
            number=number,
        )
        said.append(task.methods.say(audited, drawn_from))
    return gather(drawn_from, cell.prior, said)


def _audited(law: Law, **file: Any) -> AuditedFile:  # noqa: ANN401 - as `AuditedFile`
    """Return a file as the law's kind of score is audited."""
    if law.width == 1:
        return AuditedFile(**file)
    from mipaudit.validation.laws.vector_law import VectorLaw
    from mipaudit.validation.rivals.audited_vector import AuditedVector

    assert isinstance(law, VectorLaw)  # noqa: S101 - no other has several numbers
    return AuditedVector(law=law, **file)
