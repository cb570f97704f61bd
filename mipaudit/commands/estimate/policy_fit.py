"""Whether the limits of a policy can be judged on the scores that were found."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from mipaudit.errors import UsageError
from mipaudit.statements.text.printable_names import safe_name
from mipaudit.summaries.cells.vector_cells import MOST_COORDINATES

if TYPE_CHECKING:
    from mipaudit.reading.source.audited import AuditedInput
    from mipaudit.statements.estimate import Attackers
    from mipaudit.statements.policy import Limit, Policy

_VECTOR_CLASSES: Final = frozenset({"learned", "product-grid"})
_ORDERED: Final = frozenset({"auc", "tpr_at_fpr"})


def require_fit(source: AuditedInput, policy: Policy) -> None:
    """Refuse a policy that says what cannot be judged on the scores.

    Raises:
        UsageError: ``no_such_score``, ``no_order`` or ``no_such_class``.
    """
    for limit in policy.every_limit:
        _require_score(source, limit)
        _require_order(source, limit)
    # It is checked also where it has nothing to judge.
    pairs = {(policy.against, None), *((one.against, one.score) for one in policy.every_limit)}
    for against, score in sorted(pairs, key=str):
        _require_class(source, against, score)


def _require_score(source: AuditedInput, limit: Limit) -> None:
    names = [source.columns[at].name for at in source.scalars]
    names += [vector.name for vector in source.vectors]
    if limit.score is not None and limit.score not in names:
        known = ", ".join(f"'{safe_name(name)}'" for name in names)
        raise UsageError(
            "no_such_score",
            f"The policy limits {limit.quantity} of the score '{safe_name(limit.score)}', which "
            "is not audited.",
            hint=f"The scores here: {known}. Name it with `score_columns` if the input has it.",
        )


def _require_order(source: AuditedInput, limit: Limit) -> None:
    """Labels have no order, so no threshold or interval makes sense on them."""
    asks = limit.quantity in _ORDERED or limit.against not in {None, "any"}
    for column in (source.columns[at] for at in source.scalars):
        if asks and column.kind == "string" and limit.score in {None, column.name}:
            raise UsageError(
                "no_order",
                f"Column '{safe_name(column.name)}' holds labels, which have no order: a limit on "
                "AUC, on TPR at an FPR, or on attackers with thresholds, cannot be judged on it.",
                hint="Use `max_advantage` with `against` any, or name another `score_columns`.",
            )


def _require_class(source: AuditedInput, against: Attackers | None, score: str | None) -> None:
    """A class of attackers must make sense on every score that a policy is judged on."""
    scalars = [source.columns[at] for at in source.scalars]
    scalars = [column for column in scalars if score in {None, column.name}]
    vectors = [vector for vector in source.vectors if score in {None, vector.name}]
    of_vectors = against in _VECTOR_CLASSES
    if against in {None, "any"} or (of_vectors and against == "learned" and not scalars):
        return
    if not of_vectors and any(column.kind == "string" for column in scalars):
        raise UsageError(
            "no_order",
            f"Attackers '{against}' make no sense on labels, which have no order.",
            hint="Use `against` any, or name another `score_columns`.",
        )
    if scalars and of_vectors:
        raise UsageError(
            "no_such_class",
            f"Attackers '{against}' exist for scores of several numbers alone, and "
            f"'{safe_name(scalars[0].name)}' is a single one.",
            hint="Name the others alone, or judge the scores in separate runs.",
        )
    for vector in vectors:
        if not of_vectors or len(vector.coordinates) > MOST_COORDINATES:
            raise UsageError(
                "no_such_class",
                f"Score '{safe_name(vector.name)}' has {len(vector.coordinates)} numbers: there "
                f"is no upper limit for attackers '{against}'.",
                hint="Use `against` learned"
                + (" or product-grid." if len(vector.coordinates) <= MOST_COORDINATES else "."),
            )
