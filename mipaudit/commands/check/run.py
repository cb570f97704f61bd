"""``mipaudit check``: what is in the input, without auditing it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mipaudit.commands.check.options import CheckOptions
from mipaudit.commands.check.report import CheckReport, ColumnProfile
from mipaudit.options.public import public
from mipaudit.statements.design import Design
from mipaudit.summaries.cells import ATOM_COUNT, ATOM_SHARE

if TYPE_CHECKING:
    from mipaudit.data.parts import ScoreColumn
    from mipaudit.data.source import ScoreSource
    from mipaudit.summaries.counts import ScoreCounts


def answer_check(asked: CheckOptions) -> CheckReport:
    """Return what is in the input: columns, rows per class, ties, findings.

    Up to 2^21 rows, every value is counted. With more rows, distinct values and tied rows are not
    given, and repeated values are those in the burn-in sample.

    Raises:
        UsageError: an argument is wrong.
        InputError: the input cannot be audited as it is.
    """
    from mipaudit.counting.counts import How, require_information
    from mipaudit.counting.scores import count_all, read_input, settle_seed
    from mipaudit.data.request import read_request
    from mipaudit.engine.workers import Workers, engine_of
    from mipaudit.evidence.scores.findings import score_findings, size_findings
    from mipaudit.statements.printable_names import safe_name

    def run(source: ScoreSource) -> CheckReport:
        """Profile the columns of the opened input."""
        seed = settle_seed([source], asked.chosen_seed, hash_inputs=asked.hash_inputs)
        # Each column by itself, also those that make up vectors.
        scores = [(at,) for at in range(len(source.columns))]
        counts = count_all(
            source, How(), seed=seed, workers=workers, progress=asked.progress, scores=scores
        )
        seeds = sorted(zip((one.name for one in source.columns), counts.seeds, strict=True))
        made = source.provenance(seed, dict(seeds), asked.recorded(), hash_all=asked.hash_inputs)
        require_information(counts)
        columns = list(zip(source.columns, counts.columns, strict=True))
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
            provenance=made,
        )

    request = read_request(asked, seed=asked.chosen_seed, vectors=True)
    with Workers(engine_of(asked, asked.on_bad_part)) as workers:
        return read_input((asked.data, asked.members, asked.holdout), request, workers, run)


check = public(CheckOptions, answer_check)


def _profile(column: ScoreColumn, counts: ScoreCounts) -> ColumnProfile:
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
