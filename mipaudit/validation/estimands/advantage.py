"""The advantage of the best of all attackers and of the best of a class, on one number or several.

What thresholds on one side of the score reach belongs to it: the AUC, and the TPR at an FPR.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, ClassVar, Final

from mipaudit.validation.estimands.audited_file import AuditedFile, AuditedVector
from mipaudit.validation.estimands.estimand import Args, Estimand, Interval, one_sided

if TYPE_CHECKING:
    from mipaudit.statements.estimate import Attackers
    from mipaudit.validation.laws.law import Law, Side

_INTERVALS: Final[Mapping[Attackers, int]] = {"intervals-1": 1, "intervals-4": 4}


class Advantage(Estimand):
    """Of the best of all attackers."""

    name = "advantage"
    meaning = "advantage of the best of all attackers"
    trivial = True
    statements = frozenset({("advantage", "any")})

    def _value(self, law: Law, prior: float) -> float:
        return law.advantage(prior)


class _Restated(Advantage):
    """The advantage on another scale."""

    restates = "advantage"
    slope: ClassVar[float]

    def _value(self, law: Law, prior: float) -> float:
        return self._moved(super()._value(law, prior), prior)

    def baseline(self, prior: float, args: Args) -> float:
        """Return the trivial attacker's value on this scale."""
        return self._moved(super().baseline(prior, args), prior)

    def _moved(self, advantage: float, prior: float) -> float:
        return self.slope * (advantage - abs(2 * prior - 1))


class Excess(_Restated):
    """The advantage above the trivial attacker's."""

    name = "excess"
    meaning = "advantage above the trivial attacker's"
    statements = frozenset({("excess", "any")})
    slope = 1.0


class Eta(_Restated):
    """Accuracy above the trivial attacker's (MIP)."""

    name = "eta"
    meaning = "accuracy above the trivial attacker's"
    statements = frozenset({("eta", "any")})
    slope = 0.5


class Accuracy(_Restated):
    """The share of challenged records that the best attacker guesses right."""

    name = "accuracy"
    meaning = "accuracy of the best of all attackers"
    statements = frozenset({("accuracy", "any")})

    def _moved(self, advantage: float, _prior: float) -> float:
        return (1 + advantage) / 2


class AdvantageThresholds(Advantage):
    """Of the best threshold, in either direction, or of guessing."""

    name = "advantage_thresholds"
    meaning = "advantage of the best threshold"
    statements = frozenset({("advantage", "thresholds")})

    def _value(self, law: Law, prior: float) -> float:
        return law.advantage_thresholds(prior)


class AdvantageIntervals(Estimand):
    """Of the best union of at most k intervals, or its complement; ``args`` is (k,)."""

    name = "advantage_intervals"
    meaning = "advantage of the best attacker with few intervals"
    trivial = True
    statements = frozenset({("advantage", attackers) for attackers in _INTERVALS})
    takes = ((int,),)

    def _value(self, law: Law, prior: float, k: int) -> float:
        return law.advantage_intervals(prior, k)

    def intervals(self, audited: AuditedFile) -> Iterator[Interval]:
        """Return what is stated of one interval, and of up to four."""
        for attackers, k in _INTERVALS.items():
            for estimate in audited.stated("advantage", attackers):
                yield self.interval_of(estimate, args=(k,), label=f"{self.name}({k})")


class AdvantageBins(Estimand):
    """Where only the bin is seen; ``args`` are the cut points, chosen on the burn-in."""

    name = "advantage_bins"
    meaning = "advantage of the best attacker who sees one of 16 bins"
    trivial = True
    statements = frozenset({("advantage", "bins-16")})

    def _accepts(self, args: Args) -> bool:
        return not any(isinstance(edge, str) for edge in args)

    def _value(self, law: Law, prior: float, *edges: float) -> float:
        return law.advantage_bins(prior, edges)

    def intervals(self, audited: AuditedFile) -> Iterator[Interval]:
        """Return what is stated of the bins that were cut."""
        for estimate in audited.stated("advantage", "bins-16"):
            yield self.interval_of(estimate, args=audited.bin_edges)


