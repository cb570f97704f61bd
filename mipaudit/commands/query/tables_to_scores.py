"""How ``query`` gets from tables to scores."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING, Final

import numpy as np

from mipaudit.commands.query.answer import Answer
from mipaudit.commands.query.report import QueriedColumn, QueriedTable
from mipaudit.commands.query.scores import Scoring
from mipaudit.commands.query.search.approximate import require_faiss
from mipaudit.commands.query.search.points import Points
from mipaudit.commands.query.search.row_hashes import same_records
from mipaudit.commands.query.tables.encoding import fit_encoding, unseen_rows
from mipaudit.commands.query.tables.kept_columns import check_kept, read_kept
from mipaudit.commands.query.tables.table import common_columns, open_table, refuse_same_files
from mipaudit.errors import InputError, UsageError
from mipaudit.reading.bytes.storage_precision import DOUBLE_BITS
from mipaudit.statements.copies import COPY_COLUMN
from mipaudit.statements.text.printable_names import quoted_name

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from mipaudit.commands.query.kind import Query
    from mipaudit.commands.query.options import QueryOptions
    from mipaudit.commands.query.tables.columns import RecordColumn
    from mipaudit.commands.query.tables.encoding import Encoding
    from mipaudit.commands.query.tables.table import CommonColumns, RecordTable, Role

# Bytes of a cell: as it is read, and as it is encoded.
_CELL: Final = 24
_BESIDE: Final = 8 << 20  # blocks and buffers


def query_tables(asked: QueryOptions) -> Answer:
    """Read the tables, encode them and ask the queries.

    Raises:
        InputError: the tables cannot be compared, or there is too little memory.
        UsageError: a query that the synthetic table is too short for.
        MissingExtraError: an approximate search without faiss.
    """
    begun = time.perf_counter()
    if asked.approximate:
        require_faiss()
    opened: list[RecordTable] = []
    try:
        for role, source in asked.tables.items():
            opened.append(open_table(role, source))  # type: ignore[arg-type]
        refuse_same_files(opened)
        common = common_columns(opened, columns=asked.columns, ignore=asked.ignore)
        _check_named(asked, common)
        check_kept(
            opened,
            asked.keep,
            scores={"member", COPY_COLUMN, *(query.column for query in asked.queries)},
        )
        _check_memory(opened, len(common.taken), asked.memory_bytes)
        texts = frozenset[bool]().union(*(table.texts for table in opened))
        read = {
            table.role: table.read(
                common.taken, categorical=asked.categorical, mixed=len(texts) > 1
            )
            for table in opened
        }
        kept = read_kept(opened, asked.keep) if asked.keep else {}
        answer = _answer(asked, opened, common, read)
        return replace(answer, kept=kept, seconds=time.perf_counter() - begun)
    finally:
        for table in opened:
            table.close()


def _answer(
    asked: QueryOptions,
    opened: Sequence[RecordTable],
    common: CommonColumns,
    read: dict[Role, dict[str, RecordColumn]],
) -> Answer:
    encoding = fit_encoding(
        read,
        fit_on=asked.encode_on,
        metric=asked.metric,
        scale=asked.scale,
        categorical=asked.categorical,
        ranges=asked.ranges or {},
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
    _check_neighbours(asked.queries, len(synthetic))
    records = Points(
        numbers=np.concatenate([points["members"].numbers, points["holdout"].numbers]),
        codes=np.concatenate([points["members"].codes, points["holdout"].codes]),
    )
    scored = Scoring(
        records=records,
        synthetic=synthetic,
        reference=points.get("reference"),
        geometry=encoding.geometry,
        memory=asked.memory_bytes // 2,
        seed=asked.chosen_seed,
        progress=asked.progress,
        approximate=asked.approximate,
    ).run(asked.queries)
    return Answer(
        asked=asked,
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


def _check_named(asked: QueryOptions, common: CommonColumns) -> None:
    for option, names in (("categorical", asked.categorical), ("ranges", asked.ranges or ())):
        for name in names:
            if name not in common.taken:
                raise InputError(
                    "unknown_column",
                    f"`{option}`: column {quoted_name(name)} is not among those compared.",
                    hint="Names are those of the synthetic table.",
                )


def _check_memory(tables: Sequence[RecordTable], columns: int, memory: int) -> None:
    rows = sum(table.rows_about for table in tables)
    needed = rows * columns * _CELL + _BESIDE
    if needed > memory:
        raise InputError(
            "too_little_memory",
            f"The tables need about {-(-needed >> 20):,} MiB, and {memory >> 20:,} MiB may be "
            "used.",
            hint="Raise `memory`, or compare fewer columns with `columns`.",
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
