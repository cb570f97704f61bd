"""``mipaudit records``: from an input to the risk of every record."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from mipaudit.commands.records.cells import (
    RecordRisks,
    TopRecords,
    cell_columns,
    columns_with,
    record_chunks,
)
from mipaudit.commands.records.counts import RecordCounts, count_records, unnamed
from mipaudit.commands.records.options import RecordsOptions, RecordTableOptions
from mipaudit.commands.records.policy import records_checks
from mipaudit.commands.records.report import RecordsDesign, RecordsReport
from mipaudit.counting.counts import row_meter
from mipaudit.counting.scores import read_input, settle_seed
from mipaudit.data.parts import BadPartsError
from mipaudit.data.request import read_request
from mipaudit.engine.workers import Workers, engine_of
from mipaudit.evidence.scores.findings import size_findings
from mipaudit.maths.advantage import baseline
from mipaudit.model.message import Finding, Message
from mipaudit.options.checked_limits import limits_elsewhere
from mipaudit.options.public import public
from mipaudit.statements.copies import copy_checks, with_copies
from mipaudit.statements.provenance import provenance, waiver_day
from mipaudit.statements.verdict import promised, reach_verdict, settled, waive

if TYPE_CHECKING:
    import pyarrow as pa

    from mipaudit.commands.records.options import RecordsShown
    from mipaudit.data.source import ScoreSource
    from mipaudit.model.row import Row
    from mipaudit.summaries.seed import SeedChoice


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RecordTable:
    """Every record's risk, and the report.

    Attributes:
        table: an Arrow table with a row for each record, in the order of the input.
        report: as `records` returns it.
    """

    table: pa.Table
    report: RecordsReport


def answer_records(asked: RecordsOptions) -> RecordsReport:
    """Return what the score gives away of every record, and write it row for row.

    The risk of a record is |f_p| of the cell of its score, an average over the cell's
    records, with limits that hold for all cells together. The input is read twice, and once
    more if records are written or named.

    Raises:
        UsageError: a setting is wrong, or there are several scores.
        InputError: the input cannot be audited as it is.
        OutputError: the records cannot be written.
    """
    from mipaudit.output.destination import row_file
    from mipaudit.output.rows import write_rows

    form = asked.form
    if form is None:
        return answer_with(asked, sink=None)
    with row_file(asked.output, inputs=asked.inputs()) as file:

        def write(chunks: Chunks, columns: Sequence[str]) -> None:
            write_rows(
                file,
                chunks,
                form,
                columns=columns,
                # What a cell's records share: Parquet keeps each value once.
                repeating=columns[columns.index("cell") :],
                quoted=asked.key_col is not None,
                inert=asked.safe_csv,
            )

        return answer_with(asked, sink=write)


def answer_record_table(asked: RecordTableOptions) -> RecordTable:
    """Return every record's risk as an Arrow table, with the report of `records`.

    Raises:
        UsageError: a setting is wrong, or there are several scores.
        InputError: the input cannot be audited as it is.
    """
    from mipaudit.output.rows import table_of

    tables: list[pa.Table] = []

    def keep(chunks: Chunks, columns: Sequence[str]) -> None:
        tables.append(table_of(chunks, columns=columns))

    report = answer_with(asked, sink=keep)
    return RecordTable(table=tables[0], report=report)


def run_records(asked: RecordsOptions, shown: RecordsShown) -> int:
    """Write a row for each record into a file, and show the report; return the exit code."""
    from mipaudit.output.destination import Destination, report_beside
    from mipaudit.output.exit_code import report_exit
    from mipaudit.output.presentation import present
    from mipaudit.output.terminal import note_written, progress_bar

    rows = None
    if asked.output is not None:
        rows = Destination.open(asked.output, inputs=asked.inputs(), private=True)
    report_place = report_beside(shown.report, rows, inputs=asked.inputs())
    with (
        progress_bar(quiet=shown.quiet) as progress,
        nullcontext() if rows is None else rows.stream() as file,
    ):
        report = answer_records(asked.but(output=file, output_format=asked.form, progress=progress))
    present(report, shown, report_place, beside_data=rows is not None and rows.path is None)
    files = () if rows is None else (("the records", rows),)
    note_written(report, report_place, *files, quiet=shown.quiet)
    return report_exit(report, exit_zero=shown.exit_zero)


records = public(RecordsOptions, answer_records)
record_table = public(RecordTableOptions, answer_record_table)


# Columns of rows by name, and what takes them with the names of all columns.
Chunks = Iterator[Mapping[str, NDArray[Any]]]
Sink = Callable[[Chunks, Sequence[str]], None]


def answer_with(asked: RecordTableOptions, *, sink: Sink | None) -> RecordsReport:
    """Read, count and answer; each record's risk goes into the sink, if there is one."""

    def run(source: ScoreSource) -> RecordsReport:
        passes = 3 if sink is not None or asked.top else 2
        meter = row_meter(source.rows_hint * passes, asked.progress)
        seed = settle_seed([source], asked.chosen_seed, hash_inputs=asked.hash_inputs)
        counts = count_records(source, asked, workers=workers, meter=meter)
        risks = counts.risks(asked, asked.confidence)
        top = TopRecords.of(risks, asked.top, counts.cells.seed)
        _write(source, asked.key_col, counts, cell_columns(risks) if sink else {}, top, sink, meter)
        source.opened.check_unchanged()
        return _report(source, asked, counts, risks, top, seed, written=sink is not None)

    request = read_request(
        asked,
        seed=asked.chosen_seed,
        group_columns=asked.by,
        named=(sink is not None or asked.top > 0) and asked.key_col is not None,
    )
    with Workers(engine_of(asked, asked.on_bad_part)) as workers:
        return read_input((asked.data, asked.members, asked.holdout), request, workers, run)


