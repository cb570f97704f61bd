"""``mipaudit records``: the risk of every record."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, BinaryIO, Literal

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from concurrent.futures import Executor

    import pyarrow as pa
    from numpy.typing import NDArray

    from mipaudit.commands.records.counts import RecordCounts
    from mipaudit.commands.records.report import RecordsReport
    from mipaudit.commands.records.risk.risk import RecordRisks
    from mipaudit.commands.records.rows import TopRecords
    from mipaudit.engine.engine import Engine, EngineName, OnBadPart
    from mipaudit.reading.rows.output import RowFormat
    from mipaudit.reading.source.source import ScoreSource
    from mipaudit.statements.provenance.origin import Setting

    Chunks = Iterator[Mapping[str, NDArray[Any]]]
    Sink = Callable[[Chunks, Sequence[str]], None]

_ENGINE = ("jobs", "engine", "scheduler", "executor")
_OUTPUT = ("output", "output_format", "safe_csv")
_NOT_ASKED = ("data", "members", "holdout", *_OUTPUT, "progress", *_ENGINE)
_READING = (
    "member_column",
    "member_value",
    "where",
    "unit_column",
    "unit_rows",
    "rows_are",
    "key_column",
    "nan",
)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RecordTable:
    """Every record's risk, and the report.

    Attributes:
        table: an Arrow table with a row for each record, in the order of the input.
        report: as `records` returns it.
    """

    table: pa.Table
    report: RecordsReport


def records(  # noqa: PLR0913 - one keyword for each option of the command
    data: Any = None,  # noqa: ANN401 - a path, a frame or an Arrow table
    *,
    members: Any = None,  # noqa: ANN401 - a path or an array
    holdout: Any = None,  # noqa: ANN401
    output: Any = None,  # noqa: ANN401 - a path or an open file
    output_format: RowFormat | None = None,
    safe_csv: bool = False,
    score_columns: Sequence[str] = (),
    member_column: str | None = None,
    member_value: str | None = None,
    where: str | None = None,
    unit_column: str | None = None,
    unit_rows: Literal["one", "mean", "max", "min", "sum"] | None = None,
    rows_are: Literal["independent"] | None = None,
    key_column: str | None = None,
    nan: Literal["error", "category", "drop"] = "error",
    prior: float = 0.5,
    confidence: float = 0.95,
    discrete: bool = False,
    cells: int | None = None,
    min_cell: int = 10,
    tau: float = 0.5,
    fdr: float = 0.05,
    top: int = 0,
    by: Sequence[str] = (),
    small_groups: Literal["merge", "refuse"] = "merge",
    member_population: int | None = None,
    max_risk: float | None = None,
    limits: Sequence[Mapping[str, Any]] = (),
    waivers: Sequence[Mapping[str, Any]] = (),
    on_inconclusive: Literal["fail", "review", "pass"] = "review",
    on_bad_part: OnBadPart = "error",
    seed: int | Literal["fresh"] | None = None,
    hash_inputs: bool = False,
    jobs: int | None = None,
    engine: EngineName = "auto",
    scheduler: str | None = None,
    executor: Executor | None = None,
    progress: Callable[[int, int | None], None] | None = None,
    settings: tuple[Setting, ...] | None = None,
) -> RecordsReport:
    """Return what the score gives away of every record, and write it row for row.

    The risk of a record is |f_p| of the cell of its score, an average over the cell's
    records, with limits that hold for all cells together. The input is read twice, and once
    more if records are written or named.

    Args:
        data: a path, directory, glob, ``"-"``, a data frame or an Arrow table.
        members: the members' own file, or an array of shape (n,).
        holdout: the holdout's own file, or an array, in the same form.
        output: where to write a row for each record: a path, or an open binary file.
        output_format: ``"csv"``, ``"csv.gz"`` or ``"parquet"``; None goes by the path.
        safe_csv: keys that a spreadsheet would run as formulas get an apostrophe in front.
        score_columns: the score column by name; empty means found by the rules.
        member_column: membership column by name; None means found.
        member_value: rows whose membership equals it are members.
        where: ``"column = value"``: only these rows.
        unit_column: the person behind a row; each counts once, in one class.
        unit_rows: what of a person's rows counts: ``"one"`` of them (the default), or their
            ``"mean"``, ``"max"``, ``"min"`` or ``"sum"``: a new score, chosen before looking.
        rows_are: ``"independent"`` takes rows for that although ids or files repeat.
        key_column: a row's identity; its values are written beside the risk.
        nan: what to do with a missing score.
        prior: assumed probability that a challenged record is a member, in (0, 1).
        confidence: of the limits of all cells together, in [0.5, 1).
        discrete: take the score as discrete.
        cells: about how many cells, from 2 to 1,024; None for what the rows bear.
        min_cell: fewest records of a cell, or of each class of a group, at least 1.
        tau: cells with a risk above it are listed, in [0, 1).
        fdr: false-discovery rate of the list, over cells, in (0, 1).
        top: how many of the most exposed records to name by their rows, up to 10,000.
        by: columns whose values make groups.
        small_groups: take groups under ``min_cell`` together, or refuse them.
        member_population: n, if the members are a sample without replacement of n
            training records; the risk then concerns those.
        max_risk: policy limit on the largest risk, in (|2p-1|, 1].
        limits: policy limits on the risk and on groups, as the policy file lists them:
            ``{"quantity": "difference", "max": 0.1, "group": "*"}``; docs/policy.md has the keys.
        waivers: of limits that are not shown to be kept, as the policy file lists them.
        on_inconclusive: what the exit code makes of an open answer.
        seed: of the row assignment, as for `estimate`.
        on_bad_part: ``"skip"`` leaves out files that cannot be read, and says so; no policy
            is then met.
        hash_inputs: sha256 of inputs over 64 MiB in all, too.
        jobs: number of workers on this machine; None for the processors at hand.
        engine: ``"threads"``, ``"processes"`` or ``"dask"``; the numbers are the same.
        scheduler: address of a Dask scheduler, such as ``"tcp://host:8786"``.
        executor: any ``concurrent.futures`` executor that runs the work instead, such as
            ``client.get_executor()``; it stays open.
        progress: called with (rows done, rows in all passes or None).
        settings: recorded in the provenance; None records the arguments.

    Raises:
        UsageError: a setting is wrong, or there are several scores.
        InputError: the input cannot be audited as it is.
        OutputError: the records cannot be written.
    """
    given = {name: value for name, value in locals().items() if name not in _NOT_ASKED}
    from mipaudit.commands.records.rows import REPEATING
    from mipaudit.engine.engine import Engine
    from mipaudit.reading.rows.output import write_rows
    from mipaudit.reading.rows.record_file import record_file, record_format, require_csv

    hired = Engine(
        name=engine, jobs=jobs, scheduler=scheduler, executor=executor, on_bad_part=on_bad_part
    )
    form = record_format(output, output_format)
    require_csv(form, safe_csv=safe_csv)
    with (
        nullcontext()
        if form is None
        else record_file(output, inputs=(data, members, holdout)) as file
    ):

        def write(chunks: Chunks, columns: Sequence[str]) -> None:
            assert form is not None  # noqa: S101 - only then is there a file
            write_rows(
                _open(file),
                chunks,
                form,
                columns=columns,
                repeating=REPEATING,
                quoted=key_column is not None,
                inert=safe_csv,
            )

        return _run(
            (data, members, holdout),
            given,
            sink=None if form is None else write,
            engine=hired,
            progress=progress,
        )


def record_table(data: Any = None, **keywords: Any) -> RecordTable:  # noqa: ANN401 - as `records`
    """Return every record's risk as an Arrow table, with the report.

    Args:
        data: as for `records`.
        keywords: as for `records`, but for ``output``, ``output_format`` and ``safe_csv``.

    Raises:
        UsageError: as `records`; or an argument that it does not take.
    """
    from inspect import signature

    from mipaudit.engine.engine import Engine
    from mipaudit.errors import UsageError
    from mipaudit.reading.rows.output import table_of

    known = signature(records).parameters
    unknown = [name for name in keywords if name not in known or name in _OUTPUT]
    if unknown:
        raise UsageError("unknown_argument", f"record_table takes no {', '.join(unknown)}.")
    defaults = {name: one.default for name, one in known.items()}
    given = {n: v for n, v in {**defaults, **keywords}.items() if n not in _NOT_ASKED}
    tables: list[pa.Table] = []

    def keep(chunks: Chunks, columns: Sequence[str]) -> None:
        tables.append(table_of(chunks, columns=columns))

    report = _run(
        (data, keywords.get("members"), keywords.get("holdout")),
        given,
        sink=keep,
        engine=Engine(
            name=keywords.get("engine", "auto"),
            **{name: keywords.get(name) for name in _ENGINE if name != "engine"},
            on_bad_part=given["on_bad_part"],
        ),
        progress=keywords.get("progress"),
    )
    return RecordTable(table=tables[0], report=report)


def _open(file: BinaryIO | None) -> BinaryIO:
    assert file is not None  # noqa: S101 - the caller opened it
    return file


def _run(
    inputs: tuple[Any, Any, Any],
    given: dict[str, Any],
    *,
    sink: Sink | None,
    engine: Engine,
    progress: Callable[[int, int | None], None] | None,
) -> RecordsReport:
    from mipaudit.commands.records.answer import records_report, risks_of
    from mipaudit.commands.records.counts import count_records, record_meter
    from mipaudit.commands.records.question import check_records
    from mipaudit.commands.records.rows import top_records
    from mipaudit.counting.large_seed import settle_seed
    from mipaudit.counting.retried_reading import read_input
    from mipaudit.engine.workers import Workers
    from mipaudit.options.policy.keys import listed
    from mipaudit.options.seed_choice import number_of
    from mipaudit.reading.source.any_input import column_names
    from mipaudit.reading.source.request import ReadRequest
    from mipaudit.statements.provenance.provenance import provenance, settings_from

    given |= {name: listed(name, given[name]) for name in ("limits", "waivers")}
    question = check_records(given)
    settings = given.pop("settings")
    if settings is None:
        settings = settings_from(given, source="api")
    request = ReadRequest(
        seed=number_of(question.seed),
        score_columns=column_names(given["score_columns"]),
        group_columns=_distinct(column_names(given["by"])),
        named=sink is not None and given["key_column"] is not None,
        **{name: given[name] for name in _READING},
    )

    def run(source: ScoreSource) -> RecordsReport:
        passes = 3 if sink is not None or question.top else 2
        meter = record_meter(source, passes, progress)
        seed = settle_seed([source], question.seed, hash_inputs=given["hash_inputs"])
        counts = count_records(source, question, workers=workers, meter=meter)
        risks = risks_of(counts, question)
        top = top_records(risks, question.top, counts.cells.seed)
        written = _write(source, given["key_column"], counts, risks, top, sink, meter)
        source.check_unchanged()
        return records_report(
            source,
            question,
            counts,
            risks,
            top=top,
            written=written,
            provenance=provenance(
                seed=seed,
                inputs=source.inputs(hash_all=given["hash_inputs"]),
                settings=settings,
                seeds=counts.seeds(source.columns[0].name),
                unused_columns=source.unused,
            ),
        )

    with Workers(engine) as workers:
        return read_input(inputs, request, workers, run)


def _distinct(names: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(names))


def _write(
    source: ScoreSource,
    key_column: str | None,
    counts: RecordCounts,
    risks: RecordRisks,
    top: TopRecords,
    sink: Sink | None,
    meter: Callable[[int], None] | None,
) -> int | None:
    """Read the rows once more where they are written or named; return how many are written."""
    from mipaudit.commands.records.counts import unnamed
    from mipaudit.commands.records.rows import cell_columns, columns_with, record_chunks
    from mipaudit.reading.bytes.bad_parts import BadPartsError

    key = None
    if sink is not None and key_column is not None:
        key = columns_with(key_column)[1]
    chunks = record_chunks(
        unnamed(source.partitions()) if key is None else source.partitions(),
        counts.cells,
        {} if sink is None else cell_columns(risks),
        key=key,
        top=top,
        meter=meter,
    )
    try:
        return _taken(chunks, counts, key, key_column, top, sink)
    except BadPartsError as bad:
        # The passes that counted could read it, and rows may be written already.
        raise bad.plain() from None


def _taken(
    chunks: Chunks,
    counts: RecordCounts,
    key: str | None,
    key_column: str | None,
    top: TopRecords,
    sink: Sink | None,
) -> int | None:
    """Write all chunks, or look for the records to name; return how many are written."""
    from mipaudit.commands.records.rows import columns_with

    if sink is None:
        # What is drawn depends on every row.
        while top.wanted and next(chunks, None) is not None:
            pass
        return None
    sink(chunks, columns_with(key_column if key is not None else None))
    return counts.n_members + counts.n_holdout
