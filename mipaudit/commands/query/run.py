"""``mipaudit query``: from tables of records to the score file and the report."""

import os
import re
import time
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import Any, BinaryIO, Final, cast

import numpy as np

from mipaudit.commands.query.encoding import Encoded, encode
from mipaudit.commands.query.options import NEEDS_REFERENCE, Kind, Query, QueryOptions, QueryShown
from mipaudit.commands.query.points import parts
from mipaudit.commands.query.report import (
    ExactCopies,
    QueriedColumn,
    QueriedScore,
    QueriedTable,
    QueryReport,
)
from mipaudit.commands.query.scores import Asked, ask
from mipaudit.data.choice import unreadable_column
from mipaudit.data.formats.cells import is_number
from mipaudit.data.tables.records import (
    RecordColumn,
    RecordTable,
    Role,
    common_columns,
    open_records,
)
from mipaudit.data.words import find_column, is_candidate, is_score_like
from mipaudit.errors import InputError, UsageError, as_typed
from mipaudit.evidence.scores.curves import spread_alone
from mipaudit.evidence.scores.findings import size_findings
from mipaudit.maths.arrays import Floats
from mipaudit.model.message import Finding, Message
from mipaudit.options.public import public
from mipaudit.output.destination import Destination, report_beside, row_file
from mipaudit.output.presentation import deliver
from mipaudit.output.rows import write_rows
from mipaudit.output.terminal import progress_bar
from mipaudit.statements.copies import COPY_COLUMN
from mipaudit.statements.printable_names import quoted_name, safe_name
from mipaudit.statements.provenance import provenance

_CHUNK: Final = 1 << 17
# Bytes of a cell: as it is read, and as it is encoded.
_CELL: Final = 24
_BESIDE: Final = 8 << 20  # blocks and buffers
_MANY_LEVELS: Final = 1000
# A record as near as this is copied, but for the rounding of distances.
_OF_COPIES: Final = 1e-6
# What the scores do not say.
LIMITATIONS: Final = (
    Message("query_only_scores"),
    Message("query_these"),
    Message("query_encoding"),
    Message("query_copies"),
)
# What a query's number is.
_SAYS: Final[Mapping[Kind, str]] = {
    "nn": "distance to the nearest synthetic record (Liu et al. 2021, eq. 19)",
    "kth": "distance to synthetic neighbour number {0.neighbours}",
    "lnr": "distance to the nearest synthetic record divided by the distance to number "
    "{0.neighbours}",
    "mc": "Monte-Carlo: minus the mean log distance within the radius (Liu et al. 2021, eq. 18)",
    "share": "share of the synthetic records that lie within the radius",
    "density": "log of the density of the synthetic records divided by that of the reference "
    "records (DOMIAS), on at most {0.components} principal components",
    "classifier": "log odds of being synthetic, by a classifier of synthetic and reference records",
}
_WHOLE: Final = re.compile(r"0|-?[1-9][0-9]{0,17}")
# What a CSV score file takes for whole, and so for a label: 19 digits are read as a fraction.
_LABEL: Final = re.compile(r"\s*[+-]?[0-9]{1,18}\s*")
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


def answer_query(asked: QueryOptions) -> "QueryReport":
    """Score members and holdout records by queries against synthetic records.

    The score file has one row for each record, members first, in the order of the tables:
    the column ``member`` and one for each query.

    Raises:
        UsageError: a setting is out of its range, or a query needs a reference.
        InputError: the tables cannot be compared.
        OutputError: the score file cannot be written.
    """
    columns, report = _query_tables(asked)
    if asked.form is not None:
        with row_file(asked.output, inputs=asked.inputs()) as file:
            _write(file, columns, asked)
    return report


