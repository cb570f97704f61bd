"""What an audit asks of its input once it is counted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from mipaudit.reading.bytes.blob import Blob
    from mipaudit.statements.copies import Copies
    from mipaudit.statements.estimate import Finding
    from mipaudit.summaries.plan import ScoreKind


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreColumn:
    """A score column that is read."""

    name: str
    kind: ScoreKind


@dataclass(frozen=True, slots=True, kw_only=True)
class VectorScore:
    """A score of several numbers: which of the columns that are read are its coordinates."""

    name: str
    coordinates: tuple[int, ...]


class AuditedInput(Protocol):
    """An input that was read to its end, or the summaries of one."""

    @property
    def columns(self) -> tuple[ScoreColumn, ...]:
        """The columns that were read, in order."""
        ...

    @property
    def scalars(self) -> tuple[int, ...]:
        """Which columns are scores by themselves."""
        ...

    @property
    def vectors(self) -> tuple[VectorScore, ...]:
        """Scores of several numbers, each made of some of the columns."""
        ...

    @property
    def member_column(self) -> str | None:
        """Where membership was read, None where files or arrays said it."""
        ...

    @property
    def passed_over(self) -> tuple[str, ...]:
        """The columns that might have been scores and were not taken."""
        ...

    @property
    def left_out(self) -> tuple[Blob, ...]:
        """Files that could not be read."""
        ...

    @property
    def copies(self) -> Copies | None:
        """The records that were released word for word; None where nothing tells."""
        ...

    @property
    def told(self) -> tuple[Finding, ...]:
        """What the reader must know of the choice of the columns."""
        ...

    def findings(self) -> tuple[Finding, ...]:
        """Return what the reader must know about rows left out."""
        ...

    def sentinels(self, name: str) -> dict[int, int]:
        """Count rows by value, of values that may stand for a missing score."""
        ...

    def infinite(self, names: Sequence[str]) -> int | None:
        """Count the infinite scores of columns; None where the counts tell."""
        ...