def _write(
    source: ScoreSource,
    key_column: str | None,
    counts: RecordCounts,
    of_cell: Mapping[str, NDArray[Any]],
    top: TopRecords,
    sink: Sink | None,
    meter: Callable[[int], None] | None,
) -> None:
    """Read the rows once more where they are written or named."""
    columns = columns_with(key_column, of_cell)
    key = None if key_column is None else columns[1]
    chunks = record_chunks(
        unnamed(source.partitions()) if key is None else source.partitions(),
        counts.cells,
        of_cell,
        key=key,
        top=top,
        meter=meter,
    )
    try:
        if sink is not None:
            sink(chunks, columns)
        else:
            # What is drawn depends on every row.
            while top.wanted and next(chunks, None) is not None:
                pass
    except BadPartsError as bad:
        # The passes that counted could read it, and rows may be written already.
        raise bad.plain() from None


def _report(
    source: ScoreSource,
    asked: RecordTableOptions,
    counts: RecordCounts,
    risks: RecordRisks,
    top: TopRecords,
    seed: SeedChoice,
    *,
    written: bool,
) -> RecordsReport:
    """Return the report; ``written``: a row for each record was."""
    design = _design(source, asked, counts, risks)
    estimates = counts.of_groups(asked.prior, asked.confidence)
    judged = waive(
        promised(records_checks(asked, counts), source.findings()),
        asked.judged_waivers,
        waiver_day(),
    )
    checks = (*copy_checks(asked.max_copies, source.copies), *judged.checks)
    told = (*with_copies(source.told, source.copies, asked.max_copies), *source.findings())
    verdict = settled(
        reach_verdict(checks, (), asked.on_inconclusive, incomplete=source.incomplete), told, checks
    )
    holdout, members = risks.everyone[risks.listed].sum(axis=0).tolist()
    cells = risks.cell_risks(asked.min_cell)
    return RecordsReport(
        command="records",
        design=design,
        estimates=(risks.largest_row(design.score_column), *estimates),
        bands=risks.bands(),
        cells=cells,
        small_cells=risks.cells - len(cells),
        listed_members=members,
        listed_holdout=holdout,
        top=top.records(risks),
        top_tied=top.tied,
        groups=_groups(counts, estimates),
        rows_written=counts.n_members + counts.n_holdout if written else None,
        policy=checks,
        verdict=verdict,
        findings=(
            *told,
            *judged.findings,
            *limits_elsewhere("estimate", asked.limits_elsewhere),
            *_findings(asked, counts, risks),
        ),
        limitations=_limitations(design),
        provenance=provenance(
            seed=seed,
            inputs=source.inputs(hash_all=asked.hash_inputs),
            settings=asked.recorded(),
            seeds=counts.seeds(),
            unused_columns=source.unused,
        ),
    )


def _limitations(design: RecordsDesign) -> tuple[Message, ...]:
    """Return what the numbers do not show."""
    codes = (
        "records_values" if design.discrete else "records_average",
        "one_query",
        "records_alike",
        "records_burn_in",
        "records_pointwise",
        "records_list",
        *(("records_groups",) if design.group_columns else ()),
        *(("records_population",) if design.member_population is not None else ()),
        "records_approximate",
    )
    return tuple(map(Message, codes))


def _design(
    source: ScoreSource, asked: RecordTableOptions, counts: RecordCounts, risks: RecordRisks
) -> RecordsDesign:
    holdout, members = risks.counted.sum(axis=0).tolist()
    return RecordsDesign(
        n_members=counts.n_members,
        n_holdout=counts.n_holdout,
        counted_members=members,
        counted_holdout=holdout,
        prior=asked.prior,
        baseline=baseline(asked.prior),
        confidence=asked.confidence,
        score_column=source.columns[0].name,
        discrete=counts.cells.discrete,
        cells=risks.cells,
        min_cell=asked.min_cell,
        tau=asked.tau,
        fdr=asked.fdr,
        member_population=asked.member_population,
        member_column=source.member_column,
        skipped_columns=source.passed_over,
        group_columns=() if source.choice.groups is None else source.choice.groups.columns,
    )


def _groups(counts: RecordCounts, estimates: Sequence[Row]) -> tuple[Row, ...]:
    if counts.groups is None:
        return ()
    of_any = [e for e in estimates if e.quantity == "advantage" and e.attackers == "any"]
    found = [
        replace(row, n_members=members, n_holdout=holdout)
        for row, (members, holdout) in zip(of_any, counts.groups.sizes, strict=True)
    ]
    return tuple(sorted(found, key=lambda row: (-(row.lower or 0.0), -(row.value or 0.0))))


def _findings(asked: RecordTableOptions, counts: RecordCounts, risks: RecordRisks) -> list[Finding]:
    found = size_findings(counts.n_members, counts.n_holdout)
    if risks.cells < 2:  # noqa: PLR2004 - cells that could differ
        found.append(Finding("one_cell"))
    if asked.cells is not None and counts.cells.discrete:
        found.append(Finding("cells_not_used"))
    if risks.uncounted:
        found.append(Finding.of("uncounted_cells", records=risks.uncounted))
    if counts.groups is not None:
        found += counts.groups.findings
    return found
