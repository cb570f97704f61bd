"""What ``query`` found: the score file, and the report."""

from __future__ import annotations

import os
from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING, Any, BinaryIO, Final

import numpy as np

from mipaudit.commands.query.report import (
    ApproximateNeighbours,
    ExactCopies,
    FoundNeighbours,
    QueriedColumn,
    QueriedScore,
    QueriedTable,
    QueryReport,
    QueryRun,
    share_interval,
)
from mipaudit.commands.query.words import (
    query_findings,
    query_limitations,
    query_says,
    query_summary,
)
from mipaudit.statements.copies import COPY_COLUMN
from mipaudit.statements.provenance import provenance
from mipaudit.statements.text.printable_names import safe_name

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mipaudit.commands.query.kind import Query
    from mipaudit.commands.query.options import QueryOptions
    from mipaudit.commands.query.scores import Approximation, Scored
    from mipaudit.commands.query.search.row_hashes import SameRecords
    from mipaudit.reading.rows.output import RowFormat
    from mipaudit.statements.origin import InputFile

_CHUNK: Final = 1 << 17


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Answer:
    """The scores, and what led to them.

    Attributes:
        asked: what led to it.
        scored: what the queries said, members first.
        members: how many of the records are members.
        same: which records are in which other table.
        inputs: what was read.
        seconds: that it took.
    """

    asked: QueryOptions
    scored: Scored
    members: int
    same: SameRecords
    inputs: tuple[InputFile, ...]
    tables: tuple[QueriedTable, ...]
    columns: tuple[QueriedColumn, ...]
    constant: tuple[str, ...]
    skipped: tuple[tuple[str, str], ...]
    kept: dict[str, Any]
    seconds: float = 0.0

    def write(self, file: BinaryIO, form: RowFormat) -> None:
        """Write the score file."""
        from mipaudit.reading.rows.output import write_rows

        names = ("member", *self.kept, *self.scored.columns, COPY_COLUMN)
        rows = self.same.copied.size
        member = np.arange(rows) < self.members
        whole = {
            "member": member,
            **self.kept,
            **self.scored.columns,
            COPY_COLUMN: self.same.copied,
        }
        chunks = (
            {name: whole[name][start : start + _CHUNK] for name in names}
            for start in range(0, rows, _CHUNK)
        )
        write_rows(
            file,
            chunks,
            form,
            columns=names,
            repeating=tuple(self.kept),
            quoted=bool(self.kept),
        )

    def report(self) -> QueryReport:
        """Return the report of the run."""
        counted = (
            ExactCopies(
                role="members",
                copied=int(self.same.copied[: self.members].sum()),
                rows=self.members,
            ),
            ExactCopies(
                role="holdout",
                copied=int(self.same.copied[self.members :].sum()),
                rows=self.same.copied.size - self.members,
            ),
        )
        scores = tuple(self._score(one) for one in self.asked.queries)
        approximate = _approximated(self.scored.approximation)
        flat = [n for n, values in self.scored.columns.items() if (values == values[0]).all()]
        return QueryReport(
            command="query",
            summary=query_summary(counted, scores),
            copies=counted,
            tables=self.tables,
            columns=self.columns,
            skipped=self.skipped,
            metric=self.asked.metric,
            encoded_on=self.asked.encode_on,
            scores=scores,
            findings=query_findings(
                counted,
                self.columns,
                scores,
                constant=self.constant,
                shared=self.same.shared,
                referenced=self.same.referenced,
                flat=flat,
                approximate=approximate,
            ),
            approximate=approximate,
            limitations=query_limitations(),
            following=_following(self.asked.output, scores, kept=bool(self.kept)),
            run=QueryRun(
                search=self.scored.search,
                classifier=self.scored.classifier,
                # Whoever sets it wants equal bytes of equal runs.
                seconds=None if os.environ.get("SOURCE_DATE_EPOCH") else round(self.seconds, 3),
            ),
            provenance=provenance(
                seed=self.asked.chosen_seed,
                seeds={} if self.scored.seed is None else {None: self.scored.seed},
                inputs=self.inputs,
                settings=self.asked.recorded(),
            ),
        )

    def _score(self, query: Query) -> QueriedScore:
        ball = query.column in self.scored.radii
        return QueriedScore(
            score=query.column,
            query=query.kind,
            says=query_says(query.kind, query.neighbours, query.components),
            side=query.side,
            radius=self.scored.radii.get(query.column),
            radius_from=None if not ball else "median" if query.radius is None else "given",
            sha256=_digest(self.scored.columns[query.column]),
        )


def _digest(values: Any) -> str:  # noqa: ANN401 - an array
    return sha256(np.ascontiguousarray(values, dtype="<f8").tobytes()).hexdigest()


def _approximated(found: Approximation | None) -> ApproximateNeighbours | None:
    if found is None:
        return None
    return ApproximateNeighbours(
        library=found.library,
        lists=found.lists,
        probes=found.probes,
        found=tuple(
            FoundNeighbours(
                neighbours=one.neighbours,
                records=one.records,
                right=one.right,
                share=share_interval(one.right, one.records),
                excess_mean=float(f"{one.excess_mean:.4g}"),
                excess_95=float(f"{one.excess_95:.4g}"),
                copies_missed=one.copies_missed,
            )
            for one in found.recall
        ),
    )


def _following(output: object, scores: Sequence[QueriedScore], *, kept: bool) -> str:
    name = safe_name(output, longest=400) if isinstance(output, str) else "SCORES"
    # Beside kept columns of numbers the scores are named.
    named = "".join(f" --score-col {score.score}" for score in scores) if kept else ""
    text = f"mipaudit estimate {name}{named}"
    return text if len(scores) == 1 else f"{text}   (or mipaudit compare {name})"
