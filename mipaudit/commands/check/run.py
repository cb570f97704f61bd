"""``mipaudit check``: what is in the input, without auditing it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from mipaudit.commands.check.report import CheckReport, ColumnProfile
from mipaudit.statements.design import Design
from mipaudit.summaries.cells.cells import ATOM_COUNT, ATOM_SHARE

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from concurrent.futures import Executor

    from mipaudit.engine.engine import EngineName, OnBadPart
    from mipaudit.reading.source.audited import ScoreColumn
    from mipaudit.reading.source.source import ScoreSource
    from mipaudit.statements.provenance.origin import Setting
    from mipaudit.summaries.tally import ColumnCounts


def check(  # noqa: PLR0913 - one keyword for each reading option
    data: Any = None,  # noqa: ANN401 - a path, a frame or an Arrow table
    *,
    members: Any = None,  # noqa: ANN401 - a path or an array
    holdout: Any = None,  # noqa: ANN401
    score_columns: Sequence[str] = (),
    member_column: str | None = None,
    member_value: str | None = None,
    where: str | None = None,
    unit_column: str | None = None,
    unit_rows: Literal["one", "mean", "max", "min", "sum"] | None = None,
    rows_are: Literal["independent"] | None = None,
    key_column: str | None = None,
    nan: Literal["error", "category", "drop"] = "error",
    on_bad_part: OnBadPart = "error",
    seed: int | Literal["fresh"] | None = None,
    hash_inputs: bool = False,
    jobs: int | None = None,
    engine: EngineName = "auto",
    scheduler: str | None = None,
    executor: Executor | None = None,
    progress: Callable[[int, int | None], None] | None = None,
    settings: tuple[Setting, ...] | None = None,
) -> CheckReport:
    """Return what is in the input: columns, rows per class, ties, findings.

    Up to 2^21 rows every value is counted; above, distinct values and tied rows are
    not given, and repeated values are those that the burn-in sample shows.

    Args:
        data: a path, directory, glob, ``"-"``, a data frame or an Arrow table.
        members: the members' own file, or an array of shape (n,) or (n, d).
        holdout: the holdout's own file, or an array, in the same form.
        score_columns: score columns by name; empty means found by the rules.
        member_column: membership column by name; None means found.
        member_value: rows whose membership equals it are members.
        where: ``"column = value"``: only these rows.
        unit_column: the person behind a row; each counts once, in one class.
        unit_rows: what of a person's rows counts: ``"one"`` of them (the default), or their
            ``"mean"``, ``"max"``, ``"min"`` or ``"sum"``: a new score, chosen before looking.
        rows_are: ``"independent"`` takes rows for that although ids or files repeat.
        key_column: a row's identity; its position otherwise.
        nan: what to do with a missing score.
        seed: chooses the row that stands for a person; as for `estimate`.
        on_bad_part: ``"skip"`` leaves out files that cannot be read, and says so; no policy
            is then met.
        hash_inputs: sha256 of inputs over 64 MiB in all, too.
        jobs: number of workers on this machine; None for the processors at hand.
        engine: ``"threads"``, ``"processes"`` or ``"dask"``; the numbers are the same.
        scheduler: address of a Dask scheduler, such as ``"tcp://host:8786"``.
        executor: any ``concurrent.futures`` executor that runs the work instead, such as
            ``client.get_executor()``; it stays open.
        progress: called with (rows done, rows in all or None).
        settings: recorded in the provenance; None records the arguments.

    Raises:
        UsageError: an argument is wrong.
        InputError: the input cannot be audited as it is.
    """
    from mipaudit.counting.columns import require_information
    from mipaudit.counting.large_seed import settle_seed
    from mipaudit.counting.retried_reading import read_input
    from mipaudit.counting.scores import count_columns
    from mipaudit.engine.engine import Engine
    from mipaudit.engine.workers import Workers
    from mipaudit.evidence.scores.findings import score_findings, size_findings
    from mipaudit.options.seed_choice import number_of, seed_choice
    from mipaudit.reading.source.any_input import column_names
    from mipaudit.reading.source.request import ReadRequest
    from mipaudit.statements.provenance.provenance import provenance, settings_from
    from mipaudit.statements.text.printable_names import safe_name

    reading: dict[str, Any] = {
        "score_columns": column_names(score_columns),
        "member_column": member_column,
        "member_value": member_value,
        "where": where,
        "unit_column": unit_column,
        "unit_rows": unit_rows,
        "rows_are": rows_are,
        "key_column": key_column,
        "nan": nan,
    }
    choice = seed_choice(seed)
    given = {**reading, "seed": seed, "on_bad_part": on_bad_part, "hash_inputs": hash_inputs}
    recorded = settings_from(given, source="api") if settings is None else settings
    hired = Engine(
        name=engine, jobs=jobs, scheduler=scheduler, executor=executor, on_bad_part=on_bad_part
    )

    def run(source: ScoreSource) -> CheckReport:
        settled = settle_seed([source], choice, hash_inputs=hash_inputs)
        counts = count_columns(source, seed=settled, workers=workers, progress=progress)
        source.check_unchanged()
        require_information(counts)
        columns = [
            (column, one) for column, one in zip(source.columns, counts.columns, strict=True)
        ]
        return CheckReport(
            command="check",
            design=Design(
                n_members=counts.n_members,
                n_holdout=counts.n_holdout,
                prior=0.5,
                baseline=0.0,
                confidence=0.95,
                score_columns=tuple(column.name for column in source.columns),
                member_column=source.member_column,
                skipped_columns=source.passed_over,
            ),
            columns=tuple(_profile(column, one) for column, one in columns),
            findings=(
                *source.told,
                *source.findings(),
                *size_findings(counts.n_members, counts.n_holdout),
                *(
                    finding
                    for column, one in columns
                    for finding in score_findings(
                        safe_name(column.name),
                        one,
                        source.infinite([column.name]),
                        source.sentinels(column.name),
                    )
                ),
            ),
            provenance=provenance(
                seed=settled,
                inputs=source.inputs(hash_all=hash_inputs),
                settings=recorded,
                seeds=dict(
                    sorted(zip((one.name for one in source.columns), counts.seeds, strict=True))
                ),
                unused_columns=source.unused,
            ),
        )

    request = ReadRequest(**reading, seed=number_of(choice), vectors=True)
    with Workers(hired) as workers:
        return read_input((data, members, holdout), request, workers, run)


def _profile(column: ScoreColumn, counts: ColumnCounts) -> ColumnProfile:
    """Return what one score column holds: counts, never a value."""
    ladder = counts.everyone
    rows = ladder.members + ladder.holdout
    repeated = rows[ladder.single]
    return ColumnProfile(
        score=column.name,
        kind=column.kind,
        discrete=counts.discrete,
        distinct=int((rows > 0).sum()) if ladder.exact else None,
        atoms=int((repeated >= max(ATOM_COUNT, ATOM_SHARE * int(rows.sum()))).sum()),
        tied_rows=int(repeated[repeated > 1].sum()) if ladder.exact else None,
        infinite=counts.infinite,
    )