def run_query(asked: QueryOptions, shown: QueryShown) -> int:
    """Score the records, write the score file and the report; return the exit code.

    Raises:
        UsageError: no file for the scores is given.
        OutputError: a place cannot be written to, before anything is read.
    """
    if asked.form is None:
        raise UsageError(
            "output", "No output file is given.", "For example: `output` scores.parquet"
        )
    scores = Destination.open(asked.output, inputs=asked.inputs(), private=True)
    place = report_beside(shown.report, scores, inputs=asked.inputs())
    with (
        progress_bar(quiet=shown.quiet, doing="comparing", estimate=True) as progress,
        scores.stream() as file,
    ):
        columns, report = _query_tables(asked.but(progress=progress))
        _write(file, columns, asked)
    return deliver(report, shown, place, ("the scores", scores))


def _write(file: BinaryIO, columns: Mapping[str, Any], asked: QueryOptions) -> None:
    """Write the score file."""
    assert asked.form is not None  # noqa: S101 - there is a file
    kept = tuple(asked.keep)
    chunks = (
        {name: values[some] for name, values in columns.items()}
        for some in parts(len(columns["member"]), _CHUNK)
    )
    names = tuple(columns)
    write_rows(file, chunks, asked.form, columns=names, repeating=kept, quoted=bool(kept))


def _query_tables(asked: QueryOptions) -> tuple[dict[str, Any], QueryReport]:
    """Read the tables, encode them and ask the queries; return the score file and the report.

    Raises:
        InputError: the tables cannot be compared, or there is too little memory.
        UsageError: a query that the synthetic table is too short for.
    """
    begun = time.perf_counter()
    with ExitStack() as held:
        opened = open_records(asked.tables)
        for one in opened.values():
            held.callback(one.close)
        tables = {
            cast("Role", role): RecordTable.of(cast("Role", role), one)
            for role, one in opened.items()
        }
        common, skipped = common_columns(
            [*tables.values()], columns=asked.columns, ignore=asked.ignore
        )
        known = [one for one in tables["synthetic"].fields if one.name in common]
        for option, names in (("categorical", asked.categorical), ("range", asked.range or ())):
            for name in names:
                find_column(known, name, option=f"`{option}`, of the columns compared")
        scored = [tables["members"], tables["holdout"]]
        own = {"member", COPY_COLUMN, *(query.column for query in asked.queries)}
        _check_kept(scored, asked.keep, scores=own)
        _check_memory(tables.values(), len(common), asked.memory_bytes)
        mixed = len(set[bool]().union(*(table.texts for table in tables.values()))) > 1
        read = {
            role: table.read(common, categorical=asked.categorical, mixed=mixed)
            for role, table in tables.items()
        }
        kept = _read_kept(scored, asked.keep)
        found = encode(read, asked)
        answers = _asked(asked, found)
        report = _report(asked, tables, skipped, found, answers, begun)
    member = np.arange(found.copied.size) < len(found.points["members"])
    columns = {"member": member, **kept, **answers[0], COPY_COLUMN: found.copied}
    return columns, report


def _report(
    asked: QueryOptions,
    tables: Mapping[Role, RecordTable],
    skipped: tuple[tuple[str, str], ...],
    found: Encoded,
    answers: Asked,
    begun: float,
) -> QueryReport:
    """Return what was read, how it was compared, and what came of it."""
    rows = {role: len(points) for role, points in found.points.items()}
    member = np.arange(found.copied.size) < rows["members"]
    copies = _copies(found)
    columns, radii, search, classifier, drawn = answers
    scores = tuple(
        _score(query, columns[query.column], radii.get(query.column)) for query in asked.queries
    )
    # A user who sets it wants equal bytes of equal runs.
    untimed = os.environ.get("SOURCE_DATE_EPOCH")
    return QueryReport(
        command="query",
        copies=copies,
        tables=tuple(
            QueriedTable(role=role, rows=rows[role], columns=len(one.fields))
            for role, one in tables.items()
        ),
        columns=found.columns,
        skipped=skipped,
        metric=asked.metric,
        encoded_on=asked.encode_on,
        scores=scores,
        findings=(*_findings(found, copies, scores), *_of_scores(scores, columns)),
        curves=tuple(
            spread_alone(query.column, columns[query.column], member, query.side)
            for query in asked.queries
        ),
        limitations=LIMITATIONS,
        following=_following(asked, scores),
        search=search,
        classifier=classifier,
        seconds=None if untimed else round(time.perf_counter() - begun, 3),
        provenance=provenance(
            seed=asked.chosen_seed,
            seeds={} if drawn is None else {None: drawn},
            inputs=[one for role in tables for one in tables[role].described(rows[role])],
            settings=asked.recorded(),
        ),
    )


