"""What ``check`` returns, prints and writes: the JSON format ``mipaudit.check/3``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from mipaudit.statements.estimate import Design
from mipaudit.statements.reports.any_report import AnyReport


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnProfile:
    """What ``check`` found in one score column. Counts only, never a value."""

    score: str
    kind: Literal["float", "integer", "bool", "string"]
    discrete: bool
    distinct: int | None
    atoms: int
    tied_rows: int | None
    infinite: int

    @property
    def treated(self) -> Literal["discrete", "continuous"]:
        """How an audit treats it."""
        return "discrete" if self.discrete else "continuous"


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class CheckReport(AnyReport):
    """What ``mipaudit check`` found in the input."""

    design: Design
    columns: tuple[ColumnProfile, ...]
