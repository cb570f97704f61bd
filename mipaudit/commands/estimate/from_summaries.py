"""From summary files to the report: the same audit as of scores, where the counts allow it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mipaudit.commands.estimate.answer import audit
from mipaudit.commands.estimate.blind_report import require_same_records
from mipaudit.counting.columns import Counts, require_spread
from mipaudit.options.declare import declared, is_left_out
from mipaudit.options.groups.scores import Classes, Columns
from mipaudit.options.plain_values import require
from mipaudit.reading.rows.left_out import empty_class_error
from mipaudit.reading.summaries.file import listed, read_summaries
from mipaudit.reading.summaries.source import add_up, counts_content
from mipaudit.statements.origin import InputFile
from mipaudit.statements.provenance import provenance

if TYPE_CHECKING:
    from mipaudit.commands.estimate.options import EstimateOptions
    from mipaudit.commands.estimate.report import Report
    from mipaudit.evidence.judgement.blind import Blind
    from mipaudit.reading.summaries.file import SummaryFile


def audit_summaries(asked: EstimateOptions, blind: Blind | None = None) -> Report:
    """Return the report on counted scores.

    Args:
        asked: the summaries, and what is said of them.
        blind: what the records alone tell, if it is known.

    Raises:
        UsageError: something is asked for that takes scores.
        InputError: a file is no summary, or they do not belong together.
    """
    _require_no_reading(asked)
    _require_counted(asked)
    files = read_summaries(listed(asked.data))
    source, summary = add_up(files)
    if not summary.n_members or not summary.n_holdout:
        raise empty_class_error(members=not summary.n_members)
    counts = Counts(
        columns=summary.columns,
        n_members=summary.n_members,
        n_holdout=summary.n_holdout,
        mace=None,
        seeds=(asked.chosen_seed.in_use(counts_content(files, summary)),) * len(summary.columns),
    )
    require_spread(counts.columns[0])
    inputs = [_described(one) for one in files]
    if blind is not None:
        require_same_records(blind, counts.n_members, counts.n_holdout, inputs)
    made = provenance(
        seed=asked.chosen_seed,
        inputs=inputs,
        settings=asked.recorded(),
        seeds={None: counts.seeds[0]},
    )
    return audit(source, counts, asked, made, blind)


def _require_no_reading(asked: EstimateOptions) -> None:
    """Refuse settings that say how scores are read."""
    reading = (*declared(Classes), *declared(Columns))
    given = [f"`{one.name}`" for one in reading if not is_left_out(one, getattr(asked, one.name))]
    require(
        not given,
        "not_for_summaries",
        f"A summary is read already; this says how to read scores: {', '.join(given)}.",
        "Say it to mipaudit summarize.",
    )


def _require_counted(asked: EstimateOptions) -> None:
    """Refuse what cannot be told from counts by cells."""
    require(
        asked.method == "prequential",
        "not_for_summaries",
        f"`method` {asked.method} needs scores; a summary has none.",
        "Leave it out, or audit the scores.",
    )
    require(
        not asked.discrete,
        "not_for_summaries",
        "Whether a score is discrete was decided when it was summarized.",
        "Give `discrete` to mipaudit summarize.",
    )


def _described(file: SummaryFile) -> InputFile:
    rows = file.manifest.n_members + file.manifest.n_holdout
    return InputFile(name=file.name, rows=rows, bytes=file.size, sha256=file.sha256)