def _asked(asked: QueryOptions, found: Encoded) -> Asked:
    """Return what the queries say of members and holdout."""
    points = found.points
    for query in asked.queries:
        if query.neighbours > len(points["synthetic"]):
            raise UsageError(
                "query",
                f"The query {query.column} needs {query.neighbours} neighbours, but the number of "
                f"synthetic records is {len(points['synthetic']):,}.",
                "Name a smaller number.",
            )
    return ask(
        asked.queries,
        points["members"].and_then(points["holdout"]),
        points["synthetic"],
        points.get("reference"),
        found.geometry,
        memory=asked.memory_bytes // 2,
        seed=asked.chosen_seed,
        progress=asked.progress,
    )


def _check_memory(tables: Iterable[RecordTable], columns: int, memory: int) -> None:
    """Refuse tables that need more memory than may be used."""
    needed = sum(table.rows_about for table in tables) * columns * _CELL + _BESIDE
    if needed > memory:
        raise InputError(
            "too_little_memory",
            f"The tables need about {-(-needed >> 20):,} MiB, but only {memory >> 20:,} MiB may be "
            "used.",
            "Raise `memory`, or compare fewer columns with `columns`.",
        )


def _copies(found: Encoded) -> tuple[ExactCopies, ExactCopies]:
    """Return how many members and how many holdout records were released as they are."""
    first = len(found.points["members"])
    inside, outside = found.copied[:first], found.copied[first:]
    return (
        ExactCopies(role="members", copied=int(inside.sum()), rows=inside.size),
        ExactCopies(role="holdout", copied=int(outside.sum()), rows=outside.size),
    )


def _findings(
    found: Encoded, copies: tuple[ExactCopies, ExactCopies], scores: Sequence[QueriedScore]
) -> Iterator[Finding]:
    """Yield what the reader must know of the tables."""
    members, holdout = copies
    if members.copied:
        case = "released_of_both" if holdout.copied else "released"
        told = any(one.radius is not None and one.radius <= _OF_COPIES for one in scores)
        counts = {"members": members.copied, "holdout": holdout.copied}
        yield Finding.of("exact_copies", case=case, **counts, asked=told)
    yield from size_findings(members.rows, holdout.rows)
    if found.shared:
        yield Finding.of("shared_records", members=found.shared)
    taught = _named(one for one in scores if one.query in NEEDS_REFERENCE)
    if taught and any(found.referenced):
        inside, outside = found.referenced
        yield Finding.of("reference_overlap", members=inside, holdout=outside, names=taught)
    for name in found.constant:
        yield Finding.of("constant_column", case="scale", column=name)
    for column in found.columns:
        yield from _of_column(column)


def _of_scores(scores: Sequence[QueriedScore], columns: Mapping[str, Floats]) -> Iterator[Finding]:
    balls = [one for one in scores if one.radius_from == "median"]
    if balls:
        radius = float(f"{balls[0].radius or 0.0:.4g}")
        yield Finding.of("radius_from_records", names=_named(balls), radius=radius)
    for name, values in columns.items():
        if (values == values[0]).all():
            yield Finding.of("constant_query", score=name)


def _named(scores: Iterable[QueriedScore]) -> str:
    return " and ".join(quoted_name(score.score) for score in scores)


def _of_column(column: QueriedColumn) -> Iterator[Finding]:
    name, unseen = column.column, column.unseen_members
    if column.unseen:
        outside = column.unseen - unseen
        yield Finding.of("unseen_words", column=name, members=unseen, holdout=outside)
    if column.rounded:
        yield Finding.of("rounded_numbers", case="column", column=name)
    if column.levels is not None and column.levels > _MANY_LEVELS:
        yield Finding.of("many_words", column=name, words=column.levels)


