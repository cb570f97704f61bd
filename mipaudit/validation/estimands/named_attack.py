"""Attackers that are named beforehand, as ``attack`` states what they achieve.

The adversary learns a threshold on the burn-in; the truth is that of the threshold that it
learned, which the arguments carry. Where the score counts as a loss, it is low for members and
has a bound that was known before: what lies outside of 0 to the bound counts as the end that it
passes.

The attribute advantage and its reduction to membership are those of ``attribute``: each record
is given a value of an attribute by chance, whatever its class, and the guess of it is right
where the score is above the value's cut, at rates that the law of the score knows.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from mipaudit.commands.attack.literature import (
    Cut,
    Labelled,
    best_cut,
    bounded_loss_guesses,
    mean_cut,
    top_cut,
)
from mipaudit.commands.attribute.guesses import (
    ValueGuesses,
    attribute_advantage,
    membership_advantage,
    summed,
)
from mipaudit.evidence.named_attackers.named_attack import (
    JudgedRows,
    Limits,
    achieved,
    at_most_short,
    mean_difference,
    surely_short,
    weighed,
)
from mipaudit.summaries.identity.row_rank import micro_blocks, position_bytes
from mipaudit.validation.estimands.audited_file import CONFIDENCE, AuditedFile
from mipaudit.validation.estimands.estimand import DEAR, Args, Estimand, Interval

if TYPE_CHECKING:
    from mipaudit.validation.laws.law import Law
    from mipaudit.validation.laws.mixture import Mixture

Ends = tuple[float | None, float | None] | None

_ALPHA: Final = 1 - CONFIDENCE
_HALF = 0.5
# Values of the attribute: the score above which each is guessed, and how often it occurs.
CUTS: Final = (0.5, 0.0, 1.5, -0.5)
SHARES: Final = (0.6, 0.3, 0.08, 0.02)
_STREAM: Final = 7  # of the values, apart from all other random numbers
BOUND: Final = 2.0
# The middles of so many steps: each mean is then within BOUND / 2^17 of the truth.
_STEPS: Final = 1 << 16


class _Named(Estimand):
    """About one adversary; ``args`` is (cut, who is called a member, side of the members)."""

    usual = DEAR
    takes = ((float, str, str),)

    def intervals(self, audited: AuditedFile) -> Iterator[Interval]:
        """Return the limits of each adversary that the file lets learn."""
        # The blocks are those of the evidence beside which the adversary is put.
        rows, seed = audited.in_order
        blocks = micro_blocks(position_bytes(seed, 0, rows.member.size))
        judged = blocks >= audited.evidence.counts.burn_in
        side = audited.evidence.trained_side
        loss = rows.scores[0] if side == "low" else -rows.scores[0]
        taught = Labelled(loss=loss[~judged], member=rows.member[~judged])
        for name, cut in _cuts(taught, audited.prior):
            found = self._limits(audited, cut, loss, judged, blocks)
            if found is None:
                continue
            yield self.interval(
                found[0],
                found[1],
                args=(cut.at, "low" if cut.below else "nobody", side),
                label=f"{self.name}({name})",
            )

    @abstractmethod
    def _limits(
        self,
        audited: AuditedFile,
        cut: Cut,
        loss: NDArray[np.float64],
        judged: NDArray[np.bool_],
        blocks: NDArray[np.uint8],
    ) -> Ends:
        """Return the two limits, or None."""


class NamedAttack(_Named):
    """The advantage of an adversary that learned a threshold."""

    name = "named_attack"
    meaning = "advantage of a named adversary (attack)"

    def _value(self, law: Law, prior: float, *cut: Any) -> float:  # noqa: ANN401 - as `takes`
        return weighed(*_rates(law, *cut), prior)

    def _limits(
        self,
        audited: AuditedFile,
        cut: Cut,
        loss: NDArray[np.float64],
        judged: NDArray[np.bool_],
        _blocks: NDArray[np.uint8],
    ) -> Ends:
        # As `attack` does: two values have one cut, which all rows judge.
        rows = judged | audited.evidence.one_cut
        member = audited.in_order[0].member[rows]
        found = achieved(cut.guesses(loss[rows]), member, prior=audited.prior, alpha=_ALPHA)
        return None if found is None else (found.advantage.lower, found.advantage.upper)


class _Shortfall(_Named):
    @abstractmethod
    def _side(self, rows: JudgedRows, audited: AuditedFile) -> Ends:
        """Return the limit that is tried, with None for the other."""

    def _limits(
        self,
        audited: AuditedFile,
        cut: Cut,
        loss: NDArray[np.float64],
        judged: NDArray[np.bool_],
        blocks: NDArray[np.uint8],
    ) -> Ends:
        ordered, _ = audited.in_order
        score = ordered.scores[0][judged]
        rows = JudgedRows(
            takes=cut.guesses(loss[judged]).astype(np.float64),
            member=ordered.member[judged],
            scores=score,
            cell=np.searchsorted(audited.cell_edges, score, side="left"),
            blocks=blocks[judged],
        )
        return self._side(rows, audited)


class NamedShortfall(_Shortfall):
    """How much more the best of all attackers has: a lower limit."""

    name = "named_shortfall"
    meaning = "what any attacker has more than a named one (attack)"

    def _value(self, law: Law, prior: float, *cut: Any) -> float:  # noqa: ANN401 - as `takes`
        return law.advantage(prior) - weighed(*_rates(law, *cut), prior)

    def _side(self, rows: JudgedRows, audited: AuditedFile) -> Ends:
        counts = audited.evidence.counts
        return surely_short(rows, counts, audited.prior, _ALPHA / 2), None


class NamedShortfallThresholds(_Shortfall):
    """How much more the best threshold has: an upper limit."""

    name = "named_shortfall_thresholds"
    meaning = "what the best threshold has more than a named attacker (attack)"

    def _value(self, law: Law, prior: float, *cut: Any) -> float:  # noqa: ANN401 - as `takes`
        return law.advantage_thresholds(prior) - weighed(*_rates(law, *cut), prior)

    def _side(self, rows: JudgedRows, audited: AuditedFile) -> Ends:
        upper = at_most_short(rows, "thresholds", audited.prior, _ALPHA / 2)
        return None if upper is None else (None, upper)


def _cuts(taught: Labelled, prior: float) -> Iterator[tuple[str, Cut]]:
    yield "best-threshold", best_cut(taught, prior)
    if taught.loss.size:
        yield "top-half", top_cut(taught.loss, _HALF)
    if taught.members.size and np.isfinite(taught.members).all():
        yield "mean", mean_cut(float(taught.members.mean()))


def _rates(law: Law, at: float, below: str, side: str) -> tuple[float, float]:
    """Return the true TPR and FPR of a threshold."""
    if below == "nobody":
        return 0.0, 0.0
    if side == "low":
        cuts = np.array([at])
        return float(law.members.cdf(cuts)[0]), float(law.holdout.cdf(cuts)[0])
    # Called a member at -score <= at: not below -at.
    cuts = np.array([np.nextafter(-at, -np.inf)])
    return 1 - float(law.members.cdf(cuts)[0]), 1 - float(law.holdout.cdf(cuts)[0])


class GeneralizationGap(Estimand):
    """Mean loss of the holdout less that of the members, of the clipped loss."""

    name = "generalization_gap"
    meaning = "generalization gap of a bounded loss (attack)"
    usual = DEAR

    def _value(self, law: Law, _prior: float) -> float:
        return _mean(law.holdout) - _mean(law.members)

    def intervals(self, audited: AuditedFile) -> Iterator[Interval]:
        """Return the limits of two means."""
        terms = np.clip(audited.score, 0.0, BOUND) / BOUND
        lower, upper = mean_difference(terms[~audited.member], terms[audited.member], _ALPHA)
        yield self.interval(lower * BOUND, upper * BOUND)


class BoundedLoss(Estimand):
    """The advantage of Yeom's bounded-loss adversary."""

    name = "bounded_loss"
    meaning = "advantage of the bounded-loss adversary (attack)"
    usual = DEAR

    def _value(self, law: Law, prior: float) -> float:
        # It calls a record a member with probability 1 - loss/bound.
        return weighed(1 - _mean(law.members) / BOUND, 1 - _mean(law.holdout) / BOUND, prior)

    def intervals(self, audited: AuditedFile) -> Iterator[Interval]:
        """Return the limits that ``attack`` states."""
        found = achieved(
            bounded_loss_guesses(audited.score, BOUND),
            audited.member,
            prior=audited.prior,
            alpha=_ALPHA,
        )
        if found is None:
            return
        yield self.interval(
            found.advantage.lower, found.advantage.upper, value=found.advantage.value
        )