class Auc(Estimand):
    """P(member above holdout) + P(tie)/2, or below it on the low side.

    ``args`` is (side,), the side ``either`` for the better one.
    """

    name = "auc"
    meaning = "area under the ROC curve of the better side"
    statements = frozenset({("auc", "thresholds")})
    takes = ((str,),)

    def _value(self, law: Law, _prior: float, side: str) -> float | None:
        high = law.auc()
        return {"high": high, "low": 1 - high, "either": max(high, 1 - high)}.get(side)

    def baseline(self, _prior: float, _args: Args) -> float:
        """Return one half."""
        return 0.5

    def intervals(self, audited: AuditedFile) -> Iterator[Interval]:
        """Return the AUC of the side that its lower limit is stated of.

        A lower limit of 1/2 is one of the better side, whichever that is.
        """
        for estimate in audited.stated("auc", "thresholds"):
            shown = estimate.lower is not None and estimate.lower > self.baseline(0.5, ())
            yield self.interval_of(estimate, args=(str(estimate.side) if shown else "either",))


class TprAtFpr(Estimand):
    """TPR at an FPR; ``args`` is (fpr, side), the side ``either`` for the better one."""

    name = "tpr_at_fpr"
    meaning = "true-positive rate at a false-positive rate"
    statements = frozenset({("tpr_at_fpr", "thresholds")})
    takes = ((float, str),)

    def _value(self, law: Law, _prior: float, fpr: float, side: str) -> float:
        sides: tuple[Side, ...] = ("high", "low")
        return max(law.tpr_at_fpr(fpr, one) for one in sides if side in {one, "either"})

    def baseline(self, _prior: float, args: Args) -> float:
        """Return the FPR itself."""
        return float(args[0])

    def intervals(self, audited: AuditedFile) -> Iterator[Interval]:
        """Return the lower limit on the chosen side, and the upper one for both."""
        for estimate in audited.stated("tpr_at_fpr", "thresholds"):
            fpr, nominal = float(estimate.fpr or 0), one_sided(estimate.confidence)
            yield self.interval(
                estimate.lower,
                None,
                nominal=nominal,
                value=estimate.value,
                args=(fpr, str(estimate.side)),
                label=f"tpr@{fpr:g}",
                finite_sample=estimate.validity == "finite-sample",
            )
            yield self.interval(
                None,
                estimate.upper,
                nominal=nominal,
                args=(fpr, "either"),
                label=f"tpr@{fpr:g}, either side",
                finite_sample=estimate.validity == "finite-sample",
            )


class AdvantageVector(Estimand):
    """Of the best of all attackers on a vector, or of a class that was fitted to the file.

    ``args`` is empty for all attackers, and (class, its true advantage) otherwise: which
    learned score and which cells are meant differs from file to file.
    """

    name = "advantage_vector"
    meaning = "advantage of attackers who see several numbers"
    trivial = True
    by_name_only = True
    vectorial = True
    takes = ((), (str, float))

    def _value(self, law: Law, prior: float, _of: str = "", known: float | None = None) -> float:
        return law.advantage(prior) if known is None else known

    def intervals(self, audited: AuditedFile) -> Iterator[Interval]:
        """Return what is stated of any attacker, of the learned score and of the grid."""
        if not isinstance(audited, AuditedVector):
            return
        for estimate in audited.stated("advantage", "any"):
            yield self.interval_of(estimate)
        for estimate in audited.stated("advantage", "learned"):
            yield self.interval_of(
                estimate, args=("learned", audited.learned_truth), label=f"{self.name}, learned"
            )
        truth = audited.grid_truth
        for estimate in audited.stated("advantage", "product-grid"):
            if truth is not None:
                yield self.interval_of(
                    estimate, args=("product-grid", truth), label=f"{self.name}, product grid"
                )
