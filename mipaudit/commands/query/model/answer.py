"""Scores that were made of a model, with their report."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, BinaryIO, Final

import numpy as np
from numpy.typing import NDArray

from mipaudit.commands.query.model.report import ModelQueryReport, WrittenScore
from mipaudit.errors import InputError
from mipaudit.evidence.scores.curves import spread_alone
from mipaudit.evidence.scores.findings import size_findings
from mipaudit.output.rows import RowFormat, table_of, write_rows

if TYPE_CHECKING:
    import pyarrow as pa

    from mipaudit.model.message import Finding, Message
    from mipaudit.statements.origin import Provenance


_CHUNK: Final = 1 << 16


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ModelQuery:
    """Scores made of a model's outputs.

    Attributes:
        columns: arrays of one length by name: ``member``, then the scores.
        report: what they are.
    """

    columns: Mapping[str, NDArray[Any]]
    report: ModelQueryReport

    @property
    def table(self) -> pa.Table:
        """Return the columns as an Arrow table, as ``estimate`` takes it."""
        return table_of(self._chunks(), columns=[*self.columns])

    def write(self, file: BinaryIO, form: RowFormat) -> None:
        """Write the score file."""
        write_rows(file, self._chunks(), form, columns=[*self.columns], repeating=("label",))

    def _chunks(self) -> Iterator[Mapping[str, NDArray[Any]]]:
        rows = self.columns["member"].size
        for start in range(0, rows, _CHUNK):
            yield {name: one[start : start + _CHUNK] for name, one in self.columns.items()}


def require_rows(found: int, wanted: int, name: str) -> None:
    """Raise InputError ``rows_differ`` unless two inputs have one row for each record."""
    if found != wanted:
        raise InputError(
            "rows_differ",
            f"{name}: {found:,} rows, where the outputs have {wanted:,}.",
            hint="Every file has one row for each record, in the same order.",
        )


def require_both_classes(
    member: NDArray[np.bool_], hint: str = "Check who is marked as a member."
) -> None:
    """Raise InputError ``empty_class`` unless there are members and holdout records."""
    for chosen, missing in ((member, "member"), (~member, "holdout record")):
        if not chosen.any():
            raise InputError("empty_class", f"No row is a {missing}.", hint=hint)


def model_query(  # noqa: PLR0913 - what a report of either kind says
    command: str,
    scores: Mapping[str, tuple[str, NDArray[Any]]],
    others: Mapping[str, NDArray[Any]],
    *,
    classes: int | None = None,
    models: int | None = None,
    variance: str | None = None,
    findings: Sequence[Finding],
    limitations: Sequence[Message],
    provenance: Provenance,
) -> ModelQuery:
    """Return the columns and their report.

    Args:
        command: that made them.
        scores: meaning and values of each score column.
        others: ``member`` and what else is no score.
        classes: of the model.
        models: shadow models.
        variance: of the normal laws.
        findings: what the reader must know.
        limitations: what the scores do not show.
        provenance: where they came from.
    """
    member = others["member"]
    inside = int(np.count_nonzero(member))
    columns = {**others, **{name: values for name, (_, values) in scores.items()}}
    report = ModelQueryReport(
        command=command,
        n_members=inside,
        n_holdout=int(member.size) - inside,
        classes=classes,
        models=models,
        variance=variance,
        columns=tuple(columns),
        scores=tuple(
            WrittenScore(
                name=name, meaning=meaning, infinite=int(np.count_nonzero(np.isinf(values)))
            )
            for name, (meaning, values) in scores.items()
        ),
        findings=(*size_findings(inside, int(member.size) - inside), *findings),
        limitations=tuple(limitations),
        provenance=provenance,
        curves=tuple(
            spread_alone(name, np.asarray(values, dtype=np.float64), member)
            for name, (_, values) in scores.items()
        ),
    )
    return ModelQuery(columns=columns, report=report)
