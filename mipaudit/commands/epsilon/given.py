"""What is given in place of scores, or claimed of them: counts, and a trade-off curve."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from mipaudit.errors import UsageError
from mipaudit.options.values import path_of
from mipaudit.statements.printable_names import safe_name

if TYPE_CHECKING:
    from mipaudit.maths.privacy.tradeoff import TradeOff
    from mipaudit.statements.provenance import InputFile

    Rates = tuple[float, ...]

_GIVEN: Final = "the points given"
_FORMS: Final = (
    "must be a path, or two sequences of equal length: FPR, and the most TPR at each, from the FPR "
    "to 1"
)


class AttackTable(NamedTuple):
    """Guesses of an attack that was fixed beforehand, on independent runs."""

    tp: int
    fn: int
    fp: int
    tn: int


class CanaryTotals(NamedTuple):
    """Guesses about canaries of which only the totals are known."""

    canaries: int
    guesses: int
    correct: int


def attack_table(
    tp: int | None, fn: int | None, fp: int | None, tn: int | None
) -> AttackTable | None:
    """Return the counts of independent runs, or None where none is given.

    Raises:
        UsageError: not all four, or no run of a kind.
    """
    if tp is None and fn is None and fp is None and tn is None:
        return None
    if tp is None or fn is None or fp is None or tn is None:
        raise UsageError(
            "counts", "The counts of an attack are `tp`, `fn`, `fp` and `tn`, all four."
        )
    if not (tp + fn > 0 and fp + tn > 0):
        raise UsageError(
            "counts",
            "There must be runs with the record (`tp` + `fn`) and runs without it (`fp` + `tn`).",
        )
    return AttackTable(tp, fn, fp, tn)


def canary_totals(
    canaries: int | None, guesses: int | tuple[int, int] | None, correct: int | None
) -> CanaryTotals | None:
    """Return the counts of one run, or None where none is given.

    Raises:
        UsageError: not all three, or guesses of two kinds.
    """
    if canaries is None and correct is None:
        return None
    if canaries is None or guesses is None or correct is None:
        raise UsageError(
            "counts", "The counts of one run are `canaries`, `guesses` and `correct`, all three."
        )
    if isinstance(guesses, tuple):
        raise UsageError(
            "guesses", "Beside `canaries`, `guesses` takes one number: all guesses made."
        )
    return CanaryTotals(canaries, guesses, correct)


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedCurve:
    """A claimed bound of every attacker's ROC.

    Attributes:
        name: what the report calls it.
        curve: the bound.
        source: the file that it was read from, if any.
    """

    name: str
    curve: TradeOff
    source: InputFile | None = None


def claimed(given: Any) -> str | tuple[Rates, Rates]:  # noqa: ANN401 - a path, or points
    """Return the path of a file, or the points of an ROC.

    Raises:
        ValueError: it is neither.
    """
    path = path_of(given)
    if isinstance(path, str):
        return path
    try:
        fprs, tprs = (tuple(map(float, one)) for one in given)
    except (TypeError, ValueError):
        raise ValueError(_FORMS) from None
    inside = all(0 <= fpr <= tpr <= 1 for fpr, tpr in zip(fprs, tprs, strict=False))
    if not (0 < len(fprs) == len(tprs) and inside):
        raise ValueError(_FORMS)
    return fprs, tprs


def called(given: str | tuple[Rates, Rates] | None) -> str | None:
    """Return what a report says of a claimed curve."""
    return _GIVEN if isinstance(given, tuple) else given


def named_curve(given: str | tuple[Rates, Rates]) -> NamedCurve:
    """Return the curve.

    Raises:
        InputError: the file cannot be read as points of an ROC.
    """
    from mipaudit.maths.privacy.points_of_curve import sampled_tradeoff

    if not isinstance(given, str):
        fprs, tprs = given
        return NamedCurve(name=_GIVEN, curve=sampled_tradeoff(fprs, tprs))
    from mipaudit.data.tables.roc_points import read_roc_points

    rates, source = read_roc_points(given)
    curve = sampled_tradeoff(*rates.T.tolist())
    return NamedCurve(name=safe_name(source.name), curve=curve, source=source)
