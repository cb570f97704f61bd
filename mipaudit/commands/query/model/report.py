"""What ``query losses`` and ``query lira`` say: the JSON format ``mipaudit.model-query/2``."""

from __future__ import annotations

from dataclasses import dataclass

from mipaudit.statements.estimate import Finding  # noqa: TC001 - the codec reads them
from mipaudit.statements.origin import Provenance  # noqa: TC001
from mipaudit.statements.reports.kinds import schema_of


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenScore:
    """A score column of the file that was written.

    Attributes:
        name: of the column.
        meaning: what it is, and where members score.
        infinite: rows in which it is infinite.
    """

    name: str
    meaning: str
    infinite: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelQueryReport:
    """Scores made of a model's outputs.

    Attributes:
        summary: what was made, in plain words.
        n_members: rows of members.
        n_holdout: rows of holdout records.
        classes: classes of the model; None for `query lira`.
        models: shadow models; None for `query losses`.
        variance: ``fixed`` or ``per-record``, of `query lira`.
        columns: of the file, in order.
        scores: the score columns among them.
    """

    command: str
    summary: str
    n_members: int
    n_holdout: int
    classes: int | None
    models: int | None
    variance: str | None
    columns: tuple[str, ...]
    scores: tuple[WrittenScore, ...]
    findings: tuple[Finding, ...]
    limitations: tuple[str, ...]
    provenance: Provenance
    schema: str = schema_of("query losses")
