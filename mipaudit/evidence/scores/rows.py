"""The rows of the report for one score: each limit at its share of the error.

The exact test of whether the groups differ at all along a score: one row, no limit.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from mipaudit.evidence.scores.evidence import BINS, FALSE_POSITIVE_RATES, Evidence
from mipaudit.maths.advantage import baseline
from mipaudit.maths.class_limits.threshold_limits import fewest_holdout
from mipaudit.maths.exact_tests import MOST_ROWS, difference_p_value
from mipaudit.model.message import Message
from mipaudit.model.row import Attackers, Row

if TYPE_CHECKING:
    from mipaudit.maths.class_limits.roc_counts import Ladder

PREQUENTIAL: Final = "attackers fitted on the burn-in and on earlier blocks, scored on later ones"
_NO_UPPER: Final = Message("upper_of_classes")
# The stream of the report's seed from which labels are drawn.
_STREAM: Final = 7
_TOO_FEW: Final = Message("vacuous_tpr")
_NO_LIMIT: Final = Message("p_value_without_limits")


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorShare:
    """The two-sided error of one score column: (1 - confidence) over the columns.

    Where all rows share it, ``columns`` counts their pairs of limits.
    """

    confidence: float
    columns: int

    @property
    def two_sided(self) -> float:
        """Return the error of an interval."""
        return (1 - self.confidence) / self.columns

    @property
    def one_sided(self) -> float:
        """Return the error of one limit."""
        return self.two_sided / 2


def pairs_of_limits(evidence: Evidence) -> int:
    """Return how many statements of a score can be wrong on their own.

    Excess, eta and accuracy are the advantage in other terms.
    """
    if not evidence.ordered:
        return 1
    one_sided = 0 if evidence.vectorial else 1 + len(FALSE_POSITIVE_RATES)
    return 1 + len(evidence.classes) + one_sided


def score_estimates(evidence: Evidence, share: ErrorShare) -> list[Row]:
    """Return every row of one score, the advantage first."""
    for_any = _restated(_any_advantage(evidence, share), evidence.prior)
    if not evidence.ordered:
        return for_any
    return [
        *for_any,
        *(_class_advantage(evidence, share, attackers) for attackers in evidence.classes),
        _auc(evidence, share),
        *(_tpr(evidence, share, fpr) for fpr in FALSE_POSITIVE_RATES),
    ]


def advantage_estimates(evidence: Evidence, share: ErrorShare) -> list[Row]:
    """Return the rows on the advantage alone: any attacker first, then the named classes."""
    return [
        _any_advantage(evidence, share),
        *(_class_advantage(evidence, share, attackers) for attackers in evidence.classes),
    ]


def _any_advantage(evidence: Evidence, share: ErrorShare) -> Row:
    row = any_attacker(
        evidence,
        share,
        evidence.upper("any", share.one_sided),
        evidence.judged,
        method=evidence.held_out.method,
        selection=PREQUENTIAL,
    )
    return replace(
        row,
        value=evidence.held_out.value,
        lower=evidence.lower(share.one_sided),
        plugin=evidence.plugin,
    )


def any_attacker(
    evidence: Evidence,
    share: ErrorShare,
    upper: float | None,
    judged: tuple[int, int],
    *,
    method: str,
    selection: str,
) -> Row:
    """Return the row of any attacker, to be given a value and a lower limit.

    Args:
        evidence: of the score.
        share: of the error.
        upper: the upper limit, None where there is none.
        judged: the rows that attackers were scored on: holdout, members.
        method: of the lower limit.
        selection: which rows chose the attackers, and which scored them.
    """
    n_holdout, n_members = judged
    return Row(
        quantity="advantage",
        score=evidence.score,
        method=method,
        attackers="any",
        upper=upper,
        upper_reason=_NO_UPPER if upper is None else None,
        confidence=share.confidence,
        selection=selection,
        validity="finite-sample" if evidence.strict else "approximate",
        n_members=n_members,
        n_holdout=n_holdout,
    )


def _restated(advantage: Row, prior: float) -> list[Row]:
    """Return the advantage with the same statement as excess, eta and accuracy."""
    guessing = baseline(prior)

    def moved(scale: float, shift: float, quantity: str) -> Row:
        def move(value: float | None) -> float | None:
            return None if value is None else value * scale + shift

        return replace(
            advantage,
            quantity=quantity,  # type: ignore[arg-type]
            value=move(advantage.value),
            lower=move(advantage.lower),
            upper=move(advantage.upper),
            plugin=move(advantage.plugin),
        )

    return [
        advantage,
        moved(1.0, -guessing, "excess"),
        moved(0.5, -guessing / 2, "eta"),
        moved(0.5, 0.5, "accuracy"),
    ]


def _class_advantage(evidence: Evidence, share: ErrorShare, attackers: Attackers) -> Row:
    observed = evidence.observed(attackers)
    upper = evidence.upper(attackers, share.one_sided)
    method = "largest of each set's own limit"
    return of_class(evidence, share, attackers, observed, upper, method=method)


def of_class(
    evidence: Evidence,
    share: ErrorShare,
    attackers: Attackers,
    observed: tuple[float, int, int],
    upper: float | None,
    *,
    method: str,
) -> Row:
    """Return the row of a class of attackers.

    Args:
        evidence: of the score.
        share: of the error.
        attackers: the class.
        observed: the same-data optimum, with members and holdout records behind it.
        upper: the upper limit, None where the burn-in was too small to cut the cells.
        method: of the upper limit.
    """
    plugin, n_members, n_holdout = observed
    selection = "all rows; the class was fixed before"
    if attackers == "bins-16" and not evidence.few_values:
        selection = f"{BINS} cells of equal mass cut on the burn-in, the other rows counted"
    return Row(
        quantity="advantage",
        score=evidence.score,
        method=method,
        attackers=attackers,
        value_reason=Message("same_data"),
        plugin=plugin,
        lower_reason=Message("lower_of_any"),
        upper=upper,
        upper_reason=Message("few_to_cut") if upper is None else None,
        confidence=share.confidence,
        selection=selection,
        validity="finite-sample" if evidence.strict else "approximate",
        n_members=n_members,
        n_holdout=n_holdout,
    )


def _auc(evidence: Evidence, share: ErrorShare) -> Row:
    area = evidence.auc(share.one_sided)
    everyone = evidence.counts.everyone
    given = evidence.member_side is not None
    return Row(
        quantity="auc",
        score=evidence.score,
        method=area.method,
        attackers="thresholds",
        value=area.value,
        lower=area.lower,
        upper=area.upper,
        confidence=share.confidence,
        selection=f"all rows, side {'given' if given else 'chosen on them'}",
        validity="approximate",
        n_members=everyone.n_members,
        n_holdout=everyone.n_holdout,
        side=evidence.area[1],
    )


def _tpr(evidence: Evidence, share: ErrorShare, fpr: float) -> Row:
    ladder = evidence.one_sided
    point = evidence.tpr(fpr, share.one_sided)
    upper = evidence.tpr_upper(fpr, share.one_sided)
    needed = fewest_holdout(fpr, evidence.side_error(share.one_sided))
    short = None
    if point.lower is None:
        short = Message.of("few_holdout", holdout=ladder.n_holdout, needed=needed)
    return Row(
        quantity="tpr_at_fpr",
        score=evidence.score,
        method="staircase of holdout ranks, no draws among ties",
        attackers="thresholds",
        value=point.value if short is None else None,
        value_reason=short,
        lower=point.lower,
        lower_reason=short,
        upper=upper if upper < 1 else None,
        upper_reason=_TOO_FEW if upper >= 1 else None,
        confidence=share.confidence,
        selection=_side_selection(evidence)
        + (", as wide as at a lower FPR" if evidence.tpr_widened(fpr, share.one_sided) else ""),
        validity="finite-sample",
        n_members=ladder.n_members,
        n_holdout=ladder.n_holdout,
        fpr=fpr,
        side=evidence.area[1],
    )


def _side_selection(evidence: Evidence) -> str:
    if evidence.member_side is not None:
        return "all rows, side given"
    return "all rows, side chosen on them at half the error; upper limit over both sides"


def any_difference(evidence: Evidence, confidence: float) -> Row:
    """Return the p-value of 'membership tells nothing about this score' as a row.

    Exact, for this score alone. What it finds may be membership, or any other difference of
    the groups.

    Args:
        evidence: of the score.
        confidence: of the report; the p-value does not depend on it.
    """
    ladder, selection = _rows(evidence)
    too_many = ladder.n_members + ladder.n_holdout > MOST_ROWS
    return Row(
        quantity="any_difference",
        score=evidence.score,
        method="labels permuted: ranks, scale, tails and chi-squared by the least p-value",
        attackers="any",
        value=None
        if too_many
        else difference_p_value(ladder, seed=[evidence.seed, _STREAM], ordered=evidence.ordered),
        value_reason=Message.of("many_to_count", rows=MOST_ROWS) if too_many else None,
        lower=None,
        lower_reason=_NO_LIMIT,
        upper=None,
        upper_reason=_NO_LIMIT,
        confidence=confidence,
        selection=selection,
        validity="finite-sample",
        n_members=ladder.n_members,
        n_holdout=ladder.n_holdout,
    )


def difference_shown(p_value: float | None, error: float) -> float | None:
    """Return a lower limit of 'the groups differ' (1 if they do, 0 if not), one-sided error.

    Args:
        p_value: of the test; None where it was not counted.
        error: in (0, 1).
    """
    return None if p_value is None else float(p_value <= error)


def joint_p_value(rows: Iterable[Row]) -> float | None:
    """Return a p-value of 'no score shows anything' (Bonferroni); None without any row."""
    found = [
        row.value for row in rows if row.quantity == "any_difference" and row.value is not None
    ]
    return min(1.0, len(found) * min(found)) if found else None


def _rows(evidence: Evidence) -> tuple[Ladder, str]:
    """Return the rows whose labels are exchangeable given the steps they are counted on.

    Single values depend on no label. The fine cells of large inputs, and a learned score,
    depend on the labels of burn-in rows, which then do not count.
    """
    everyone = evidence.counts.everyone
    if everyone.single.all() and not evidence.vectorial:
        return everyone, "all rows"
    return evidence.counts.evaluated, "rows outside the burn-in, which chose the cells"
