"""From summary files to the report: the same audit as of scores, where the counts allow it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mipaudit.commands.estimate.answer import audit
from mipaudit.commands.estimate.blind_report import require_same_records
from mipaudit.counting.columns import Counts, require_spread
from mipaudit.options.plain_values import require
from mipaudit.reading.rows.faults import empty_class_error
from mipaudit.reading.summaries.inputs import listed, read_summaries
from mipaudit.reading.summaries.source import add_up, counts_content
from mipaudit.statements.provenance.origin import InputFile
from mipaudit.statements.provenance.provenance import provenance

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mipaudit.commands.estimate.report import Report
    from mipaudit.commands.estimate.terms import Terms
    from mipaudit.evidence.judgement.blind import Blind
    from mipaudit.reading.summaries.file import SummaryFile
    from mipaudit.statements.provenance.origin import Setting

_PLAIN_NAN = "error"


def audit_summaries(
    data: Any,  # noqa: ANN401 - one summary or several
    reading: Mapping[str, Any],
    terms: Terms,
    settings: tuple[Setting, ...],
    blind: Blind | None = None,
) -> Report:
    """Return the report on counted scores.

    Args:
        data: paths, globs, or what `summarize` returned.
        reading: what was said of how scores are read: nothing, since they were.
        terms: of the audit.
        settings: recorded in the provenance.
        blind: what the records alone tell, if it is known.

    Raises:
        UsageError: something is asked for that takes scores.
        InputError: a file is no summary, or they do not belong together.
    """
    _require_no_reading(reading)
    _require_counted(terms)
    files = read_summaries(listed(data))
    source, summary = add_up(files)
    if not summary.n_members or not summary.n_holdout:
        raise empty_class_error(members=not summary.n_members)
    counts = Counts(
        columns=summary.columns,
        n_members=summary.n_members,
        n_holdout=summary.n_holdout,
        mace=None,
        seeds=(terms.seed.in_use(counts_content(files, summary)),) * len(summary.columns),
    )
    require_spread(counts.columns[0])
    inputs = [_described(one) for one in files]
    if blind is not None:
        require_same_records(blind, counts.n_members, counts.n_holdout, inputs)
    made = provenance(
        seed=terms.seed,
        inputs=inputs,
        settings=settings,
        seeds={None: counts.seeds[0]},
    )
    return audit(source, counts, terms, made, blind)


def _require_no_reading(reading: Mapping[str, Any]) -> None:
    """Refuse settings that say how scores are read."""
    plain: tuple[object, ...] = (None, (), _PLAIN_NAN)
    given = [
        name.replace("_", " ")
        for name, value in reading.items()
        if not (value is None or (isinstance(value, (str, tuple)) and value in plain))
    ]
    require(
        not given,
        "not_for_summaries",
        f"A summary is read already; this says how to read scores: {', '.join(given)}.",
        "Say it to mipaudit summarize.",
    )


def _require_counted(terms: Terms) -> None:
    """Refuse what cannot be told from counts by cells."""
    require(
        terms.method == "prequential",
        "not_for_summaries",
        f"--method {terms.method} needs scores; a summary has none.",
        "Leave it out, or audit the scores.",
    )
    require(
        not terms.discrete,
        "not_for_summaries",
        "Whether a score is discrete was decided when it was summarized.",
        "Give --discrete to mipaudit summarize.",
    )


def _described(file: SummaryFile) -> InputFile:
    rows = file.manifest.n_members + file.manifest.n_holdout
    return InputFile(name=file.name, rows=rows, bytes=file.size, sha256=file.sha256)
