"""The advantage of attackers who see several numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mipaudit.validation.estimands.estimand import Estimand, interval_of, wrong_arguments
from mipaudit.validation.rivals.audited_vector import AuditedVector

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mipaudit.validation.coverage.interval import Args, Interval
    from mipaudit.validation.laws.law import Law
    from mipaudit.validation.rivals.audited_file import AuditedFile


class AdvantageVector(Estimand):
    """Of the best of all attackers on a vector, or of a class that was fitted to the file.

    ``args`` is empty for all attackers, and (class, its true advantage) otherwise: which
    learned score and which cells are meant differs from file to file.
    """

    name = "advantage_vector"
    meaning = "advantage of attackers who see several numbers"
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

    def baseline(self, prior: float, args: Args) -> float:  # noqa: ARG002
        """Return the trivial attacker's advantage."""
        return abs(2 * prior - 1)

    def intervals(self, audited: AuditedFile) -> Iterator[Interval]:
        """Return what is stated of any attacker, of the learned score and of the grid."""
        if not isinstance(audited, AuditedVector):
            return
        for estimate in audited.stated("advantage", "any"):
            yield interval_of(estimate, self)
        for estimate in audited.stated("advantage", "learned"):
            yield interval_of(
                estimate,
                self,
                args=("learned", audited.learned_truth),
                label=f"{self.name}, learned",
            )
        truth = audited.grid_truth
        for estimate in audited.stated("advantage", "product-grid"):
            if truth is not None:
                yield interval_of(
                    estimate,
                    self,
                    args=("product-grid", truth),
                    label=f"{self.name}, product grid",
                )
