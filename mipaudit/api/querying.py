"""How ``query`` gets from tables to scores."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import TYPE_CHECKING, Any, BinaryIO, Final, Literal

import numpy as np

from mipaudit.errors import InputError, UsageError
from mipaudit.queries.points import Points
from mipaudit.queries.same_records import same_records
from mipaudit.queries.scores import Scoring
from mipaudit.report.names import quoted_name, safe_name
from mipaudit.report.provenance import provenance
from mipaudit.report.query import (
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
from mipaudit.report.query_words import (
    query_findings,
    query_limitations,
    query_says,
    query_summary,
)
from mipaudit.tables.kept_columns import check_kept, read_kept
from mipaudit.tables.record_encoding import DOUBLE, fit_encoding, unseen_rows
from mipaudit.tables.record_table import common_columns, open_table, refuse_same_files

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from mipaudit.queries.kind import Query
    from mipaudit.queries.points import Metric
    from mipaudit.queries.same_records import SameRecords
    from mipaudit.queries.scores import Approximation, Scored
    from mipaudit.report.origin import InputFile, Setting
    from mipaudit.tables.record_columns import RecordColumn
    from mipaudit.tables.record_encoding import Encoding, Scale
    from mipaudit.tables.record_table import CommonColumns, RecordTable, Role
    from mipaudit.tables.row_output import RowFormat

# Bytes of a cell: as it is read, and as it is encoded.
_CELL: Final = 24
_BESIDE: Final = 8 << 20  # blocks and buffers
_CHUNK: Final = 1 << 17


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryTerms:
    """The settings of a run, checked."""

    queries: tuple[Query, ...]
    columns: tuple[str, ...]
    ignore: tuple[str, ...]
    categorical: tuple[str, ...]
    ranges: dict[str, tuple[float, float]]
    metric: Metric
    scale: Scale
    encode_on: Literal["synthetic", "reference"]
    memory: int
    seed: int
    approximate: bool = False
    keep: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Answer:
    """The scores, and what led to them.

    Attributes:
        terms: of the run.
        scored: what the queries said, members first.
        members: how many of the records are members.
        same: which records are in which other table.
        inputs: what was read.
    """

    terms: QueryTerms
    scored: Scored
    members: int
    same: SameRecords
    inputs: tuple[InputFile, ...]
    tables: tuple[QueriedTable, ...]
    columns: tuple[QueriedColumn, ...]
    constant: tuple[str, ...]
    skipped: tuple[tuple[str, str], ...]
    kept: dict[str, Any]

    def write(self, file: BinaryIO, form: RowFormat) -> None:
        """Write the score file."""
        from mipaudit.tables.row_output import write_rows

        names = ("member", *self.kept, *self.scored.columns)
        rows = self.same.copied.size
        member = np.arange(rows) < self.members
        whole = {"member": member, **self.kept, **self.scored.columns}
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

    def report(self, settings: Sequence[Setting], *, begun: float, output: object) -> QueryReport:
        """Return the report of the run that began at ``begun``."""
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
        scores = tuple(self._score(one) for one in self.terms.queries)
        approximate = _approximated(self.scored.approximation)
        flat = [n for n, values in self.scored.columns.items() if (values == values[0]).all()]
        return QueryReport(
            command="query",
            summary=query_summary(counted, scores),
            copies=counted,
            tables=self.tables,
            columns=self.columns,
            skipped=self.skipped,
            metric=self.terms.metric,
            encoded_on=self.terms.encode_on,
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
            following=_following(output, scores, kept=bool(self.kept)),
            run=QueryRun(
                search=self.scored.search,
                classifier=self.scored.classifier,
                seconds=_seconds(begun),
            ),
            provenance=provenance(seed=self.terms.seed, inputs=self.inputs, settings=settings),
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


def _seconds(begun: float) -> float | None:
    # Whoever sets it wants equal bytes of equal runs.
    if os.environ.get("SOURCE_DATE_EPOCH"):
        return None
    return round(time.perf_counter() - begun, 3)


def _following(output: object, scores: Sequence[QueriedScore], *, kept: bool) -> str:
    name = safe_name(output) if isinstance(output, str) else "SCORES"
    # Beside kept columns of numbers the scores are named.
    named = "".join(f" --score-col {score.score}" for score in scores) if kept else ""
    text = f"mipaudit estimate {name}{named}"
    return text if len(scores) == 1 else f"{text}   (or mipaudit compare {name})"


def run_query(
    terms: QueryTerms,
    sources: Mapping[str, Any],
    progress: Callable[[int, int | None], None] | None,
) -> Answer:
    """Read the tables, encode them and ask the queries.

    Raises:
        InputError: the tables cannot be compared, or there is too little memory.
        UsageError: a query that the synthetic table is too short for.
    """
    opened: list[RecordTable] = []
    try:
        for role, source in sources.items():
            opened.append(open_table(role, source))  # type: ignore[arg-type]
        refuse_same_files(opened)
        common = common_columns(opened, columns=terms.columns, ignore=terms.ignore)
        _check_named(terms, common)
        check_kept(
            opened, terms.keep, scores={"member", *(query.column for query in terms.queries)}
        )
        _check_memory(opened, len(common.taken), terms.memory)
        texts = frozenset[bool]().union(*(table.texts for table in opened))
        read = {
            table.role: table.read(
                common.taken, categorical=terms.categorical, mixed=len(texts) > 1
            )
            for table in opened
        }
        kept = read_kept(opened, terms.keep) if terms.keep else {}
        return replace(_answer(terms, opened, common, read, progress), kept=kept)
    finally:
        for table in opened:
            table.close()


def _answer(
    terms: QueryTerms,
    opened: Sequence[RecordTable],
    common: CommonColumns,
    read: dict[Role, dict[str, RecordColumn]],
    progress: Callable[[int, int | None], None] | None,
) -> Answer:
    encoding = fit_encoding(
        read,
        fit_on=terms.encode_on,
        metric=terms.metric,
        scale=terms.scale,
        categorical=terms.categorical,
        ranges=terms.ranges,
    )
    missing = {
        name: sum(int(table[name].missing.sum()) for table in read.values())
        for name in common.taken
    }
    same = same_records(encoding.exact(read))
    points = {}
    for role in list(read):
        # What is encoded is let go.
        points[role] = encoding.points(read.pop(role))
    synthetic = points["synthetic"]
    _check_neighbours(terms.queries, len(synthetic))
    records = Points(
        numbers=np.concatenate([points["members"].numbers, points["holdout"].numbers]),
        codes=np.concatenate([points["members"].codes, points["holdout"].codes]),
    )
    scored = Scoring(
        records=records,
        synthetic=synthetic,
        reference=points.get("reference"),
        geometry=encoding.geometry,
        memory=terms.memory // 2,
        seed=terms.seed,
        progress=progress,
        approximate=terms.approximate,
    ).run(terms.queries)
    return Answer(
        terms=terms,
        scored=scored,
        members=len(points["members"]),
        same=same,
        inputs=tuple(one for table in opened for one in table.described(len(points[table.role]))),
        tables=tuple(
            QueriedTable(role=one.role, rows=len(points[one.role]), columns=len(one.fields))
            for one in opened
        ),
        columns=_described(
            encoding,
            missing,
            unseen_rows(points["members"], encoding),
            unseen_rows(points["holdout"], encoding),
        ),
        constant=tuple(code.name for code in encoding.columns if code.constant),
        skipped=common.skipped,
        kept={},
    )


def _described(
    encoding: Encoding,
    missing: Mapping[str, int],
    members: Mapping[str, int],
    holdout: Mapping[str, int],
) -> tuple[QueriedColumn, ...]:
    return tuple(
        QueriedColumn(
            column=code.name,
            treated=code.treated,
            scale=code.scale,
            levels=len(code.words) if code.treated == "category" else None,
            missing=missing[code.name],
            unseen=members.get(code.name, 0) + holdout.get(code.name, 0),
            unseen_members=members.get(code.name, 0),
            rounded=code.bits < DOUBLE,
        )
        for code in encoding.columns
    )


def _check_named(terms: QueryTerms, common: CommonColumns) -> None:
    for option, names in (("--categorical", terms.categorical), ("--range", tuple(terms.ranges))):
        for name in names:
            if name not in common.taken:
                raise InputError(
                    "unknown_column",
                    f"{option}: column {quoted_name(name)} is not among those compared.",
                    hint="Names are those of the synthetic table.",
                )
    both = set(terms.categorical) & set(terms.ranges)
    if both:
        raise UsageError("two_roles", "--range: a column is a category, too.")


def _check_memory(tables: Sequence[RecordTable], columns: int, memory: int) -> None:
    rows = sum(table.rows_about for table in tables)
    needed = rows * columns * _CELL + _BESIDE
    if needed > memory:
        raise InputError(
            "too_little_memory",
            f"The tables need about {-(-needed >> 20):,} MiB, and {memory >> 20:,} MiB may be "
            "used.",
            hint="Raise --memory, or compare fewer columns with --columns.",
        )


def _check_neighbours(queries: Sequence[Query], rows: int) -> None:
    for query in queries:
        if query.neighbours > rows:
            raise UsageError(
                "query",
                f"The query {query.column} looks at {query.neighbours} neighbours, and there are "
                f"{rows:,} synthetic records.",
                hint="Name a smaller number.",
            )