def _score(query: Query, column: Floats, radius: float | None) -> QueriedScore:
    values = np.ascontiguousarray(column, dtype="<f8")
    return QueriedScore(
        score=query.column,
        query=query.kind,
        says=_SAYS[query.kind].format(query),
        side=query.side,
        radius=radius,
        radius_from=None if radius is None else "median" if query.radius is None else "given",
        sha256=sha256(values.tobytes()).hexdigest(),
    )


def _following(asked: QueryOptions, scores: Sequence[QueriedScore]) -> str:
    name = safe_name(asked.output, longest=400) if isinstance(asked.output, str) else "SCORES"
    # Beside kept columns of numbers the scores are named.
    text = f"mipaudit estimate {name}"
    if asked.keep:
        flag = as_typed("`score_col`")
        text += "".join(f" {flag} {score.score}" for score in scores)
    return text if len(scores) == 1 else f"{text}   (or mipaudit compare {name})"


def _check_kept(
    tables: Sequence[RecordTable], names: Sequence[str], *, scores: Collection[str]
) -> None:
    """Check that columns can be carried to the score file.

    Args:
        tables: members and holdout.
        names: of the columns.
        scores: names of the score file's own columns.

    Raises:
        UsageError: ``keep``, its name would be taken for something else.
        InputError: ``unknown_column``, or ``unreadable_column``.
    """
    for name in names:
        if name in scores or is_candidate(name) or is_score_like(name):
            raise UsageError(
                "keep",
                f"`keep`: in the score file, {quoted_name(name)} would look like a score, or like "
                "membership.",
                "Rename the column in the tables.",
            )
        for table in tables:
            option = f"`keep`, in the {table.role} table"
            find_column(table.fields, name, option=option)
            if "other" in table.kinds[name]:
                raise unreadable_column(name, option=option)


def _read_kept(tables: Sequence[RecordTable], names: Sequence[str]) -> dict[str, Any]:
    """Return the columns of members and holdout as Arrow arrays: whole numbers, or words.

    Raises:
        InputError: ``not_a_label``, for numbers that are not whole.
    """
    read = [table.read(names, categorical=names) for table in tables] if names else []
    return {name: _labels(name, [one[name] for one in read]) for name in names}


def _labels(name: str, columns: Sequence[RecordColumn]) -> Any:  # noqa: ANN401 - Arrow's
    """Return a kept column of both tables, as whole numbers if all its words are."""
    import pyarrow as pa

    texts = [
        [_day(float(word)) for word in one.words or ()] if one.kind == "date" else one.words or ()
        for one in columns
    ]
    every = [word for words in texts for word in words]
    # A reader of CSV, which knows no types, would take the words for scores.
    numeric = all(is_number(word.replace(",", ".", 1)) for word in every)
    if numeric and not all(map(_LABEL.fullmatch, every)):
        raise InputError(
            "not_a_label",
            f"`keep`: column {quoted_name(name)} holds numbers that are not whole, or have more "
            "than 18 digits. In the score file they would look like scores.",
            "Keep columns that name a record, a person or a group; put a letter before the digits "
            "to turn a number into a name.",
        )
    whole = all(map(_WHOLE.fullmatch, every))
    kind = pa.int64() if whole else pa.string()
    parts = []
    for words, column in zip(texts, columns, strict=True):
        known = pa.array([int(word) for word in words] if whole else words, type=kind)
        places = pa.array(np.maximum(column.values, 0), mask=column.missing)
        parts.append(known.take(places))
    return pa.concat_arrays(parts)


def _day(days: float) -> str:
    moment = _EPOCH + timedelta(days=days)
    return str(moment.date()) if days == int(days) else moment.replace(tzinfo=None).isoformat()


query = public(QueryOptions, answer_query)