def _mean(part: Mixture) -> float:
    """Return the mean of a clipped loss: the integral of P(loss > x) from 0 to the bound."""
    step = BOUND / _STEPS
    middles = np.asarray(step * (np.arange(_STEPS) + 0.5), dtype=np.float64)
    return float((1 - part.cdf(middles)).sum() * step)


class AttributeAdvantage(Estimand):
    """Definition 5 of Yeom et al.; ``args`` are the values' shares in the file."""

    name = "attribute_advantage"
    meaning = "attribute advantage of guesses (attribute)"
    usual = DEAR
    takes = ((float,) * len(CUTS),)

    def _value(self, law: Law, _prior: float, *shares: float) -> float:
        right, wrong = _rates_by_value(law)
        return float(np.array(shares) @ (right - wrong))

    def intervals(self, audited: AuditedFile) -> Iterator[Interval]:
        """Return the limits of the file's guesses."""
        values = _guesses(audited)
        found = attribute_advantage([one for one in values if one.records], _ALPHA)
        if found is not None:
            shares = tuple(one.records / audited.member.size for one in values)
            yield _interval(self, found, shares)


class AttributeMembership(Estimand):
    """The advantage of calling a record a member where its attribute was guessed right."""

    name = "attribute_membership"
    meaning = "membership advantage of right guesses (attribute)"
    usual = DEAR

    def _value(self, law: Law, prior: float) -> float:
        right, wrong = _rates_by_value(law)
        shares = np.array(SHARES)
        return weighed(float(shares @ right), float(shares @ wrong), prior)

    def intervals(self, audited: AuditedFile) -> Iterator[Interval]:
        """Return the limits of the file's guesses."""
        whole = summed(_guesses(audited))
        yield _interval(self, membership_advantage(whole, audited.prior, _ALPHA), ())


def _interval(estimand: Estimand, found: Limits, args: Args) -> Interval:
    return estimand.interval(
        found.lower, found.upper, value=found.value, args=args, label=estimand.name
    )


def _rates_by_value(law: Law) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return P(guessed right) by value, of members and of holdout records."""
    cuts = np.array(CUTS)
    return 1 - law.members.cdf(cuts), 1 - law.holdout.cdf(cuts)


def _guesses(audited: AuditedFile) -> list[ValueGuesses]:
    """Return the counts of right guesses by value."""
    rng = np.random.default_rng([audited.seed % 2**63, _STREAM])
    value = rng.choice(len(CUTS), audited.member.size, p=SHARES)
    right = audited.score > np.array(CUTS)[value]
    found = []
    for one in range(len(CUTS)):
        mine, theirs = (value == one) & audited.member, (value == one) & ~audited.member
        found.append(
            ValueGuesses(
                right_members=int(np.count_nonzero(right & mine)),
                n_members=int(np.count_nonzero(mine)),
                right_holdout=int(np.count_nonzero(right & theirs)),
                n_holdout=int(np.count_nonzero(theirs)),
            )
        )
    return found
