"""What thresholds on one side of the score reach: the AUC, and the TPR at an FPR."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mipaudit.validation.coverage.interval import Interval
from mipaudit.validation.estimands.estimand import Estimand, interval_of, one_sided, wrong_arguments

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mipaudit.statements.estimate import Estimate
    from mipaudit.validation.coverage.interval import Args
    from mipaudit.validation.laws.law import Law
    from mipaudit.validation.rivals.audited_file import AuditedFile


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
            yield interval_of(estimate, self, args=(str(estimate.side),))


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
        return Interval(
            estimand=self.name,
            lower=estimate.lower,
            upper=None,
            nominal=one_sided(estimate.confidence),
            value=estimate.value,
            estimand_args=(fpr, side),
            label=f"tpr@{fpr:g}",
        )

    def _upper(self, estimate: Estimate) -> Interval:
        fpr = float(estimate.fpr or 0)
        return Interval(
            estimand=self.name,
            lower=None,
            upper=estimate.upper,
            nominal=one_sided(estimate.confidence),
            estimand_args=(fpr, "either"),
            label=f"tpr@{fpr:g}, either side",
        )
