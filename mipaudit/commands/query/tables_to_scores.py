"""How ``query`` gets from tables to scores."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from mipaudit.commands.query.answer import Answer
from mipaudit.commands.query.report import QueriedColumn, QueriedTable
from mipaudit.commands.query.scores import Scoring
from mipaudit.commands.query.search.points import Points
from mipaudit.commands.query.tables.encoding import fit_encoding, unseen_rows
from mipaudit.commands.query.tables.kept_columns import check_kept, read_kept
from mipaudit.commands.query.tables.same_records import same_records
from mipaudit.commands.query.tables.table import common_columns, open_table, refuse_same_files
from mipaudit.errors import InputError, UsageError
from mipaudit.reading.bytes.storage_precision import DOUBLE_BITS
from mipaudit.statements.copies import COPY_COLUMN
from mipaudit.statements.text.printable_names import quoted_name

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from mipaudit.commands.query.answer import QueryTerms
    from mipaudit.commands.query.kind import Query
    from mipaudit.commands.query.tables.columns import RecordColumn
    from mipaudit.commands.query.tables.encoding import Encoding
    from mipaudit.commands.query.tables.table import CommonColumns, RecordTable, Role

# Bytes of a cell: as it is read, and as it is encoded.
_CELL: Final = 24
_BESIDE: Final = 8 << 20  # blocks and buffers


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
            opened,
            terms.keep,
            scores={"member", COPY_COLUMN, *(query.column for query in terms.queries)},
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
            rounded=code.bits < DOUBLE_BITS,
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
