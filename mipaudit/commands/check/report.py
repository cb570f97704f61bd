"""What ``check`` returns, prints and writes: the JSON format ``mipaudit.check/3``."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from mipaudit.model.message import Message
from mipaudit.statements.any_report import AnyReport
from mipaudit.statements.design import Design


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


def answer(report: CheckReport) -> Message:
    """Return that the input can be audited, and what it holds."""
    design = report.design
    return Message.of(
        "fit",
        members=design.n_members,
        holdout=design.n_holdout,
        column=design.member_column,
        scores=len(report.columns),
    )


def remarks(report: CheckReport) -> Iterator[Message]:
    """Yield what was not used, and what comes next."""
    unused = (*report.design.skipped_columns, *report.provenance.unused_columns)
    if unused:
        yield Message.of("columns_unused", names=unused)
    yield Message("not_audited_yet")
