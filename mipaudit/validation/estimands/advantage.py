"""The advantage of the best of all attackers and of the best of a class, on one number or several.

What thresholds on one side of the score reach belongs to it: the AUC, and the TPR at an FPR.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, ClassVar, Final

from mipaudit.validation.estimands.audited_file import AuditedFile, AuditedVector
from mipaudit.validation.estimands.estimand import (
    Args,
    Estimand,
    Interval,
    one_sided,
    wrong_arguments,
)

if TYPE_CHECKING:
    from mipaudit.statements.estimate import Attackers, Estimate
    from mipaudit.validation.laws.law import Law

_INTERVALS: Final[Mapping[Attackers, int]] = {"intervals-1": 1, "intervals-4": 4}


class Advantage(Estimand):
    """Of the best of all attackers."""

    name = "advantage"
    meaning = "advantage of the best of all attackers"
    trivial = True
    statements = frozenset({("advantage", "any")})

    def truth(self, law: Law, prior: float, args: Args) -> float:
        """Return E|f_p|, in [|2p-1|, 1]."""
        if args:
            raise wrong_arguments(self)
        return law.advantage(prior)

    def intervals(self, audited: AuditedFile) -> Iterator[Interval]:
        """Return what is stated of any attacker."""
        for estimate in audited.stated("advantage", "any"):
            yield self.interval_of(estimate)


class _Restated(Advantage):
    """The advantage on another scale."""

    restates = "advantage"
    slope: ClassVar[float]

    def truth(self, law: Law, prior: float, args: Args) -> float:
        """Return the true value on this scale."""
        return self._moved(super().truth(law, prior, args), prior)

    def baseline(self, prior: float, args: Args) -> float:
        """Return the trivial attacker's value on this scale."""
        return self._moved(super().baseline(prior, args), prior)

    def intervals(self, audited: AuditedFile) -> Iterator[Interval]:
        """Return what is stated on this scale."""
        for quantity, attackers in self.statements:
            for estimate in audited.stated(quantity, attackers):
                yield self.interval_of(estimate)

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

    def _moved(self, advantage: float, prior: float) -> float:  # noqa: ARG002
        return (1 + advantage) / 2


class AdvantageThresholds(Advantage):
    """Of the best threshold, in either direction."""

    name = "advantage_thresholds"
    meaning = "advantage of the best threshold"
    statements = frozenset({("advantage", "thresholds")})

    def truth(self, law: Law, prior: float, args: Args) -> float:
        """Return the best advantage of a threshold or of guessing."""
        if args:
            raise wrong_arguments(self)
        return law.advantage_thresholds(prior)

    def intervals(self, audited: AuditedFile) -> Iterator[Interval]:
        """Return what is stated of thresholds."""
        for estimate in audited.stated("advantage", "thresholds"):
            yield self.interval_of(estimate)


class AdvantageIntervals(Advantage):
    """Of the best union of at most k intervals, or its complement; ``args`` is (k,)."""

    name = "advantage_intervals"
    meaning = "advantage of the best attacker with few intervals"
    statements = frozenset({("advantage", attackers) for attackers in _INTERVALS})

    def truth(self, law: Law, prior: float, args: Args) -> float:
        """Return the best advantage of at most k intervals."""
        match args:
            case (int(k),):
                return law.advantage_intervals(prior, k)
            case _:
                raise wrong_arguments(self)

    def intervals(self, audited: AuditedFile) -> Iterator[Interval]:
        """Return what is stated of one interval, and of up to four."""
        for attackers, k in _INTERVALS.items():
            for estimate in audited.stated("advantage", attackers):
                yield self.interval_of(estimate, args=(k,), label=f"{self.name}({k})")


class AdvantageBins(Advantage):
    """Where only the bin is seen; ``args`` are the cut points, chosen on the burn-in."""

    name = "advantage_bins"
    meaning = "advantage of the best attacker who sees one of 16 bins"
    statements = frozenset({("advantage", "bins-16")})

    def truth(self, law: Law, prior: float, args: Args) -> float:
        """Return the advantage that these bins allow."""
        return law.advantage_bins(prior, [float(edge) for edge in args])

    def intervals(self, audited: AuditedFile) -> Iterator[Interval]:
        """Return what is stated of the bins that were cut."""
        for estimate in audited.stated("advantage", "bins-16"):
            yield self.interval_of(estimate, args=audited.bin_edges)


class Auc(Estimand):
    """The area under the ROC curve on the side that was chosen; ``args`` is (side,)."""

    name = "auc"
    meaning = "area under the ROC curve on the chosen side"
    statements = frozenset({("auc", "thresholds")})

    def truth(self, law: Law, prior: float, args: Args) -> float:  # noqa: ARG002
        """Return P(member above holdout) + P(tie)/2, or below it on the low side."""
        match args:
            case ("high",):
                return law.auc()
            case ("low",):
                return 1 - law.auc()
            case _:
                raise wrong_arguments(self)

    def baseline(self, prior: float, args: Args) -> float:  # noqa: ARG002
        """Return one half."""
        return 0.5

    def intervals(self, audited: AuditedFile) -> Iterator[Interval]:
        """Return the AUC as stated."""
        for estimate in audited.stated("auc", "thresholds"):
            yield self.interval_of(estimate, args=(str(estimate.side),))


class TprAtFpr(Estimand):
    """TPR at an FPR; ``args`` is (fpr, side), the side ``either`` for the better one."""

    name = "tpr_at_fpr"
    meaning = "true-positive rate at a false-positive rate"
    statements = frozenset({("tpr_at_fpr", "thresholds")})

    def truth(self, law: Law, prior: float, args: Args) -> float:  # noqa: ARG002
        """Return the TPR, a coin tossed among ties."""
        match args:
            case (float(fpr), "high" | "low" as side):
                return law.tpr_at_fpr(fpr, side)
            case (float(fpr), "either"):
                return max(law.tpr_at_fpr(fpr, "high"), law.tpr_at_fpr(fpr, "low"))
            case _:
                raise wrong_arguments(self)

    def baseline(self, prior: float, args: Args) -> float:  # noqa: ARG002
        """Return the FPR itself."""
        return float(args[0])

    def intervals(self, audited: AuditedFile) -> Iterator[Interval]:
        """Return the lower limit on the chosen side, and the upper one for both."""
        for estimate in audited.stated("tpr_at_fpr", "thresholds"):
            yield self._lower(estimate)
            yield self._upper(estimate)

    def _lower(self, estimate: Estimate) -> Interval:
        fpr, side = float(estimate.fpr or 0), str(estimate.side)
        return self.interval(
            estimate.lower,
            None,
            nominal=one_sided(estimate.confidence),
            value=estimate.value,
            args=(fpr, side),
            label=f"tpr@{fpr:g}",
        )

    def _upper(self, estimate: Estimate) -> Interval:
        fpr = float(estimate.fpr or 0)
        return self.interval(
            None,
            estimate.upper,
            nominal=one_sided(estimate.confidence),
            args=(fpr, "either"),
            label=f"tpr@{fpr:g}, either side",
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

    def applies(self, law: Law) -> bool:
        """Tell whether the law's scores have several numbers."""
        return law.width > 1

    def truth(self, law: Law, prior: float, args: Args) -> float:
        """Return the advantage of the best of all attackers, or that of the class."""
        match args:
            case ():
                return law.advantage(prior)
            case (str(), float(value)):
                return value
            case _:
                raise wrong_arguments(self)

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
