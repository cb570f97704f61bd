"""A trade-off curve that is claimed: read, checked, and called by its file's name."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from mipaudit.options.plain_values import number, path_of, require

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mipaudit.maths.privacy.tradeoff import TradeOff
    from mipaudit.statements.origin import InputFile

_GIVEN: Final = "the points given"
_FORMS: Final = (
    "claimed_curve must be a path, or two sequences of equal length: FPR, and the most TPR at "
    "each, from the FPR to 1."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedCurve:
    """A claimed bound of every attacker's ROC, and what the report calls it."""

    name: str
    curve: TradeOff


def named_curve(given: Any) -> tuple[NamedCurve | None, tuple[InputFile, ...]]:  # noqa: ANN401
    """Return the curve, None without one, and the file that it was read from.

    Raises:
        UsageError: neither a path nor points of an ROC.
        InputError: the file cannot be read as such points.
    """
    if given is None:
        return None, ()
    from mipaudit.maths.privacy.points_of_curve import sampled_tradeoff

    path = path_of(given)
    if isinstance(path, str):
        from mipaudit.reading.sheets.roc_points import read_roc_points
        from mipaudit.statements.text.printable_names import safe_name

        points = read_roc_points(path)
        curve = sampled_tradeoff(points.fpr.tolist(), points.tpr.tolist())
        return NamedCurve(name=safe_name(points.source.name), curve=curve), (points.source,)
    return NamedCurve(name=_GIVEN, curve=sampled_tradeoff(*_points(given))), ()


def _points(given: Any) -> tuple[Sequence[float], Sequence[float]]:  # noqa: ANN401
    sequences = list(given) if isinstance(given, (tuple, list)) else []
    require(len(sequences) == len(("fpr", "tpr")), "claimed_curve", _FORMS)
    fprs, tprs = ([number("claimed_curve", value) for value in one] for one in sequences)
    inside = all(0 <= fpr <= tpr <= 1 for fpr, tpr in zip(fprs, tprs, strict=False))
    require(0 < len(fprs) == len(tprs) and inside, "claimed_curve", _FORMS)
    return fprs, tprs
