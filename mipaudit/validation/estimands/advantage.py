"""The advantage: of the best of all attackers, and of the best of a class."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Final

from mipaudit.validation.estimands.estimand import Estimand, interval_of, wrong_arguments

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from mipaudit.statements.estimate import Attackers
    from mipaudit.validation.coverage.interval import Args, Interval
    from mipaudit.validation.laws.law import Law
    from mipaudit.validation.rivals.audited_file import AuditedFile

_INTERVALS: Final[Mapping[Attackers, int]] = {"intervals-1": 1, "intervals-4": 4}


class Advantage(Estimand):
    """Of the best of all attackers."""

    name = "advantage"
    meaning = "advantage of the best of all attackers"
    statements = frozenset({("advantage", "any")})

    def truth(self, law: Law, prior: float, args: Args) -> float:
        """Return E|f_p|, in [|2p-1|, 1]."""
        if args:
            raise wrong_arguments(self)
        return law.advantage(prior)

    def baseline(self, prior: float, args: Args) -> float:  # noqa: ARG002
        """Return the trivial attacker's advantage."""
        return abs(2 * prior - 1)

    def intervals(self, audited: AuditedFile) -> Iterator[Interval]:
        """Return what is stated of any attacker."""
        for estimate in audited.stated("advantage", "any"):
            yield interval_of(estimate, self)


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
                yield interval_of(estimate, self)

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
            yield interval_of(estimate, self)


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
                yield interval_of(estimate, self, args=(k,), label=f"{self.name}({k})")


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
            yield interval_of(estimate, self, args=audited.bin_edges)
