"""What a report of ``query losses`` and of ``query lira`` shows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mipaudit.formats.document import Document, Pairs, Paragraph, bulleted
from mipaudit.formats.policy_blocks import no_policy
from mipaudit.statements.text.rounding import count_text

if TYPE_CHECKING:
    from mipaudit.commands.query.model.report import ModelQueryReport


def model_query_document(report: ModelQueryReport) -> Document:
    """Return the report as a document."""
    pairs = tuple(
        (
            one.name,
            f"{one.meaning}{f'; infinite in {count_text(one.infinite)} rows' * bool(one.infinite)}",
        )
        for one in report.scores
    )
    sections = (
        (Paragraph(text="The scores:"), Pairs(pairs=pairs)),
        bulleted("Findings", [f"{f.code}: {f.text}" for f in report.findings]),
        bulleted("Keep in mind", report.limitations),
    )
    return Document(
        title=f"mipaudit {report.command}",
        headline="",
        mood="plain",
        summary=report.summary,
        sections=tuple(section for section in sections if section),
        cases=(no_policy(report.command),),
        created=report.provenance.created,
    )
